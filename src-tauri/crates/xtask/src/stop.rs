//! Why a command ended early, and the exit code that says so.

/// An early end.
#[derive(Debug)]
pub(crate) struct Stop {
    /// The exit code.
    pub(crate) code: u8,
    /// For a person: what happened, and what to do.
    pub(crate) message: String,
}

impl Stop {
    /// The exit code of a wrong call.
    pub(crate) const USAGE: u8 = 2;

    /// A check or a program failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { code: 1, message: message.into() }
    }

    /// It was called wrongly.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: Self::USAGE, message: message.into() }
    }

    /// Something is missing that can't be installed here.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self { code: 3, message: message.into() }
    }
}
