//! Caps on what a model gets to read, and how a cut is shown.

use serde_json::Value;

/// The first `max` characters, with an ellipsis where something is cut.
pub(crate) fn head(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

/// Cuts the middle out of a text that has more than `max` characters. Returns the text and how many characters
/// are gone; zero: nothing was cut. `note` gets that number, and says what stands in the gap.
pub(crate) fn middle(text: &str, max: usize, note: impl Fn(usize) -> String) -> (String, usize) {
    let count = text.chars().count();
    if count <= max {
        return (text.to_owned(), 0);
    }
    let cut = count - max;
    let front = max / 2;
    let from = text.char_indices().nth(front).map_or(text.len(), |(at, _)| at);
    let to = text.char_indices().nth(front + cut).map_or(text.len(), |(at, _)| at);
    (format!("{}\n{}\n{}", &text[..from], note(cut), &text[to..]), cut)
}

/// A path as written in a result: as it is, or as a JSON string where it holds control characters.
pub(crate) fn path(path: &str) -> String {
    if path.chars().any(char::is_control) { Value::from(path).to_string() } else { path.to_owned() }
}

/// `1 file`, `2 files`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
