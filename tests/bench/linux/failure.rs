//! Why something could not be measured: in words, for whoever started it.

use std::fmt;

/// What became of something that can fail.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// Why it failed. Made from any error by `?`.
#[derive(Debug)]
pub(crate) struct Failure(String);

/// A failure in these words.
pub(crate) fn failure(words: impl Into<String>) -> Failure {
    Failure(words.into())
}

/// The same failure, with what was tried in front.
pub(crate) fn tried<T, E: std::fmt::Display>(what: &str, done: Result<T, E>) -> Outcome<T> {
    done.map_err(|error| Failure(format!("{what}: {error}")))
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
