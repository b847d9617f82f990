//! The log: the only truth (W3). Rows are added and never changed.

use crate::column::{count, count32, int};
use crate::damage::Db;
use crate::migration::Dated;
use crate::table::blobs;
use cox_protocol::event::{EventBody, EventKind};
use cox_protocol::{Event, SessionId, TaskId};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};
use serde_json::{Map, Value};

/// An index on a column ends in the rowid, which is `seq`, so these two also give the order.
/// `event_rows` is how events are read: it does not matter where a body is kept.
pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120102,
    sql: "CREATE TABLE events (
            seq INTEGER PRIMARY KEY,
            session_id TEXT NOT NULL,
            task_id TEXT,
            parent_task_id TEXT,
            tool_use_id TEXT,
            generation INTEGER NOT NULL,
            turn INTEGER NOT NULL,
            at INTEGER NOT NULL,
            v INTEGER NOT NULL,
            kind TEXT NOT NULL,
            body TEXT,
            blob BLOB REFERENCES blobs (hash)
          ) STRICT;
          CREATE INDEX events_session ON events (session_id);
          CREATE INDEX events_entries ON events (task_id) WHERE kind = 'entry';
          CREATE VIEW event_rows AS
            SELECT seq, session_id, task_id, parent_task_id, tool_use_id, generation, turn, at, v, kind,
                   coalesce(body, (SELECT data FROM blobs WHERE hash = blob)) AS body
            FROM events;",
}];

/// Bodies over this many bytes go to the blobs (W3).
pub(crate) const BODY_CAP: usize = 32 * 1024;

/// The last number given; 0 for an empty log.
pub(crate) fn last_seq(conn: &Connection) -> rusqlite::Result<u64> {
    conn.prepare_cached("SELECT coalesce(max(seq), 0) FROM events")?
        .query_row((), |row| row.get(0))
        .map(count)
}

/// Appends one event.
pub(crate) fn insert(conn: &Connection, event: &Event) -> rusqlite::Result<()> {
    let body = crate::column::json(&event.body)?;
    let blob = if body.len() > BODY_CAP { Some(blobs::insert(conn, body.as_bytes())?) } else { None };
    conn.prepare_cached(
        "INSERT INTO events (seq, session_id, task_id, parent_task_id, tool_use_id, generation, turn, at, v, kind, body, blob)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute((
        int(event.seq),
        event.session_id.as_str(),
        event.task_id.as_ref().map(TaskId::as_str),
        event.parent_task_id.as_ref().map(TaskId::as_str),
        event.tool_use_id.as_deref(),
        event.generation,
        event.turn,
        event.at,
        event.v,
        kind_name(&event.body, &body),
        blob.is_none().then_some(body.as_str()),
        blob.as_ref().map(blake3::Hash::as_bytes),
    ))?;
    Ok(())
}

/// A known kind's name stands first in its JSON.
fn kind_name<'a>(body: &'a EventBody, json: &'a str) -> &'a str {
    match body {
        EventBody::Known(_) => {
            json.strip_prefix("{\"kind\":\"").and_then(|rest| rest.split('"').next()).unwrap_or_default()
        }
        EventBody::Unknown(fields) => fields.get("kind").and_then(Value::as_str).unwrap_or_default(),
    }
}

/// Events by a query over `event_rows`, in its order. One that can't be decoded is left out and told of.
pub(crate) fn list(db: Db<'_>, sql: &str, params: impl Params) -> rusqlite::Result<Vec<Event>> {
    let mut events = Vec::new();
    for_each(db, sql, params, |event| {
        events.push(event);
        Ok(())
    })?;
    Ok(events)
}

/// The same, one at a time; says how many can't be decoded. The query has to select all columns of `event_rows`.
pub(crate) fn for_each(
    db: Db<'_>,
    sql: &str,
    params: impl Params,
    mut each: impl FnMut(Event) -> rusqlite::Result<()>,
) -> rusqlite::Result<u64> {
    let mut damaged = 0;
    let mut statement = db.conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    while let Some(row) = rows.next()? {
        match decode(row)? {
            Ok(event) => each(event)?,
            Err(problem) => {
                damaged += 1;
                db.damages.add("events", row.get::<_, i64>("seq")?, problem);
            }
        }
    }
    Ok(damaged)
}

/// One event.
pub(crate) fn get(db: Db<'_>, seq: u64) -> rusqlite::Result<Option<Event>> {
    Ok(list(db, "SELECT * FROM event_rows WHERE seq = ?1", [int(seq)])?.pop())
}

pub(crate) const AFTER: &str =
    "SELECT * FROM event_rows WHERE session_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";

/// A session's events after a number.
pub(crate) fn after(db: Db<'_>, session: &SessionId, seq: u64, limit: u32) -> rusqlite::Result<Vec<Event>> {
    list(db, AFTER, (session.as_str(), int(seq), limit))
}

fn decode(row: &Row<'_>) -> rusqlite::Result<Result<Event, String>> {
    let body = match row.get_ref("body")? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => match decode_body(bytes) {
            Ok(body) => body,
            Err(error) => return Ok(Err(error.to_string())),
        },
        ValueRef::Null => return Ok(Err("its body is missing".to_owned())),
        ValueRef::Integer(_) | ValueRef::Real(_) => return Ok(Err("its body is not text".to_owned())),
    };
    Ok(Ok(Event {
        v: row.get("v")?,
        seq: count(row.get("seq")?),
        session_id: SessionId::new(row.get::<_, String>("session_id")?),
        task_id: row.get::<_, Option<String>>("task_id")?.map(TaskId::new),
        parent_task_id: row.get::<_, Option<String>>("parent_task_id")?.map(TaskId::new),
        tool_use_id: row.get("tool_use_id")?,
        generation: count32(row.get("generation")?),
        turn: count32(row.get("turn")?),
        at: row.get("at")?,
        body,
    }))
}

/// A body that this version can't read as one of its kinds is kept as it is.
fn decode_body(bytes: &[u8]) -> serde_json::Result<EventBody> {
    match serde_json::from_slice::<EventKind>(bytes) {
        Ok(kind) => Ok(EventBody::Known(kind)),
        Err(_) => serde_json::from_slice::<Map<String, Value>>(bytes).map(EventBody::Unknown),
    }
}
