//! Which requests belong together, and has what was sent before stayed as it was (invariant 11)?
//!
//! A request goes on with an earlier one if its tools and system prompt are the same and its messages begin with
//! the same ones, cache marks apart. If it goes on with none, but brings back an answer that was given in some
//! conversation, then that conversation's beginning has moved, which is a problem. Else it opens a new one.

use super::ProblemKind;
use crate::answer::Answer;
use crate::captured::{CapturedRequest, Wire, texts_of};
use crate::step::Step;
use serde_json::Value;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// All conversations of a server.
#[derive(Debug, Default)]
pub struct Conversations {
    list: Vec<Conversation>,
}

/// One, as its last request left it.
#[derive(Debug)]
struct Conversation {
    wire: Wire,
    tools: u64,
    system: u64,
    messages: Vec<u64>,
    /// What the model said in it: ids of calls, and texts.
    said: HashSet<String>,
    /// The last answer failed or was cut: the same request may come again.
    broken: bool,
    paused: bool,
}

/// Where a request belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The conversation's number.
    pub conversation: usize,
    /// The last answer in it was a pause.
    pub paused: bool,
    /// What has moved.
    pub problem: Option<(ProblemKind, String)>,
}

impl Conversations {
    /// Finds the place of a request, and remembers it as the last one there.
    pub fn place(&mut self, request: &CapturedRequest) -> Place {
        let new = Conversation::of(request);
        let goes_on = self
            .list
            .iter()
            .enumerate()
            .filter(|(_, known)| known.goes_on_with(&new))
            .max_by_key(|(at, known)| (known.messages.len(), !known.is_retry(&new), std::cmp::Reverse(*at)))
            .map(|(at, _)| at);
        if let Some(at) = goes_on {
            return self.replace(at, new, None);
        }
        let said = said_in(request);
        let moved = self
            .list
            .iter()
            .enumerate()
            .map(|(at, known)| (known.likeness(&new, &said), at))
            .filter(|(likeness, _)| *likeness > 0)
            .max_by_key(|(likeness, at)| (*likeness, *at));
        if let Some((_, at)) = moved {
            let what = self.list[at].difference(&new);
            return self.replace(at, new, Some((ProblemKind::Prefix, what)));
        }
        self.list.push(new);
        Place { conversation: self.list.len() - 1, paused: false, problem: None }
    }

    /// Remembers what was answered in a conversation.
    pub fn answered(&mut self, conversation: usize, index: usize, answer: &Answer) {
        let known = &mut self.list[conversation];
        known.broken = !answer.is_whole();
        known.paused = answer.stop == Some(crate::step::Stop::PauseTurn);
        known.said.extend(answer.texts().into_iter().map(|text| format!("text {text}")));
        let mut calls = 0;
        for step in &answer.steps {
            if let Step::Tool(tool) = step {
                calls += 1;
                let prefix = if known.wire == Wire::Anthropic { "toolu" } else { "call" };
                let made = format!("{prefix}_{index}_{calls}");
                known.said.insert(if tool.id.is_empty() { made } else { tool.id.clone() });
            }
        }
    }

    /// The client did not get the whole answer.
    pub fn broken(&mut self, conversation: usize) {
        self.list[conversation].broken = true;
    }

    fn replace(&mut self, at: usize, mut new: Conversation, problem: Option<(ProblemKind, String)>) -> Place {
        let before = &mut self.list[at];
        let paused = before.paused;
        new.said.extend(std::mem::take(&mut before.said));
        *before = new;
        Place { conversation: at, paused, problem }
    }
}

impl Conversation {
    fn of(request: &CapturedRequest) -> Self {
        let is_system = |message: &&Value| matches!(message["role"].as_str(), Some("system" | "developer"));
        let system = match request.wire {
            Wire::Anthropic => fingerprint(&request.body["system"]),
            Wire::Openai => {
                let system: Vec<Value> = request.messages().iter().filter(is_system).cloned().collect();
                fingerprint(&Value::Array(system))
            }
        };
        Self {
            wire: request.wire,
            tools: fingerprint(&request.body["tools"]),
            system,
            messages: request.messages().iter().filter(|m| !is_system(m)).map(fingerprint).collect(),
            said: said_in(request),
            broken: false,
            paused: false,
        }
    }

    fn goes_on_with(&self, new: &Self) -> bool {
        let same = self.wire == new.wire && self.tools == new.tools && self.system == new.system;
        // The same again, with no failure before it, is another agent that was told the same.
        same && new.messages.starts_with(&self.messages) && (self.broken || !self.is_retry(new))
    }

    fn is_retry(&self, new: &Self) -> bool {
        self.messages.len() == new.messages.len()
    }

    /// How much of what the model said here does the request bring back?
    fn likeness(&self, new: &Self, said: &HashSet<String>) -> usize {
        let related = self.wire == new.wire
            && (self.system == new.system || self.messages.first() == new.messages.first());
        if related { self.said.intersection(said).count() } else { 0 }
    }

    fn difference(&self, new: &Self) -> String {
        let mut parts = Vec::new();
        if self.tools != new.tools {
            parts.push("the tools have changed".to_owned());
        }
        if self.system != new.system {
            parts.push("the system prompt has changed".to_owned());
        }
        let same = self.messages.iter().zip(&new.messages).take_while(|(a, b)| a == b).count();
        if same < self.messages.len() {
            parts.push(if same == new.messages.len() {
                format!("it ends after {same} messages, and there were {}", self.messages.len())
            } else {
                format!("message {same} has changed")
            });
        }
        parts.join("; ")
    }
}

/// Ids of calls and texts of the assistant in a request.
fn said_in(request: &CapturedRequest) -> HashSet<String> {
    let mut said = HashSet::new();
    for message in request.messages().iter().filter(|message| message["role"] == "assistant") {
        let content = &message["content"];
        said.extend(
            texts_of(content).into_iter().filter(|text| !text.is_empty()).map(|text| format!("text {text}")),
        );
        let blocks = content.as_array().into_iter().flatten().filter(|block| block["type"] == "tool_use");
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        said.extend(blocks.chain(calls).filter_map(|call| call["id"].as_str()).map(str::to_owned));
    }
    said
}

/// The same for values that differ in cache marks alone.
fn fingerprint(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    feed(value, &mut hasher);
    hasher.finish()
}

fn feed(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(name, _)| *name != "cache_control");
            for (name, field) in fields {
                name.hash(hasher);
                feed(field, hasher);
            }
            '}'.hash(hasher);
        }
        Value::Array(items) => {
            items.iter().for_each(|item| feed(item, hasher));
            ']'.hash(hasher);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string().hash(hasher),
    }
}
