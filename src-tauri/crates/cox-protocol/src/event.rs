//! One lasting change (W2). Events are appended to the log and acknowledged before anybody acts on them;
//! everything else is a projection of them.

use crate::entry::{Entry, FileChange};
use crate::envelope::Envelope;
use crate::id::{InboxId, MessageId, NotificationId, ProjectId, RequestId, SessionId, TaskId};
use crate::inbox::{Answer, InboxItem};
use crate::task::{Evidence, FailKind, Outcome, PermissionMode, SessionMode, TaskSpec, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

/// The version of the event format written by this build. Changes are additive.
pub const EVENT_VERSION: u16 = 1;

/// An event without what the store gives it: `v` and `seq`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewEvent {
    /// The session whose log it belongs to.
    pub session_id: SessionId,
    /// The task it is about; null when it is about the session.
    pub task_id: Option<TaskId>,
    /// That task's parent.
    pub parent_task_id: Option<TaskId>,
    /// The Agent call that made the task.
    pub tool_use_id: Option<String>,
    /// The task's generation, from 1; 0 before the first.
    pub generation: u32,
    /// The turn in the generation, from 1; 0 outside a turn.
    pub turn: u32,
    /// Milliseconds since 1970.
    pub at: i64,
    /// What happened.
    pub body: EventBody,
}

impl NewEvent {
    /// An event about a session as a whole.
    pub fn session(session_id: SessionId, at: i64, kind: EventKind) -> Self {
        Self {
            session_id,
            task_id: None,
            parent_task_id: None,
            tool_use_id: None,
            generation: 0,
            turn: 0,
            at,
            body: EventBody::Known(kind),
        }
    }

    /// With its place in the log.
    pub fn stored(self, seq: u64) -> Event {
        Event {
            v: EVENT_VERSION,
            seq,
            session_id: self.session_id,
            task_id: self.task_id,
            parent_task_id: self.parent_task_id,
            tool_use_id: self.tool_use_id,
            generation: self.generation,
            turn: self.turn,
            at: self.at,
            body: self.body,
        }
    }
}

/// An event as stored, streamed to the window, and printed by `stream-json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct Event {
    /// Format version.
    pub v: u16,
    /// One counter over the whole database.
    pub seq: u64,
    /// The session whose log it belongs to.
    pub session_id: SessionId,
    /// The task it is about; null when it is about the session.
    pub task_id: Option<TaskId>,
    /// That task's parent.
    pub parent_task_id: Option<TaskId>,
    /// The Agent call that made the task.
    pub tool_use_id: Option<String>,
    /// The task's generation, from 1; 0 before the first.
    pub generation: u32,
    /// The turn in the generation, from 1; 0 outside a turn.
    pub turn: u32,
    /// Milliseconds since 1970.
    pub at: i64,
    /// What happened: `kind` and its fields, beside the fields above.
    #[serde(flatten)]
    #[ts(flatten)]
    pub body: EventBody,
}

impl Event {
    /// The kind, when this version knows it.
    pub fn known(&self) -> Option<&EventKind> {
        match &self.body {
            EventBody::Known(kind) => Some(kind),
            EventBody::Unknown(_) => None,
        }
    }
}

/// A kind that this version knows, or one of a later version, kept as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(untagged)]
#[ts(export)]
pub enum EventBody {
    /// A known kind.
    Known(EventKind),
    /// Survives a round trip unread.
    #[ts(skip)]
    Unknown(Map<String, Value>),
}

impl From<EventKind> for EventBody {
    fn from(kind: EventKind) -> Self {
        Self::Known(kind)
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum EventKind {
    /// A session began.
    SessionCreated {
        /// Over this project.
        project_id: ProjectId,
        /// What the list shows until a title is set.
        title: String,
        /// Coordinator or solo.
        mode: SessionMode,
        /// The mode it starts in.
        permission_mode: PermissionMode,
        /// `anthropic`, `openai` or `rehearsal`.
        provider: String,
        /// The server, when it is not the provider's own.
        #[serde(default)]
        base_url: Option<String>,
        /// The lead's model.
        model: String,
    },
    /// The session got a title.
    SessionTitled {
        /// The title.
        title: String,
    },
    /// The permission mode changed. Never sent for `bypassPermissions` (W25).
    SessionModeSet {
        /// The new mode.
        permission_mode: PermissionMode,
    },
    /// A task was made; its status is pending.
    TaskStarted {
        /// What it is.
        spec: TaskSpec,
    },
    /// A generation began to run.
    GenerationStarted {
        /// Why.
        cause: Cause,
    },
    /// The process ended while it ran (W14).
    TaskInterrupted {
        /// What happened.
        reason: String,
    },
    /// An interrupted generation goes on.
    TaskResumed {},
    /// The model has ended; own background commands run on.
    TaskWaiting {
        /// Their ids.
        shells: Vec<TaskId>,
    },
    /// The transcript grew.
    Entry {
        /// By this.
        entry: Entry,
    },
    /// A call passed the policy and is about to run.
    ToolStarted {
        /// The call.
        call_id: String,
        /// It only reads, so that it may be repeated after a crash.
        read_only: bool,
    },
    /// Something waits for a person.
    InboxOpened {
        /// What.
        item: InboxItem,
    },
    /// It was answered or withdrawn.
    InboxClosed {
        /// Which.
        id: InboxId,
        /// How.
        answer: Answer,
    },
    /// A message was accepted for this task.
    MessageQueued {
        /// The message.
        message: QueuedMessage,
    },
    /// It was put into the transcript.
    MessageDelivered {
        /// Which.
        message_id: MessageId,
    },
    /// The user took it back before it was delivered.
    MessageWithdrawn {
        /// Which.
        message_id: MessageId,
    },
    /// A request was answered: the ledger row (W38).
    Usage {
        /// The request.
        request_id: RequestId,
        /// The model that answered.
        model: String,
        /// The four token counts.
        usage: Usage,
        /// Millionths of a US dollar; null when the price is not known.
        cost_micro_usd: Option<u64>,
        /// Which price table.
        price_version: String,
        /// Hashes of the request's parts.
        prefix: PrefixMark,
        /// The part that moved since the last request, if one did.
        moved: Option<PrefixPart>,
    },
    /// A request failed and is tried again.
    RequestRetried {
        /// Which try failed, from 1.
        attempt: u32,
        /// Tries in all.
        max_attempts: u32,
        /// Milliseconds until the next.
        delay_ms: u64,
        /// The HTTP status, if there was an answer.
        status: Option<u16>,
        /// What it was.
        category: FailKind,
        /// In words.
        message: String,
    },
    /// A generation is over; the result is stored with this.
    GenerationEnded {
        /// How.
        outcome: Outcome,
        /// The final text.
        result: Option<String>,
        /// The value handed in through SyntheticOutput.
        #[ts(type = "unknown")]
        value: Option<Value>,
        /// What the runtime saw.
        evidence: Evidence,
    },
    /// A notification waits for the parent; it is the parent's event.
    NotificationQueued {
        /// One a generation.
        notification_id: NotificationId,
        /// What it says.
        envelope: Envelope,
    },
    /// It was put into the parent's transcript, or handed over by TaskOutput.
    NotificationDelivered {
        /// Which.
        notification_id: NotificationId,
    },
    /// A file of the project changed.
    FileChanged {
        /// What changed.
        change: FileChange,
        /// The content before, as a blob; null when it did not exist or was not ours.
        before_blob: Option<String>,
        /// By this task's tool; false: by other hands, noticed by the watcher.
        own: bool,
    },
    /// A process group began, so that the next start can reap it (W19).
    ProcessStarted {
        /// The group's id.
        pgid: i32,
        /// The leader's start time in clock ticks since boot.
        start_ticks: u64,
    },
    /// It is gone.
    ProcessEnded {
        /// The group's id.
        pgid: i32,
    },
}

/// Why a generation began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Cause {
    /// Its dispatch.
    Dispatch,
    /// A message.
    Message,
    /// A notification of a child.
    Notification,
}

/// A message that waits to be delivered (W5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct QueuedMessage {
    /// Its id; consumed once.
    pub id: MessageId,
    /// The sender.
    pub from: crate::entry::Party,
    /// The recipient.
    pub to: crate::entry::Party,
    /// The first line, at most 200 characters (B186).
    pub summary: Option<String>,
    /// The text.
    pub text: String,
}

/// Hashes of a request's three parts, without cache markers (invariant 11).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct PrefixMark {
    /// The tool definitions.
    pub tools: String,
    /// The system prompt.
    pub system: String,
    /// All messages.
    pub messages: String,
    /// How many messages that were.
    pub count: u32,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum PrefixPart {
    /// The tool definitions.
    Tools,
    /// The system prompt.
    System,
    /// An earlier message.
    Messages,
}
