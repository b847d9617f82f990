//! Brings the write-ahead log back into the database, off the writer's path, and keeps it small (R54).
//!
//! The log can begin anew once all of it is in the database and no reader needs it. Reads of this crate are short,
//! so mostly that happens by itself. Under a heavy load there is always some reader; then the writer is asked to
//! pause once between two transactions, until the readers of that moment are done. A reader in a foreign program
//! can hold the log back for as long as it reads; it is cut to [`WAL_KEPT_BYTES`] after that.

use rusqlite::Connection;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Pages (of 4 KB) that wait before a checkpoint is worth it.
const WORTH: i64 = 1_000;
/// Pages in the log after which the writer is asked to pause.
const TOO_LONG: i64 = 3_000;
/// What the file keeps when it begins anew.
pub(crate) const WAL_KEPT_BYTES: i64 = 8 * 1024 * 1024;
/// How long the writer pauses at most, and how long not again if that was in vain.
const PATIENCE: Duration = Duration::from_millis(250);
const IN_VAIN: Duration = Duration::from_secs(5);

/// What a checkpoint says: pages in the log, and pages that are in the database.
struct State {
    log: i64,
    done: i64,
}

/// For the second thread: makes a checkpoint if it is worth it, and says when the log is too long. What fails is
/// tried again with the next commits.
pub(crate) fn make(conn: &Connection, too_long: &AtomicBool) {
    let tried = checkpoint(conn, "NOOP").and_then(|state| {
        if state.log - state.done >= WORTH || state.log >= TOO_LONG {
            checkpoint(conn, "PASSIVE")
        } else {
            Ok(state)
        }
    });
    match tried {
        Ok(state) => too_long.store(state.log >= TOO_LONG, Ordering::Release),
        Err(error) => tracing::debug!(%error, "no checkpoint"),
    }
}

/// At the end: nothing stays in the log, if nobody else is there.
pub(crate) fn finish(conn: &Connection) {
    if let Err(error) = truncate(conn) {
        tracing::debug!(%error, "no last checkpoint");
    }
}

/// For the writer: its pauses.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    in_vain: Option<Instant>,
}

impl Pauses {
    /// Waits for the readers of this moment, so that the log can begin anew.
    pub(crate) fn pause(&mut self, conn: &Connection) {
        if self.in_vain.is_some_and(|at| at.elapsed() < IN_VAIN) {
            return;
        }
        let begun_anew = matches!(truncate(conn), Ok(State { log: 0, .. }));
        self.in_vain = (!begun_anew).then(Instant::now);
    }
}

fn truncate(conn: &Connection) -> rusqlite::Result<State> {
    conn.busy_timeout(PATIENCE)?;
    let state = checkpoint(conn, "TRUNCATE");
    conn.busy_timeout(crate::database::BUSY)?;
    state
}

fn checkpoint(conn: &Connection, mode: &str) -> rusqlite::Result<State> {
    conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), (), |row| {
        Ok(State { log: row.get(1)?, done: row.get(2)? })
    })
}
