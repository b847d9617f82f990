//! The second thread: everything that may come later than the acknowledgement (W3, W8).
//!
//! After a commit it waits a moment for more, then
//! 1. puts the new events into the search index ([`words`]) and the exports ([`export`]), from a stored mark on,
//!    so that a crash only delays it;
//! 2. brings the write-ahead log back into the database ([`checkpoint`]).
//!
//! Index and mark stand in a file of their own ([`derived`]): writing them never makes the writer wait.

pub(crate) mod checkpoint;
pub(crate) mod derived;
pub(crate) mod export;
pub(crate) mod words;

use crate::column::{count, int};
use crate::damage::{Damages, Db};
use crate::error::StoreError;
use crate::queue::Ack;
use crate::table::events;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How long it waits for more: one index write a tenth of a second, however many workers there are (R42).
const GATHER: Duration = Duration::from_millis(100);

/// Events in one step at most, and bytes after which it ends.
const STEP: u32 = 100;
const STEP_BYTES: u64 = 512 * 1024;

/// A note to the thread.
pub(crate) enum Note {
    /// Something was committed.
    Wake,
    /// Answer when everything committed so far is in.
    CatchUp(Ack<()>),
    /// Throw index and exports away and begin anew.
    Restart(Ack<()>),
    /// Catch up, take the write-ahead log in, and end.
    Stop(Ack<()>),
}

/// The way to the thread.
#[derive(Clone, Debug)]
pub(crate) struct Aside {
    notes: Sender<Note>,
    awake: Arc<AtomicBool>,
    too_long: Arc<AtomicBool>,
}

impl Aside {
    /// A handle and what the thread reads from.
    pub(crate) fn new() -> (Self, Receiver<Note>) {
        let (notes, received) = std::sync::mpsc::channel();
        (Self { notes, awake: Arc::default(), too_long: Arc::default() }, received)
    }

    /// Something was committed. Costs one note, however often it is said.
    pub(crate) fn wake(&self) {
        if !self.awake.swap(true, Ordering::AcqRel) {
            drop(self.notes.send(Note::Wake));
        }
    }

    /// Sends a note that is answered.
    pub(crate) async fn ask(&self, note: impl FnOnce(Ack<()>) -> Note) -> Result<(), StoreError> {
        let (ack, answer) = tokio::sync::oneshot::channel();
        self.notes.send(note(ack)).map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Is the write-ahead log too long, so that the writer has to pause? Says so once.
    pub(crate) fn asks_for_a_pause(&self) -> bool {
        self.too_long.swap(false, Ordering::AcqRel)
    }

    /// For the thread: was it woken, and is the write-ahead log too long?
    pub(crate) fn flags(&self) -> (Arc<AtomicBool>, Arc<AtomicBool>) {
        (Arc::clone(&self.awake), Arc::clone(&self.too_long))
    }
}

/// What the thread owns.
pub(crate) struct Follower {
    pub(crate) data: PathBuf,
    /// Reads the log, and makes checkpoints.
    pub(crate) main: Connection,
    pub(crate) derived: Connection,
    pub(crate) damages: Arc<Damages>,
    pub(crate) awake: Arc<AtomicBool>,
    pub(crate) too_long: Arc<AtomicBool>,
}

impl Follower {
    /// The thread's whole life.
    pub(crate) fn run(mut self, notes: Receiver<Note>) {
        while let Ok(first) = notes.recv() {
            let note = self.gather(first, &notes);
            let result = self.catch_up();
            if let Err(error) = &result {
                tracing::warn!(%error, "search and exports are behind");
            }
            match note {
                None | Some(Note::Wake) => {}
                Some(Note::CatchUp(ack)) => drop(ack.send(result)),
                Some(Note::Restart(ack)) => {
                    let result = self.restart().and_then(|()| self.catch_up());
                    drop(ack.send(result));
                }
                Some(Note::Stop(ack)) => {
                    checkpoint::finish(&self.main);
                    drop(ack.send(result));
                    return;
                }
            }
        }
    }

    /// Waits a moment for more to be committed; a note that is answered cuts it short.
    fn gather(&self, first: Note, notes: &Receiver<Note>) -> Option<Note> {
        if !matches!(first, Note::Wake) {
            return Some(first);
        }
        let until = Instant::now() + GATHER;
        loop {
            match notes.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Note::Wake) => {}
                Ok(note) => return Some(note),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn catch_up(&mut self) -> Result<(), StoreError> {
        self.awake.store(false, Ordering::Release);
        loop {
            let more = self.step().map_err(StoreError::sql("follow the log"))?;
            checkpoint::make(&self.main, &self.too_long);
            if !more {
                return Ok(());
            }
        }
    }

    /// The next few events; says whether there may be more. The transaction also keeps other processes out.
    fn step(&mut self) -> rusqlite::Result<bool> {
        let Self { main, derived, data, damages, .. } = self;
        let db = Db { conn: main, damages };
        let seen = mark(derived)?;
        let end = step_end(main, seen)?;
        if end.is_none() {
            return Ok(false);
        }
        let transaction = Transaction::new_unchecked(derived, TransactionBehavior::Immediate)?;
        // Another process may have been here while this one waited.
        let seen = mark(derived)?;
        let Some(end) = step_end(main, seen)? else { return Ok(false) };
        let mut lines = export::Lines::default();
        let sql = "SELECT * FROM event_rows WHERE seq > ?1 AND seq <= ?2 ORDER BY seq";
        // Read before the work is done: a read that lasted as long as the work would hold up checkpoints.
        for event in events::list(db, sql, (int(seen), int(end)))? {
            words::index(derived, &event)?;
            lines.add(&event)?;
        }
        lines.write(db, derived, data, end)?;
        derived
            .prepare_cached("INSERT OR REPLACE INTO marks (name, seq) VALUES ('log', ?1)")?
            .execute([int(end)])?;
        transaction.commit()?;
        Ok(true)
    }

    fn restart(&mut self) -> Result<(), StoreError> {
        derived::clear(&self.derived).map_err(StoreError::sql("clear the search index"))
    }
}

/// How far index and exports have come.
fn mark(derived: &Connection) -> rusqlite::Result<u64> {
    let seq = derived
        .prepare_cached("SELECT seq FROM marks WHERE name = 'log'")?
        .query_row((), |row| row.get(0).map(count))
        .optional()?;
    Ok(seq.unwrap_or(0))
}

/// The last event of the next step: as many events as one step takes, and not many more bytes.
fn step_end(main: &Connection, seen: u64) -> rusqlite::Result<Option<u64>> {
    let mut statement = main.prepare_cached(
        "SELECT seq, coalesce(octet_length(body), (SELECT length(data) FROM blobs WHERE hash = blob), 0)
         FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2",
    )?;
    let mut rows = statement.query((int(seen), STEP))?;
    let (mut end, mut bytes) = (None, 0);
    while let Some(row) = rows.next()? {
        end = Some(count(row.get(0)?));
        bytes += count(row.get(1)?);
        if bytes > STEP_BYTES {
            break;
        }
    }
    Ok(end)
}
