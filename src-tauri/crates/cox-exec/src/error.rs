//! Everything that can go wrong with files, processes and watching, in words for people and models.

use std::io;

/// Shorthand for this crate's results.
pub type Result<T> = std::result::Result<T, ExecError>;

/// What went wrong. Paths are in the text form of [`crate::path_to_text`].
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The path is empty or holds a NUL.
    #[error("{path:?} can't be used as a path: it is empty or holds a NUL")]
    BadName {
        /// As asked.
        path: String,
    },
    /// Nothing is there.
    #[error("{path} doesn't exist")]
    Missing {
        /// Which.
        path: String,
    },
    /// A file is needed, and this is a folder.
    #[error("{path} is a folder, not a file")]
    NotAFile {
        /// Which.
        path: String,
    },
    /// A folder is needed, and this is something else.
    #[error("{path} is not a folder")]
    NotAFolder {
        /// Which.
        path: String,
    },
    /// A pipe, socket or device: reading it could block for ever or do something.
    #[error("{path} is not a regular file (a pipe, socket or device), so it is not opened")]
    Special {
        /// Which.
        path: String,
    },
    /// In no root.
    #[error("{path} is outside the project folder {project}")]
    Outside {
        /// Which.
        path: String,
        /// The project folder.
        project: String,
    },
    /// In a root that may only be read.
    #[error("{path} is in a folder that may only be read")]
    ReadOnlyRoot {
        /// Which.
        path: String,
    },
    /// Larger than the caller takes.
    #[error("{path} has {size} bytes, more than the {cap} that are read at once")]
    TooLarge {
        /// Which.
        path: String,
        /// Bytes it has.
        size: u64,
        /// Bytes allowed.
        cap: u64,
    },
    /// The content is not the one that the writer expected.
    #[error("{path} has changed on disk since it was read; nothing was written")]
    Changed {
        /// Which.
        path: String,
    },
    /// A new file was expected, and one is there.
    #[error("{path} exists already; nothing was written")]
    Exists {
        /// Which.
        path: String,
    },
    /// Between resolving and opening, a part of the path became a link.
    #[error("{path} was replaced by a link while it was being opened")]
    Moved {
        /// Which.
        path: String,
    },
    /// Links that lead to each other.
    #[error("{path} leads through too many links")]
    LinkLoop {
        /// Which.
        path: String,
    },
    /// The system refused.
    #[error("can't {attempted} {path}: {source}")]
    Io {
        /// A verb.
        attempted: &'static str,
        /// Which.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// There is no bash.
    #[error("bash can't be started ({source}); commands need bash on the PATH")]
    NoShell {
        /// Why.
        source: io::Error,
    },
    /// The process could not be started.
    #[error("the command can't be started: {source}")]
    Spawn {
        /// Why.
        source: io::Error,
    },
    /// Watching does not work.
    #[error("the folder can't be watched: {message}")]
    Watch {
        /// Why.
        message: String,
    },
}

impl ExecError {
    /// Sorts an error of the system into the variants that callers tell apart.
    pub(crate) fn io(attempted: &'static str, path: &str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            io::ErrorKind::NotADirectory => Self::NotAFolder { path },
            io::ErrorKind::IsADirectory => Self::NotAFile { path },
            _ if is_loop(&source) => Self::Moved { path },
            _ => Self::Io { attempted, path, source },
        }
    }

    /// Did the system say that permission is missing, or that the file system is read-only?
    pub fn is_denied(&self) -> bool {
        self.source_kind().is_some_and(|kind| {
            matches!(kind, io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
        })
    }

    /// Is the disk full, or a quota used up?
    pub fn is_disk_full(&self) -> bool {
        self.source_kind()
            .is_some_and(|kind| matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }

    fn source_kind(&self) -> Option<io::ErrorKind> {
        if let Self::Io { source, .. } | Self::NoShell { source } | Self::Spawn { source } = self {
            Some(source.kind())
        } else {
            None
        }
    }
}

/// `ELOOP`: a link where none may be followed.
fn is_loop(error: &io::Error) -> bool {
    #[cfg(unix)]
    return error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}
