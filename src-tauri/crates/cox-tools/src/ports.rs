//! What the engine does for tools. It implements these traits and passes them with every call (W36);
//! tools know nothing else of it.

use crate::context::ToolCx;
use async_trait::async_trait;
use cox_exec::Running;
use cox_protocol::entry::BlobRef;
use cox_protocol::inbox::{Action, Answer, Question, Rule};
use cox_protocol::task::{Evidence, TaskKind};
use cox_protocol::{MessageId, Outcome, TaskId, TaskStatus};
use serde_json::Value;

/// Asks people. A question waits without a time-out (W26); the caller gives up when `cx.cancel` is cancelled,
/// by dropping the wait.
#[async_trait]
pub trait Ask: Send + Sync {
    /// May it? Answers `AllowOnce`, `AllowAlways`, `AllowEdits`, `Deny`, `NoUi` or `Withdrawn`. What "always"
    /// and "edits" mean beyond this call is done by the implementer before it returns.
    async fn permission(
        &self,
        cx: &ToolCx,
        action: Action,
        because: String,
        always: Option<Rule>,
        offer_accept_edits: bool,
    ) -> Answer;

    /// Which? Answers `Chosen`, `Deny`, `NoUi` or `Withdrawn`.
    async fn questions(&self, cx: &ToolCx, questions: Vec<Question>) -> Answer;
}

/// Keeps records.
#[async_trait]
pub trait Journal: Send + Sync {
    /// A call passed the policy and is about to run. For a call that changes things this returns when the record
    /// is durable; for one that only reads it may return at once.
    async fn started(&self, cx: &ToolCx, read_only: bool);
    /// Keeps bytes.
    ///
    /// # Errors
    /// The store refused; the message says why.
    async fn blob(&self, bytes: Vec<u8>) -> Result<BlobRef, String>;
    /// A process group began. Durable when this returns.
    async fn process(&self, cx: &ToolCx, pgid: i32, start_ticks: u64);
    /// It is gone.
    async fn process_ended(&self, cx: &ToolCx, pgid: i32);
    /// New output of a running command, for the panel. May be dropped.
    fn live_output(&self, cx: &ToolCx, text: &str);
}

/// Directs tasks.
#[async_trait]
pub trait TaskControl: Send + Sync {
    /// Starts a worker.
    async fn dispatch(&self, cx: &ToolCx, dispatch: Dispatch) -> Result<Receipt, TaskError>;
    /// Sends a message to an agent, by name or id. An ended one is continued.
    async fn send(
        &self,
        cx: &ToolCx,
        to: String,
        summary: Option<String>,
        text: String,
    ) -> Result<Sent, TaskError>;
    /// Stops a task, by id or name.
    async fn stop(&self, cx: &ToolCx, id: String) -> Result<TaskSummary, TaskError>;
    /// Reads a task. With `block` it waits for the end, at most `timeout_ms` milliseconds.
    async fn output(
        &self,
        cx: &ToolCx,
        id: String,
        block: bool,
        timeout_ms: u64,
    ) -> Result<OutputReport, TaskError>;
    /// Takes over a command that runs in the background. Its process is already recorded.
    async fn start_shell(
        &self,
        cx: &ToolCx,
        command: String,
        running: Running,
        service: bool,
    ) -> Result<TaskId, TaskError>;
}

/// A worker to start.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// Three to five words for people; never steers the worker.
    pub description: String,
    /// The instruction. Never empty (R95).
    pub prompt: String,
    /// The role's name; null: the session's usual one.
    pub role: Option<String>,
    /// An alias or an exact id (W37); null: inherit.
    pub model: Option<String>,
    /// Its name; null: a slug of the description.
    pub name: Option<String>,
    /// Asked to run in the background.
    pub background: bool,
    /// What its result has to meet (W39).
    pub output_schema: Option<Value>,
}

/// What a dispatch gives back.
#[derive(Clone, Debug, PartialEq)]
pub enum Receipt {
    /// It runs by itself; a notification follows.
    Async {
        /// Its id.
        task_id: TaskId,
        /// Its name.
        name: String,
        /// As given.
        description: String,
        /// As given.
        prompt: String,
        /// The JSONL export.
        output_file: String,
    },
    /// It has ended.
    Finished {
        /// Its id.
        task_id: TaskId,
        /// Its name.
        name: String,
        /// How.
        outcome: Outcome,
        /// Its final text.
        result: Option<String>,
        /// What the runtime saw.
        evidence: Evidence,
    },
}

/// A message that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    /// To this task.
    pub task_id: TaskId,
    /// Its name.
    pub name: String,
    /// The message.
    pub message_id: MessageId,
    /// It waits for the next turn; false: the task had ended and is continued.
    pub queued: bool,
}

/// A task that was stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSummary {
    /// Its id.
    pub task_id: TaskId,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: TaskKind,
    /// For people.
    pub description: String,
    /// Where it stands now.
    pub status: TaskStatus,
}

/// How a read of a task came out (W14, B146).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retrieval {
    /// The task has ended.
    Success,
    /// It has not, and nobody wanted to wait.
    NotReady,
    /// It has not, and the time is up.
    Timeout,
}

/// What a read of a task gives: result, output file and transcript stay distinct (B149).
#[derive(Clone, Debug, PartialEq)]
pub struct OutputReport {
    /// How the read came out.
    pub retrieval: Retrieval,
    /// The task.
    pub task_id: TaskId,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: TaskKind,
    /// Where it stands.
    pub status: TaskStatus,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// An agent's final text, or the output of a command so far.
    pub result: Option<String>,
    /// The JSONL export.
    pub output_file: String,
    /// The transcript as text, where there is no clean result to give (B148).
    pub transcript: Option<String>,
    /// What the runtime saw.
    pub evidence: Option<Evidence>,
}

/// Why something can't be done with a task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TaskError {
    /// What a model decides on.
    pub kind: TaskErrorKind,
    /// What happened and what to do.
    pub message: String,
}

impl TaskError {
    /// An error of this kind.
    pub fn new(kind: TaskErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// The kinds of [`TaskError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskErrorKind {
    /// No such task.
    NotFound,
    /// It is not in a state in which this can be done.
    NotRunning,
    /// What was given can't be used.
    InvalidInput,
    /// No such model; the message lists the valid ones.
    UnknownModel,
    /// The name was used before in this session.
    NameTaken,
    /// A limit of the session is reached.
    LimitReached,
    /// The same thing again and again.
    RepeatGuard,
    /// The recipient's queue is full.
    QueueFull,
    /// Not with this task, or not by this agent.
    NotAllowed,
}

impl TaskErrorKind {
    /// As written in a result.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::NotRunning => "not_running",
            Self::InvalidInput => "invalid_input",
            Self::UnknownModel => "unknown_model",
            Self::NameTaken => "name_taken",
            Self::LimitReached => "limit_reached",
            Self::RepeatGuard => "repeat_guard",
            Self::QueueFull => "queue_full",
            Self::NotAllowed => "not_allowed",
        }
    }
}
