//! Hands an answer out in pieces, with a pause before each at the human pace. Dropping the stream ends it: there is
//! no task behind it.

use super::{Pace, answer};
use crate::door::{ModelEvent, ModelRequest};
use crate::error::ProviderError;
use crate::prefix;
use cox_protocol::entry::{Block, Entry};
use cox_protocol::task::Usage;
use cox_protocol::view::PartialKind;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::collections::VecDeque;
use std::time::Duration;

/// Characters a token, as a rule of thumb.
const CHARS_A_TOKEN: u64 = 4;

/// The answer to a request, as events. It is made when the stream is first polled.
pub(super) fn stream(
    request: ModelRequest,
    pace: Pace,
) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
    let made = stream::once(async move {
        let events: VecDeque<ModelEvent> = events(&request).into();
        stream::unfold((events, 0_u32), move |(mut events, at)| async move {
            let event = events.pop_front()?;
            if let (Pace::Human, ModelEvent::Delta { .. }) = (pace, &event) {
                tokio::time::sleep(tick(at)).await;
            }
            Some((Ok(event), (events, at + 1)))
        })
    });
    made.flatten().boxed()
}

/// Every event of the answer, in order.
fn events(request: &ModelRequest) -> Vec<ModelEvent> {
    let tools = serde_json::to_string(&request.tools).unwrap_or_default();
    let messages: Vec<String> = request
        .entries
        .iter()
        .map(|entry: &std::sync::Arc<Entry>| serde_json::to_string(entry).unwrap_or_default())
        .collect();
    let messages_len: usize = messages.iter().map(String::len).sum();
    let (mark, moved) =
        prefix::mark(&tools, &request.system, messages.iter().map(String::as_str), request.last.as_ref());
    let answer = answer(&request.system, &request.tools, &request.entries);
    let stop = answer.stop();
    let blocks = answer.into_blocks(&request.entries);

    let mut events = vec![ModelEvent::Sent { mark, moved }, ModelEvent::Started];
    let mut put_out = 0;
    for (at, content) in blocks.into_iter().enumerate() {
        let block = u32::try_from(at).unwrap_or(u32::MAX);
        let (kind, tool, text) = match &content {
            Block::ToolCall { call } => (PartialKind::Call, call.name.clone(), call.input.to_string()),
            Block::Thinking { text, .. } => (PartialKind::Thinking, String::new(), text.clone()),
            Block::Text { text } => (PartialKind::Text, String::new(), text.clone()),
            Block::Opaque { .. } => (PartialKind::Text, String::new(), String::new()),
        };
        put_out += text.len();
        let pieces = pieces(&text).into_iter();
        events.extend(pieces.map(|text| ModelEvent::Delta { block, kind, tool: tool.clone(), text }));
        events.push(ModelEvent::Block { block, content });
    }
    let usage = Usage {
        input: tokens(tools.len() + request.system.len() + messages_len),
        output: tokens(put_out),
        estimated: true,
        ..Usage::default()
    };
    events.push(ModelEvent::Done { stop, usage, model: request.model.clone() });
    events
}

fn tokens(chars: usize) -> u64 {
    u64::try_from(chars).unwrap_or(u64::MAX).div_ceil(CHARS_A_TOKEN)
}

/// Pieces of 60 to 90 characters, uneven as a model's are.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut pieces = Vec::new();
    let mut from = 0;
    while from < chars.len() {
        let to = (from + 60 + (pieces.len() * 7) % 31).min(chars.len());
        pieces.push(chars[from..to].iter().collect());
        from = to;
    }
    pieces
}

/// 16 to 40 milliseconds.
fn tick(at: u32) -> Duration {
    Duration::from_millis(16 + u64::from(at * 11 % 25))
}
