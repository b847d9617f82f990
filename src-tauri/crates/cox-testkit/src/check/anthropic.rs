//! The rules of Anthropic Messages (WIRE 1.3 to 1.5).

use super::pairing::{self, Event};
use super::{Findings, ProblemKind, check_tool_names, has_text, is_name};
use crate::captured::CapturedRequest;
use serde_json::Value;

/// At most this many cache marks in a request.
const MAX_CACHE_MARKS: usize = 4;

pub(super) fn check(request: &CapturedRequest, paused: bool, findings: &mut Findings) {
    let body = &request.body;
    findings.shape(request.header("anthropic-version").is_some(), "the header anthropic-version is missing");
    findings.shape(body["max_tokens"].as_u64().is_some_and(|n| n > 0), "max_tokens is not a positive number");
    check_system(&body["system"], findings);
    check_tools(request, findings);
    let marks = cache_marks(body);
    findings.shape(marks <= MAX_CACHE_MARKS, format!("there are {marks} cache marks, and 4 are allowed"));

    let mut events = Vec::new();
    for (at, message) in request.messages().iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if !matches!(role, "user" | "assistant") {
            findings.add(ProblemKind::Shape, format!("message {at} has the role `{role}`"));
            continue;
        }
        if at == 0 && role != "user" {
            findings.add(ProblemKind::Order, "the first message is not the user's");
        }
        let blocks = match &message["content"] {
            Value::String(_) if has_text(&message["content"]) => {
                events.push(if role == "user" { Event::Other("a text") } else { Event::Answer(Vec::new()) });
                continue;
            }
            Value::Array(blocks) if !blocks.is_empty() => blocks,
            Value::String(_) | Value::Array(_) | Value::Null => {
                findings.add(ProblemKind::Empty, format!("message {at} has no content"));
                continue;
            }
            Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                findings.add(
                    ProblemKind::Shape,
                    format!("the content of message {at} is neither text nor blocks"),
                );
                continue;
            }
        };
        if role == "user" {
            check_user_blocks(at, blocks, &mut events, findings);
        } else {
            events.push(Event::Answer(check_answer_blocks(at, blocks, findings)));
        }
    }
    pairing::check(&events, findings);
    let last = request.messages().last().map(|message| &message["role"]);
    if last.is_some_and(|role| role == "assistant") && !paused {
        findings.add(ProblemKind::Order, "the last message is the assistant's");
    }
}

fn check_system(system: &Value, findings: &mut Findings) {
    match system {
        Value::Null => {}
        Value::String(_) if has_text(system) => {}
        Value::Array(blocks) => {
            for block in blocks {
                findings.shape(block["type"] == "text", "a block of the system prompt is not text");
                findings.filled(has_text(&block["text"]), "a block of the system prompt is empty");
            }
        }
        Value::String(_) => findings.add(ProblemKind::Empty, "the system prompt is empty"),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            findings.add(ProblemKind::Shape, "the system prompt is neither text nor blocks");
        }
    }
}

fn check_tools(request: &CapturedRequest, findings: &mut Findings) {
    let tools = match &request.body["tools"] {
        Value::Null => return,
        Value::Array(tools) => tools,
        _ => return findings.add(ProblemKind::Shape, "the tools are not a list"),
    };
    for tool in tools {
        // A tool of the server itself has a type and no schema.
        if tool["type"].is_string() && tool["type"] != "custom" {
            continue;
        }
        let name = tool["name"].as_str().unwrap_or_default();
        findings.shape(is_name(&tool["name"]), format!("`{name}` is no name for a tool"));
        findings.shape(has_text(&tool["description"]), format!("the tool `{name}` has no description"));
        findings.shape(
            tool["input_schema"]["type"] == "object",
            format!("the schema of the tool `{name}` is not an object's"),
        );
    }
    check_tool_names(request, findings);
}

fn check_user_blocks(at: usize, blocks: &[Value], events: &mut Vec<Event>, findings: &mut Findings) {
    let mut text_before = false;
    for block in blocks {
        match block["type"].as_str().unwrap_or_default() {
            "tool_result" => {
                let id = block["tool_use_id"].as_str().unwrap_or_default();
                findings.shape(!id.is_empty(), format!("a result in message {at} names no call"));
                if text_before {
                    findings.add(
                        ProblemKind::Order,
                        format!("in message {at} a result stands behind other content"),
                    );
                }
                check_result_content(id, &block["content"], findings);
                events.push(Event::Result(id.into()));
            }
            "text" => {
                text_before = true;
                findings.filled(has_text(&block["text"]), format!("a text in message {at} is empty"));
                events.push(Event::Other("a text"));
            }
            "image" | "document" | "search_result" | "container_upload" => {
                text_before = true;
                events.push(Event::Other("a document"));
            }
            other => {
                findings.add(ProblemKind::Shape, format!("message {at} of the user has a block `{other}`"))
            }
        }
    }
}

fn check_result_content(id: &str, content: &Value, findings: &mut Findings) {
    let ok = match content {
        Value::String(text) => !text.is_empty(),
        Value::Array(blocks) => {
            !blocks.is_empty()
                && blocks.iter().all(|block| block["type"] != "text" || has_text(&block["text"]))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    };
    if !ok {
        findings.add(ProblemKind::Empty, format!("the result of `{id}` is empty"));
    }
}

/// Returns the ids of the calls.
fn check_answer_blocks(at: usize, blocks: &[Value], findings: &mut Findings) -> Vec<String> {
    let mut calls = Vec::new();
    for block in blocks {
        match block["type"].as_str().unwrap_or_default() {
            "text" => findings.filled(has_text(&block["text"]), format!("a text in message {at} is empty")),
            "thinking" => {
                findings.shape(
                    block["thinking"].is_string() && has_text(&block["signature"]),
                    format!("thinking in message {at} has no text or no signature"),
                );
            }
            "redacted_thinking" => {
                findings.shape(has_text(&block["data"]), format!("thinking in message {at} has no data"));
            }
            "tool_use" => {
                findings.shape(is_name(&block["id"]), format!("a call in message {at} has no proper id"));
                findings.shape(is_name(&block["name"]), format!("a call in message {at} has no proper name"));
                findings.shape(
                    block["input"].is_object(),
                    format!("a call in message {at} has no object as input"),
                );
                calls.push(block["id"].as_str().unwrap_or_default().to_owned());
            }
            "tool_result" => {
                findings.add(ProblemKind::Order, format!("message {at} is the assistant's and has a result"));
            }
            // Blocks of the server's own tools come back as they were.
            "" => findings.add(ProblemKind::Shape, format!("a block in message {at} has no type")),
            _ => {}
        }
    }
    calls
}

fn cache_marks(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            let own = fields.get("cache_control").is_some_and(|mark| !mark.is_null());
            usize::from(own) + fields.values().map(cache_marks).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(cache_marks).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
