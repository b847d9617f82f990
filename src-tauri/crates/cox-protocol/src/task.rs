//! What a task is, how it ends, what it may use.

use crate::entry::{CommandRun, FileChange};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// What kind of thing a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TaskKind {
    /// The agent that the user talks to: a coordinator, or a solo agent.
    Lead,
    /// A worker.
    Worker,
    /// A background command.
    Shell,
}

/// Where a task stands. `completed`, `failed` and `killed` are terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TaskStatus {
    /// Made, not started: no slot is free, or it was made just now.
    Pending,
    /// Its loop runs.
    Running,
    /// Its model has ended, and its own background work runs on.
    Waiting,
    /// The process ended while it ran. Continue goes on with the same generation; Stop kills it.
    Interrupted,
    /// It ended by itself.
    Completed,
    /// It ended by an error or a limit.
    Failed,
    /// It was stopped.
    Killed,
}

impl TaskStatus {
    /// Is this generation over?
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Killed => true,
            Self::Pending | Self::Running | Self::Waiting | Self::Interrupted => false,
        }
    }

    /// Does it do, or wait to do, something by itself?
    pub fn is_live(self) -> bool {
        matches!(self, Self::Pending | Self::Running | Self::Waiting)
    }
}

/// How a session works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum SessionMode {
    /// The lead directs workers and never works itself.
    Coordinator,
    /// The lead works itself, and may dispatch workers.
    Solo,
}

impl SessionMode {
    /// The variable that a host reads once, as the default for new sessions (W23).
    pub const VARIABLE: &'static str = "COXSWAIN_COORDINATOR_MODE";

    /// What that variable's value asks for; null when it says neither yes nor no.
    pub fn of_switch(value: &str) -> Option<Self> {
        match value.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Some(Self::Coordinator),
            "0" | "false" | "no" | "off" => Some(Self::Solo),
            _ => None,
        }
    }
}

/// What is asked about, and what is not. In order from strict to free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub enum PermissionMode {
    /// Nothing is changed and nothing is run.
    Plan,
    /// Every change and every command that is not known to be harmless is asked about.
    Default,
    /// Edits inside the project pass; commands are asked about.
    AcceptEdits,
    /// Nothing is asked but what always asks. Per session, confirmed, never stored.
    BypassPermissions,
}

/// What makes a task, frozen at dispatch (W20).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct TaskSpec {
    /// Kind.
    pub kind: TaskKind,
    /// Unique in the session for ever.
    pub name: String,
    /// Three to five words for people; never steers the worker.
    pub description: String,
    /// The instruction, or a shell's command.
    pub prompt: String,
    /// `coordinator`, `solo`, `explore`, `plan`, `verify`, `worker`, or `shell`.
    pub role: String,
    /// The model's exact id; empty for a shell.
    pub model: String,
    /// The effective mode at dispatch.
    pub permission_mode: PermissionMode,
    /// Which of the panel colours it wears: 0 to 7.
    pub tint: u8,
    /// The JSONL export, relative to the data folder.
    pub output_file: String,
    /// What the loop needs to run it; null for a shell.
    pub frozen: Option<Frozen>,
}

/// The part of an agent that is rendered once and never again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct Frozen {
    /// The rendered system prompt.
    pub system: String,
    /// The tools as offered, in order.
    pub tools: Vec<ToolDef>,
    /// The limits.
    pub limits: Limits,
    /// Every command is asked about, whatever the mode and the rules allow (`verify`).
    pub ask_every_command: bool,
    /// The schema that the result has to meet, if one was given.
    #[ts(type = "unknown")]
    pub output_schema: Option<Value>,
}

/// A tool as offered to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ToolDef {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema, draft 2020-12, type object.
    #[ts(type = "unknown")]
    pub input_schema: Value,
}

/// Limits of one agent and of its session (W17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(export)]
pub struct Limits {
    /// Workers running at once; more are pending, in order.
    pub workers_at_once: u32,
    /// Workers a session may dispatch in all.
    pub workers_per_session: u32,
    /// Turns a generation may take.
    pub turns_per_generation: u32,
    /// Identical calls in a row, or identical dispatches, after which the agent is stopped.
    pub repeats: u32,
    /// Milliseconds that a worker waits for its own background shells after its final text.
    pub wait_for_shells_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            workers_at_once: 20,
            workers_per_session: 50,
            turns_per_generation: 100,
            repeats: 5,
            wait_for_shells_ms: 600_000,
        }
    }
}

/// How a generation ended (W22).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum Outcome {
    /// By itself.
    Completed,
    /// By an error or a limit.
    Failed {
        /// Which kind.
        kind: FailKind,
        /// What happened and what to do, for a person and the coordinator.
        message: String,
    },
    /// By a stop.
    Killed {
        /// Who stopped it.
        by: KilledBy,
    },
}

impl Outcome {
    /// The terminal status that belongs to it.
    pub fn status(&self) -> TaskStatus {
        match self {
            Self::Completed => TaskStatus::Completed,
            Self::Failed { .. } => TaskStatus::Failed,
            Self::Killed { .. } => TaskStatus::Killed,
        }
    }
}

/// Why a generation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum FailKind {
    /// The key is wrong, missing or not allowed.
    Auth,
    /// The account can't pay.
    Billing,
    /// The server does not know the model.
    ModelNotFound,
    /// No connection, or no answer in time.
    Unreachable,
    /// Too many requests.
    RateLimited,
    /// The provider is overloaded.
    Overloaded,
    /// The prompt does not fit the model's window.
    ContextExceeded,
    /// The provider refused the request as wrong.
    InvalidRequest,
    /// The stream broke or said something that can't be understood.
    StreamBroken,
    /// The server failed.
    ServerError,
    /// The model refused.
    Refused,
    /// The answer was cut by the output limit, twice.
    OutputLimit,
    /// More turns than allowed.
    TurnLimit,
    /// The same call or dispatch again and again.
    RepeatGuard,
    /// The result never met its schema.
    InvalidResult,
    /// A background command ended with an exit code other than 0, or by a signal.
    CommandFailed,
    /// The store refused to keep it.
    Storage,
    /// A defect in Coxswain.
    Internal,
}

/// Who stopped a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum KilledBy {
    /// The user.
    User,
    /// The agent that dispatched it.
    Coordinator,
    /// The end of its owner.
    Owner,
}

/// Tokens of one request, or summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(export)]
pub struct Usage {
    /// Neither read from the cache nor written to it.
    pub input: u64,
    /// Output, thinking included.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
    /// The counts are our own guess, not the provider's.
    pub estimated: bool,
}

impl Usage {
    /// The whole prompt: input, cache reads and cache writes.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }

    /// Adds another request's counts.
    pub fn add(&mut self, other: &Usage) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.estimated |= other.estimated;
    }
}

/// What was spent: two numbers that are never mixed (D8), and the money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(export)]
pub struct Totals {
    /// Context gauge: the whole prompt of the latest request and its output.
    pub context_tokens: u64,
    /// Input tokens of the latest request, the whole prompt (B94).
    pub latest_input: u64,
    /// Sum over all requests; the ledger's side.
    pub sum: Usage,
    /// Millionths of a US dollar, over the requests whose price is known.
    pub cost_micro_usd: u64,
    /// Requests to a model whose price is not known.
    pub unpriced_requests: u32,
    /// Requests.
    pub requests: u32,
    /// Tool calls that got a result.
    pub tool_uses: u32,
}

/// What the runtime itself saw in one generation (N3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(export)]
pub struct Evidence {
    /// Calls that ran.
    pub tool_uses: u32,
    /// Commands, in order, with their exit codes; the first 50.
    pub commands: Vec<CommandRun>,
    /// Files changed by its own Write and Edit, last state; the first 200.
    pub files: Vec<FileChange>,
    /// What its role does not allow and happened all the same.
    pub violations: Vec<String>,
    /// Background commands that were killed at its end.
    pub killed_shells: Vec<String>,
    /// Milliseconds from start to end.
    pub wall_ms: u64,
}
