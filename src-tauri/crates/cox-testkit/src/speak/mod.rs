//! Answers as bytes: an [`Answer`] becomes a list of [`Frame`]s, which [`crate::server`] sends.

mod anthropic;
mod openai;

use crate::answer::Answer;
use crate::captured::{CapturedRequest, Wire};
use crate::step::{Step, Tokens, Tool};
use serde_json::{Value, json};

/// Something to do while sending.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// Send this event. A token waits for its turn where the answer has a pace.
    Event {
        /// The bytes of the event, without the chunk's framing.
        bytes: Vec<u8>,
        /// It counts as a token.
        token: bool,
    },
    /// Wait at a gate.
    Gate(String),
    /// Wait for the client to go.
    Hang,
    /// Close the connection.
    Cut,
}

impl Frame {
    fn event(bytes: Vec<u8>) -> Self {
        Self::Event { bytes, token: false }
    }

    fn token(bytes: Vec<u8>) -> Self {
        Self::Event { bytes, token: true }
    }
}

/// A piece of an answer, the same for both formats.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    /// A block begins.
    Open(Kind),
    /// A fragment of the open block.
    Fragment(Kind, String),
    /// The open block ends; of thinking, its signature.
    Close(Kind),
    /// Everything else, as it is.
    Other(Step),
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Text,
    Thinking { signature: String },
    Redacted { data: String },
    Tool { id: String, name: String },
}

impl Kind {
    fn goes_on_with(&self, next: &Self) -> bool {
        match (self, next) {
            (Self::Text, Self::Text) => true,
            (Self::Thinking { .. }, Self::Thinking { .. }) => true,
            (Self::Text | Self::Thinking { .. } | Self::Redacted { .. } | Self::Tool { .. }, _) => false,
        }
    }
}

/// The frames of an answer in the format of the request.
pub fn frames(answer: &Answer, request: &CapturedRequest) -> Vec<Frame> {
    match request.wire {
        Wire::Anthropic => anthropic::frames(answer, request),
        Wire::Openai => openai::frames(answer, request),
    }
}

/// The body of an error in the words of a format.
pub fn error_body(wire: Wire, kind: &str, message: &str, status: u16) -> Value {
    match wire {
        Wire::Anthropic => {
            json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_test"})
        }
        Wire::Openai => json!({"error": {"message": message, "type": kind, "code": status}}),
    }
}

/// The list of models in a format.
pub fn models_body(wire: Wire, models: &[String]) -> Value {
    match wire {
        Wire::Anthropic => json!({
            "data": models.iter().map(|id| json!({
                "type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z",
            })).collect::<Vec<_>>(),
            "has_more": false,
            "first_id": models.first(),
            "last_id": models.last(),
        }),
        Wire::Openai => json!({
            "object": "list",
            "data": models.iter().map(|id| json!({
                "id": id, "object": "model", "created": 1_767_225_600, "owned_by": "testkit",
            })).collect::<Vec<_>>(),
        }),
    }
}

/// The counts that an answer reports: as scripted, or estimated.
fn tokens(answer: &Answer, request: &CapturedRequest) -> Tokens {
    answer.usage.unwrap_or_else(|| {
        let output: usize = answer.steps.iter().map(|step| fragments(step).len()).sum();
        Tokens { input: request.raw.len() as u64 / 4 + 1, output: output as u64, ..Tokens::default() }
    })
}

/// The steps of an answer as blocks. `prefix`: what a made id begins with.
fn pieces(answer: &Answer, request: &CapturedRequest, prefix: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut open: Option<Kind> = None;
    let mut calls = 0;
    for step in &answer.steps {
        let kind = match step {
            Step::Text(_) => Kind::Text,
            Step::Thinking(thinking) => Kind::Thinking { signature: thinking.signature.clone() },
            Step::RedactedThinking(data) => Kind::Redacted { data: data.clone() },
            Step::Tool(tool) => {
                calls += 1;
                Kind::Tool { id: id_of(tool, request, prefix, calls), name: tool.name.clone() }
            }
            Step::Break => {
                pieces.extend(open.take().map(Piece::Close));
                continue;
            }
            Step::Gate(_) | Step::Ping | Step::Error(_) | Step::Raw(_) | Step::Hang | Step::Cut => {
                pieces.push(Piece::Other(step.clone()));
                continue;
            }
        };
        match &mut open {
            // Of thinking in several steps, the last signature counts.
            Some(before) if before.goes_on_with(&kind) => *before = kind,
            _ => {
                pieces.extend(open.replace(kind.clone()).map(Piece::Close));
                pieces.push(Piece::Open(kind));
            }
        }
        let kind = open.clone().unwrap_or(Kind::Text);
        pieces.extend(fragments(step).into_iter().map(|text| Piece::Fragment(kind.clone(), text)));
    }
    pieces.extend(open.map(Piece::Close));
    pieces
}

fn id_of(tool: &Tool, request: &CapturedRequest, prefix: &str, call: usize) -> String {
    if tool.id.is_empty() { format!("{prefix}_{}_{call}", request.index) } else { tool.id.clone() }
}

/// What a step says, in the fragments in which it is sent.
fn fragments(step: &Step) -> Vec<String> {
    match step {
        Step::Text(text) => words(text),
        Step::Thinking(thinking) => words(&thinking.text),
        Step::Tool(tool) => {
            let text = arguments(tool);
            let size = if tool.fragment == 0 { 12 } else { tool.fragment };
            let characters: Vec<char> = text.chars().collect();
            characters.chunks(size).map(|piece| piece.iter().collect()).collect()
        }
        Step::RedactedThinking(_) | Step::Gate(_) | Step::Break | Step::Ping | Step::Error(_) => Vec::new(),
        Step::Raw(_) | Step::Hang | Step::Cut => Vec::new(),
    }
}

/// The arguments of a call as text.
pub(crate) fn arguments(tool: &Tool) -> String {
    match (&tool.raw, &tool.input) {
        (Some(raw), _) => raw.clone(),
        (None, Value::Null) => "{}".into(),
        (None, input) => input.to_string(),
    }
}

/// A text in words, each with the blanks after it.
fn words(text: &str) -> Vec<String> {
    text.split_inclusive(char::is_whitespace).map(str::to_owned).collect()
}
