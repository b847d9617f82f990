//! Reasoning beside the text of an answer: under two names, or as a list of fragments that must be given back.

use serde_json::{Map, Value, json};

/// The reasoning of one answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reasoning {
    pub(super) text: String,
    pub(super) details: Vec<Value>,
}

impl Reasoning {
    /// The text that a delta adds: vLLM and others use either name (vllm-project/vllm#51641).
    pub(super) fn text_in(delta: &Value) -> &str {
        let text = |key: &str| delta[key].as_str().filter(|text| !text.is_empty());
        text("reasoning_content").or_else(|| text("reasoning")).unwrap_or_default()
    }

    /// Adds the list fragments of a delta: those of one index are one item.
    pub(super) fn add_details(&mut self, delta: &Value) {
        for fragment in delta["reasoning_details"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let same = |item: &&mut Value| {
                !fragment["index"].is_null()
                    && item["index"] == fragment["index"]
                    && item["type"] == fragment["type"]
            };
            match self.details.iter_mut().find(same) {
                Some(item) => grow(item, fragment),
                None => self.details.push(fragment.clone()),
            }
        }
    }

    /// As kept with the block.
    pub(super) fn to_raw(&self) -> Value {
        let mut raw = json!({"reasoning_content": self.text});
        if !self.details.is_empty() {
            raw["reasoning_details"] = Value::from(self.details.clone());
        }
        raw
    }

    /// Adds what was kept with a block.
    pub(super) fn add_raw(&mut self, raw: Option<&Value>) {
        let Some(raw) = raw else { return };
        self.text.push_str(raw["reasoning_content"].as_str().unwrap_or_default());
        self.details.extend(raw["reasoning_details"].as_array().cloned().unwrap_or_default());
    }
}

fn grow(item: &mut Value, fragment: &Value) {
    let (Some(item), Some(fragment)) = (item.as_object_mut(), fragment.as_object()) else { return };
    for (key, value) in fragment {
        grow_key(item, key, value);
    }
}

fn grow_key(item: &mut Map<String, Value>, key: &str, value: &Value) {
    let grows = matches!(key, "text" | "summary" | "data");
    match (item.get_mut(key), value) {
        (Some(Value::String(so_far)), Value::String(more)) if grows => so_far.push_str(more),
        (_, Value::Null) => {}
        _ => {
            item.insert(key.to_owned(), value.clone());
        }
    }
}
