//! A block in progress: how it begins and how it grows. Every piece of it is handed out as it comes.

use crate::door::ModelEvent;
use crate::flow::Out;
use cox_protocol::view::PartialKind;
use serde_json::Value;

/// A block that has begun and not stopped.
pub(super) struct Open {
    /// Its place in the answer.
    pub(super) block: u32,
    pub(super) what: What,
}

/// What it is, as far as it has come.
pub(super) enum What {
    Text(String),
    /// The block itself, which grows and is replayed verbatim.
    Thinking(Value),
    Call {
        start: Value,
        json: String,
    },
    /// A kind of block that came later than this: it grows as it can, and is replayed verbatim.
    Unknown {
        start: Value,
        json: String,
    },
}

impl Open {
    /// Begins a block.
    pub(super) fn new(block: u32, start: Value, out: &Out) -> Self {
        let what = match start["type"].as_str() {
            Some("text") => {
                let text = start["text"].as_str().unwrap_or_default().to_owned();
                if !text.is_empty() {
                    delta(out, block, PartialKind::Text, "", &text);
                }
                What::Text(text)
            }
            Some("thinking") => What::Thinking(start),
            Some("tool_use") => {
                // An empty piece shows the call before its arguments, which may be long, or none.
                delta(out, block, PartialKind::Call, start["name"].as_str().unwrap_or_default(), "");
                What::Call { start, json: String::new() }
            }
            _ => What::Unknown { start, json: String::new() },
        };
        Self { block, what }
    }

    /// Takes a piece.
    pub(super) fn grow(&mut self, piece: &Value, out: &Out) {
        let text = |key: &str| piece[key].as_str().unwrap_or_default();
        match (&mut self.what, piece["type"].as_str().unwrap_or_default()) {
            (What::Text(so_far), "text_delta") => {
                so_far.push_str(text("text"));
                delta(out, self.block, PartialKind::Text, "", text("text"));
            }
            (What::Thinking(thinking), "thinking_delta") => {
                append(thinking, "thinking", text("thinking"));
                delta(out, self.block, PartialKind::Thinking, "", text("thinking"));
            }
            (What::Thinking(thinking), "signature_delta") => append(thinking, "signature", text("signature")),
            (What::Call { start, json }, "input_json_delta") => {
                json.push_str(text("partial_json"));
                if !text("partial_json").is_empty() {
                    let tool = start["name"].as_str().unwrap_or_default();
                    delta(out, self.block, PartialKind::Call, tool, text("partial_json"));
                }
            }
            (What::Unknown { json, .. }, "input_json_delta") => json.push_str(text("partial_json")),
            (What::Unknown { start, .. }, _) => merge(start, piece),
            _ => {} // Citations, and kinds of pieces that came later than this.
        }
    }
}

fn delta(out: &Out, block: u32, kind: PartialKind, tool: &str, text: &str) {
    out.push(ModelEvent::Delta { block, kind, tool: tool.to_owned(), text: text.to_owned() });
}

fn append(value: &mut Value, key: &str, text: &str) {
    match &mut value[key] {
        Value::String(so_far) => so_far.push_str(text),
        other => *other = Value::from(text),
    }
}

/// Grows a block of an unknown kind by a piece of an unknown kind: texts are appended, all else is set.
fn merge(block: &mut Value, piece: &Value) {
    let Some(piece) = piece.as_object().filter(|_| block.is_object()) else { return };
    for (key, value) in piece.iter().filter(|(key, _)| *key != "type") {
        match value {
            Value::String(text) => append(block, key, text),
            other => block[key.as_str()] = other.clone(),
        }
    }
}
