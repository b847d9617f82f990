//! Opening a located path from its root's handle, name by name, following no link.

use super::located::{Facts, Kind, Located, Place, millis};
use super::{Root, Roots};
use crate::{ExecError, Result};
use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, Metadata, OpenOptions};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// A handle on the folder that holds a path, and the path's own name in it.
pub(super) struct Seat {
    pub(super) folder: Dir,
    pub(super) name: OsString,
}

impl Roots {
    /// The place of a located path, or the error that it is outside.
    pub(super) fn inside<'a>(&self, at: &'a Located) -> Result<&'a Place> {
        at.place.as_ref().ok_or_else(|| ExecError::Outside {
            path: at.asked.clone(),
            project: super::path_to_text(self.project()),
        })
    }

    /// The folder that holds a path.
    pub(super) fn seat(&self, at: &Located) -> Result<Seat> {
        let place = self.inside(at)?;
        let Some(name) = place.path.file_name() else {
            return Err(ExecError::NotAFile { path: at.real.clone() });
        };
        let parent = place.path.parent().unwrap_or(Path::new(""));
        let folder = descend(self.root(place), parent, at)?;
        Ok(Seat { folder, name: name.to_owned() })
    }

    /// A handle on a folder.
    pub(super) fn folder(&self, at: &Located) -> Result<Dir> {
        let place = self.inside(at)?;
        descend(self.root(place), &place.path, at)
    }

    /// What the file system says of a path.
    ///
    /// # Errors
    /// `Outside`, `Missing`, `Moved`, `Io`.
    pub fn facts(&self, at: &Located) -> Result<Facts> {
        if self.inside(at)?.path.as_os_str().is_empty() {
            let found = self
                .folder(at)?
                .dir_metadata()
                .map_err(|source| ExecError::io("look at", &at.real, source))?;
            return Ok(facts(&found));
        }
        let seat = self.seat(at)?;
        Ok(facts(&seat.metadata(at)?))
    }

    /// Opens a regular file for reading: for searching in it, or reading a part.
    ///
    /// # Errors
    /// `Outside`, `Missing`, `NotAFile`, `Special`, `Moved`, `Io`.
    pub fn open_file(&self, at: &Located) -> Result<std::fs::File> {
        self.seat(at)?.open(at).map(|(file, _)| file)
    }

    /// The absolute path of an existing folder in a root, for a command to run in.
    ///
    /// # Errors
    /// `Outside`, `Missing`, `NotAFolder`, `Moved`, `Io`.
    pub fn folder_path(&self, at: &Located) -> Result<PathBuf> {
        let place = self.inside(at)?;
        self.folder(at)?;
        Ok(self.root(place).real.join(&place.path))
    }
}

impl Seat {
    pub(super) fn metadata(&self, at: &Located) -> Result<Metadata> {
        let found = self
            .folder
            .symlink_metadata(&self.name)
            .map_err(|source| ExecError::io("look at", &at.real, source))?;
        if found.is_symlink() {
            return Err(ExecError::Moved { path: at.real.clone() });
        }
        Ok(found)
    }

    /// Opens the file for reading. A pipe or device is never opened: that alone can block or do something.
    pub(super) fn open(&self, at: &Located) -> Result<(std::fs::File, Metadata)> {
        regular(&self.metadata(at)?, at)?;
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = self
            .folder
            .open_with(&self.name, &options)
            .map_err(|source| ExecError::io("open", &at.real, source))?;
        // Once more on the handle: what was looked at need not be what was opened.
        let found = file.metadata().map_err(|source| ExecError::io("look at", &at.real, source))?;
        regular(&found, at)?;
        Ok((file.into_std(), found))
    }
}

fn regular(found: &Metadata, at: &Located) -> Result<()> {
    if found.is_dir() {
        Err(ExecError::NotAFile { path: at.real.clone() })
    } else if !found.is_file() {
        Err(ExecError::Special { path: at.real.clone() })
    } else {
        Ok(())
    }
}

/// Goes down from the root's handle.
fn descend(root: &Root, path: &Path, at: &Located) -> Result<Dir> {
    let mut folder = root.dir.try_clone().map_err(|source| ExecError::io("open", &at.real, source))?;
    for name in path {
        folder = enter(&folder, name).map_err(|source| entering(&folder, name, source, at))?;
    }
    Ok(folder)
}

/// One folder further down, not through a link.
pub(super) fn enter(folder: &Dir, name: &OsStr) -> io::Result<Dir> {
    folder.open_dir_nofollow(name)
}

/// "Not a folder" from the system may mean a link.
pub(super) fn entering(folder: &Dir, name: &OsStr, source: io::Error, at: &Located) -> ExecError {
    if folder.symlink_metadata(name).is_ok_and(|found| found.is_symlink()) {
        return ExecError::Moved { path: at.real.clone() };
    }
    ExecError::io("open", &at.real, source)
}

pub(super) fn facts(found: &Metadata) -> Facts {
    Facts {
        kind: if found.is_file() {
            Kind::File
        } else if found.is_dir() {
            Kind::Folder
        } else {
            Kind::Other
        },
        size: found.len(),
        modified_at: millis(found.modified().map(cap_std::time::SystemTime::into_std)),
        read_only: found.permissions().readonly(),
        executable: executable(found),
    }
}

#[cfg(unix)]
fn executable(found: &Metadata) -> bool {
    use cap_std::fs::PermissionsExt;
    found.is_file() && found.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn executable(_: &Metadata) -> bool {
    false
}
