//! The task table of one session: who there is, where each stands, and what waits for each.

use crate::control::Control;
use cox_protocol::entry::RuntimeNote;
use cox_protocol::envelope::Envelope;
use cox_protocol::event::QueuedMessage;
use cox_protocol::id::{NotificationId, TaskId};
use cox_protocol::task::{Evidence, KilledBy, Outcome, TaskKind, TaskSpec, TaskStatus};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tokio::sync::{oneshot, watch};

/// Messages that may wait for one agent; more are refused.
pub(crate) const QUEUE_MOST: usize = 100;

/// One task.
pub(crate) struct Row {
    pub(crate) id: TaskId,
    pub(crate) kind: TaskKind,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) output_file: String,
    pub(crate) parent: Option<TaskId>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) status: TaskStatus,
    pub(crate) generation: u32,
    pub(crate) turn: u32,
    pub(crate) started_at: i64,
    /// Loaded from the store when it is needed.
    pub(crate) spec: Option<Arc<TaskSpec>>,
    pub(crate) last: Option<Ended>,
    /// Messages that are accepted and not in the transcript.
    pub(crate) queue: VecDeque<QueuedMessage>,
    /// What the runtime has to say to it.
    pub(crate) notes: VecDeque<Note>,
    /// Its running generation's stop.
    pub(crate) control: Option<Arc<Control>>,
    /// A call that waits in the foreground for its end.
    pub(crate) foreground: Option<oneshot::Sender<Ended>>,
    /// A background command's processes.
    pub(crate) shell: Option<cox_exec::Running>,
    /// What others wait on: status and generation.
    pub(crate) state: watch::Sender<(TaskStatus, u32)>,
}

/// How a generation ended, for those who ask later.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) result: Option<String>,
    pub(crate) evidence: Evidence,
}

/// What the runtime has to say to an agent.
#[derive(Clone, Debug)]
pub(crate) enum Note {
    /// A child ended; recorded under this id.
    Notification { id: NotificationId, envelope: Box<Envelope> },
    /// Anything else; not recorded before it is delivered.
    Runtime(RuntimeNote),
}

/// What an agent takes into its transcript at the start of a turn: the user's text first (B184).
#[derive(Clone, Debug, Default)]
pub(crate) struct Incoming {
    pub(crate) messages: Vec<QueuedMessage>,
    pub(crate) notes: Vec<Note>,
}

impl Incoming {
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.notes.is_empty()
    }
}

impl Row {
    /// Does something wait that is worth a turn? What the runtime remarks by the way rides along with the next
    /// turn, but costs none of its own.
    pub(crate) fn has_incoming(&self) -> bool {
        !self.queue.is_empty() || self.notes.iter().any(|note| matches!(note, Note::Notification { .. }))
    }

    /// Takes everything that waits, in one step (B134).
    pub(crate) fn drain(&mut self) -> Incoming {
        Incoming { messages: self.queue.drain(..).collect(), notes: self.notes.drain(..).collect() }
    }

    pub(crate) fn set_status(&mut self, status: TaskStatus) {
        self.status = status;
        self.state.send_replace((status, self.generation));
    }

    /// Did the user stop its last generation?
    pub(crate) fn stopped_by_user(&self) -> bool {
        self.status == TaskStatus::Killed
            && matches!(self.last, Some(Ended { outcome: Outcome::Killed { by: KilledBy::User }, .. }))
    }
}

/// All tasks of a session, in the order in which they were made.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    by_id: HashMap<TaskId, usize>,
    by_name: HashMap<String, usize>,
}

impl Table {
    pub(crate) fn insert(&mut self, row: Row) {
        let at = self.rows.len();
        self.by_id.insert(row.id.clone(), at);
        self.by_name.insert(row.name.clone(), at);
        self.rows.push(row);
    }

    pub(crate) fn get(&self, id: &TaskId) -> Option<&Row> {
        self.by_id.get(id).map(|at| &self.rows[*at])
    }

    pub(crate) fn get_mut(&mut self, id: &TaskId) -> Option<&mut Row> {
        self.by_id.get(id).map(|at| &mut self.rows[*at])
    }

    /// By name first, then by id (B131).
    pub(crate) fn resolve(&self, name_or_id: &str) -> Option<TaskId> {
        if let Some(at) = self.by_name.get(name_or_id) {
            return Some(self.rows[*at].id.clone());
        }
        let id = TaskId::new(name_or_id);
        self.by_id.contains_key(&id).then_some(id)
    }

    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter()
    }

    pub(crate) fn workers(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.kind == TaskKind::Worker)
    }

    /// Workers that hold a slot.
    pub(crate) fn running_workers(&self) -> usize {
        self.workers().filter(|row| matches!(row.status, TaskStatus::Running | TaskStatus::Waiting)).count()
    }

    /// Children of this task that have not ended.
    pub(crate) fn open_children(&self, parent: &TaskId) -> Vec<TaskId> {
        self.rows
            .iter()
            .filter(|row| row.parent.as_ref() == Some(parent) && row.kind == TaskKind::Worker)
            .filter(|row| !row.status.is_terminal())
            .map(|row| row.id.clone())
            .collect()
    }

    /// Live background shells of this task.
    pub(crate) fn live_shells(&self, owner: &TaskId) -> Vec<TaskId> {
        self.rows
            .iter()
            .filter(|row| row.parent.as_ref() == Some(owner) && row.kind == TaskKind::Shell)
            .filter(|row| row.status.is_live())
            .map(|row| row.id.clone())
            .collect()
    }
}

/// A name from a description: lower-case words joined by hyphens, at most 24 characters.
pub(crate) fn slug(description: &str) -> String {
    let mut out = String::new();
    for word in description.split(|ch: char| !ch.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if !out.is_empty() && out.len() + word.len() >= 24 {
            break;
        }
        if !out.is_empty() {
            out.push('-');
        }
        out.push_str(&word.to_ascii_lowercase());
    }
    out.truncate(24);
    if out.is_empty() { "worker".to_owned() } else { out }
}
