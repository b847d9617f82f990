//! Who waits for a person's answer in this process. What is asked, and what was answered, are events.

use crate::session::Session;
use cox_protocol::event::NewEvent;
use cox_protocol::id::InboxId;
use cox_protocol::inbox::{Answer, InboxItem};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// One who waits.
pub(crate) struct Waiting {
    pub(crate) session: Arc<Session>,
    pub(crate) item: InboxItem,
    /// Recorded together with an answer that lets the call run, so that its start is durable.
    pub(crate) start: Option<NewEvent>,
    /// The frame of the event that closes the item.
    pub(crate) close: NewEvent,
    pub(crate) answer: oneshot::Sender<Answer>,
}

/// All who wait.
#[derive(Default)]
pub(crate) struct Inbox(Mutex<HashMap<InboxId, Waiting>>);

impl Inbox {
    pub(crate) fn add(&self, waiting: Waiting) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(waiting.item.id.clone(), waiting);
    }

    /// Takes one out. Whoever gets it decides how the item is closed; nobody else can.
    pub(crate) fn take(&self, id: &InboxId) -> Option<Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }

    /// A look at what one asks.
    pub(crate) fn item(&self, id: &InboxId) -> Option<InboxItem> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).map(|waiting| waiting.item.clone())
    }
}
