//! The handle that the engine holds: opening, appending, closing. What it reads and what else it writes stand in
//! `reading` and `keeping`.

use crate::aside::checkpoint::Pauses;
use crate::aside::{Aside, Follower, Note, derived};
use crate::damage::Damages;
use crate::database;
use crate::error::StoreError;
use crate::folder;
use crate::lock::{self, LockedBy, SessionLock};
use crate::pool::Pool;
use crate::queue::{Ack, Command, PartialBox, Write};
use crate::rows::Damage;
use crate::table::events;
use crate::views::Views;
use crate::writer::Writer;
use cox_protocol::event::{EventBody, EventKind};
use cox_protocol::task::PermissionMode;
use cox_protocol::view::Partial;
use cox_protocol::{Event, NewEvent, SessionId, TaskId};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// What gets every committed event of this process.
pub type Sink = Box<dyn Fn(&[Arc<Event>]) + Send>;

/// How to open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// `synchronous=FULL`: a commit survives a power cut. Costs about 5 ms a commit.
    pub durable: bool,
}

/// The store. Cheap to clone; all clones are one store.
///
/// Its async functions need a tokio runtime. When the last clone is dropped, what is queued is still written.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    data: PathBuf,
    queue: Sender<Command>,
    partials: Arc<PartialBox>,
    pool: Arc<Pool>,
    aside: Aside,
    damages: Arc<Damages>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Store {
    /// Opens or makes the database; migrates it; refuses a newer one. Blocks for as long as that takes.
    ///
    /// `sink` gets every committed event of this process in the order of `seq`, on the writer's thread, right
    /// after the callers were answered. It must be quick and must not wait for the store.
    pub fn open(folder: &Path, options: OpenOptions, sink: Sink) -> Result<Self, StoreError> {
        database::prepare(folder)?;
        let doing = "open the database";
        let data = folder.to_owned();
        let damages: Arc<Damages> = Arc::default();
        let partials: Arc<PartialBox> = Arc::default();
        let pool = Pool::new(data.clone(), Arc::clone(&damages));

        let (aside, notes) = Aside::new();
        let (awake, too_long) = aside.flags();
        let follower = Follower {
            data: data.clone(),
            main: database::writing(folder)?,
            derived: derived::open(folder)?,
            damages: Arc::clone(&damages),
            awake,
            too_long,
        };

        let conn = database::writing(folder)?;
        database::set_durable(&conn, options.durable).map_err(StoreError::sql(doing))?;
        let known_seq = events::last_seq(&conn).map_err(StoreError::sql(doing))?;
        let writer = Writer {
            conn,
            damages: Arc::clone(&damages),
            partials: Arc::clone(&partials),
            sink,
            aside: aside.clone(),
            pauses: Pauses::default(),
            views: Views::default(),
            known_seq,
            backlog: Vec::new(),
        };
        let (queue, commands) = std::sync::mpsc::channel();

        let start = |name: &str, body: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(body)
                .map_err(|error| StoreError::folder(folder, error))
        };
        let threads = vec![
            start("store-writer", Box::new(move || writer.run(commands)))?,
            start("store-aside", Box::new(move || follower.run(notes)))?,
        ];
        // What an earlier process left behind.
        aside.wake();
        let threads = Mutex::new(threads);
        Ok(Self { inner: Arc::new(Inner { data, queue, partials, pool, aside, damages, threads }) })
    }

    /// Appends events in one transaction, all or none. They are on disk when this returns; dropping the future
    /// does not take them back.
    pub async fn append(&self, events: Vec<NewEvent>) -> Result<Vec<Arc<Event>>, StoreError> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        refuse_bypass(&events)?;
        let events = numberless(events);
        self.ask(|ack| Command::Write(Write::Append { events, ack: Some(ack) })).await
    }

    /// The same, through the same queue, and nobody waits. What can't be stored is kept and goes before the next
    /// append; should that fail, its caller gets the error.
    pub fn append_later(&self, events: Vec<NewEvent>) {
        if events.is_empty() {
            return;
        }
        if let Err(error) = refuse_bypass(&events) {
            tracing::error!(%error, "events were not appended");
            return;
        }
        let events = numberless(events);
        if self.send(Command::Write(Write::Append { events, ack: None })).is_err() {
            tracing::error!("events were appended to a closed store");
        }
    }

    /// Keeps the latest text of an answer in progress (W9), or removes it. The log's own answer removes it too.
    pub fn save_partial(&self, task: &TaskId, session: &SessionId, partial: Option<Partial>) {
        if self.inner.partials.put(task.clone(), session.clone(), partial) {
            drop(self.send(Command::Write(Write::Partial(task.clone()))));
        }
    }

    /// Takes a session for this process (W7). It is held until the lock is dropped or the process ends.
    pub fn lock_session(&self, session: &SessionId, owner: &str) -> Result<SessionLock, LockedBy> {
        lock::lock_session(&self.inner.data, session, owner)
    }

    /// Returns once everything that was queued before is on disk, and search and exports have caught up.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.ask(Command::Flush).await?;
        self.inner.aside.ask(Note::CatchUp).await
    }

    /// Flushes, takes the write-ahead log in, and ends the threads. Other clones get [`StoreError::Closed`].
    pub async fn close(self) -> Result<(), StoreError> {
        let written = self.ask(Command::Close).await;
        let followed = self.inner.aside.ask(Note::Stop).await;
        self.inner.pool.close();
        let threads = std::mem::take(&mut *self.inner.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let join = move || threads.into_iter().for_each(|thread| drop(thread.join()));
        drop(tokio::task::spawn_blocking(join).await);
        written.and(followed)
    }

    /// Rows met so far that can't be decoded. Everything else is used as if they were not there.
    pub fn damages(&self) -> Vec<Damage> {
        self.inner.damages.list()
    }

    /// Bytes in the data folder. Blocks while they are counted.
    pub fn disk_bytes(&self) -> u64 {
        folder::size(&self.inner.data)
    }

    /// The data folder.
    pub fn folder(&self) -> &Path {
        &self.inner.data
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.inner.pool
    }

    pub(crate) fn aside(&self) -> &Aside {
        &self.inner.aside
    }

    pub(crate) fn send(&self, command: Command) -> Result<(), StoreError> {
        self.inner.queue.send(command).map_err(|_| StoreError::Closed)
    }

    /// Sends a command and waits for its answer. A writer that is gone answers nothing: that is an error too.
    pub(crate) async fn ask<T>(&self, command: impl FnOnce(Ack<T>) -> Command) -> Result<T, StoreError> {
        let (ack, answer) = tokio::sync::oneshot::channel();
        self.send(command(ack))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

fn numberless(events: Vec<NewEvent>) -> Vec<Event> {
    events.into_iter().map(|event| event.stored(0)).collect()
}

/// `bypassPermissions` is live state and never stored (W25).
fn refuse_bypass(events: &[NewEvent]) -> Result<(), StoreError> {
    for event in events {
        let EventBody::Known(kind) = &event.body else { continue };
        let mode = match kind {
            EventKind::SessionCreated { permission_mode, .. }
            | EventKind::SessionModeSet { permission_mode } => *permission_mode,
            EventKind::TaskStarted { spec } => spec.permission_mode,
            _ => continue,
        };
        if mode == PermissionMode::BypassPermissions {
            return Err(StoreError::Refused("the mode in which nothing asks is never kept".to_owned()));
        }
    }
    Ok(())
}
