//! The runtime's own notification about a task that ended (D3), and how it is written as text.
//!
//! Envelopes are typed items. Their text form is made here and nowhere else, and everything in it that came
//! from a model, a file or a tool is escaped, so that no text can pretend to be an envelope (N1).

use crate::id::TaskId;
use crate::task::{Evidence, Outcome};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The envelope's element.
pub const TAG: &str = "task-notification";

/// What is told to a parent when one of its tasks ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct Envelope {
    /// The task.
    pub task_id: TaskId,
    /// Its name.
    pub name: String,
    /// Which of its generations.
    pub generation: u32,
    /// The call that made the task.
    pub tool_use_id: Option<String>,
    /// The JSONL export.
    pub output_file: String,
    /// How it ended.
    pub outcome: Outcome,
    /// One line for people.
    pub summary: String,
    /// The final text, capped at [`RESULT_CAP`] characters.
    pub result: Option<String>,
    /// What the runtime saw.
    pub evidence: Option<Evidence>,
    /// The context gauge, tool calls and duration.
    pub usage: Option<EnvelopeUsage>,
    /// Tasks of the same parent that have not ended (N4).
    pub still_open: Vec<TaskId>,
}

/// The usage section (B117).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct EnvelopeUsage {
    /// The context gauge (D8).
    pub total_tokens: u64,
    /// Calls that got a result.
    pub tool_uses: u32,
    /// Milliseconds.
    pub duration_ms: u64,
}

/// Characters of a final text that an envelope carries; the rest is in the output file.
pub const RESULT_CAP: usize = 32_000;

/// Escapes text for an envelope.
pub fn escape(text: &str) -> String {
    quick_xml::escape::escape(text).into_owned()
}

/// Makes envelope and runtime tags in foreign text harmless, and leaves all other text as it is.
pub fn neutralise(text: &str) -> String {
    const TAGS: [&str; 4] = ["<task-notification", "</task-notification", "<runtime-note", "</runtime-note"];
    let lower = text.to_ascii_lowercase();
    if !TAGS.iter().any(|tag| lower.contains(tag)) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (at, ch) in text.char_indices() {
        if ch == '<' && TAGS.iter().any(|tag| lower[at..].starts_with(tag)) {
            out.push_str("&lt;");
        } else {
            out.push(ch);
        }
    }
    out
}

/// Does foreign text hold a tag that only the runtime may write?
pub fn is_forged(text: &str) -> bool {
    neutralise(text) != text
}

impl Envelope {
    /// The envelope as XML, children in the order of D3.
    pub fn to_xml(&self) -> String {
        let mut out = format!("<{TAG}>\n");
        let mut line = |name: &str, value: &str| {
            out.push_str(&format!("<{name}>{}</{name}>\n", escape(value)));
        };
        line("task-id", self.task_id.as_str());
        if let Some(id) = &self.tool_use_id {
            line("tool-use-id", id);
        }
        line("output-file", &self.output_file);
        line(
            "status",
            match self.outcome {
                Outcome::Completed => "completed",
                Outcome::Failed { .. } => "failed",
                Outcome::Killed { .. } => "killed",
            },
        );
        line("summary", &self.summary);
        if let Some(result) = &self.result {
            line("result", result);
        }
        if let Some(evidence) = &self.evidence {
            line("evidence", &evidence_text(evidence));
        }
        if let Some(usage) = &self.usage {
            out.push_str(&format!(
                "<usage><total_tokens>{}</total_tokens><tool_uses>{}</tool_uses><duration_ms>{}</duration_ms></usage>\n",
                usage.total_tokens, usage.tool_uses, usage.duration_ms
            ));
        }
        if !self.still_open.is_empty() {
            let ids: Vec<&str> = self.still_open.iter().map(TaskId::as_str).collect();
            out.push_str(&format!("<still-open>{}</still-open>\n", escape(&ids.join(" "))));
        }
        out.push_str(&format!("</{TAG}>"));
        out
    }
}

/// Evidence in lines, for a model.
pub fn evidence_text(evidence: &Evidence) -> String {
    let mut lines = Vec::new();
    if evidence.tool_uses == 0 {
        lines.push("no tool was used: nothing in the result was checked".to_owned());
    } else {
        lines.push(format!("tool uses: {}", evidence.tool_uses));
    }
    for run in &evidence.commands {
        let end = match (run.exit_code, run.timed_out, run.signal) {
            (_, true, _) => "timed out".to_owned(),
            (Some(code), ..) => format!("exit {code}"),
            (None, _, Some(signal)) => format!("signal {signal}"),
            (None, _, None) => "not ended".to_owned(),
        };
        lines.push(format!("command: {} -> {end}", run.command));
    }
    for file in &evidence.files {
        let hash = file.after.as_deref().map_or("deleted", |hash| &hash[..hash.len().min(12)]);
        lines.push(format!("changed: {} +{} -{} {hash}", file.path, file.added, file.removed));
    }
    for violation in &evidence.violations {
        lines.push(format!("violation: {violation}"));
    }
    for shell in &evidence.killed_shells {
        lines.push(format!("killed at the end: {shell}"));
    }
    lines.join("\n")
}
