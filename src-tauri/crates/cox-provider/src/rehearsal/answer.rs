//! An answer before it is streamed, and the calls that it may hold.

use cox_protocol::entry::{Block, Entry, StopReason, ToolCall};
use serde_json::{Value, json};
use std::sync::Arc;

/// A call before it has an id.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) tool: &'static str,
    pub(super) input: Value,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
}

/// What has to be called before a task can go on, and what to say about it. The error side of every step's result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Work {
    pub(super) say: String,
    pub(super) calls: Vec<Call>,
}

/// The first sentence of an answer that stands alone.
pub(super) fn opening(rest: &str) -> String {
    format!("Rehearsal: I follow fixed rules and did not act on the request itself. {rest}")
}

/// The beginning of an answer on the way.
pub(super) fn in_brief(rest: &str) -> String {
    format!("Rehearsal (fixed rules, not your request): {rest}")
}

impl Answer {
    /// Text alone: the turn ends.
    pub(super) fn last_word(text: String) -> Self {
        Self { text, calls: Vec::new() }
    }

    /// Why the model stops.
    pub(super) fn stop(&self) -> StopReason {
        if self.calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse }
    }

    /// The blocks, with ids for the calls.
    pub(super) fn into_blocks(self, entries: &[Arc<Entry>]) -> Vec<Block> {
        let place = Place::at_end_of(entries);
        let mut blocks = vec![Block::Text { text: self.text }];
        for (at, call) in self.calls.into_iter().enumerate() {
            let id = place.id(at, &call);
            blocks.push(Block::ToolCall {
                call: ToolCall {
                    id,
                    name: call.tool.to_owned(),
                    input: call.input,
                    invalid: None,
                    raw: None,
                },
            });
        }
        blocks
    }
}

/// A position in a history. An id comes from its hash: no counter and no clock, and yet unique in the transcript,
/// since a history only grows. The first entry keeps the workers of a session apart.
struct Place(blake3::Hasher);

impl Place {
    fn at_end_of(entries: &[Arc<Entry>]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(entries.len() as u64).to_le_bytes());
        if let Some(Entry::User { text, .. }) = entries.first().map(Arc::as_ref) {
            hasher.update(text.as_bytes());
        }
        Self(hasher)
    }

    fn id(&self, at: usize, call: &Call) -> String {
        let mut hasher = self.0.clone();
        hasher.update(&(at as u64).to_le_bytes());
        hasher.update(call.tool.as_bytes());
        hasher.update(call.input.to_string().as_bytes());
        format!("call_{}", &hasher.finalize().to_hex()[..20])
    }
}

/// Files by name: `path` is `.` for the project.
pub(super) fn glob(path: &str, pattern: &str, limit: u64) -> Call {
    Call { tool: "Glob", input: json!({ "pattern": pattern, "path": path, "limit": limit }) }
}

/// Matches in each file.
pub(super) fn grep_count(path: &str, pattern: &str, glob: Option<&str>, limit: u64) -> Call {
    grep(path, pattern, glob, "count", limit)
}

/// Matching lines.
pub(super) fn grep_lines(path: &str, pattern: &str, glob: Option<&str>, limit: u64) -> Call {
    grep(path, pattern, glob, "lines", limit)
}

fn grep(path: &str, pattern: &str, glob: Option<&str>, mode: &str, limit: u64) -> Call {
    let mut input = json!({ "pattern": pattern, "path": path, "mode": mode, "limit": limit });
    if let Some(glob) = glob {
        input["glob"] = glob.into();
    }
    Call { tool: "Grep", input }
}

/// Lines of a file, from `offset` on.
pub(super) fn read(path: &str, offset: u64, limit: u64) -> Call {
    Call { tool: "Read", input: json!({ "path": path, "offset": offset, "limit": limit }) }
}

/// A command.
pub(super) fn bash(command: &str, description: &str) -> Call {
    Call {
        tool: "Bash",
        input: json!({ "command": command, "description": description, "timeout_ms": 120_000 }),
    }
}

/// A message to a worker.
pub(super) fn send_message(to: &str, summary: &str, message: &str) -> Call {
    Call { tool: "SendMessage", input: json!({ "to": to, "summary": summary, "message": message }) }
}
