//! The turn loop: one for the coordinator, for a solo agent, and for every worker (invariant 1). A role is
//! data: its prompt, its tools, its rights, its limits.
//!
//! One generation, in order:
//!
//! 1. [`generation`]: take what waits in the queue into the transcript, take a turn, and again, until the model
//!    has no more to do and nothing waits; then end, once.
//! 2. [`answer`]: send the request, stream the answer, keep what had arrived when it is cut.
//! 3. [`calls`]: check every call of the answer, record answer and starts in one append, run the calls side by
//!    side, record one result for each.
//!
//! What the agent does not own: the queue, its name, its place in the task table. Those are the session's.

mod answer;
mod calls;
mod evidence;
mod generation;
mod guard;
mod resume;

use crate::control::{Control, Halt};
use crate::session::Session;
use cox_exec::ReadStamps;
use cox_protocol::entry::Entry;
use cox_protocol::event::{EventKind, NewEvent, PrefixMark};
use cox_protocol::id::TaskId;
use cox_protocol::task::{FailKind, TaskSpec, ToolDef};
use cox_provider::Provider;
use evidence::EvidenceLog;
use guard::RepeatGuard;
use serde_json::Value;
use std::sync::Arc;

/// How an agent comes to its transcript.
pub(crate) enum Start {
    /// Its transcript begins with this entry, which is stored already.
    Fresh(Arc<Entry>),
    /// Its transcript is loaded from the store; the last generation was over.
    Again,
    /// The same, but the last generation was suspended: its open calls are settled first (W19).
    Resumed,
}

/// One agent in one generation. It owns its state; nobody else holds it.
pub(crate) struct Agent {
    pub(crate) session: Arc<Session>,
    pub(crate) id: TaskId,
    pub(crate) parent: Option<TaskId>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) spec: Arc<TaskSpec>,
    pub(crate) control: Arc<Control>,
    pub(crate) generation: u32,
    pub(crate) turn: u32,
    pub(crate) started_at: i64,
    system: Arc<str>,
    tools: Arc<[ToolDef]>,
    entries: Vec<Arc<Entry>>,
    stamps: Arc<ReadStamps>,
    evidence: EvidenceLog,
    guard: RepeatGuard,
    mark: Option<PrefixMark>,
    provider: Arc<dyn Provider>,
    /// The context gauge (D8).
    context_tokens: u64,
    /// Times that an empty, a cut or an unhanded result was asked for again, in a row.
    asked_again: u32,
}

/// What an agent is made from.
pub(crate) struct Birth {
    pub(crate) id: TaskId,
    pub(crate) parent: Option<TaskId>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) spec: Arc<TaskSpec>,
    pub(crate) control: Arc<Control>,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) generation: u32,
    pub(crate) turn: u32,
    pub(crate) started_at: i64,
}

/// Why a generation can't go on.
#[derive(Debug)]
enum Stop {
    /// It was halted from outside.
    Halted(Halt),
    /// It failed.
    Failed(FailKind, String),
    /// Its result was handed in.
    HandedIn(Value),
}

impl Agent {
    pub(crate) fn new(session: Arc<Session>, birth: Birth) -> Self {
        let stamps = session.stamps_of(&birth.id);
        let frozen = birth.spec.frozen.as_ref();
        Self {
            session,
            id: birth.id,
            system: frozen.map(|frozen| Arc::from(frozen.system.as_str())).unwrap_or_default(),
            tools: frozen.map(|frozen| Arc::from(frozen.tools.as_slice())).unwrap_or_default(),
            parent: birth.parent,
            tool_use_id: birth.tool_use_id,
            spec: birth.spec,
            control: birth.control,
            generation: birth.generation,
            turn: birth.turn,
            started_at: birth.started_at,
            entries: Vec::new(),
            stamps,
            evidence: EvidenceLog::default(),
            guard: RepeatGuard::default(),
            mark: None,
            provider: birth.provider,
            context_tokens: 0,
            asked_again: 0,
        }
    }

    fn event(&self, kind: EventKind) -> NewEvent {
        NewEvent {
            session_id: self.session.id.clone(),
            task_id: Some(self.id.clone()),
            parent_task_id: self.parent.clone(),
            tool_use_id: self.tool_use_id.clone(),
            generation: self.generation,
            turn: self.turn,
            at: self.session.core.clock.now_ms(),
            body: kind.into(),
        }
    }

    /// Appends to the log and waits for the acknowledgement; then the transcript in memory follows.
    async fn append(&mut self, kinds: Vec<EventKind>) -> Result<(), Stop> {
        let events: Vec<NewEvent> = kinds.into_iter().map(|kind| self.event(kind)).collect();
        let stored = self.session.core.store.append(events).await;
        let stored = stored.map_err(|error| Stop::Failed(FailKind::Storage, storage_message(&error)))?;
        for event in stored {
            if let Some(EventKind::Entry { entry }) = event.known() {
                self.entries.push(Arc::new(entry.clone()));
            }
        }
        Ok(())
    }

    /// Has it been halted?
    fn check_halt(&self) -> Result<(), Stop> {
        match self.control.halted() {
            Some(halt) => Err(Stop::Halted(halt)),
            None => Ok(()),
        }
    }
}

pub(crate) fn storage_message(error: &cox_store::StoreError) -> String {
    format!("the database could not be written, so nothing more was done: {error}")
}
