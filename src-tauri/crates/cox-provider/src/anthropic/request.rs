//! From a [`ModelRequest`] to the body of a request.
//!
//! The parts are written once, as text, so that they can be hashed without cache markers and sent with them. Markers
//! (at most 4, WIRE.md 1.5): after the tools, after the system prompt, which is directly before a worker's task
//! text (N37), and two that move: at the end, and where the request before this one ended, since the server looks
//! back only about 20 blocks from a marker.

use super::NAME;
use crate::calls::plain;
use crate::door::ModelRequest;
use crate::history::{Outcome, Turn, own, spoken, turns};
use crate::models::{self, Thinking};
use crate::prefix;
use cox_protocol::entry::{Block, ToolCall};
use cox_protocol::event::{PrefixMark, PrefixPart};
use cox_protocol::settings::ProviderKind;
use serde_json::{Value, json};

/// A request ready to be sent.
pub(super) struct Wire {
    pub(super) body: String,
    pub(super) mark: PrefixMark,
    pub(super) moved: Option<PrefixPart>,
}

struct Message {
    role: &'static str,
    blocks: Vec<String>,
}

/// Smallest thinking budget that servers take.
const LEAST_BUDGET: u32 = 1024;
/// Where even the fallback row names no limit, the format still wants one.
const SOME_OUTPUT: u32 = 8192;

/// Writes the request.
pub(super) fn write(request: &ModelRequest) -> Wire {
    let tools: Vec<String> = request
        .tools
        .iter()
        .map(|tool| {
            json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema})
                .to_string()
        })
        .collect();
    let messages = messages(request);
    let plain: Vec<String> = messages.iter().map(|message| message.text(false)).collect();
    let (mark, moved) = prefix::mark(
        &tools.join(","),
        &request.system,
        plain.iter().map(String::as_str),
        request.last.as_ref(),
    );
    Wire { body: body(request, tools, &messages, plain), mark, moved }
}

fn body(
    request: &ModelRequest,
    mut tools: Vec<String>,
    messages: &[Message],
    mut texts: Vec<String>,
) -> String {
    let model = models::lookup(ProviderKind::Anthropic, &request.model);
    let max_tokens = request.max_tokens.or(model.output).unwrap_or(SOME_OUTPUT);
    for at in marked(messages) {
        texts[at] = messages[at].text(true);
    }
    let mut body = format!(
        r#"{{"model":{},"max_tokens":{max_tokens},"stream":true"#,
        Value::from(request.model.as_str())
    );
    if let Some(thinking) = thinking(&model.thinking, max_tokens) {
        body.push_str(&format!(r#","thinking":{thinking}"#));
    }
    if let Some(last) = tools.last_mut() {
        put_marker(last);
        body.push_str(&format!(r#","tools":[{}]"#, tools.join(",")));
    }
    if !request.system.trim().is_empty() {
        let mut system = json!({"type": "text", "text": request.system.as_ref()}).to_string();
        put_marker(&mut system);
        body.push_str(&format!(r#","system":[{system}]"#));
    }
    body.push_str(&format!(r#","messages":[{}]}}"#, texts.join(",")));
    body
}

fn thinking(capability: &Thinking, max_tokens: u32) -> Option<Value> {
    match capability {
        Thinking::None => None,
        Thinking::Adaptive { display: None } => Some(json!({"type": "adaptive"})),
        Thinking::Adaptive { display: Some(display) } => {
            Some(json!({"type": "adaptive", "display": display}))
        }
        Thinking::Enabled { budget } => {
            let budget = if *budget < max_tokens { *budget } else { max_tokens / 2 };
            (budget >= LEAST_BUDGET).then(|| json!({"type": "enabled", "budget_tokens": budget}))
        }
    }
}

fn messages(request: &ModelRequest) -> Vec<Message> {
    let mut messages = Vec::new();
    for turn in turns(&request.entries) {
        let (role, blocks) = match turn {
            Turn::User(text) => ("user", vec![text_block(&text)]),
            Turn::Assistant(blocks) => {
                ("assistant", blocks.iter().filter_map(|block| answer_block(block, &request.model)).collect())
            }
            Turn::Results(outcomes) => ("user", outcomes.iter().map(result_block).collect()),
        };
        if !blocks.is_empty() {
            messages.push(Message { role, blocks });
        }
    }
    messages
}

fn answer_block(block: &Block, model: &str) -> Option<String> {
    match block {
        Block::Text { text } => spoken(text).map(|text| text_block(&text)),
        // Without its signature, or for another model, the server refuses it (WIRE.md 1.4).
        Block::Thinking { raw, .. } => own(raw.as_ref(), NAME, model).map(Value::to_string),
        Block::Opaque { raw } => own(Some(raw), NAME, model).map(Value::to_string),
        Block::ToolCall { call } => Some(call_block(call, model)),
    }
}

fn text_block(text: &str) -> String {
    json!({"type": "text", "text": text}).to_string()
}

fn call_block(call: &ToolCall, model: &str) -> String {
    let input = if call.input.is_object() { call.input.clone() } else { json!({}) };
    let mut block =
        json!({"type": "tool_use", "id": plain(&call.id), "name": plain(&call.name), "input": input});
    if let (Some(Value::Object(extra)), Value::Object(block)) =
        (own(call.raw.as_ref(), NAME, model), &mut block)
    {
        block.extend(extra.clone());
    }
    block.to_string()
}

fn result_block(outcome: &Outcome<'_>) -> String {
    let mut block =
        json!({"type": "tool_result", "tool_use_id": plain(outcome.call_id), "content": outcome.content});
    if outcome.error {
        block["is_error"] = Value::Bool(true);
    }
    block.to_string()
}

/// The messages that get a marker: the last, and the one that was last in the request before.
fn marked(messages: &[Message]) -> Vec<usize> {
    let last = messages.len().checked_sub(1);
    let answer = messages.iter().rposition(|message| message.role == "assistant");
    let before = answer.and_then(|answer| answer.checked_sub(1));
    [before, last].into_iter().flatten().filter(|at| messages[*at].can_be_marked()).collect()
}

impl Message {
    /// Thinking can't carry a marker, and blocks that are kept verbatim are left alone.
    fn can_be_marked(&self) -> bool {
        let kinds = [r#"{"type":"text""#, r#"{"type":"tool_use""#, r#"{"type":"tool_result""#];
        self.blocks.last().is_some_and(|block| kinds.iter().any(|kind| block.starts_with(kind)))
    }

    fn text(&self, marked: bool) -> String {
        let mut content = self.blocks.join(",");
        if marked {
            put_marker(&mut content);
        }
        format!(r#"{{"role":"{}","content":[{content}]}}"#, self.role)
    }
}

/// Puts a cache marker into the object that the text ends with.
fn put_marker(text: &mut String) {
    text.truncate(text.len().saturating_sub(1));
    text.push_str(r#","cache_control":{"type":"ephemeral"}}"#);
}
