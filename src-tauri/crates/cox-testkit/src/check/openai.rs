//! The rules of OpenAI Chat Completions (WIRE 2.1), as strict as the strictest server (`wire/README.md`).

use super::pairing::{self, Event};
use super::{Findings, ProblemKind, check_tool_names, has_text, is_name};
use crate::captured::CapturedRequest;
use serde_json::Value;

pub(super) fn check(request: &CapturedRequest, paused: bool, findings: &mut Findings) {
    check_tools(request, findings);
    let mut events = Vec::new();
    let mut spoken = false;
    for (at, message) in request.messages().iter().enumerate() {
        let content = &message["content"];
        match message["role"].as_str().unwrap_or_default() {
            "system" | "developer" => {
                if spoken {
                    findings.add(ProblemKind::Order, format!("message {at} is the system's and comes late"));
                }
                check_content(at, content, findings);
            }
            "user" => {
                spoken = true;
                check_content(at, content, findings);
                events.push(Event::Other("a text"));
            }
            "assistant" => {
                if !spoken {
                    findings.add(ProblemKind::Order, "the first message is not the user's");
                }
                spoken = true;
                events.push(Event::Answer(check_answer(at, message, findings)));
            }
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                findings.shape(!id.is_empty(), format!("message {at} is a result and names no call"));
                check_content(at, content, findings);
                events.push(Event::Result(id.into()));
            }
            other => findings.add(ProblemKind::Shape, format!("message {at} has the role `{other}`")),
        }
    }
    pairing::check(&events, findings);
    let last = request.messages().last().map(|message| &message["role"]);
    if last.is_some_and(|role| role == "assistant") && !paused {
        findings.add(ProblemKind::Order, "the last message is the assistant's");
    }
    if request.messages().is_empty() || spoken {
        return;
    }
    findings.add(ProblemKind::Shape, "there is no message of the user");
}

fn check_tools(request: &CapturedRequest, findings: &mut Findings) {
    let tools = match &request.body["tools"] {
        Value::Null => return,
        Value::Array(tools) if tools.is_empty() => {
            return findings.add(ProblemKind::Shape, "the list of tools is empty; leave it out");
        }
        Value::Array(tools) => tools,
        _ => return findings.add(ProblemKind::Shape, "the tools are not a list"),
    };
    for tool in tools {
        let function = &tool["function"];
        let name = function["name"].as_str().unwrap_or_default();
        findings.shape(tool["type"] == "function", format!("the tool `{name}` is not a function"));
        findings.shape(is_name(&function["name"]), format!("`{name}` is no name for a tool"));
        findings.shape(has_text(&function["description"]), format!("the tool `{name}` has no description"));
        findings.shape(
            function["parameters"]["type"] == "object",
            format!("the schema of the tool `{name}` is not an object's"),
        );
    }
    check_tool_names(request, findings);
}

fn check_content(at: usize, content: &Value, findings: &mut Findings) {
    match content {
        Value::String(_) if has_text(content) => {}
        Value::Array(parts) if !parts.is_empty() => {
            for part in parts {
                if part["type"] == "text" && !has_text(&part["text"]) {
                    findings.add(ProblemKind::Empty, format!("a text in message {at} is empty"));
                }
                findings.shape(part["type"].is_string(), format!("a part of message {at} has no type"));
            }
        }
        Value::String(_) | Value::Array(_) | Value::Null => {
            findings.add(ProblemKind::Empty, format!("message {at} has no content"));
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            findings
                .add(ProblemKind::Shape, format!("the content of message {at} is neither text nor parts"));
        }
    }
}

/// Returns the ids of the calls.
fn check_answer(at: usize, message: &Value, findings: &mut Findings) -> Vec<String> {
    let empty = Vec::new();
    let calls = match &message["tool_calls"] {
        Value::Null => &empty,
        Value::Array(calls) => {
            if calls.is_empty() {
                findings.add(ProblemKind::Shape, format!("message {at} has an empty list of calls"));
            }
            calls
        }
        _ => {
            findings.add(ProblemKind::Shape, format!("the calls of message {at} are not a list"));
            &empty
        }
    };
    if calls.is_empty() {
        check_content(at, &message["content"], findings);
    }
    for call in calls {
        let function = &call["function"];
        findings.shape(call["type"] == "function", format!("a call in message {at} is not of a function"));
        findings.shape(has_text(&call["id"]), format!("a call in message {at} has no id"));
        findings.shape(is_name(&function["name"]), format!("a call in message {at} has no proper name"));
        let arguments = function["arguments"].as_str().map(serde_json::from_str::<Value>);
        findings.shape(
            matches!(arguments, Some(Ok(Value::Object(_)))),
            format!("the arguments of a call in message {at} are not the text of a JSON object"),
        );
    }
    calls.iter().map(|call| call["id"].as_str().unwrap_or_default().to_owned()).collect()
}
