//! Who owns a session (W7): an OS file lock that is held while its process lives, and the owner's name beside it.

use crate::folder::{self, file_name};
use cox_protocol::SessionId;
use std::fs::{File, TryLockError};
use std::path::Path;

/// This process owns the session until this is dropped.
#[derive(Debug)]
pub struct SessionLock {
    _file: File,
}

/// Somebody else owns the session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session is in use by {owner}")]
pub struct LockedBy {
    /// Who, as that process named itself; or why the lock can't be made.
    pub owner: String,
}

/// Takes the lock, and leaves `owner` beside it for whoever comes later.
///
/// The name stands in a file of its own, since a locked file can't be read everywhere. The files stay: removing
/// one could take the lock from under a process that has just opened it.
pub(crate) fn lock_session(folder: &Path, session: &SessionId, owner: &str) -> Result<SessionLock, LockedBy> {
    let locks = folder.join("locks");
    let unusable =
        |error: std::io::Error| LockedBy { owner: format!("nobody, but it can't be locked: {error}") };
    folder::make_private(&locks).map_err(unusable)?;
    let name = file_name(session.as_str());
    let owner_file = locks.join(format!("{name}.owner"));
    let file = folder::private_file(&locks.join(format!("{name}.lock"))).map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => {
            // Only a courtesy to others: without it the lock holds all the same.
            if let Err(error) = folder::write_private(&owner_file, owner.as_bytes()) {
                tracing::warn!(%error, "can't write the owner of a session");
            }
            Ok(SessionLock { _file: file })
        }
        Err(TryLockError::WouldBlock) => {
            let named = std::fs::read_to_string(&owner_file).unwrap_or_default();
            let named = named.trim();
            let owner = if named.is_empty() { "another process" } else { named };
            Err(LockedBy { owner: owner.to_owned() })
        }
        Err(TryLockError::Error(error)) => Err(unusable(error)),
    }
}
