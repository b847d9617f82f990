//! Calls that have no result yet. What a panel shows of them, and what recovery decides on (W19).

use crate::column::{count, from_word, int, word};
use crate::damage::Db;
use crate::migration::Dated;
use crate::rows::UnfinishedCall;
use crate::table::events;
use cox_protocol::event::EventKind;
use cox_protocol::view::OpenCall;
use cox_protocol::{Entry, Event, SessionId, TaskId};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// `seq` is the event whose entry holds the call; `started` stays set when a started call asks.
pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120108,
    sql: "CREATE TABLE calls (
            task_id TEXT NOT NULL,
            call_id TEXT NOT NULL,
            session_id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            state TEXT NOT NULL,
            started INTEGER NOT NULL,
            read_only INTEGER NOT NULL,
            PRIMARY KEY (task_id, call_id)
          ) STRICT, WITHOUT ROWID;
          CREATE INDEX calls_session ON calls (session_id);",
}];

/// An entry opens calls, or brings their results.
pub(crate) fn entry(conn: &Connection, event: &Event, task: &TaskId, entry: &Entry) -> rusqlite::Result<()> {
    for call in entry.calls() {
        conn.prepare_cached(
            "INSERT OR REPLACE INTO calls (task_id, call_id, session_id, seq, state, started, read_only)
             VALUES (?1, ?2, ?3, ?4, ?5, 0, 0)",
        )?
        .execute((
            task.as_str(),
            &call.id,
            event.session_id.as_str(),
            int(event.seq),
            word(&OpenCall::Queued)?,
        ))?;
    }
    if let Entry::ToolResults { results } = entry {
        for result in results {
            conn.prepare_cached("DELETE FROM calls WHERE task_id = ?1 AND call_id = ?2")?
                .execute((task.as_str(), &result.call_id))?;
        }
    }
    Ok(())
}

/// A call runs.
pub(crate) fn start(
    conn: &Connection,
    task: &TaskId,
    call_id: &str,
    read_only: bool,
) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "UPDATE calls SET state = ?3, started = 1, read_only = ?4 WHERE task_id = ?1 AND call_id = ?2",
    )?
    .execute((task.as_str(), call_id, word(&OpenCall::Running)?, read_only))?;
    Ok(())
}

/// A call waits for a person.
pub(crate) fn ask(conn: &Connection, task: &TaskId, call_id: &str) -> rusqlite::Result<()> {
    conn.prepare_cached("UPDATE calls SET state = ?3 WHERE task_id = ?1 AND call_id = ?2")?.execute((
        task.as_str(),
        call_id,
        word(&OpenCall::Asking)?,
    ))?;
    Ok(())
}

/// Where a task's calls stand, for its panel.
pub(crate) fn states(db: Db<'_>, task: &TaskId) -> rusqlite::Result<BTreeMap<String, OpenCall>> {
    let mut statement = db.conn.prepare_cached("SELECT call_id, state FROM calls WHERE task_id = ?1")?;
    let mut rows = statement.query([task.as_str()])?;
    let mut states = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let call_id: String = row.get(0)?;
        match from_word(row.get(1)?) {
            Ok(state) => drop(states.insert(call_id, state)),
            Err(error) => db.damages.add("calls", call_id, error),
        }
    }
    Ok(states)
}

/// A session's calls without results, in the order of the log.
pub(crate) fn unfinished(db: Db<'_>, session: &SessionId) -> rusqlite::Result<Vec<UnfinishedCall>> {
    struct Open {
        state: OpenCall,
        started: bool,
        read_only: bool,
    }
    let mut by_entry: BTreeMap<u64, BTreeMap<String, Open>> = BTreeMap::new();
    let mut statement = db
        .conn
        .prepare_cached("SELECT seq, call_id, state, started, read_only FROM calls WHERE session_id = ?1")?;
    let mut rows = statement.query([session.as_str()])?;
    while let Some(row) = rows.next()? {
        let call_id: String = row.get(1)?;
        match from_word(row.get(2)?) {
            Ok(state) => {
                let open = Open { state, started: row.get(3)?, read_only: row.get(4)? };
                by_entry.entry(count(row.get(0)?)).or_default().insert(call_id, open);
            }
            Err(error) => db.damages.add("calls", call_id, error),
        }
    }
    let mut calls = Vec::new();
    for (seq, mut open) in by_entry {
        let Some(event) = events::get(db, seq)? else { continue };
        let (Some(EventKind::Entry { entry }), Some(task_id)) = (event.known(), &event.task_id) else {
            continue;
        };
        for call in entry.calls() {
            if let Some(Open { state, started, read_only }) = open.remove(&call.id) {
                let (task_id, call) = (task_id.clone(), call.clone());
                calls.push(UnfinishedCall { task_id, call, seq, state, started, read_only });
            }
        }
    }
    Ok(calls)
}
