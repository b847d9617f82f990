//! One row a task: its view as JSON, and what is looked up.

use crate::column::int;
use crate::damage::Db;
use crate::migration::Dated;
use crate::table::events;
use cox_protocol::event::EventKind;
use cox_protocol::task::{TaskKind, TaskSpec};
use cox_protocol::view::TaskView;
use cox_protocol::{SessionId, TaskId};
use rusqlite::{Connection, OptionalExtension as _};

/// `ordinal` is the task's place in the session's view; `seq` the last event about it, `spec_seq` the one that
/// holds its spec.
pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120104,
    sql: "CREATE TABLE tasks (
            session_id TEXT NOT NULL,
            ordinal INTEGER NOT NULL,
            id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            spec_seq INTEGER NOT NULL,
            live INTEGER NOT NULL,
            view TEXT NOT NULL,
            PRIMARY KEY (session_id, ordinal)
          ) STRICT;
          CREATE INDEX tasks_id ON tasks (id);
          CREATE INDEX tasks_live ON tasks (session_id) WHERE live = 1;",
}];

/// A task's place in the log, as far as the events at hand say it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// The last event about it.
    pub(crate) seq: Option<u64>,
    /// The event that made it.
    pub(crate) made: Option<u64>,
}

/// Writes one task's row. A place that is not known stays as it is.
pub(crate) fn put(
    conn: &Connection,
    session: &SessionId,
    ordinal: usize,
    task: &TaskView,
    place: Place,
) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO tasks (session_id, ordinal, id, seq, spec_seq, live, view)
         VALUES (?1, ?2, ?3, coalesce(?4, 0), coalesce(?5, 0), ?6, ?7)
         ON CONFLICT (session_id, ordinal) DO UPDATE
         SET seq = coalesce(?4, seq), live = ?6, view = ?7",
    )?
    .execute((
        session.as_str(),
        int(ordinal as u64),
        task.id.as_str(),
        place.seq.map(int),
        place.made.map(int),
        is_live(task),
        crate::column::json(task)?,
    ))?;
    Ok(())
}

/// Is there something to recover? A lead that was never spoken to is pending for ever.
pub(crate) fn is_live(task: &TaskView) -> bool {
    let never_spoken_to = task.kind == TaskKind::Lead && task.generation == 0;
    !task.status.is_terminal() && !never_spoken_to
}

/// The tasks of a session in order; none at all when one of them can't be decoded.
pub(crate) fn of_session(db: Db<'_>, session: &SessionId) -> rusqlite::Result<Option<Vec<TaskView>>> {
    let mut statement =
        db.conn.prepare_cached("SELECT id, view FROM tasks WHERE session_id = ?1 ORDER BY ordinal")?;
    let mut rows = statement.query([session.as_str()])?;
    let mut tasks = Vec::new();
    while let Some(row) = rows.next()? {
        match serde_json::from_str(row.get_ref(1)?.as_str()?) {
            Ok(task) => tasks.push(task),
            Err(error) => {
                db.damages.add("tasks", row.get::<_, String>(0)?, error);
                return Ok(None);
            }
        }
    }
    Ok(Some(tasks))
}

/// A task's session, and the last event about it.
pub(crate) fn place(conn: &Connection, id: &TaskId) -> rusqlite::Result<Option<(SessionId, u64)>> {
    conn.prepare_cached("SELECT session_id, seq FROM tasks WHERE id = ?1 ORDER BY ordinal LIMIT 1")?
        .query_row([id.as_str()], |row| {
            Ok((SessionId::new(row.get::<_, String>(0)?), crate::column::count(row.get(1)?)))
        })
        .optional()
}

/// A task and its session.
pub(crate) fn get(db: Db<'_>, id: &TaskId) -> rusqlite::Result<Option<(SessionId, TaskView)>> {
    let found: Option<(String, String)> = db
        .conn
        .prepare_cached("SELECT session_id, view FROM tasks WHERE id = ?1 ORDER BY ordinal LIMIT 1")?
        .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((session, view)) = found else { return Ok(None) };
    let session = SessionId::new(session);
    match serde_json::from_str(&view) {
        Ok(task) => Ok(Some((session, task))),
        Err(error) => {
            db.damages.add("tasks", id, error);
            let whole = super::sessions::view(db, &session)?;
            let task = whole.and_then(|view| view.tasks.into_iter().find(|task| &task.id == id));
            Ok(task.map(|task| (session, task)))
        }
    }
}

/// What a task was made from.
pub(crate) fn spec(db: Db<'_>, id: &TaskId) -> rusqlite::Result<Option<TaskSpec>> {
    let seq: Option<i64> = db
        .conn
        .prepare_cached("SELECT spec_seq FROM tasks WHERE id = ?1 ORDER BY ordinal LIMIT 1")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    let Some(seq) = seq else { return Ok(None) };
    let event = events::get(db, crate::column::count(seq))?;
    Ok(event.and_then(|event| match event.body {
        cox_protocol::event::EventBody::Known(EventKind::TaskStarted { spec }) => Some(spec),
        _ => None,
    }))
}
