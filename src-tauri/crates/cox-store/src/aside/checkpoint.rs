//! Brings the write-ahead log back into the database, off the writer's path, and keeps it small (R54).
//!
//! The log can be reused once all of it is in the database and no reader needs it. Reads of this crate are short,
//! so that happens all the time. A reader in a foreign program can hold it back; then the log grows until that
//! reader ends, and the next checkpoint cuts it to [`WAL_KEPT_BYTES`].

use rusqlite::Connection;
use std::time::{Duration, Instant};

/// Pages (of 4 KB) that wait before a checkpoint is worth it.
const WORTH: i64 = 1_000;
/// Pages in the log after which writers wait for readers, so that it can begin anew.
const TOO_LONG: i64 = 3_000;
/// What the file keeps when it begins anew.
pub(crate) const WAL_KEPT_BYTES: i64 = 8 * 1024 * 1024;
/// How long writers may have to wait then, and how long until the next try.
const PATIENCE: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_secs(5);

/// When the last waiting checkpoint did not come through.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    failed: Option<Instant>,
}

/// What a checkpoint says: pages in the log, and pages that are in the database.
struct State {
    log: i64,
    done: i64,
}

impl Checkpoints {
    /// Makes one if it is worth it. What fails is tried again with the next commits.
    pub(crate) fn make(&mut self, conn: &Connection) {
        if let Err(error) = self.try_make(conn) {
            tracing::debug!(%error, "no checkpoint");
        }
    }

    fn try_make(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        let state = checkpoint(conn, "NOOP")?;
        if state.log - state.done < WORTH && state.log < TOO_LONG {
            return Ok(());
        }
        let state = checkpoint(conn, "PASSIVE")?;
        let paused = self.failed.is_some_and(|at| at.elapsed() < PAUSE);
        if state.log >= TOO_LONG && !paused {
            let timeout: i64 = conn.pragma_query_value(None, "busy_timeout", |row| row.get(0))?;
            conn.busy_timeout(PATIENCE)?;
            let result = checkpoint(conn, "TRUNCATE");
            conn.busy_timeout(Duration::from_millis(crate::column::count(timeout)))?;
            let state = result?;
            self.failed = (state.log > 0).then(Instant::now);
        }
        Ok(())
    }

    /// At the end: nothing stays in the log, if nobody else is there.
    pub(crate) fn finish(&self, conn: &Connection) {
        let tried = conn.busy_timeout(PATIENCE).and_then(|()| checkpoint(conn, "TRUNCATE"));
        if let Err(error) = tried {
            tracing::debug!(%error, "no last checkpoint");
        }
    }
}

fn checkpoint(conn: &Connection, mode: &str) -> rusqlite::Result<State> {
    conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), (), |row| {
        Ok(State { log: row.get(1)?, done: row.get(2)? })
    })
}
