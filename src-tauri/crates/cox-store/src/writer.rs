//! The one thread that writes.
//!
//! 1. It waits for a command and takes with it whatever else is queued: one transaction, no timer (W8).
//! 2. In the transaction (`BEGIN IMMEDIATE`) the events get their numbers, and the projections follow.
//! 3. After the commit the callers are answered, then the sink gets the events in order.
//! 4. A transaction that fails is undone as a whole, and each command is tried alone, so that one can't fail
//!    another. What fails alone is told to its caller. Events that nobody waits for are kept and go before
//!    the next transaction's: a full disk loses none of them.
//!
//! Checkpoints, search and exports are not its business; see [`crate::aside`].

use crate::aside::Aside;
use crate::aside::checkpoint::Pauses;
use crate::damage::{Damages, Db};
use crate::error::StoreError;
use crate::queue::{Command, PartialBox, Write};
use crate::store::Sink;
use crate::table::{events, partials};
use crate::views::Views;
use crate::{database, projection};
use cox_protocol::Event;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

/// Commands in one transaction at most: enough for any burst, few enough to answer the first one soon.
const BATCH: usize = 512;

pub(crate) struct Writer {
    pub(crate) conn: Connection,
    pub(crate) damages: Arc<Damages>,
    pub(crate) partials: Arc<PartialBox>,
    pub(crate) sink: Sink,
    pub(crate) aside: Aside,
    pub(crate) pauses: Pauses,
    pub(crate) views: Views,
    /// The last number that this process knows of.
    pub(crate) known_seq: u64,
    /// Events that nobody waits for and that could not be stored yet, in order.
    pub(crate) backlog: Vec<Event>,
}

/// Goes on with the thread, or ends it.
enum Next {
    GoOn,
    End,
}

impl Writer {
    /// The thread's whole life: until the store is closed or all handles are gone.
    pub(crate) fn run(mut self, queue: Receiver<Command>) {
        while let Ok(first) = queue.recv() {
            let mut writes = Vec::new();
            let mut command = Some(first);
            while let Some(next) = command {
                match next {
                    Command::Write(write) => writes.push(write),
                    other => {
                        self.write(std::mem::take(&mut writes));
                        if let Next::End = self.control(other) {
                            return;
                        }
                    }
                }
                command = if writes.len() < BATCH { queue.try_recv().ok() } else { None };
            }
            self.write(writes);
        }
        self.write_backlog().unwrap_or_else(|error| tracing::error!(%error, "events are lost at the end"));
    }

    fn control(&mut self, command: Command) -> Next {
        match command {
            Command::Write(write) => self.write(vec![write]),
            Command::Durable(durable) => {
                if let Err(error) = database::set_durable(&self.conn, durable) {
                    tracing::warn!(%error, "can't set how durable commits are");
                }
            }
            Command::Rebuild(ack) => {
                let result = self.write_backlog().and_then(|()| self.rebuild());
                drop(ack.send(result));
            }
            Command::Flush(ack) => {
                let result = self.write_backlog();
                drop(ack.send(result));
            }
            Command::Close(ack) => {
                let result = self.write_backlog();
                drop(ack.send(result));
                return Next::End;
            }
        }
        Next::GoOn
    }

    fn rebuild(&mut self) -> Result<crate::rows::RebuildReport, StoreError> {
        self.views.clear();
        let db = Db { conn: &self.conn, damages: &self.damages };
        projection::rebuild(db).map_err(StoreError::sql("rebuild the projections"))
    }

    fn write_backlog(&mut self) -> Result<(), StoreError> {
        if self.backlog.is_empty() {
            return Ok(());
        }
        self.attempt(&mut [])?;
        self.acknowledge(Vec::new());
        Ok(())
    }

    fn write(&mut self, mut writes: Vec<Write>) {
        if writes.is_empty() {
            return;
        }
        match self.attempt(&mut writes) {
            Ok(()) => self.acknowledge(writes),
            Err(error) if writes.len() == 1 => self.fail(writes, &error),
            Err(_) => {
                for write in writes {
                    let mut alone = vec![write];
                    match self.attempt(&mut alone) {
                        Ok(()) => self.acknowledge(alone),
                        Err(error) => self.fail(alone, &error),
                    }
                }
            }
        }
        self.views.evict();
        if self.aside.asks_for_a_pause() {
            self.pauses.pause(&self.conn);
        }
    }

    /// One transaction: all of it or nothing.
    fn attempt(&mut self, writes: &mut [Write]) -> Result<(), StoreError> {
        match self.transaction(writes) {
            Ok(seq) => {
                self.known_seq = seq;
                Ok(())
            }
            Err(error) => {
                self.views.clear();
                Err(StoreError::sql("write to the database")(error))
            }
        }
    }

    fn transaction(&mut self, writes: &mut [Write]) -> rusqlite::Result<u64> {
        let Self { conn, damages, partials, views, known_seq, backlog, .. } = self;
        let db = Db { conn, damages };
        let transaction = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
        let mut seq = events::last_seq(conn)?;
        if seq != *known_seq {
            views.forget_written_after(conn, *known_seq)?;
        }
        let mut store = |event: &mut Event| {
            seq += 1;
            event.seq = seq;
            events::insert(conn, event)?;
            views.apply(db, event)
        };
        backlog.iter_mut().try_for_each(&mut store)?;
        for write in writes {
            match write {
                Write::Append { events, .. } => events.iter_mut().try_for_each(&mut store)?,
                Write::Table(work) => work.run(db)?,
                Write::Partial(task) => {
                    if let Some((session, partial)) = partials.take(task) {
                        partials::put(conn, &session, task, partial.as_ref())?;
                    }
                }
            }
        }
        views.write(conn)?;
        transaction.commit()?;
        Ok(seq)
    }

    /// It is on disk: the callers first, then the sink.
    fn acknowledge(&mut self, writes: Vec<Write>) {
        let mut all: Vec<Arc<Event>> = self.backlog.drain(..).map(Arc::new).collect();
        for write in writes {
            match write {
                Write::Append { events, ack } => {
                    let stored: Vec<Arc<Event>> = events.into_iter().map(Arc::new).collect();
                    all.extend(stored.iter().cloned());
                    if let Some(ack) = ack {
                        drop(ack.send(Ok(stored)));
                    }
                }
                Write::Table(work) => work.answer(Ok(())),
                Write::Partial(_) => {}
            }
        }
        if all.is_empty() {
            return;
        }
        let sink = &self.sink;
        if std::panic::catch_unwind(AssertUnwindSafe(|| sink(&all))).is_err() {
            tracing::error!("what the store tells committed events to has panicked");
        }
        self.aside.wake();
    }

    fn fail(&mut self, writes: Vec<Write>, error: &StoreError) {
        tracing::warn!(%error, "a transaction failed and was undone");
        for write in writes {
            match write {
                Write::Append { ack: Some(ack), .. } => drop(ack.send(Err(error.clone()))),
                Write::Append { events, ack: None } => self.backlog.extend(events),
                Write::Table(work) => work.answer(Err(error.clone())),
                Write::Partial(_) => {}
            }
        }
    }
}
