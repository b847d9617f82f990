//! What the writer is asked to do, and the way there.

use crate::damage::Db;
use crate::error::StoreError;
use crate::rows::RebuildReport;
use cox_protocol::view::Partial;
use cox_protocol::{Event, SessionId, TaskId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// Where an answer goes. A caller that has gone away changes nothing.
pub(crate) type Ack<T> = oneshot::Sender<Result<T, StoreError>>;

/// A command for the writer.
pub(crate) enum Command {
    /// Part of a transaction.
    Write(Write),
    /// How durable commits are from now on.
    Durable(bool),
    /// Makes the projections anew.
    Rebuild(Ack<RebuildReport>),
    /// Everything before this is written.
    Flush(Ack<()>),
    /// The same, and the thread ends.
    Close(Ack<()>),
}

/// Part of a transaction.
pub(crate) enum Write {
    /// Events; their numbers are given in the transaction.
    Append {
        /// In order.
        events: Vec<Event>,
        /// None: nobody waits.
        ack: Option<Ack<Vec<Arc<Event>>>>,
    },
    /// A change of a table beside the log.
    Table(Box<dyn TableWrite>),
    /// The latest partial of this task is in the box.
    Partial(TaskId),
}

/// A change of a table beside the log. May run more than once: a transaction that failed is tried again.
pub(crate) trait TableWrite: Send {
    /// Does it, in the transaction.
    fn run(&mut self, db: Db<'_>) -> rusqlite::Result<()>;
    /// After the commit, or the failure.
    fn answer(self: Box<Self>, result: Result<(), StoreError>);
}

/// A change that answers with a value.
pub(crate) struct Change<T, F> {
    pub(crate) work: F,
    pub(crate) value: Option<T>,
    pub(crate) ack: Ack<T>,
}

impl<T: Send, F: FnMut(Db<'_>) -> rusqlite::Result<T> + Send> TableWrite for Change<T, F> {
    fn run(&mut self, db: Db<'_>) -> rusqlite::Result<()> {
        self.value = Some((self.work)(db)?);
        Ok(())
    }

    fn answer(self: Box<Self>, result: Result<(), StoreError>) {
        let Self { value, ack, .. } = *self;
        drop(ack.send(result.and_then(|()| value.ok_or(StoreError::Closed))));
    }
}

/// The latest partial of each task that is not written yet: however often one is saved, it waits once.
#[derive(Debug, Default)]
pub(crate) struct PartialBox(Mutex<HashMap<TaskId, (SessionId, Option<Partial>)>>);

impl PartialBox {
    /// Puts one in; says whether none of this task waited.
    pub(crate) fn put(&self, task: TaskId, session: SessionId, partial: Option<Partial>) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(task, (session, partial)).is_none()
    }

    /// Takes one out.
    pub(crate) fn take(&self, task: &TaskId) -> Option<(SessionId, Option<Partial>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(task)
    }
}
