//! What went wrong with one try: the error as a person reads it, and whether another try can help.
//!
//! 1. `said` reads what the server says about it, from an error body or an error event in the stream
//! 2. `judge` makes kind, message and hint of that
//! 3. `line` does the same for connections that fail before or under an answer

mod judge;
mod line;
mod said;

pub(crate) use judge::judge;
pub(crate) use line::{Silence, broken, cut, garbled, no_connection, no_sense, silent};
pub(crate) use said::Said;

use crate::address::Address;
use crate::error::ProviderError;
use crate::keys::Key;
use crate::retry::Again;
use cox_protocol::settings::ProviderKind;

/// A failed try.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) error: ProviderError,
    pub(crate) again: Again,
}

impl Fault {
    pub(crate) fn never(error: ProviderError) -> Self {
        Self { error, again: Again::Never }
    }

    pub(crate) fn back_off(error: ProviderError) -> Self {
        Self { error, again: Again::BackOff }
    }
}

/// Who was asked for what: the words that messages need.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) kind: ProviderKind,
    pub(crate) address: Address,
    pub(crate) key: Option<Key>,
    /// Empty when the question was not about one model.
    pub(crate) model: String,
}

impl Asked {
    /// The server, in a message.
    pub(crate) fn server(&self) -> &str {
        self.address.origin()
    }

    /// Some servers repeat the key in their answer.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }
}
