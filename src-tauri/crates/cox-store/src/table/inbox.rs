//! Where the inbox's items stand in the log; the items themselves are read from there.

use crate::column::{count, int};
use crate::damage::Db;
use crate::migration::Dated;
use crate::rows::InboxRecord;
use crate::table::events;
use cox_protocol::event::{EventBody, EventKind};
use cox_protocol::inbox::InboxItem;
use cox_protocol::{Event, InboxId, SessionId};
use rusqlite::{Connection, OptionalExtension as _};

/// `opened` and `closed` are the numbers of the two events.
pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120105,
    sql: "CREATE TABLE inbox (
            opened INTEGER PRIMARY KEY,
            closed INTEGER,
            id TEXT NOT NULL,
            session_id TEXT NOT NULL
          ) STRICT;
          CREATE INDEX inbox_id ON inbox (id);
          CREATE INDEX inbox_open ON inbox (session_id) WHERE closed IS NULL;",
}];

/// An item waits.
pub(crate) fn open(conn: &Connection, event: &Event, id: &InboxId) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT INTO inbox (opened, id, session_id) VALUES (?1, ?2, ?3)")?.execute((
        int(event.seq),
        id.as_str(),
        event.session_id.as_str(),
    ))?;
    Ok(())
}

/// It was answered.
pub(crate) fn close(conn: &Connection, event: &Event, id: &InboxId) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "UPDATE inbox SET closed = ?1 WHERE opened =
           (SELECT min(opened) FROM inbox WHERE id = ?2 AND session_id = ?3 AND closed IS NULL)",
    )?
    .execute((int(event.seq), id.as_str(), event.session_id.as_str()))?;
    Ok(())
}

/// What waits in a session, oldest first.
pub(crate) fn open_of(db: Db<'_>, session: &SessionId) -> rusqlite::Result<Vec<InboxItem>> {
    let sql = "SELECT * FROM event_rows WHERE seq IN
                 (SELECT opened FROM inbox WHERE session_id = ?1 AND closed IS NULL) ORDER BY seq";
    Ok(events::list(db, sql, [session.as_str()])?.into_iter().filter_map(item).collect())
}

/// What waits in all sessions, oldest first.
pub(crate) fn open_items(db: Db<'_>) -> rusqlite::Result<Vec<InboxItem>> {
    let sql = "SELECT * FROM event_rows WHERE seq IN
                 (SELECT opened FROM inbox WHERE closed IS NULL) ORDER BY seq";
    Ok(events::list(db, sql, ())?.into_iter().filter_map(item).collect())
}

/// One item and its answer.
pub(crate) fn get(db: Db<'_>, id: &InboxId) -> rusqlite::Result<Option<InboxRecord>> {
    let place: Option<(i64, Option<i64>)> = db
        .conn
        .prepare_cached("SELECT opened, closed FROM inbox WHERE id = ?1 ORDER BY opened DESC LIMIT 1")?
        .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((opened, closed)) = place else { return Ok(None) };
    let Some(item) = events::get(db, count(opened))?.and_then(item) else { return Ok(None) };
    let answer = match closed {
        Some(closed) => events::get(db, count(closed))?.and_then(|event| match event.body {
            EventBody::Known(EventKind::InboxClosed { answer, .. }) => Some(answer),
            _ => None,
        }),
        None => None,
    };
    Ok(Some(InboxRecord { item, answer }))
}

fn item(event: Event) -> Option<InboxItem> {
    match event.body {
        EventBody::Known(EventKind::InboxOpened { item }) => Some(item),
        _ => None,
    }
}
