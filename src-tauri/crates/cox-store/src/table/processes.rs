//! Process groups whose end is not recorded, for the next start to reap (W19).

use crate::column::{count, int};
use crate::migration::Dated;
use crate::rows::OpenProcess;
use cox_protocol::{Event, SessionId, TaskId};
use rusqlite::Connection;

pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120109,
    sql: "CREATE TABLE processes (
            session_id TEXT NOT NULL,
            pgid INTEGER NOT NULL,
            task_id TEXT,
            start_ticks INTEGER NOT NULL,
            PRIMARY KEY (session_id, pgid)
          ) STRICT, WITHOUT ROWID;",
}];

/// A group began. The same number again is another group: the system has given it out anew.
pub(crate) fn start(conn: &Connection, event: &Event, pgid: i32, start_ticks: u64) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT OR REPLACE INTO processes (session_id, pgid, task_id, start_ticks) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute((
        event.session_id.as_str(),
        pgid,
        event.task_id.as_ref().map(TaskId::as_str),
        int(start_ticks),
    ))?;
    Ok(())
}

/// It is gone.
pub(crate) fn end(conn: &Connection, event: &Event, pgid: i32) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM processes WHERE session_id = ?1 AND pgid = ?2")?
        .execute((event.session_id.as_str(), pgid))?;
    Ok(())
}

/// A session's groups.
pub(crate) fn open_of(conn: &Connection, session: &SessionId) -> rusqlite::Result<Vec<OpenProcess>> {
    conn.prepare_cached(
        "SELECT task_id, pgid, start_ticks FROM processes WHERE session_id = ?1 ORDER BY pgid",
    )?
    .query_map([session.as_str()], |row| {
        Ok(OpenProcess {
            task_id: row.get::<_, Option<String>>(0)?.map(TaskId::new),
            pgid: row.get(1)?,
            start_ticks: count(row.get(2)?),
        })
    })?
    .collect()
}
