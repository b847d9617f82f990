//! Short ways to ask and to tell.

use crate::server::{Reply, Server};
use cox_protocol::entry::{Block, Entry, Party, ResultStatus, StopReason, ToolCall, ToolDetail, ToolResult};
use cox_protocol::settings::{ProviderKind, ProviderSettings};
use cox_protocol::task::ToolDef;
use cox_provider::rehearsal::Pace;
use cox_provider::{
    Key, ModelEvent, ModelRequest, Net, NetOptions, Provider, ProviderError, Timeouts, connect,
};
use futures::StreamExt;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

pub(crate) type Events = Vec<Result<ModelEvent, ProviderError>>;

/// Waits of a millisecond, no jitter.
pub(crate) fn net() -> Net {
    net_with(Timeouts { back_off: Duration::from_millis(1), ..Timeouts::default() })
}

pub(crate) fn net_with(timeouts: Timeouts) -> Net {
    Net::new(NetOptions { jitter: Arc::new(|| 0.0), timeouts, rehearsal_pace: Pace::Instant })
}

pub(crate) fn settings(kind: ProviderKind, base_url: &str) -> ProviderSettings {
    ProviderSettings { kind, base_url: Some(base_url.to_owned()), plain_http_confirmed: false }
}

pub(crate) fn provider(kind: ProviderKind, server: &Server) -> Arc<dyn Provider> {
    provider_on(kind, server, &net())
}

pub(crate) fn provider_on(kind: ProviderKind, server: &Server, net: &Net) -> Arc<dyn Provider> {
    let path = if kind == ProviderKind::Openai { "/v1" } else { "" };
    connect(&settings(kind, &format!("{}{path}", server.origin())), Key::new("sk-secret"), net).unwrap()
}

/// A request with one user message and one tool, `Read`.
pub(crate) fn request(model: &str) -> ModelRequest {
    ModelRequest {
        model: model.to_owned(),
        system: "Be brief.".into(),
        tools: Arc::new([tool("Read")]),
        entries: vec![user("hello")],
        max_tokens: None,
        last: None,
    }
}

pub(crate) fn tool(name: &str) -> ToolDef {
    let input_schema =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    ToolDef { name: name.to_owned(), description: format!("{name} a file."), input_schema }
}

pub(crate) fn user(text: &str) -> Arc<Entry> {
    Arc::new(Entry::User { from: Party::User, text: text.to_owned(), message_id: None })
}

pub(crate) fn assistant(blocks: Vec<Block>) -> Arc<Entry> {
    Arc::new(Entry::Assistant { blocks, stop: StopReason::ToolUse, model: "m".into(), interrupted: false })
}

pub(crate) fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

pub(crate) fn call(id: &str, name: &str, input: Value) -> Block {
    Block::ToolCall {
        call: ToolCall { id: id.to_owned(), name: name.to_owned(), input, invalid: None, raw: None },
    }
}

pub(crate) fn result(call_id: &str, content: &str) -> ToolResult {
    ToolResult {
        call_id: call_id.to_owned(),
        tool: "Read".into(),
        status: ResultStatus::Ok,
        content: content.to_owned(),
        full: None,
        detail: ToolDetail::None,
        duration_ms: 1,
    }
}

pub(crate) fn results(results: Vec<ToolResult>) -> Arc<Entry> {
    Arc::new(Entry::ToolResults { results })
}

/// All events of one request.
pub(crate) async fn events(provider: &dyn Provider, request: ModelRequest) -> Events {
    provider.stream(request).collect().await
}

/// Events of one request to a server with these replies, and what it was asked.
pub(crate) async fn talk(
    kind: ProviderKind,
    replies: Vec<Reply>,
    request: ModelRequest,
) -> (String, Vec<Value>) {
    let server = Server::start(replies).await;
    let events = events(provider(kind, &server).as_ref(), request).await;
    (server.hide(&tell(&events)), server.asked().iter().map(crate::server::Asked::json).collect())
}

/// Events as lines. Pieces of one block that follow each other are one line.
pub(crate) fn tell(events: &Events) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut deltas: Option<(String, usize, String)> = None;
    let flush = |deltas: &mut Option<(String, usize, String)>, lines: &mut Vec<String>| {
        if let Some((what, count, text)) = deltas.take() {
            lines.push(format!("delta {what} x{count} {text:?}"));
        }
    };
    for event in events {
        if let Ok(ModelEvent::Delta { block, kind, tool, text }) = event {
            let what = format!("{block} {kind:?} {tool:?}");
            match &mut deltas {
                Some((same, count, so_far)) if *same == what => {
                    *count += 1;
                    so_far.push_str(text);
                }
                _ => {
                    flush(&mut deltas, &mut lines);
                    deltas = Some((what, 1, text.clone()));
                }
            }
            continue;
        }
        flush(&mut deltas, &mut lines);
        lines.push(line(event));
    }
    flush(&mut deltas, &mut lines);
    lines.join("\n")
}

fn line(event: &Result<ModelEvent, ProviderError>) -> String {
    match event {
        Ok(ModelEvent::Sent { mark, moved }) => format!("sent {} messages, moved: {moved:?}", mark.count),
        Ok(ModelEvent::Retrying { attempt, max_attempts, delay_ms, status, category, message }) => {
            format!(
                "retrying after {attempt} of {max_attempts} in {delay_ms} ms, status {status:?}, {category:?}: {message}"
            )
        }
        Ok(ModelEvent::Started) => "started".into(),
        Ok(ModelEvent::Delta { .. }) => unreachable!(),
        Ok(ModelEvent::Block { block, content }) => {
            format!("block {block} {}", serde_json::to_string(content).unwrap())
        }
        Ok(ModelEvent::Done { stop, usage, model }) => {
            let estimated = if usage.estimated { " (estimated)" } else { "" };
            format!(
                "done {stop:?}, input {} output {} cache read {} write {}{estimated}, model {model}",
                usage.input, usage.output, usage.cache_read, usage.cache_write
            )
        }
        Err(error) => format!(
            "error {:?}, status {:?}, request {:?}\n  {}\n  hint: {}",
            error.kind,
            error.status,
            error.request_id,
            error.message,
            error.hint.as_deref().unwrap_or("none")
        ),
    }
}
