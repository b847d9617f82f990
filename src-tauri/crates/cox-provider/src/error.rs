//! What a request can fail with: a kind to decide on, a message that says what happened, a hint that says what to do.

use cox_protocol::task::FailKind;

/// A request failed for good.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What the engine decides on.
    pub kind: FailKind,
    /// What happened, for a person: one sentence without a full stop.
    pub message: String,
    /// What to do about it, for a person.
    pub hint: Option<String>,
    /// The HTTP status, if there was an answer; for an error inside a stream, the number that it names.
    pub status: Option<u16>,
    /// The server's own id of the request, for its support.
    pub request_id: Option<String>,
}

impl ProviderError {
    /// An error without a hint.
    pub fn new(kind: FailKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, status: None, request_id: None }
    }

    /// The same error with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error with the status of the answer.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Message and hint as one text.
    pub fn full_text(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}. {hint}", self.message),
            None => self.message.clone(),
        }
    }
}
