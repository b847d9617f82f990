//! From the events of a stream to blocks.
//!
//! A block is handed out when it stops. One case waits: a call whose arguments are empty is a call without arguments
//! or one that was cut before the first of them, and only the stop reason tells which.

use super::open::{Open, What};
use super::{NAME, extras};
use crate::calls::{Ids, arguments};
use crate::door::{ModelEvent, ModelRequest};
use crate::fault::{Asked, Fault, Said, cut, garbled, judge, no_sense};
use crate::flow::Out;
use crate::http::{Progress, Reader};
use crate::sse::SseEvent;
use cox_protocol::entry::{Block, ProviderRaw, StopReason, ToolCall};
use cox_protocol::event::PrefixMark;
use cox_protocol::task::Usage;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What has arrived of an answer.
pub(super) struct Answer<'a> {
    asked: &'a Asked,
    model: String,
    open: BTreeMap<u64, Open>,
    /// The place in the answer of the next block.
    next: u32,
    waiting: Option<(u32, ToolCall)>,
    ids: Ids,
    stop: Option<StopReason>,
    usage: Usage,
}

impl<'a> Answer<'a> {
    pub(super) fn new(asked: &'a Asked, request: &ModelRequest, mark: &PrefixMark) -> Self {
        Self {
            asked,
            model: request.model.clone(),
            open: BTreeMap::new(),
            next: 0,
            waiting: None,
            ids: Ids::new(&request.entries, &mark.messages),
            stop: None,
            usage: Usage::default(),
        }
    }

    fn raw(&self, raw: Value) -> ProviderRaw {
        // The name that was asked for, not the one that answered: an alias must find its own thinking again.
        ProviderRaw { provider: NAME.to_owned(), model: self.asked.model.clone(), raw }
    }

    fn start(&mut self, event: &Value, out: &Out) {
        self.release(false, out);
        let open = Open::new(self.next, event["content_block"].clone(), out);
        self.next += 1;
        self.open.insert(event["index"].as_u64().unwrap_or_default(), open);
    }

    fn grow(&mut self, event: &Value, out: &Out) {
        if let Some(open) = event["index"].as_u64().and_then(|index| self.open.get_mut(&index)) {
            open.grow(&event["delta"], out);
        }
    }

    fn close(&mut self, open: Open, cut: bool, out: &Out) {
        let content = match open.what {
            What::Text(text) => Block::Text { text },
            What::Thinking(raw) => {
                let text = raw["thinking"].as_str().unwrap_or_default().to_owned();
                Block::Thinking { text, raw: Some(self.raw(raw)) }
            }
            What::Call { start, json } => {
                let call = self.call(&start, &json, cut);
                if json.trim().is_empty() && !cut {
                    self.waiting = Some((open.block, call));
                    return;
                }
                Block::ToolCall { call }
            }
            What::Unknown { mut start, json } => {
                if !json.is_empty() {
                    start["input"] = arguments(&json, cut).0;
                }
                Block::Opaque { raw: self.raw(start) }
            }
        };
        out.push(ModelEvent::Block { block: open.block, content });
    }

    fn call(&mut self, start: &Value, json: &str, cut: bool) -> ToolCall {
        // A server that does not stream arguments puts them into the start.
        let (input, invalid) = match &start["input"] {
            Value::Object(map) if json.is_empty() && !map.is_empty() => (Value::Object(map.clone()), None),
            _ => arguments(json, cut),
        };
        let raw = extras(start, &["type", "id", "name", "input"]).map(|raw| self.raw(raw));
        let id = self.ids.claim(start["id"].as_str().unwrap_or_default());
        ToolCall { id, name: start["name"].as_str().unwrap_or_default().to_owned(), input, invalid, raw }
    }

    /// Hands out the call that waited, now that it is known whether it was cut.
    fn release(&mut self, cut: bool, out: &Out) {
        if let Some((block, mut call)) = self.waiting.take() {
            if cut && call.input == json!({}) {
                call.invalid = Some(String::new());
            }
            out.push(ModelEvent::Block { block, content: Block::ToolCall { call } });
        }
    }

    fn done(&mut self, out: &Out) {
        let stop = self.stop.unwrap_or(StopReason::Unknown);
        self.release(was_cut(stop), out);
        for (_, open) in std::mem::take(&mut self.open) {
            self.close(open, true, out);
        }
        out.push(ModelEvent::Done { stop, usage: self.usage, model: self.model.clone() });
    }

    /// Counts are cumulative for the request: a new one replaces the old one (WIRE.md 1.6).
    fn count(&mut self, usage: &Value) {
        let set = |to: &mut u64, key: &str| {
            if let Some(count) = usage[key].as_u64() {
                *to = count;
            }
        };
        set(&mut self.usage.input, "input_tokens");
        set(&mut self.usage.output, "output_tokens");
        set(&mut self.usage.cache_read, "cache_read_input_tokens");
        set(&mut self.usage.cache_write, "cache_creation_input_tokens");
    }
}

impl Reader for Answer<'_> {
    fn event(&mut self, event: SseEvent, out: &Out) -> Result<Progress, Fault> {
        let data: Value = serde_json::from_str(&event.data)
            .map_err(|error| garbled(self.asked, format!("broken JSON ({error})")))?;
        match data["type"].as_str().unwrap_or(&event.name) {
            "message_start" => {
                if let Some(model) = data["message"]["model"].as_str().filter(|model| !model.is_empty()) {
                    self.model = model.to_owned();
                }
                self.count(&data["message"]["usage"]);
            }
            "content_block_start" => self.start(&data, out),
            "content_block_delta" => self.grow(&data, out),
            "content_block_stop" => {
                if let Some(open) = data["index"].as_u64().and_then(|index| self.open.remove(&index)) {
                    self.close(open, false, out);
                }
            }
            "message_delta" => {
                if let Some(reason) = data["delta"]["stop_reason"].as_str() {
                    self.stop = Some(stop(reason, &data["delta"]));
                }
                self.count(&data["usage"]);
            }
            "message_stop" => {
                self.done(out);
                return Ok(Progress::Finished);
            }
            "error" => return Err(judge(self.asked, None, &Said::in_json(&data))),
            _ => return Ok(Progress::Nothing), // `ping`, and events that came later than this.
        }
        Ok(Progress::Piece)
    }

    fn whole(&mut self, body: &Value, out: &Out) -> Result<(), Fault> {
        if !body["error"].is_null() {
            return Err(judge(self.asked, None, &Said::in_json(body)));
        }
        let Some(content) = body["content"].as_array() else {
            return Err(no_sense(self.asked, "it holds no content"));
        };
        if let Some(model) = body["model"].as_str() {
            self.model = model.to_owned();
        }
        self.count(&body["usage"]);
        self.stop = body["stop_reason"].as_str().map(|reason| stop(reason, body));
        for (index, block) in content.iter().enumerate() {
            self.start(&json!({"index": index, "content_block": block}), out);
            if let Some(open) = self.open.remove(&(index as u64)) {
                self.close(open, false, out);
            }
        }
        self.done(out);
        Ok(())
    }

    fn end(&mut self, out: &Out) -> Result<(), Fault> {
        if self.stop.is_none() || !self.open.is_empty() {
            return Err(cut(self.asked));
        }
        self.done(out);
        Ok(())
    }
}

fn stop(reason: &str, delta: &Value) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "model_context_window_exceeded" => StopReason::ContextFull,
        "pause_turn" => StopReason::Pause,
        "refusal" => {
            tracing::warn!(details = %delta["stop_details"], "the model refused");
            StopReason::Refusal
        }
        other => {
            tracing::warn!(reason = other, "an unknown stop reason");
            StopReason::Unknown
        }
    }
}

fn was_cut(stop: StopReason) -> bool {
    match stop {
        StopReason::MaxTokens | StopReason::ContextFull | StopReason::Unknown | StopReason::Refusal => true,
        StopReason::EndTurn | StopReason::ToolUse | StopReason::Pause => false,
    }
}
