//! From the chunks of a stream to blocks.
//!
//! Text and reasoning are complete when something else begins. Calls are complete only at the end, since a fragment
//! for any of them may still come; whatever follows a call waits with it, so that blocks come in order.

use super::NAME;
use super::reasoning::Reasoning;
use super::slots::{Slot, Slots};
use super::verdict::{BYTES_PER_TOKEN, End, Sent};
use crate::calls::{Ids, arguments};
use crate::door::{ModelEvent, ModelRequest};
use crate::fault::{Asked, Fault, Said, cut, garbled, judge, no_sense};
use crate::flow::Out;
use crate::http::{Progress, Reader};
use crate::sse::SseEvent;
use cox_protocol::entry::{Block, ProviderRaw, ToolCall};
use cox_protocol::event::PrefixMark;
use cox_protocol::task::Usage;
use cox_protocol::view::PartialKind;
use serde_json::Value;

/// What has arrived of an answer.
pub(super) struct Answer<'a> {
    asked: &'a Asked,
    sent: &'a Sent,
    model: String,
    parts: Vec<Part>,
    slots: Slots,
    /// How many parts were handed out as blocks.
    handed: usize,
    ids: Ids,
    finish: Option<String>,
    refused: bool,
    over: bool,
    usage: Option<Usage>,
}

enum Part {
    Text(String),
    Thinking(Reasoning),
    Call(usize),
}

impl<'a> Answer<'a> {
    pub(super) fn new(asked: &'a Asked, sent: &'a Sent, request: &ModelRequest, mark: &PrefixMark) -> Self {
        Self {
            asked,
            sent,
            model: request.model.clone(),
            parts: Vec::new(),
            slots: Slots::default(),
            handed: 0,
            ids: Ids::new(&request.entries, &mark.messages),
            finish: None,
            refused: false,
            over: false,
            usage: None,
        }
    }

    /// Takes a chunk, or an answer that came whole. Errors first, since they come with status 200 and beside empty
    /// or finished choices (OpenRouter); the delta before the finish, since a finish chunk may carry text (vLLM).
    fn take(&mut self, chunk: &Value, out: &Out) -> Result<(), Fault> {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(judge(self.asked, None, &Said::in_json(&serde_json::json!({"error": error}))));
        }
        if let Some(model) = chunk["model"].as_str().filter(|model| !model.is_empty()) {
            self.model = model.to_owned();
        }
        if chunk["usage"].is_object() {
            self.usage = Some(count(&chunk["usage"]));
        }
        let choices = chunk["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
        let Some(choice) = choices.iter().find(|choice| choice["index"].as_u64().unwrap_or(0) == 0) else {
            return Ok(());
        };
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        self.grow(delta, out);
        if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty()) {
            if reason == "error" {
                return Err(judge(self.asked, None, &Said::default()));
            }
            self.finish = Some(reason.to_owned());
        }
        Ok(())
    }

    fn grow(&mut self, delta: &Value, out: &Out) {
        let thought = Reasoning::text_in(delta);
        if !thought.is_empty() || delta["reasoning_details"].as_array().is_some_and(|list| !list.is_empty()) {
            self.think(thought, delta, out);
        }
        self.say(&text_in(&delta["content"]), out);
        if let Some(refusal) = delta["refusal"].as_str().filter(|text| !text.is_empty()) {
            self.refused = true;
            self.say(refusal, out);
        }
        let calls = delta["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (place, fragment) in calls.iter().enumerate() {
            self.call(place, fragment, out);
        }
        if delta["function_call"].is_object() {
            // The form of before there were several calls.
            self.call(0, &serde_json::json!({"function": delta["function_call"]}), out);
        }
    }

    fn say(&mut self, text: &str, out: &Out) {
        if text.is_empty() {
            return;
        }
        match self.parts.last_mut() {
            Some(Part::Text(so_far)) => so_far.push_str(text),
            _ => self.begin(Part::Text(text.to_owned()), out),
        }
        self.delta(self.parts.len() - 1, PartialKind::Text, "", text, out);
    }

    fn think(&mut self, text: &str, delta: &Value, out: &Out) {
        if !matches!(self.parts.last(), Some(Part::Thinking(_))) {
            self.begin(Part::Thinking(Reasoning::default()), out);
        }
        if let Some(Part::Thinking(reasoning)) = self.parts.last_mut() {
            reasoning.text.push_str(text);
            reasoning.add_details(delta);
        }
        if !text.is_empty() {
            self.delta(self.parts.len() - 1, PartialKind::Thinking, "", text, out);
        }
    }

    fn call(&mut self, place: usize, fragment: &Value, out: &Out) {
        let grown = self.slots.take(place, fragment);
        if grown.opened {
            self.begin(Part::Call(grown.slot), out);
        }
        let part = self.parts.iter().position(|part| matches!(part, Part::Call(slot) if *slot == grown.slot));
        if let Some(part) = part
            && (grown.opened || !grown.text.is_empty())
        {
            let tool = self.slots.all[grown.slot].name.clone();
            self.delta(part, PartialKind::Call, &tool, &grown.text, out);
        }
    }

    fn delta(&self, part: usize, kind: PartialKind, tool: &str, text: &str, out: &Out) {
        out.push(ModelEvent::Delta {
            block: part as u32,
            kind,
            tool: tool.to_owned(),
            text: text.to_owned(),
        });
    }

    fn begin(&mut self, part: Part, out: &Out) {
        self.hand_out(false, out);
        self.parts.push(part);
    }

    /// Hands out what is complete. `end`: everything is, and a cut can only be in the last call.
    fn hand_out(&mut self, end: bool, out: &Out) {
        let last_is_cut = self.finish.as_deref() == Some("length");
        while let Some(part) = self.parts.get(self.handed) {
            let content = match part {
                Part::Text(text) => Block::Text { text: text.clone() },
                Part::Thinking(reasoning) => {
                    Block::Thinking { text: reasoning.text.clone(), raw: Some(self.raw(reasoning.to_raw())) }
                }
                Part::Call(_) if !end => return,
                Part::Call(at) => {
                    let slot = self.slots.all[*at].clone();
                    let cut = last_is_cut && self.handed + 1 == self.parts.len();
                    Block::ToolCall { call: self.finished(slot, cut) }
                }
            };
            out.push(ModelEvent::Block { block: self.handed as u32, content });
            self.handed += 1;
        }
    }

    fn finished(&mut self, slot: Slot, cut: bool) -> ToolCall {
        let (input, invalid) = arguments(&slot.arguments, cut);
        let raw = (!slot.extra.is_empty()).then(|| self.raw(Value::Object(slot.extra)));
        ToolCall { id: self.ids.claim(&slot.id), name: slot.name, input, invalid, raw }
    }

    fn raw(&self, raw: Value) -> ProviderRaw {
        ProviderRaw { provider: NAME.to_owned(), model: self.asked.model.clone(), raw }
    }

    fn done(&mut self, out: &Out) -> Result<(), Fault> {
        self.hand_out(true, out);
        let usage = self.usage.unwrap_or_else(|| self.estimate());
        let texts: String = self.parts.iter().filter_map(Part::text).collect();
        let end = End {
            asked: self.asked,
            sent: self.sent,
            finish: self.finish.as_deref(),
            called: !self.slots.all.is_empty(),
            refused: self.refused,
            usage: &usage,
            text: &texts,
        };
        let stop = end.stop()?;
        out.push(ModelEvent::Done { stop, usage, model: self.model.clone() });
        Ok(())
    }

    fn estimate(&self) -> Usage {
        let said: usize = self
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.len(),
                Part::Thinking(reasoning) => reasoning.text.len(),
                Part::Call(at) => self.slots.all[*at].arguments.len(),
            })
            .sum();
        Usage {
            input: self.sent.bytes / BYTES_PER_TOKEN,
            output: said as u64 / BYTES_PER_TOKEN,
            estimated: true,
            ..Usage::default()
        }
    }
}

impl Part {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Thinking(_) | Self::Call(_) => None,
        }
    }
}

impl Reader for Answer<'_> {
    fn event(&mut self, event: SseEvent, out: &Out) -> Result<Progress, Fault> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.over = true;
        } else if !data.is_empty() {
            let chunk: Value = serde_json::from_str(data)
                .map_err(|error| garbled(self.asked, format!("broken JSON ({error})")))?;
            self.take(&chunk, out)?;
        }
        // Some servers send the usage after the end (vllm-project/semantic-router#2215).
        match (self.over, self.usage.is_some()) {
            (true, true) => self.done(out).map(|()| Progress::Finished),
            (true, false) => Ok(Progress::Closing),
            (false, _) => Ok(Progress::Piece),
        }
    }

    fn whole(&mut self, body: &Value, out: &Out) -> Result<(), Fault> {
        self.take(body, out)?;
        if self.finish.is_none() && self.parts.is_empty() {
            return Err(no_sense(self.asked, "it holds no choices"));
        }
        self.done(out)
    }

    fn end(&mut self, out: &Out) -> Result<(), Fault> {
        if self.over || self.finish.is_some() { self.done(out) } else { Err(cut(self.asked)) }
    }
}

/// `prompt_tokens` includes what came from the cache; our input does not.
fn count(usage: &Value) -> Usage {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let details = &usage["prompt_tokens_details"];
    // DeepSeek names its cache on the top level.
    let cache_read = number(&details["cached_tokens"]).max(number(&usage["prompt_cache_hit_tokens"]));
    let cache_write = number(&details["cache_write_tokens"]);
    Usage {
        input: number(&usage["prompt_tokens"]).saturating_sub(cache_read + cache_write),
        output: number(&usage["completion_tokens"]),
        cache_read,
        cache_write,
        estimated: false,
    }
}

/// Content as text, or as a list of parts that hold some.
fn text_in(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
