//! What can go wrong in the store, and what a person can do about it.

use cox_protocol::{CoxError, ErrorCode};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An error of the store. Cheap to clone: one failed transaction is reported to every caller that waited for it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The data folder, or a file in it, can't be made, read or written.
    #[error("can't use {path}: {source}")]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        source: Arc<std::io::Error>,
    },
    /// The database was written by a newer version. Nothing was changed.
    #[error(
        "the database {path} comes from a newer version of Coxswain (format {found}, this version knows {known}); nothing was changed"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that this version knows.
        known: u32,
    },
    /// The database can't be brought to this version's format.
    #[error("can't bring the database to this version's format: {0}")]
    Migration(String),
    /// No room left on the disk. The next append tries again.
    #[error("the disk is full; nothing that was confirmed is lost")]
    Full,
    /// SQLite failed.
    #[error("can't {doing}: {source}")]
    Database {
        /// What was attempted.
        doing: &'static str,
        /// Why it failed.
        source: Arc<rusqlite::Error>,
    },
    /// What was given must not be stored.
    #[error("not stored: {0}")]
    Refused(String),
    /// The store is closed, or its writer has ended.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    pub(crate) fn folder(path: &Path, source: std::io::Error) -> Self {
        if source.kind() == std::io::ErrorKind::StorageFull {
            return Self::Full;
        }
        Self::Folder { path: path.to_owned(), source: Arc::new(source) }
    }

    pub(crate) fn sql(doing: &'static str) -> impl Fn(rusqlite::Error) -> Self {
        move |source| match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full,
            _ => Self::Database { doing, source: Arc::new(source) },
        }
    }

    /// The code that a host decides on.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Newer { .. } => ErrorCode::DatabaseNewer,
            Self::Refused(_) => ErrorCode::InvalidInput,
            Self::Folder { .. } | Self::Migration(_) | Self::Full | Self::Database { .. } | Self::Closed => {
                ErrorCode::Storage
            }
        }
    }

    /// What to do about it, for a person.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Newer { .. } => Some("start the newer version, or choose another data folder"),
            Self::Full => Some("free some disk space; the next action tries again"),
            Self::Folder { .. } => Some("check that the data folder exists and that you may write to it"),
            Self::Migration(_) | Self::Database { .. } | Self::Refused(_) | Self::Closed => None,
        }
    }
}

impl From<StoreError> for CoxError {
    fn from(error: StoreError) -> Self {
        let plain = CoxError::new(error.code(), error.to_string());
        match error.hint() {
            Some(hint) => plain.hint(hint),
            None => plain,
        }
    }
}
