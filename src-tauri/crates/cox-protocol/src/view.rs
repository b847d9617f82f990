//! What the window shows. A view is the state of the fold at a sequence number.

use crate::entry::{BlobRef, Entry};
use crate::event::QueuedMessage;
use crate::id::{ProjectId, RuleId, SessionId, TaskId};
use crate::inbox::{InboxItem, Rule};
use crate::settings::{ProviderKind, Settings};
use crate::task::{Evidence, FailKind, Outcome, PermissionMode, SessionMode, TaskKind, TaskStatus, Totals};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use ts_rs::TS;

/// One session, without transcripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct SessionView {
    /// The last event that is folded in.
    pub seq: u64,
    /// Its id.
    pub id: SessionId,
    /// Its project.
    pub project_id: Option<ProjectId>,
    /// Its title.
    pub title: String,
    /// Coordinator or solo.
    pub mode: SessionMode,
    /// The stored permission mode.
    pub permission_mode: PermissionMode,
    /// `anthropic`, `openai` or `rehearsal`.
    pub provider: String,
    /// The server, when it is not the provider's own.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The lead's model.
    pub model: String,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// The last event's time.
    pub updated_at: i64,
    /// Every task, in order of making; the first is the lead.
    pub tasks: Vec<TaskView>,
    /// What waits for a person, oldest first.
    pub inbox: Vec<InboxItem>,
    /// Messages that are accepted and not delivered.
    pub queued: Vec<QueuedMessage>,
}

/// One task, without its transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct TaskView {
    /// Its id.
    pub id: TaskId,
    /// Who made it.
    pub parent: Option<TaskId>,
    /// The call that made it.
    pub tool_use_id: Option<String>,
    /// Lead, worker or shell.
    pub kind: TaskKind,
    /// Its name.
    pub name: String,
    /// What the user reads.
    pub description: String,
    /// Its role.
    pub role: String,
    /// Its model.
    pub model: String,
    /// Its effective mode at dispatch.
    pub permission_mode: PermissionMode,
    /// Its colour: 0 to 7.
    pub tint: u8,
    /// The JSONL export, relative to the data folder.
    pub output_file: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// How many open inbox items are its own.
    pub asks: u32,
    /// The current or last generation.
    pub generation: u32,
    /// The current or last turn.
    pub turn: u32,
    /// When the current or last generation began.
    pub started_at: i64,
    /// When it ended; null while it is not terminal.
    pub ended_at: Option<i64>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// The first 2,000 characters of its last result.
    pub result: Option<String>,
    /// The evidence of the last generation that ended.
    pub evidence: Option<Evidence>,
    /// What it used, over all generations.
    pub totals: Totals,
    /// The last five activities, oldest first.
    pub activities: Vec<Activity>,
    /// Files that it changed, each once, in order of the last change; at most 200.
    pub changed_files: Vec<String>,
    /// Files that changed under it by other hands in this generation; at most 50.
    pub changed_outside: Vec<String>,
    /// The retry that it waits for.
    pub retry: Option<RetryView>,
}

/// One thing that a task did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct Activity {
    /// The call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// Its main argument in one line, at most 120 characters.
    pub label: String,
    /// When.
    pub at: i64,
}

/// A retry that is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct RetryView {
    /// Which try failed, from 1.
    pub attempt: u32,
    /// Tries in all.
    pub max_attempts: u32,
    /// When the next try is due.
    pub due_at: i64,
    /// What it was.
    pub category: FailKind,
    /// In words.
    pub message: String,
}

/// The live view of one agent: the end of its transcript, and what is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct PanelView {
    /// The last event that is folded in.
    pub seq: u64,
    /// Whose.
    pub task_id: TaskId,
    /// In order. Earlier ones come by [`crate::Query::Transcript`].
    pub entries: Vec<EntryRow>,
    /// There are earlier entries than the first here.
    pub has_earlier: bool,
    /// Calls that have no result yet, and where they stand.
    pub open_calls: BTreeMap<String, OpenCall>,
    /// The answer that is being streamed.
    pub partial: Option<Partial>,
}

/// An entry and its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct EntryRow {
    /// Its event's number.
    pub seq: u64,
    /// Milliseconds since 1970.
    pub at: i64,
    /// The generation.
    pub generation: u32,
    /// The turn.
    pub turn: u32,
    /// The entry.
    pub entry: Entry,
}

/// Where a call without a result stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum OpenCall {
    /// Recorded, not started.
    Queued,
    /// Waits for a person.
    Asking,
    /// Runs.
    Running,
}

/// The answer in progress. Not an event: it streams beside the log (W9).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct Partial {
    /// The generation.
    pub generation: u32,
    /// The turn.
    pub turn: u32,
    /// The blocks so far.
    pub blocks: Vec<PartialBlock>,
}

/// A block in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct PartialBlock {
    /// What it is.
    pub kind: PartialKind,
    /// The text, the thinking, or a call's arguments as far as they came.
    pub text: String,
    /// A call's tool; empty for the others.
    pub tool: String,
}

/// What a block in progress is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum PartialKind {
    /// Text.
    Text,
    /// Thinking.
    Thinking,
    /// A call's arguments.
    Call,
}

/// A line of the project list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ProjectRow {
    /// Its id.
    pub id: ProjectId,
    /// The folder, as text; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// The folder's own name.
    pub name: String,
    /// The folder can be opened now.
    pub available: bool,
    /// When it was last opened.
    pub opened_at: i64,
    /// Sessions in all.
    pub sessions: u32,
}

/// A line of the session list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// Its project.
    pub project_id: ProjectId,
    /// Its title.
    pub title: String,
    /// The state of its whole tree (invariant 12).
    pub state: TreeState,
    /// Workers that are pending, running or waiting.
    pub live_workers: u32,
    /// Open inbox items.
    pub asks: u32,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// The last event's time.
    pub updated_at: i64,
}

/// The state of a session's whole tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TreeState {
    /// Nothing runs, and nothing is suspended.
    Idle,
    /// Something runs.
    Busy,
    /// Something waits for a person.
    Asks,
    /// Something is suspended, and nothing runs.
    Interrupted,
    /// The lead's last generation failed, and nothing runs.
    Failed,
}

/// What a host gets when it attaches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct Snapshot {
    /// Everything up to this event is in here.
    pub seq: u64,
    /// All projects, the one opened last first.
    pub projects: Vec<ProjectRow>,
    /// The 200 sessions that changed last; more by [`crate::Query::Sessions`].
    pub sessions: Vec<SessionRow>,
    /// What waits for a person in all sessions, oldest first.
    pub inbox: Vec<InboxItem>,
    /// The settings.
    pub settings: Settings,
    /// For which servers a key is at hand, and more that the settings page shows.
    pub environment: Environment,
}

/// What the settings page shows about this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct Environment {
    /// The version of Coxswain.
    pub version: String,
    /// The data folder.
    pub data_folder: String,
    /// Bytes in it.
    pub data_bytes: u64,
    /// Where a key comes from for the provider that is set; null when there is none and one is needed.
    pub key: KeyState,
    /// The models that the provider's data file names.
    pub models: Vec<ModelRow>,
}

/// Where the key comes from. Never the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum KeyState {
    /// The provider needs none.
    NotNeeded,
    /// From an environment variable.
    Environment,
    /// From the keychain.
    Keychain,
    /// Held for this run only, because there is no keychain.
    Memory,
    /// None.
    Missing,
}

/// A model of the data file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct ModelRow {
    /// Whose.
    pub provider: ProviderKind,
    /// Its exact id.
    pub id: String,
    /// Its window in tokens.
    pub context: u64,
}

/// A stored rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct RuleRow {
    /// Its id.
    pub id: RuleId,
    /// Its project.
    pub project_id: ProjectId,
    /// The rule.
    pub rule: Rule,
    /// When it was made.
    pub created_at: i64,
}

/// A hit of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct SearchHit {
    /// Where.
    pub session_id: SessionId,
    /// Whose transcript.
    pub task_id: TaskId,
    /// Which entry.
    pub seq: u64,
    /// The words around it; the hit stands between U+2068 and U+2069.
    pub excerpt: String,
}

/// A piece of a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct BlobPage {
    /// Which.
    pub blob: BlobRef,
    /// Where this piece begins, in bytes.
    pub offset: u64,
    /// The text; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Where the next piece begins; null at the end.
    pub next: Option<u64>,
}

/// The arguments of a call in one line, for lists: its main argument, at most 120 characters.
pub fn call_label(tool: &str, input: &Value) -> String {
    let key = match tool {
        "Read" | "Write" | "Edit" => "path",
        "Glob" | "Grep" => "pattern",
        "Bash" => "command",
        "Agent" => "description",
        "SendMessage" => "to",
        "TaskStop" | "TaskOutput" => "task_id",
        _ => "",
    };
    let text = match input.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None if key.is_empty() => String::new(),
        None => String::new(),
    };
    let mut line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > 120 {
        line = line.chars().take(119).collect::<String>() + "…";
    }
    line
}
