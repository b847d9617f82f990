//! One entry of a transcript (W4): the message model that the engine, the store, the providers and the window share.

use crate::envelope::Envelope;
use crate::id::{MessageId, TaskId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// One entry of an agent's transcript, in order. History only grows at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum Entry {
    /// Text that came from the user, from the parent's dispatch, or from another agent.
    User {
        /// Who wrote it.
        from: Party,
        /// The text.
        text: String,
        /// The queued message that this entry delivers, if it came through a queue.
        message_id: Option<MessageId>,
    },
    /// One answer of the model.
    Assistant {
        /// In the order in which they were streamed.
        blocks: Vec<Block>,
        /// Why the model stopped.
        stop: StopReason,
        /// The model that answered.
        model: String,
        /// The stream was cut by a stop, an interruption or a crash; what is here is what had arrived.
        interrupted: bool,
    },
    /// Results of calls of the assistant entry before it. Several of these may follow one answer; together
    /// they hold exactly one result for each of its calls. A provider sends them in the order of the calls.
    ToolResults {
        /// One or more results.
        results: Vec<ToolResult>,
    },
    /// Something the runtime says. How it is sent (user role, system block) is the provider's business.
    Runtime {
        /// What it says.
        note: RuntimeNote,
    },
}

/// Who a message is from or for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum Party {
    /// The person at the window or the command line.
    User,
    /// The runtime itself.
    Runtime,
    /// An agent.
    Agent {
        /// Its id.
        task_id: TaskId,
    },
}

/// One block of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum Block {
    /// Text for the reader.
    Text {
        /// Markdown, untrusted.
        text: String,
    },
    /// The model's thinking. Replayed verbatim to the same provider and model, dropped for another.
    Thinking {
        /// May be empty: some models hide it and send only the signature.
        text: String,
        /// What the provider needs back.
        raw: Option<ProviderRaw>,
    },
    /// A call of a tool.
    ToolCall {
        /// The call.
        call: ToolCall,
    },
    /// A block that this version does not know, kept for replay.
    Opaque {
        /// The block as it came.
        raw: ProviderRaw,
    },
}

/// A call of a tool by a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ToolCall {
    /// Unique in the transcript; the provider's id, or a made one where the provider gave none.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments. An empty object when [`Self::invalid`] is set.
    #[ts(type = "unknown")]
    pub input: Value,
    /// The arguments as they came, when they are not valid JSON or were cut. Such a call is never run:
    /// it gets an error result, and is sent back with `input` (W19).
    pub invalid: Option<String>,
    /// What the provider needs back with this call.
    pub raw: Option<ProviderRaw>,
}

/// Something to give back verbatim, and to whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ProviderRaw {
    /// The wire format's name: `anthropic` or `openai`.
    pub provider: String,
    /// The model that made it.
    pub model: String,
    /// The JSON as it came.
    #[ts(type = "unknown")]
    pub raw: Value,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum StopReason {
    /// It said all it had to say.
    EndTurn,
    /// It called tools.
    ToolUse,
    /// The output limit cut it.
    MaxTokens,
    /// The context window is full.
    ContextFull,
    /// The provider paused a long turn; sending the history back unchanged goes on.
    Pause,
    /// The provider or the model refused.
    Refusal,
    /// The stream ended with no reason given, or was cut.
    Unknown,
}

/// The result of one call. Every stored call has exactly one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ToolResult {
    /// The call's id.
    pub call_id: String,
    /// The tool's name.
    pub tool: String,
    /// Did it do what was asked?
    pub status: ResultStatus,
    /// What the model gets to read; capped by the tool.
    pub content: String,
    /// The whole output, where `content` had to be cut: the hash of a blob.
    pub full: Option<BlobRef>,
    /// What the window shows beside the text.
    pub detail: ToolDetail,
    /// Milliseconds from start to end.
    pub duration_ms: u64,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ResultStatus {
    /// It did what was asked.
    Ok,
    /// The tool failed; the content says why.
    Error,
    /// The arguments or the name of the tool can't be used.
    InvalidCall,
    /// A rule, a mode or the user said no; the content says who and why.
    Denied,
    /// Nobody can be asked here (`no_ui`).
    NoUi,
    /// It was cut by a stop or an interruption; partial output is kept.
    Interrupted,
    /// The process ended while it ran; whether it took effect is unknown (`outcome_unknown`).
    OutcomeUnknown,
}

/// A blob in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct BlobRef {
    /// BLAKE3, hex.
    pub hash: String,
    /// Bytes.
    pub size: u64,
}

/// What a tool did, in a form that the window can draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum ToolDetail {
    /// Nothing beyond the text.
    None,
    /// A file was read.
    Read {
        /// Relative to the project.
        path: String,
        /// Lines given to the model.
        lines: u64,
        /// Lines in the file.
        total_lines: u64,
    },
    /// A file was written or edited.
    Change {
        /// What changed.
        change: FileChange,
        /// Unified diff, capped at 400 lines.
        diff: String,
    },
    /// Files or lines were found.
    Found {
        /// How many.
        count: u64,
        /// More were there than are shown.
        truncated: bool,
    },
    /// A command ran.
    Command {
        /// The run.
        run: CommandRun,
        /// The background shell's task, when it was started as one.
        background: Option<TaskId>,
    },
    /// A worker was dispatched, messaged or stopped.
    Task {
        /// The task.
        task_id: TaskId,
        /// Its name.
        name: String,
    },
    /// A value was handed in (SyntheticOutput).
    Value {
        /// The value.
        #[ts(type = "unknown")]
        value: Value,
    },
}

/// A file that a tool changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct FileChange {
    /// Relative to the project.
    pub path: String,
    /// BLAKE3 of the content before, hex; null when the file is new.
    pub before: Option<String>,
    /// BLAKE3 of the content after, hex; null when the file is gone.
    pub after: Option<String>,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
}

/// A command that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct CommandRun {
    /// As given to the shell.
    pub command: String,
    /// Null when a signal or a time-out ended it, or it still runs.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// It ran into its time-out.
    pub timed_out: bool,
    /// Processes that had to be killed to end it.
    pub killed: u32,
    /// Bytes of output.
    pub output_bytes: u64,
    /// Milliseconds.
    pub duration_ms: u64,
}

/// What the runtime says in a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum RuntimeNote {
    /// A child ended.
    Notification {
        /// The envelope.
        envelope: Envelope,
    },
    /// A child was suspended because the process ended; it can be continued.
    ChildInterrupted {
        /// The child.
        task_id: TaskId,
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
    /// This agent's own turn was cut.
    Interrupted {
        /// Why, in words for the model.
        reason: String,
    },
    /// The model said nothing after tool results, and is asked once more.
    Nudge,
    /// The user messaged or continued or stopped one of this agent's workers.
    UserActed {
        /// What the user did, in words for the model.
        text: String,
    },
    /// Files that this agent has read changed on disk by other hands.
    FilesChanged {
        /// Relative to the project.
        paths: Vec<String>,
    },
    /// What the agent may use has changed.
    Capability {
        /// In words for the model.
        text: String,
    },
}

impl RuntimeNote {
    /// The note as text for a model. Everything that came from a model, a file or a tool is escaped in it.
    pub fn to_text(&self) -> String {
        match self {
            Self::Notification { envelope } => envelope.to_xml(),
            Self::ChildInterrupted { task_id, name, reason } => format!(
                "<runtime-note>Worker {} ({task_id}) is suspended: {}. It keeps its transcript and can be continued with SendMessage, or stopped with TaskStop.</runtime-note>",
                crate::envelope::escape(name),
                crate::envelope::escape(reason)
            ),
            Self::Interrupted { reason } => {
                format!("<runtime-note>Your last turn was interrupted: {}.</runtime-note>", crate::envelope::escape(reason))
            }
            Self::Nudge => "<runtime-note>Your last answer was empty. Go on with the task, or say in words what you found.</runtime-note>".into(),
            Self::UserActed { text } => format!("<runtime-note>{}</runtime-note>", crate::envelope::escape(text)),
            Self::FilesChanged { paths } => format!(
                "<runtime-note>Changed on disk by other hands since you read them; read again before you edit: {}.</runtime-note>",
                crate::envelope::escape(&paths.join(", "))
            ),
            Self::Capability { text } => format!("<runtime-note>{}</runtime-note>", crate::envelope::escape(text)),
        }
    }
}

impl Entry {
    /// The calls of an assistant entry, in order; none for other entries.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        let blocks: &[Block] = if let Self::Assistant { blocks, .. } = self { blocks } else { &[] };
        blocks.iter().filter_map(|block| if let Block::ToolCall { call } = block { Some(call) } else { None })
    }

    /// The text blocks of an assistant entry, joined by blank lines; null when there is none.
    pub fn text(&self) -> Option<String> {
        let Self::Assistant { blocks, .. } = self else { return None };
        let texts: Vec<&str> = blocks
            .iter()
            .filter_map(|block| if let Block::Text { text } = block { Some(text.trim()) } else { None })
            .filter(|text| !text.is_empty())
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }
}
