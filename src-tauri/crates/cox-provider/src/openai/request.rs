//! From a [`ModelRequest`] to the body of a request. Caching is the server's business here: nothing is marked, and
//! the prefix stays the same byte for byte.

use super::NAME;
use super::profile::{Profile, Quirk};
use super::reasoning::Reasoning;
use crate::calls::plain;
use crate::door::ModelRequest;
use crate::history::{Turn, own, spoken, turns};
use crate::models;
use crate::prefix;
use cox_protocol::entry::{Block, ToolCall};
use cox_protocol::event::{PrefixMark, PrefixPart};
use cox_protocol::settings::ProviderKind;
use serde_json::{Map, Value, json};

/// A request ready to be sent.
pub(super) struct Wire {
    pub(super) body: String,
    pub(super) mark: PrefixMark,
    pub(super) moved: Option<PrefixPart>,
    pub(super) max_tokens: Option<u32>,
}

/// Writes the request.
pub(super) fn write(request: &ModelRequest, profile: &Profile) -> Wire {
    let tools: Vec<String> = request
        .tools
        .iter()
        .map(|tool| {
            let function =
                json!({"name": tool.name, "description": tool.description, "parameters": tool.input_schema});
            json!({"type": "function", "function": function}).to_string()
        })
        .collect();
    let tools = tools.join(",");
    let messages = messages(request, profile);
    let (mark, moved) =
        prefix::mark(&tools, &request.system, messages.iter().map(String::as_str), request.last.as_ref());
    let max_tokens = request.max_tokens.or(models::lookup(ProviderKind::Openai, &request.model).output);
    let mut body = format!(
        r#"{{"model":{},"stream":true,"stream_options":{{"include_usage":true}}"#,
        Value::from(request.model.as_str())
    );
    if let Some(max_tokens) = max_tokens {
        let name =
            if profile.has(Quirk::MaxCompletionTokens) { "max_completion_tokens" } else { "max_tokens" };
        body.push_str(&format!(r#","{name}":{max_tokens}"#));
    }
    if !tools.is_empty() {
        body.push_str(&format!(r#","tools":[{tools}]"#));
        if profile.has(Quirk::AskParallelCalls) {
            body.push_str(r#","parallel_tool_calls":true"#);
        }
    }
    let system = (!request.system.trim().is_empty())
        .then(|| json!({"role": "system", "content": request.system.as_ref()}).to_string());
    let all: Vec<String> = system.into_iter().chain(messages).collect();
    body.push_str(&format!(r#","messages":[{}]}}"#, all.join(",")));
    Wire { body, mark, moved, max_tokens }
}

fn messages(request: &ModelRequest, profile: &Profile) -> Vec<String> {
    let mut messages = Vec::new();
    for turn in turns(&request.entries) {
        match turn {
            Turn::User(text) => messages.push(json!({"role": "user", "content": text}).to_string()),
            Turn::Assistant(blocks) => messages.extend(answer(blocks, &request.model, profile)),
            Turn::Results(outcomes) => messages.extend(outcomes.iter().map(|outcome| {
                let id = plain(outcome.call_id);
                json!({"role": "tool", "tool_call_id": id, "content": outcome.content}).to_string()
            })),
        }
    }
    messages
}

fn answer(blocks: &[Block], model: &str, profile: &Profile) -> Option<String> {
    let (mut texts, mut calls, mut reasoning) = (Vec::new(), Vec::new(), Reasoning::default());
    for block in blocks {
        match block {
            Block::Text { text } => texts.extend(spoken(text)),
            Block::ToolCall { call: one } => calls.push(call(one, model)),
            Block::Thinking { raw, .. } => reasoning.add_raw(own(raw.as_ref(), NAME, model)),
            Block::Opaque { .. } => {} // This format has none.
        }
    }
    if texts.is_empty() && calls.is_empty() {
        return None;
    }
    let content = if texts.is_empty() { Value::Null } else { Value::from(texts.join("\n\n")) };
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    message.insert("content".into(), content);
    if profile.has(Quirk::ReplayReasoningDetails) && !reasoning.details.is_empty() {
        message.insert("reasoning_details".into(), reasoning.details.into());
    }
    if !calls.is_empty() {
        if profile.has(Quirk::ReplayReasoningText) {
            message.insert("reasoning_content".into(), reasoning.text.into());
        }
        message.insert("tool_calls".into(), calls.into());
    }
    Some(Value::Object(message).to_string())
}

fn call(call: &ToolCall, model: &str) -> Value {
    let arguments = if call.input.is_object() { call.input.to_string() } else { "{}".to_owned() };
    let mut value = json!({
        "id": plain(&call.id),
        "type": "function",
        "function": {"name": plain(&call.name), "arguments": arguments},
    });
    // Gemini refuses a call that lost its thought signature (earendil-works/pi#6733).
    if let (Some(Value::Object(extra)), Value::Object(value)) =
        (own(call.raw.as_ref(), NAME, model), &mut value)
    {
        value.extend(extra.clone());
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use cox_protocol::entry::{Entry, ProviderRaw, StopReason};
    use std::sync::Arc;

    fn sent(host: &str, model: &str) -> Value {
        let raw = json!({"reasoning_content": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]});
        let raw = Some(ProviderRaw { provider: NAME.into(), model: "thinker".into(), raw });
        let call =
            ToolCall { id: "c".into(), name: "Read".into(), input: json!({}), invalid: None, raw: None };
        let blocks = vec![Block::Thinking { text: "Hm.".into(), raw }, Block::ToolCall { call }];
        let answer =
            Entry::Assistant { blocks, stop: StopReason::ToolUse, model: model.into(), interrupted: false };
        let request = ModelRequest {
            model: model.into(),
            system: "".into(),
            tools: Arc::new([]),
            entries: vec![Arc::new(answer)],
            max_tokens: Some(100),
            last: None,
        };
        serde_json::from_str(&write(&request, Profile::of(host)).body).unwrap()
    }

    // Invariant 13: what must go back, and under which name, is the profile's business.
    #[test]
    fn profiles_differ_in_what_goes_back() {
        let keys = |body: &Value| {
            let keys =
                |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
            format!("{} | {}", keys(body), keys(&body["messages"][0]))
        };
        let told = ["api.openai.com", "api.deepseek.com", "openrouter.ai", "localhost"]
            .map(|host| keys(&sent(host, "thinker")));
        assert_eq!(
            told,
            [
                "model stream stream_options max_completion_tokens messages | role content tool_calls",
                "model stream stream_options max_tokens messages | role content reasoning_content tool_calls",
                "model stream stream_options max_tokens messages | role content reasoning_details tool_calls",
                "model stream stream_options max_tokens messages | role content tool_calls",
            ]
        );
    }

    #[test]
    fn another_model_gets_no_foreign_reasoning() {
        let message = |host| sent(host, "other")["messages"][0].clone();
        assert_eq!(message("api.deepseek.com")["reasoning_content"], json!(""));
        assert_eq!(message("openrouter.ai")["reasoning_details"], Value::Null);
    }
}
