//! What the store hands out beyond the protocol's views.

use cox_protocol::entry::BlobRef;
use cox_protocol::envelope::Envelope;
use cox_protocol::event::QueuedMessage;
use cox_protocol::inbox::{Answer, InboxItem};
use cox_protocol::task::Usage;
use cox_protocol::view::{OpenCall, ProjectRow};
use cox_protocol::{NotificationId, ProjectId, TaskId, ToolCall};
use std::path::PathBuf;

/// A folder that the user opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectRecord {
    /// Its id.
    pub id: ProjectId,
    /// The folder, byte for byte.
    pub path: PathBuf,
    /// When it was last opened, in milliseconds since 1970.
    pub opened_at: i64,
    /// Sessions in all.
    pub sessions: u32,
    /// It stands in the project list; false after [`crate::Store::forget_project`].
    pub listed: bool,
}

impl ProjectRecord {
    /// As a line of the list. Whether the folder can be opened now is for the caller to find out.
    pub fn row(&self, available: bool) -> ProjectRow {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        ProjectRow {
            id: self.id.clone(),
            path: self.path.to_string_lossy().into_owned(),
            name: name.to_string_lossy().into_owned(),
            available,
            opened_at: self.opened_at,
            sessions: self.sessions,
        }
    }
}

/// Everything of a session that waits for the engine, for recovery (W19).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenWork {
    /// Messages that are accepted and not delivered, oldest first.
    pub messages: Vec<WaitingMessage>,
    /// Notifications that are not delivered, oldest first.
    pub notifications: Vec<WaitingNotification>,
    /// Calls without a result, in the order of the log.
    pub calls: Vec<UnfinishedCall>,
    /// Process groups whose end is not recorded.
    pub processes: Vec<OpenProcess>,
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingMessage {
    /// The task that it waits for.
    pub task_id: Option<TaskId>,
    /// Its event's number.
    pub seq: u64,
    /// The message.
    pub message: QueuedMessage,
}

/// A notification that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingNotification {
    /// Its id.
    pub id: NotificationId,
    /// The parent that it waits for.
    pub task_id: Option<TaskId>,
    /// Its event's number.
    pub seq: u64,
    /// What it says.
    pub envelope: Envelope,
}

/// A call without a result.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfinishedCall {
    /// Whose.
    pub task_id: TaskId,
    /// The call.
    pub call: ToolCall,
    /// The number of the event whose entry holds it.
    pub seq: u64,
    /// Where it stands.
    pub state: OpenCall,
    /// It passed the policy and began to run, whatever it waited for since.
    pub started: bool,
    /// It only reads, so it may be repeated; said when it started.
    pub read_only: bool,
}

/// A process group whose end is not recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenProcess {
    /// The task that it ran for.
    pub task_id: Option<TaskId>,
    /// The group's id.
    pub pgid: i32,
    /// The leader's start time in clock ticks since boot.
    pub start_ticks: u64,
}

/// An inbox item, open or answered.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxRecord {
    /// What was asked.
    pub item: InboxItem,
    /// The answer; null while it is open.
    pub answer: Option<Answer>,
}

/// The sum of one task's requests to one model (W38).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerSum {
    /// The task.
    pub task_id: Option<TaskId>,
    /// The model that answered.
    pub model: String,
    /// Requests.
    pub requests: u32,
    /// Tokens.
    pub usage: Usage,
    /// Millionths of a US dollar, over the requests whose price was known.
    pub cost_micro_usd: u64,
    /// Requests whose price was not known.
    pub unpriced_requests: u32,
}

/// A piece of a blob, as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobPiece {
    /// The whole blob.
    pub blob: BlobRef,
    /// The bytes that were asked for, as far as there are any.
    pub bytes: Vec<u8>,
}

/// What a rebuild found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RebuildReport {
    /// Sessions whose rows were made anew.
    pub sessions: u64,
    /// Events that were read.
    pub events: u64,
    /// Events that can't be decoded and were left out.
    pub damaged: u64,
    /// Tables whose rows were not what the events say.
    pub changed: Vec<String>,
}

/// A row that can't be decoded. The rest of the database is used as if it were not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The table.
    pub table: &'static str,
    /// Which row.
    pub row: String,
    /// What is wrong with it.
    pub problem: String,
}
