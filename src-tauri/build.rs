//! Runs with the package root (the folder of Cargo.toml and tauri.conf.json) as working directory.
fn main() {
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    let attributes = tauri_build::Attributes::new()
        .capabilities_path_pattern("./src-tauri/capabilities/**/*")
        .windows_attributes(
            tauri_build::WindowsAttributes::new().window_icon_path("src-tauri/icons/icon.ico"),
        );
    if let Err(error) = tauri_build::try_build(attributes) {
        println!("cargo:error={error:#}");
        std::process::exit(1);
    }
}
