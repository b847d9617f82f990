//! Standard output and standard error. The reader of a pipe may go away at any time; that ends the work, quietly.

use crate::exit::{Exit, Stop};
use std::io::Write;

/// A line on standard output.
pub(crate) fn line(text: &str) -> Result<(), Stop> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => Stop::new(Exit::PipeClosed, "standard output was closed"),
        _ => Stop::new(Exit::Failed, format!("standard output can't be written: {error}")),
    })
}

/// A value as one line of JSON on standard output.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<(), Stop> {
    let text = serde_json::to_string(value)
        .map_err(|error| Stop::new(Exit::Failed, format!("the result can't be written as JSON: {error}")))?;
    line(&text)
}

/// A line on standard error.
pub(crate) fn to_stderr(text: &str) {
    // There is nowhere left to say that this failed.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Text that came from elsewhere, without control characters that a terminal would act on.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|ch| if ch.is_control() && ch != '\n' && ch != '\t' { '\u{fffd}' } else { ch }).collect()
}
