//! Is a request one that a real server would take, and one that an agent may send?
//!
//! Checked: the JSON's shape, calls paired with results, the order of messages, no empty content, and that what
//! was sent before stays as it was ([`conversation`]).

pub(crate) mod anthropic;
pub mod conversation;
pub(crate) mod openai;
mod pairing;

use crate::captured::{CapturedRequest, Wire};
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// Something that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The request's number.
    pub request: usize,
    /// What kind of thing.
    pub kind: ProblemKind,
    /// What exactly.
    pub message: String,
}

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The JSON is not as the format wants it.
    Shape,
    /// A call without its result, or a result without its call.
    Pairing,
    /// Messages, results or blocks in the wrong order.
    Order,
    /// Content without anything in it.
    Empty,
    /// Tools, system prompt or earlier messages are not what they were in the request before.
    Prefix,
    /// The script has no answer for it.
    Script,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {}: {:?}: {}", self.request, self.kind, self.message)
    }
}

/// Collects what is wrong with one request.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) list: Vec<(ProblemKind, String)>,
}

impl Findings {
    pub(crate) fn add(&mut self, kind: ProblemKind, message: impl Into<String>) {
        self.list.push((kind, message.into()));
    }

    pub(crate) fn filled(&mut self, ok: bool, message: impl Into<String>) {
        if !ok {
            self.add(ProblemKind::Empty, message);
        }
    }

    pub(crate) fn shape(&mut self, ok: bool, message: impl Into<String>) {
        if !ok {
            self.add(ProblemKind::Shape, message);
        }
    }
}

/// What is wrong with a request by itself, whatever came before it. `paused`: the last answer of its
/// conversation was a pause, after which a history may end with the answer.
pub(crate) fn alone(request: &CapturedRequest, paused: bool) -> Vec<(ProblemKind, String)> {
    let mut findings = Findings::default();
    if !request.body.is_object() {
        findings.add(ProblemKind::Shape, "the body is not a JSON object");
        return findings.list;
    }
    findings.shape(
        request.header("content-type").is_some_and(|value| value.starts_with("application/json")),
        "the content type is not application/json",
    );
    findings.shape(!request.model().is_empty(), "there is no model");
    findings.shape(request.body["stream"] == true, "it does not ask for a stream");
    findings.shape(!request.messages().is_empty(), "there are no messages");
    match request.wire {
        Wire::Anthropic => anthropic::check(request, paused, &mut findings),
        Wire::Openai => openai::check(request, paused, &mut findings),
    }
    findings.list
}

/// A string that holds more than blanks.
pub(crate) fn has_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// A name as tools may have it.
pub(crate) fn is_name(value: &Value) -> bool {
    value.as_str().is_some_and(|name| {
        (1..=128).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    })
}

/// Names that are there twice.
pub(crate) fn check_tool_names(request: &CapturedRequest, findings: &mut Findings) {
    let mut names = request.tools();
    names.sort_unstable();
    for pair in names.windows(2) {
        findings.shape(pair[0] != pair[1], format!("the tool `{}` is offered twice", pair[0]));
    }
}
