//! Fragments in, calls out: the accumulator contract of WIRE.md 3, which holds for every server.
//!
//! 1. A fragment belongs to the newest slot of its index, or of its place in the list when it has no index
//! 2. It opens a new slot instead when its id is another than the slot's, or when it brings a name although the slot
//!    is named and its arguments are whole
//! 3. Id and name are set once; an empty one never overwrites
//! 4. Arguments are appended when they are text, serialised when they are an object
//! 5. Keys that are not known here are kept for the server that sent them

use crate::calls::is_complete;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// One call in progress.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Slot {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) extra: Map<String, Value>,
}

/// All calls of an answer, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Slots {
    pub(super) all: Vec<Slot>,
    newest: HashMap<u64, usize>,
}

/// What a fragment did.
#[derive(Debug, PartialEq)]
pub(super) struct Grown {
    /// Which slot it went to.
    pub(super) slot: usize,
    /// It opened it.
    pub(super) opened: bool,
    /// What it added to the arguments.
    pub(super) text: String,
}

impl Slots {
    /// Takes a fragment at a place of a list of fragments.
    pub(super) fn take(&mut self, place: usize, fragment: &Value) -> Grown {
        let key = fragment["index"].as_u64().unwrap_or(place as u64);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (id, name) = (text(&fragment["id"]), text(&fragment["function"]["name"]));
        let known = self
            .newest
            .get(&key)
            .copied()
            .filter(|at| self.all.get(*at).is_some_and(|slot| !slot.is_over(&id, &name)));
        let opened = known.is_none();
        let at = known.unwrap_or_else(|| {
            self.all.push(Slot::default());
            self.newest.insert(key, self.all.len() - 1);
            self.all.len() - 1
        });
        let text = match &fragment["function"]["arguments"] {
            Value::String(text) => text.clone(),
            Value::Object(map) => Value::Object(map.clone()).to_string(),
            _ => String::new(),
        };
        if let Some(slot) = self.all.get_mut(at) {
            slot.grow(id, name, &text, fragment);
        }
        Grown { slot: at, opened, text }
    }
}

impl Slot {
    fn is_over(&self, id: &str, name: &str) -> bool {
        if !id.is_empty() && !self.id.is_empty() {
            return id != self.id;
        }
        !name.is_empty() && !self.name.is_empty() && is_complete(&self.arguments)
    }

    fn grow(&mut self, id: String, name: String, text: &str, fragment: &Value) {
        if self.id.is_empty() {
            self.id = id;
        }
        if self.name.is_empty() {
            self.name = name;
        }
        self.arguments.push_str(text);
        for (key, value) in fragment.as_object().into_iter().flatten() {
            if !matches!(key.as_str(), "index" | "id" | "type" | "function") && !value.is_null() {
                self.extra.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Each delta is a list of fragments; the calls as `id name arguments`.
    fn check(deltas: &[Value], expect: &[&str]) {
        let mut slots = Slots::default();
        for delta in deltas {
            for (place, fragment) in delta.as_array().unwrap().iter().enumerate() {
                slots.take(place, fragment);
            }
        }
        let calls: Vec<String> =
            slots.all.iter().map(|slot| format!("{} {} {}", slot.id, slot.name, slot.arguments)).collect();
        assert_eq!(calls, expect);
    }

    fn whole(index: Option<u64>, id: &str, name: &str, arguments: Value) -> Value {
        let mut call =
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
        if let Some(index) = index {
            call["index"] = index.into();
        }
        call
    }

    fn more(index: u64, arguments: &str) -> Value {
        json!({"index": index, "function": {"arguments": arguments}})
    }

    #[test]
    fn pieces_by_index() {
        let first = json!([whole(Some(0), "a", "Read", json!("{")), whole(Some(1), "b", "Glob", json!(""))]);
        check(
            &[first, json!([more(1, "{}"), more(0, "\"p\":")]), json!([more(0, "1}")])],
            &[r#"a Read {"p":1}"#, "b Glob {}"],
        );
    }

    // ollama/ollama#7881: parallel calls all have index 0, or none, and come whole
    #[test]
    fn parallel_calls_under_one_index() {
        let calls = |index, ids: [&str; 2]| {
            [
                json!([whole(index, ids[0], "Read", json!("{\"p\":1}"))]),
                json!([whole(index, ids[1], "Read", json!("{\"p\":2}"))]),
            ]
        };
        check(&calls(Some(0), ["a", "b"]), &[r#"a Read {"p":1}"#, r#"b Read {"p":2}"#]);
        check(&calls(Some(0), ["", ""]), &[r#" Read {"p":1}"#, r#" Read {"p":2}"#]);
        check(&calls(None, ["", ""]), &[r#" Read {"p":1}"#, r#" Read {"p":2}"#]);
        check(
            &[Value::from(calls(None, ["", ""]).concat_lists())],
            &[r#" Read {"p":1}"#, r#" Read {"p":2}"#],
        );
    }

    trait Concat {
        fn concat_lists(&self) -> Vec<Value>;
    }
    impl Concat for [Value; 2] {
        fn concat_lists(&self) -> Vec<Value> {
            self.iter().flat_map(|list| list.as_array().unwrap().clone()).collect()
        }
    }

    #[test]
    fn arguments_as_an_object() {
        check(&[json!([whole(None, "a", "Read", json!({"p": 1}))])], &[r#"a Read {"p":1}"#]);
    }

    // lmstudio-ai/lmstudio-bug-tracker#649, BerriAI/litellm PR 36700: later fragments with empty id and name
    #[test]
    fn empty_names_and_ids_never_overwrite() {
        let later = |text: &str| json!([{"index": 0, "id": "", "function": {"name": "", "arguments": text}}]);
        check(
            &[json!([whole(Some(0), "a", "Read", json!(""))]), later("{\"p\""), later(":1}"), later("")],
            &[r#"a Read {"p":1}"#],
        );
    }

    #[test]
    fn the_name_may_be_repeated_while_the_arguments_grow() {
        let part = |text: &str| json!([whole(Some(0), "a", "Read", json!(text))]);
        check(&[part("{\"p\""), part(":1}"), part("")], &[r#"a Read {"p":1}"#]);
        let part = |text: &str| json!([whole(Some(0), "", "Read", json!(text))]);
        check(&[part("{\"p\""), part(":1}")], &[r#" Read {"p":1}"#]);
    }

    // googleapis/python-genai#2868
    #[test]
    fn unknown_keys_are_kept() {
        let mut slots = Slots::default();
        let signature = json!({"google": {"thought_signature": "x"}});
        slots.take(0, &json!({"id": "a", "function": {"name": "Read"}, "extra_content": signature}));
        assert_eq!(Value::Object(slots.all[0].extra.clone()), json!({"extra_content": signature}));
    }
}
