//! A request as it came, with easy ways to look into it in either format.

use serde::Serialize;
use serde_json::Value;
use std::time::Instant;

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    Openai,
}

/// One request for an answer.
#[derive(Clone, Debug)]
pub struct CapturedRequest {
    /// Its number, from 0 on, in the order of arrival.
    pub index: usize,
    /// Its format.
    pub wire: Wire,
    /// In lower case, in their order.
    pub headers: Vec<(String, String)>,
    /// The body; null if it is not JSON.
    pub body: Value,
    /// The body as it came.
    pub raw: Vec<u8>,
    /// The agent whose script answered.
    pub agent: Option<String>,
    /// The number of the conversation it belongs to, from 0 on.
    pub conversation: usize,
    /// When its last byte had come.
    pub received_at: Instant,
    /// When the first byte of the answer was given to the system.
    pub first_byte_at: Option<Instant>,
    /// When the last byte of the answer was given to the system.
    pub last_byte_at: Option<Instant>,
    /// When the client closed the connection before the answer was whole.
    pub closed_at: Option<Instant>,
}

/// A result of a tool, as a request brings it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentResult {
    /// The call.
    pub id: String,
    /// The text.
    pub content: String,
    /// Marked as an error (Anthropic only).
    pub is_error: bool,
}

impl CapturedRequest {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The model that is asked for.
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// The system prompt, its blocks joined by blank lines.
    pub fn system(&self) -> String {
        match self.wire {
            Wire::Anthropic => texts_of(&self.body["system"]).join("\n\n"),
            Wire::Openai => {
                let system = self.messages().iter().filter(|m| is_role(m, &["system", "developer"]));
                system.flat_map(|message| texts_of(&message["content"])).collect::<Vec<_>>().join("\n\n")
            }
        }
    }

    /// The messages as they are.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The texts of all user messages, in order, without results of tools.
    pub fn user_texts(&self) -> Vec<String> {
        self.messages()
            .iter()
            .filter(|m| is_role(m, &["user"]))
            .flat_map(|m| texts_of(&m["content"]))
            .collect()
    }

    /// The last of them.
    pub fn last_user_text(&self) -> Option<String> {
        self.user_texts().pop()
    }

    /// The texts of all assistant messages, in order.
    pub fn assistant_texts(&self) -> Vec<String> {
        let own = self.messages().iter().filter(|m| is_role(m, &["assistant"]));
        own.flat_map(|m| texts_of(&m["content"])).collect()
    }

    /// How many answers it brings back: the number of the turn that it asks for.
    pub fn turn(&self) -> usize {
        self.messages().iter().filter(|m| is_role(m, &["assistant"])).count()
    }

    /// The names of the offered tools, in order.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let named = tools.iter().map(|tool| match self.wire {
            Wire::Anthropic => &tool["name"],
            Wire::Openai => &tool["function"]["name"],
        });
        named.filter_map(Value::as_str).collect()
    }

    /// All results of tools that it brings, in order.
    pub fn results(&self) -> Vec<SentResult> {
        match self.wire {
            Wire::Anthropic => self
                .messages()
                .iter()
                .filter_map(|message| message["content"].as_array())
                .flatten()
                .filter(|block| block["type"] == "tool_result")
                .map(|block| SentResult {
                    id: block["tool_use_id"].as_str().unwrap_or_default().into(),
                    content: texts_of(&block["content"]).join("\n"),
                    is_error: block["is_error"] == true,
                })
                .collect(),
            Wire::Openai => self
                .messages()
                .iter()
                .filter(|message| is_role(message, &["tool"]))
                .map(|message| SentResult {
                    id: message["tool_call_id"].as_str().unwrap_or_default().into(),
                    content: texts_of(&message["content"]).join("\n"),
                    is_error: false,
                })
                .collect(),
        }
    }

    /// The last result of a tool.
    pub fn last_result(&self) -> Option<SentResult> {
        self.results().pop()
    }
}

fn is_role(message: &Value, roles: &[&str]) -> bool {
    message["role"].as_str().is_some_and(|role| roles.contains(&role))
}

/// A string, or the text blocks of an array.
pub(crate) fn texts_of(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks
            .iter()
            .filter(|block| block["type"] == "text")
            .filter_map(|block| block["text"].as_str())
            .map(str::to_owned)
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}
