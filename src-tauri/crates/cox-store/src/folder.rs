//! The data folder: 0700, the files in it 0600 (W7), and the names of files in it.

use cox_protocol::{SessionId, TaskId};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

/// Where a task's export stands, relative to the data folder.
pub fn output_file(session: &SessionId, task: &TaskId) -> String {
    format!("output/{}/{}.jsonl", file_name(session.as_str()), file_name(task.as_str()))
}

/// An id as the name of a file. An id that is not made of letters, digits, `-` and `_` is replaced by its hash,
/// so that no id can leave the folder.
pub(crate) fn file_name(id: &str) -> String {
    let plain = |ch: char| ch.is_ascii_alphanumeric() || ch == '-' || ch == '_';
    if !id.is_empty() && id.len() <= 64 && id.chars().all(plain) {
        return id.to_owned();
    }
    blake3::hash(id.as_bytes()).to_hex()[..32].to_owned()
}

/// Makes a folder that only its user can enter, or makes an existing one so.
pub(crate) fn make_private(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
        builder.mode(0o700).create(path)?;
        let permissions = std::fs::metadata(path)?.permissions();
        if permissions.mode() & 0o077 != 0 {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    }
    #[cfg(not(unix))]
    builder.create(path)
}

/// Opens a file for writing that only its user can read; makes it if need be, and leaves its content.
pub(crate) fn private_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
        let file = options.mode(0o600).open(path)?;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}

/// Writes a whole file that only its user can read.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = private_file(path)?;
    file.set_len(0)?;
    file.write_all(bytes)
}

/// Bytes of all files in a folder; what can't be read counts nothing.
pub(crate) fn size(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => size(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |data| data.len()),
            _ => 0,
        })
        .sum()
}
