//! A path that was resolved, and what is known of a file.

use std::path::PathBuf;

/// A path as asked and as real, and where it lies. Made by [`crate::Roots::resolve`] and [`crate::Roots::at`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Normalised by its words alone (`a/../b` is `b`). Relative to the project with '/', "." is the project itself;
    /// absolute when it is elsewhere.
    pub asked: String,
    /// With every link resolved, also where the file is still to be made. Same form.
    pub real: String,
    /// The real path is in no root.
    pub outside: bool,
    /// The real path is in a root that may only be read.
    pub read_only_root: bool,
    /// What is there; `None` when nothing is.
    pub kind: Option<Kind>,
    /// Which root, and the real path in it. `None` outside.
    pub(super) place: Option<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) root: usize,
    /// Empty for the root itself; plain names only.
    pub(super) path: PathBuf,
}

/// What kind of thing a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link; only a walk gives this.
    Link,
    /// A pipe, socket or device.
    Other,
}

/// What the file system says of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What it is.
    pub kind: Kind,
    /// Bytes.
    pub size: u64,
    /// Milliseconds since 1970; 0 when the file system doesn't say.
    pub modified_at: i64,
    /// Nobody may write it.
    pub read_only: bool,
    /// Somebody may execute it.
    pub executable: bool,
}

pub(super) fn millis(time: std::io::Result<std::time::SystemTime>) -> i64 {
    time.ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .unwrap_or(0)
}
