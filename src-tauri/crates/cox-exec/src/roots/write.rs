//! Writing a file in one step, and only if it is still what the writer thinks it is.
//!
//! The new content goes to a file beside the old one, gets its permissions, and takes its name. Whoever reads sees the
//! old or the new content, and a crash or a full disk leaves the old one.

use super::located::{Located, Place};
use super::open::{Seat, enter, entering};
use super::{Roots, path_to_text};
use crate::{ExecError, FileHash, Result};
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How the names of half-written files begin; walks and watches skip them.
pub(crate) const DRAFT: &str = ".coxswain-draft-";

/// What the writer thinks is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing. Missing folders on the way are made.
    Missing,
    /// A file with this content.
    Hash(FileHash),
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The content now.
    pub after: FileHash,
    /// The content before; `None` for a new file.
    pub before: Option<FileHash>,
    /// Folders that were made on the way, outermost first.
    pub folders: Vec<String>,
}

impl Roots {
    /// Writes a file. An existing one keeps its permissions, and its owner where the system allows.
    ///
    /// # Errors
    /// `Outside`, `ReadOnlyRoot`; `Changed` and `Exists` when the expectation doesn't hold; `NotAFile`, `NotAFolder`,
    /// `Special`, `Moved`, `Io`. Nothing is written then.
    pub fn write(&self, at: &Located, bytes: &[u8], expect: Expect) -> Result<Written> {
        let place = self.inside(at)?;
        if self.root(place).read_only {
            return Err(ExecError::ReadOnlyRoot { path: at.real.clone() });
        }
        let after = FileHash::of(bytes);
        match expect {
            Expect::Missing => {
                let mut folders = Vec::new();
                let seat = self.seat_made(at, place, &mut folders)?;
                create(&seat, at, bytes)?;
                Ok(Written { after, before: None, folders })
            }
            Expect::Hash(before) => {
                let seat = self.seat(at).map_err(gone)?;
                replace(&seat, at, bytes, &before)?;
                Ok(Written { after, before: Some(before), folders: Vec::new() })
            }
        }
    }

    /// The folder that holds a path; what is missing of it is made.
    fn seat_made(&self, at: &Located, place: &Place, made: &mut Vec<String>) -> Result<Seat> {
        let Some(name) = place.path.file_name() else {
            return Err(ExecError::NotAFile { path: at.real.clone() });
        };
        let root = self.root(place);
        let mut folder = root.dir.try_clone().map_err(|source| ExecError::io("open", &at.real, source))?;
        let mut so_far = PathBuf::new();
        for part in place.path.parent().unwrap_or(Path::new("")) {
            so_far.push(part);
            let next = match enter(&folder, part) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match folder.create_dir(part) {
                        Ok(()) => made.push(path_to_text(&so_far)),
                        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                        Err(source) => return Err(ExecError::io("make the folder for", &at.real, source)),
                    }
                    enter(&folder, part)
                }
                other => other,
            };
            folder = next.map_err(|source| entering(&folder, part, source, at))?;
        }
        Ok(Seat { folder, name: name.to_owned() })
    }
}

/// A new file. The name is taken by a hard link, which fails if somebody else took it first.
fn create(seat: &Seat, at: &Located, bytes: &[u8]) -> Result<()> {
    let exists = || ExecError::Exists { path: at.real.clone() };
    if seat.folder.symlink_metadata(&seat.name).is_ok() {
        return Err(exists());
    }
    let draft = Draft::write(&seat.folder, at, bytes)?;
    match seat.folder.hard_link(&draft.name, &seat.folder, &seat.name) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(exists()),
        // Not every file system has hard links.
        Err(_) if seat.folder.symlink_metadata(&seat.name).is_err() => draft.take(&seat.name, at),
        Err(_) => Err(exists()),
    }
}

/// An existing file, if it is still the expected one.
fn replace(seat: &Seat, at: &Located, bytes: &[u8], expected: &FileHash) -> Result<()> {
    let draft = Draft::write(&seat.folder, at, bytes)?;
    // Looked at last, right before the step that counts.
    let (mut file, found) = seat.open(at).map_err(gone)?;
    let now = FileHash::of_reader(&mut file).map_err(|source| ExecError::io("read", &at.real, source))?;
    if now != *expected {
        return Err(ExecError::Changed { path: at.real.clone() });
    }
    if !may_write(seat, &found) {
        let source = io::Error::from(io::ErrorKind::PermissionDenied);
        return Err(ExecError::Io { attempted: "write", path: at.real.clone(), source });
    }
    draft.dress(&found, at)?;
    draft.take(&seat.name, at)
}

fn gone(error: ExecError) -> ExecError {
    if let ExecError::Missing { path } = error { ExecError::Changed { path } } else { error }
}

/// Taking a name needs rights on the folder only; this asks for the rights on the file that a plain write would need.
fn may_write(seat: &Seat, found: &Metadata) -> bool {
    #[cfg(unix)]
    if rustix::fs::accessat(
        &seat.folder,
        &seat.name,
        rustix::fs::Access::WRITE_OK,
        rustix::fs::AtFlags::EACCESS,
    )
    .is_err()
    {
        return false;
    }
    #[cfg(not(unix))]
    let _ = seat;
    !found.permissions().readonly()
}

/// New content beside the old file; removed again unless it took the name.
struct Draft<'a> {
    folder: &'a Dir,
    name: String,
    file: File,
}

impl<'a> Draft<'a> {
    fn write(folder: &'a Dir, at: &Located, bytes: &[u8]) -> Result<Self> {
        let failed = |source| ExecError::Io { attempted: "write", path: at.real.clone(), source };
        let (name, file) = loop {
            let name = draft_name();
            match new_file(folder, OsStr::new(&name)) {
                Ok(file) => break (name, file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(source) => return Err(failed(source)),
            }
        };
        let mut draft = Draft { folder, name, file };
        draft.file.write_all(bytes).and_then(|()| draft.file.sync_data()).map_err(failed)?;
        Ok(draft)
    }

    /// Gives it the owner and the permissions of the file that it replaces.
    fn dress(&self, found: &Metadata, at: &Located) -> Result<()> {
        #[cfg(unix)]
        {
            use cap_std::fs::MetadataExt;
            use rustix::fs::{Gid, Uid};
            // Only root may give files away; for others the file becomes their own, as with most editors.
            let _ = rustix::fs::fchown(
                &self.file,
                Some(Uid::from_raw(found.uid())),
                Some(Gid::from_raw(found.gid())),
            );
        }
        self.file
            .set_permissions(found.permissions())
            .map_err(|source| ExecError::io("set the permissions of", &at.real, source))
    }

    fn take(&self, name: &OsStr, at: &Located) -> Result<()> {
        self.folder
            .rename(&self.name, self.folder, name)
            .map_err(|source| ExecError::io("write", &at.real, source))
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // Gone already when it took the name.
        let _ = self.folder.remove_file(&self.name);
    }
}

fn new_file(folder: &Dir, name: &OsStr) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).follow(FollowSymlinks::No);
    folder.open_with(name, &options)
}

fn draft_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{DRAFT}{:x}-{:x}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
