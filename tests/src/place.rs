//! Where things are.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

/// The repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_path_buf()
}

/// The app: `COX_APP`, or what a debug build made.
pub fn app() -> PathBuf {
    built("COX_APP", "coxswain")
}

/// The scripted model server: `COX_MODEL_SERVER`, or what a debug build made.
pub fn model_server() -> PathBuf {
    built("COX_MODEL_SERVER", "model-server")
}

/// The command line: `COX_CLI`, or what a debug build made.
pub fn cli() -> PathBuf {
    built("COX_CLI", "cox")
}

fn built(variable: &str, name: &str) -> PathBuf {
    let path = std::env::var_os(variable).map_or_else(
        || root().join("target/debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)),
        PathBuf::from,
    );
    assert!(path.is_file(), "{} is not built: `cargo build --workspace`, or set {variable}", path.display());
    path
}

/// Where pictures of the window go: `COX_PICTURES`, or `target/window`.
pub fn pictures() -> PathBuf {
    let folder = std::env::var_os("COX_PICTURES").map_or_else(|| root().join("target/window"), PathBuf::from);
    std::fs::create_dir_all(&folder).expect("the folder for pictures");
    folder
}

/// A program to run.
#[expect(clippy::disallowed_methods, reason = "tests start the app itself, from outside")]
pub fn program(path: impl AsRef<OsStr>) -> Command {
    Command::new(path)
}
