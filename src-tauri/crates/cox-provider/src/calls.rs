//! Calls of tools as models write them: their arguments, ids and names made usable, without ever guessing.

use cox_protocol::entry::Entry;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// The arguments of a call, and the text they came as when it can't be used. `cut`: the answer was cut in this
/// call, so that no text at all does not mean "no arguments".
pub(crate) fn arguments(text: &str, cut: bool) -> (Value, Option<String>) {
    let none = || Value::Object(Map::new());
    if text.trim().is_empty() {
        return (none(), cut.then(|| text.to_owned()));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => (Value::Object(map), None),
        Ok(Value::Null) => (none(), None),
        Ok(_) | Err(_) => (none(), Some(text.to_owned())),
    }
}

/// Do the arguments stand as a whole?
pub(crate) fn is_complete(text: &str) -> bool {
    matches!(serde_json::from_str(text), Ok(Value::Object(_)))
}

/// Gives out ids of calls that are unique in the transcript. Some servers send none, or the same ones every turn.
pub(crate) struct Ids {
    taken: HashSet<String>,
    seed: String,
}

impl Ids {
    /// `seed` differs from turn to turn: the hash of the messages does.
    pub(crate) fn new(entries: &[Arc<Entry>], seed: &str) -> Self {
        let taken = entries.iter().flat_map(|entry| entry.calls().map(|call| call.id.clone())).collect();
        Self { taken, seed: seed.chars().take(16).collect() }
    }

    /// The given id, or a made one when it is empty or taken.
    pub(crate) fn claim(&mut self, given: &str) -> String {
        let mut id = given.to_owned();
        let mut number = self.taken.len();
        while id.is_empty() || self.taken.contains(&id) {
            id = format!("call_{}_{number}", self.seed);
            number += 1;
        }
        self.taken.insert(id.clone());
        id
    }
}

/// A name or an id as every server takes it: letters, digits, `_` and `-`, at most 64. A model may write anything.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let fits = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '_' | '-');
    if text.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    if text.len() <= 64 && text.chars().all(fits) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|ch| if fits(ch) { ch } else { '_' }).take(64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // W19, WIRE.md 3
    #[test]
    fn arguments_are_an_object_or_nothing() {
        let bad = |text: &str| (json!({}), Some(text.to_owned()));
        assert_eq!(arguments(r#"{"a":1}"#, false), (json!({"a": 1}), None));
        assert_eq!(arguments("", false), (json!({}), None));
        assert_eq!(arguments("null", false), (json!({}), None));
        assert_eq!(arguments("", true), bad(""));
        for text in [r#"{"a":"#, "[1]", r#""{}""#, "{}{}", "7"] {
            assert_eq!(arguments(text, false), bad(text));
        }
    }

    #[test]
    fn ids_are_unique() {
        let mut ids = Ids { taken: ["a".to_owned()].into(), seed: "seed".into() };
        assert_eq!(
            ["a", "b", "", "b", ""].map(|id| ids.claim(id)),
            ["call_seed_1", "b", "call_seed_3", "call_seed_4", "call_seed_5"]
        );
    }

    #[test]
    fn names_are_plain() {
        assert_eq!(["Read", "a b/ü", ""].map(plain), ["Read", "a_b__", "unnamed"]);
        assert_eq!(plain(&"x".repeat(65)).len(), 64);
    }
}
