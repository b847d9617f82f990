//! Errors that cross the border between engine and host: a code to decide on, a message to read, a hint to act on.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The closed list of codes. A host decides on the code, never on the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ErrorCode {
    /// The id, path or name does not exist.
    NotFound,
    /// The task is not in a state in which this can be done.
    NotRunning,
    /// What was given can't be used; the message says why.
    InvalidInput,
    /// The user has to confirm first; the message says what.
    NeedsConfirmation,
    /// Another process owns the session; it can be read, not changed.
    ReadOnly,
    /// A bounded queue is full.
    QueueFull,
    /// A limit of the session is reached.
    LimitReached,
    /// The folder is missing, unreadable, or not a folder.
    FolderUnusable,
    /// The database comes from a newer version.
    DatabaseNewer,
    /// The database can't be read or written: disk full, damaged, no permission.
    Storage,
    /// No key is stored for this server.
    NoKey,
    /// The keychain can't be used here.
    Keychain,
    /// The provider refused or did not answer; the message says which.
    Provider,
    /// A defect: something that should not happen.
    Internal,
}

/// An error for a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
#[ts(export)]
pub struct CoxError {
    /// What a host decides on.
    pub code: ErrorCode,
    /// What happened, for a person.
    pub message: String,
    /// What to do about it, for a person.
    pub hint: Option<String>,
}

impl CoxError {
    /// An error without a hint.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// The same error with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
