//! Answers in progress (W9): the latest state of each, beside the log, gone once the log has the answer.

use crate::damage::Db;
use crate::migration::Dated;
use cox_protocol::view::Partial;
use cox_protocol::{Event, SessionId, TaskId};
use rusqlite::{Connection, OptionalExtension as _};

pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120111,
    sql: "CREATE TABLE partials (
            task_id TEXT PRIMARY KEY,
            session_id TEXT NOT NULL,
            generation INTEGER NOT NULL,
            turn INTEGER NOT NULL,
            partial TEXT NOT NULL
          ) STRICT;
          CREATE INDEX partials_session ON partials (session_id);",
}];

/// Keeps a task's latest partial, or removes it.
pub(crate) fn put(
    conn: &Connection,
    session: &SessionId,
    task: &TaskId,
    partial: Option<&Partial>,
) -> rusqlite::Result<()> {
    let Some(partial) = partial else {
        conn.prepare_cached("DELETE FROM partials WHERE task_id = ?1")?.execute([task.as_str()])?;
        return Ok(());
    };
    conn.prepare_cached(
        "INSERT OR REPLACE INTO partials (task_id, session_id, generation, turn, partial)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute((
        task.as_str(),
        session.as_str(),
        partial.generation,
        partial.turn,
        crate::column::json(partial)?,
    ))?;
    Ok(())
}

/// The log has an answer: partials up to its turn are done. One of a later turn may have come into the same
/// transaction, and stays. Turn 0 stands for the whole generation.
pub(crate) fn answered(conn: &Connection, event: &Event, task: &TaskId) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "DELETE FROM partials WHERE task_id = ?1
         AND (generation < ?2 OR (generation = ?2 AND (turn <= ?3 OR ?3 = 0)))",
    )?
    .execute((task.as_str(), event.generation, event.turn))?;
    Ok(())
}

/// A generation is over or suspended.
pub(crate) fn ended(conn: &Connection, event: &Event, task: &TaskId) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM partials WHERE task_id = ?1 AND (generation <= ?2 OR ?2 = 0)")?
        .execute((task.as_str(), event.generation))?;
    Ok(())
}

/// A task's partial.
pub(crate) fn get(db: Db<'_>, task: &TaskId) -> rusqlite::Result<Option<Partial>> {
    let text: Option<String> = db
        .conn
        .prepare_cached("SELECT partial FROM partials WHERE task_id = ?1")?
        .query_row([task.as_str()], |row| row.get(0))
        .optional()?;
    Ok(text.and_then(|text| decode(db, task, &text)))
}

/// All partials of a session.
pub(crate) fn of_session(db: Db<'_>, session: &SessionId) -> rusqlite::Result<Vec<(TaskId, Partial)>> {
    let mut statement = db
        .conn
        .prepare_cached("SELECT task_id, partial FROM partials WHERE session_id = ?1 ORDER BY task_id")?;
    let mut rows = statement.query([session.as_str()])?;
    let mut partials = Vec::new();
    while let Some(row) = rows.next()? {
        let task = TaskId::new(row.get::<_, String>(0)?);
        partials.extend(decode(db, &task, row.get_ref(1)?.as_str()?).map(|partial| (task, partial)));
    }
    Ok(partials)
}

fn decode(db: Db<'_>, task: &TaskId, text: &str) -> Option<Partial> {
    serde_json::from_str(text).map_err(|error| db.damages.add("partials", task, error)).ok()
}
