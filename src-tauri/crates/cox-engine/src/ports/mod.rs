//! What the engine does for the tools (W36): one value a call, which knows the caller's place.
//!
//! - `ask`: permission requests and questions
//! - `journal`: records
//! - `tasks`: dispatch, messages, stops, reads
//! - `wording`: summaries for people and envelopes

mod ask;
mod journal;
mod tasks;
pub(crate) mod wording;

use crate::session::Session;
use cox_protocol::event::{EventKind, NewEvent};
use cox_protocol::id::TaskId;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The ports of one call.
pub(crate) struct CallPorts {
    pub(crate) session: Arc<Session>,
    pub(crate) task: TaskId,
    pub(crate) name: String,
    pub(crate) parent: Option<TaskId>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) generation: u32,
    pub(crate) turn: u32,
    /// Its start is recorded: with the answer that called it, or with the permission that let it pass.
    pub(crate) start_recorded: AtomicBool,
}

impl CallPorts {
    fn event(&self, kind: EventKind) -> NewEvent {
        NewEvent {
            session_id: self.session.id.clone(),
            task_id: Some(self.task.clone()),
            parent_task_id: self.parent.clone(),
            tool_use_id: self.tool_use_id.clone(),
            generation: self.generation,
            turn: self.turn,
            at: self.session.core.clock.now_ms(),
            body: kind.into(),
        }
    }
}
