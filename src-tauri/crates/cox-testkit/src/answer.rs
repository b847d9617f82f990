//! What a scripted model says, and how it goes wrong.
//!
//! An answer is a list of steps, sent in order. Steps of one kind that follow each other make one block, also
//! across a gate. Nothing is sent, not even the status line, before the first step that has bytes; so a gate or
//! a hang at the front holds back the whole answer.
//!
//! The same types are the JSON of [`crate::recipe`].

use crate::step::{ErrorEvent, Step, Stop, Thinking, Tokens, Tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// One answer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    /// What is sent.
    pub steps: Vec<Step>,
    /// Null: `tool_use` if a tool is called, else `end_turn`.
    pub stop: Option<Stop>,
    /// Null: an estimate.
    pub usage: Option<Tokens>,
    /// Text, thinking and arguments come at this pace. Null: at once.
    pub tokens_per_second: Option<f64>,
    /// Null: 200 and a stream. Else this status and [`Self::body`].
    pub status: Option<u16>,
    /// Further headers.
    pub headers: BTreeMap<String, String>,
    /// The body where [`Self::status`] is set.
    pub body: String,
    /// The connection is closed after this many bytes of the stream.
    pub cut_after: Option<usize>,
    /// The stream ends without its last events: no `message_stop`, no `[DONE]`.
    pub no_end: bool,
    /// These bytes in place of a whole HTTP response, then the end of the connection: a recorded case's name.
    pub replay: Option<String>,
    /// The recording is sent in pieces of this many bytes.
    pub replay_piece: Option<usize>,
}

impl Answer {
    /// An answer to add steps to.
    pub fn new() -> Self {
        Self::default()
    }

    /// An answer of text alone.
    pub fn says(text: &str) -> Self {
        Self::new().text(text)
    }

    /// An error in the wire format's own words; `kind` as in `rate_limit_error`.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let event = ErrorEvent { kind: kind.into(), message: message.into() };
        Self { status: Some(status), ..Self::new() }.step(Step::Error(event))
    }

    /// A status with a body as it is.
    pub fn status(status: u16, body: &str) -> Self {
        Self { status: Some(status), body: body.into(), ..Self::new() }
    }

    /// Never answers.
    pub fn hangs() -> Self {
        Self::new().step(Step::Hang)
    }

    /// Closes the connection without a byte.
    pub fn cuts() -> Self {
        Self::new().step(Step::Cut)
    }

    /// A recorded response ([`crate::wire`]), byte for byte.
    pub fn replay(case: &str) -> Self {
        Self { replay: Some(case.into()), ..Self::new() }
    }

    /// A step more.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Text more.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.step(Step::Text(text.into()))
    }

    /// Thinking more.
    #[must_use]
    pub fn thinking(self, text: &str, signature: &str) -> Self {
        self.step(Step::Thinking(Thinking { text: text.into(), signature: signature.into() }))
    }

    /// A call more, with an id of its own.
    #[must_use]
    pub fn tool(self, name: &str, input: Value) -> Self {
        self.step(Step::Tool(Tool { name: name.into(), input, ..Tool::default() }))
    }

    /// A call more, with this id.
    #[must_use]
    pub fn tool_with_id(self, id: &str, name: &str, input: Value) -> Self {
        self.step(Step::Tool(Tool { id: id.into(), name: name.into(), input, ..Tool::default() }))
    }

    /// A call more, whose arguments are this text, JSON or not.
    #[must_use]
    pub fn tool_with_raw(self, name: &str, raw: &str) -> Self {
        self.step(Step::Tool(Tool { name: name.into(), raw: Some(raw.into()), ..Tool::default() }))
    }

    /// Waits here for the test.
    #[must_use]
    pub fn gate(self, name: &str) -> Self {
        self.step(Step::Gate(name.into()))
    }

    /// An error event here, inside the stream.
    #[must_use]
    pub fn fails(self, kind: &str, message: &str) -> Self {
        self.step(Step::Error(ErrorEvent { kind: kind.into(), message: message.into() }))
    }

    /// These characters as they are.
    #[must_use]
    pub fn raw(self, text: &str) -> Self {
        self.step(Step::Raw(text.into()))
    }

    /// Nothing more, with the connection open.
    #[must_use]
    pub fn then_hangs(self) -> Self {
        self.step(Step::Hang)
    }

    /// The connection is closed here.
    #[must_use]
    pub fn then_cuts(self) -> Self {
        self.step(Step::Cut)
    }

    /// Stops for this reason.
    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    /// With these counts.
    #[must_use]
    pub fn usage(mut self, usage: Tokens) -> Self {
        self.usage = Some(usage);
        self
    }

    /// At this pace.
    #[must_use]
    pub fn paced(mut self, tokens_per_second: f64) -> Self {
        self.tokens_per_second = Some(tokens_per_second);
        self
    }

    /// With this header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// The connection is closed after this many bytes of the stream.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.cut_after = Some(bytes);
        self
    }

    /// Without the last events.
    #[must_use]
    pub fn without_end(mut self) -> Self {
        self.no_end = true;
        self
    }

    /// A replay in pieces of this many bytes.
    #[must_use]
    pub fn in_pieces(mut self, bytes: usize) -> Self {
        self.replay_piece = Some(bytes);
        self
    }

    /// Why it stops, given or by what it says.
    pub fn stop_reason(&self) -> Stop {
        let calls = self.steps.iter().any(|step| matches!(step, Step::Tool(_)));
        self.stop.unwrap_or(if calls { Stop::ToolUse } else { Stop::EndTurn })
    }

    /// Its blocks of text.
    pub fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        let mut open = String::new();
        for step in self.steps.iter().chain([&Step::Break]) {
            match step {
                Step::Text(text) => open.push_str(text),
                Step::Thinking(_) | Step::RedactedThinking(_) | Step::Tool(_) | Step::Break => {
                    texts.extend((!open.is_empty()).then(|| std::mem::take(&mut open)));
                }
                Step::Gate(_) | Step::Ping | Step::Error(_) | Step::Raw(_) | Step::Hang | Step::Cut => {}
            }
        }
        texts
    }

    /// Ends as the wire format wants it to: not an error, not cut, not hanging.
    pub fn is_whole(&self) -> bool {
        let breaks = |step: &Step| matches!(step, Step::Error(_) | Step::Raw(_) | Step::Hang | Step::Cut);
        self.status.is_none()
            && self.cut_after.is_none()
            && !self.no_end
            && self.replay.is_none()
            && !self.steps.iter().any(breaks)
    }

    /// The same with `{turn}` and `{request}` replaced in its text and arguments: answers of one script then
    /// differ between turns and between agents.
    #[must_use]
    pub(crate) fn filled(mut self, turn: usize, request: usize) -> Self {
        let fill =
            |text: &str| text.replace("{turn}", &turn.to_string()).replace("{request}", &request.to_string());
        for step in &mut self.steps {
            match step {
                Step::Text(text) | Step::Gate(text) => *text = fill(text),
                Step::Thinking(thinking) => thinking.text = fill(&thinking.text),
                Step::Tool(tool) => {
                    tool.id = fill(&tool.id);
                    fill_value(&mut tool.input, &fill);
                    tool.raw = tool.raw.as_deref().map(fill);
                }
                Step::RedactedThinking(_) | Step::Break | Step::Ping | Step::Error(_) => {}
                Step::Raw(_) | Step::Hang | Step::Cut => {}
            }
        }
        self
    }
}

fn fill_value(value: &mut Value, fill: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = fill(text),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_value(item, fill)),
        Value::Object(fields) => fields.values_mut().for_each(|field| fill_value(field, fill)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
