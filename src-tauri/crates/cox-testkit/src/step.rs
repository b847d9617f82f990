//! What an answer is made of: its steps, why it stops, what it counts. The same types are the JSON of
//! [`crate::recipe`].

#[cfg(doc)]
use crate::Answer;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One step of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Text, a token for each word.
    Text(String),
    /// Thinking, a token for each word.
    Thinking(Thinking),
    /// Thinking that is not shown: its data.
    RedactedThinking(String),
    /// A call of a tool.
    Tool(Tool),
    /// Waits until the test opens the gate of this name.
    Gate(String),
    /// The next step begins a new block, even of the same kind.
    Break,
    /// A `ping` event, or a comment line.
    Ping,
    /// An error event inside the stream. Nothing follows it.
    Error(ErrorEvent),
    /// These characters as they are, in a chunk of their own: broken events, garbage.
    Raw(String),
    /// Nothing more is sent, and the connection stays open until the client closes it.
    Hang,
    /// The connection is closed here, in mid-answer.
    Cut,
}

/// Thinking with its signature.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thinking {
    /// May be empty.
    pub text: String,
    /// What has to come back unchanged.
    pub signature: String,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tool {
    /// Empty: one that is unique in the server.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments.
    pub input: Value,
    /// In place of [`Self::input`]: the arguments as text, which need not be JSON.
    pub raw: Option<String>,
    /// How many characters a fragment has; 0: 12.
    pub fragment: usize,
}

/// An error event inside a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorEvent {
    /// As in `overloaded_error`.
    pub kind: String,
    /// The message.
    pub message: String,
}

/// Why the model stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It has said all.
    EndTurn,
    /// It called tools.
    ToolUse,
    /// The limit of the request.
    MaxTokens,
    /// A stop sequence.
    StopSequence,
    /// It goes on when its answer is sent back.
    PauseTurn,
    /// It refused.
    Refusal,
    /// The context window is full.
    ContextFull,
    /// No reason is given.
    None,
}

/// Token counts, each token in one of the four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tokens {
    /// Of the prompt, neither read from the cache nor written to it.
    pub input: u64,
    /// Of the prompt, read from the cache.
    pub cache_read: u64,
    /// Of the prompt, written to the cache.
    pub cache_write: u64,
    /// Of the answer.
    pub output: u64,
}
