//! Runs with the package root (the folder of Cargo.toml and tauri.conf.json) as working directory.
fn main() {
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    println!("cargo:rerun-if-changed=src-tauri/icons");
    // The built page is compiled in. Without this line a new one would not be noticed.
    if std::path::Path::new("ui/dist").exists() {
        println!("cargo:rerun-if-changed=ui/dist");
    }
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
