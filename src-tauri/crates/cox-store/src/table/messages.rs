//! Messages that are accepted and not delivered: where they stand in the log.

use crate::column::int;
use crate::damage::Db;
use crate::migration::Dated;
use crate::rows::WaitingMessage;
use crate::table::events;
use cox_protocol::event::{EventBody, EventKind};
use cox_protocol::{Event, MessageId, SessionId};
use rusqlite::Connection;

pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120106,
    sql: "CREATE TABLE messages (
            seq INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            session_id TEXT NOT NULL
          ) STRICT;
          CREATE INDEX messages_session ON messages (session_id);",
}];

/// A message waits.
pub(crate) fn queue(conn: &Connection, event: &Event, id: &MessageId) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT INTO messages (seq, id, session_id) VALUES (?1, ?2, ?3)")?.execute((
        int(event.seq),
        id.as_str(),
        event.session_id.as_str(),
    ))?;
    Ok(())
}

/// It was delivered, or taken back.
pub(crate) fn take(conn: &Connection, event: &Event, id: &MessageId) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM messages WHERE session_id = ?1 AND id = ?2")?
        .execute((event.session_id.as_str(), id.as_str()))?;
    Ok(())
}

/// What waits in a session, oldest first.
pub(crate) fn waiting(db: Db<'_>, session: &SessionId) -> rusqlite::Result<Vec<WaitingMessage>> {
    let sql = "SELECT * FROM event_rows WHERE seq IN
                 (SELECT seq FROM messages WHERE session_id = ?1) ORDER BY seq";
    let events = events::list(db, sql, [session.as_str()])?;
    Ok(events
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::Known(EventKind::MessageQueued { message }) => {
                Some(WaitingMessage { task_id: event.task_id, seq: event.seq, message })
            }
            _ => None,
        })
        .collect())
}
