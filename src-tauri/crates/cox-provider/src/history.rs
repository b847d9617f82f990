//! From a transcript to what any wire format can send: turns in order, every call with its result right after it.
//!
//! The rules that all servers share are kept here, so that no server ever refuses a stored session: results of one
//! answer come together, in the order of its calls; a call without a result gets one; a result without a call is
//! dropped. Text that the runtime did not write can't look as if it had (invariant 8): only its own notes keep
//! their tags. Tool results stay as they are, since they come in a place of their own and edits quote them.

use cox_protocol::entry::{Block, Entry, ProviderRaw, ResultStatus, ToolCall, ToolResult};
use cox_protocol::envelope::neutralise;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// One turn.
#[derive(Debug, PartialEq)]
pub(crate) enum Turn<'a> {
    /// Text in the user's role.
    User(String),
    /// An answer of the model.
    Assistant(&'a [Block]),
    /// The results of the answer before, one a call, in order.
    Results(Vec<Outcome<'a>>),
}

/// The result of one call.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome<'a> {
    pub(crate) call_id: &'a str,
    pub(crate) content: Cow<'a, str>,
    pub(crate) error: bool,
}

/// The turns of a transcript.
pub(crate) fn turns(entries: &[Arc<Entry>]) -> Vec<Turn<'_>> {
    let mut turns = Vec::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        match entry.as_ref() {
            Entry::User { text, .. } => turns.push(Turn::User(filled(neutralise(text)))),
            Entry::Runtime { note } => turns.push(Turn::User(note.to_text())),
            Entry::Assistant { blocks, .. } => {
                turns.push(Turn::Assistant(blocks));
                if entry.calls().next().is_some() {
                    turns.push(Turn::Results(outcomes(entry, &entries[at + 1..])));
                }
            }
            Entry::ToolResults { .. } => {} // Taken by the answer they belong to.
        }
    }
    turns
}

fn outcomes<'a>(answer: &'a Entry, after: &'a [Arc<Entry>]) -> Vec<Outcome<'a>> {
    let mut results: HashMap<&str, &ToolResult> = HashMap::new();
    for entry in after {
        match entry.as_ref() {
            Entry::Assistant { .. } => break,
            Entry::ToolResults { results: more } => {
                results.extend(more.iter().map(|result| (result.call_id.as_str(), result)))
            }
            Entry::User { .. } | Entry::Runtime { .. } => {}
        }
    }
    answer.calls().map(|call| outcome(call, results.get(call.id.as_str()).copied())).collect()
}

fn outcome<'a>(call: &'a ToolCall, result: Option<&'a ToolResult>) -> Outcome<'a> {
    let Some(result) = result else {
        tracing::warn!(call = call.id, "a call has no result; the model is told so");
        return Outcome {
            call_id: &call.id,
            content: "There is no result of this call: it was interrupted.".into(),
            error: true,
        };
    };
    let content =
        if result.content.is_empty() { "(no output)".into() } else { Cow::Borrowed(result.content.as_str()) };
    Outcome { call_id: &call.id, content, error: result.status != ResultStatus::Ok }
}

/// Servers refuse empty text.
fn filled(text: String) -> String {
    if text.trim().is_empty() { "(an empty message)".to_owned() } else { text }
}

/// The text of an answer as it is sent back; null when there is nothing to send.
pub(crate) fn spoken(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| neutralise(text))
}

/// What may be given back verbatim: only to the wire format and the model that made it.
pub(crate) fn own<'a>(
    raw: Option<&'a ProviderRaw>,
    provider: &str,
    model: &str,
) -> Option<&'a serde_json::Value> {
    raw.filter(|raw| raw.provider == provider && raw.model == model).map(|raw| &raw.raw)
}
