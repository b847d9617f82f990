//! One row a session: what the list shows as columns, and the fold's state without tasks, inbox and queue, which
//! have tables of their own.

use crate::column::{count32, from_word, int, json, word};
use crate::damage::Db;
use crate::migration::Dated;
use crate::table::{inbox, messages, tasks};
use cox_protocol::query::SessionCursor;
use cox_protocol::view::{SessionRow, SessionView};
use cox_protocol::{ProjectId, SessionId};
use rusqlite::{Connection, OptionalExtension as _, Row};

pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120103,
    sql: "CREATE TABLE sessions (
            id TEXT PRIMARY KEY,
            seq INTEGER NOT NULL,
            project_id TEXT,
            title TEXT NOT NULL,
            state TEXT NOT NULL,
            live_workers INTEGER NOT NULL,
            asks INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            view TEXT NOT NULL
          ) STRICT;
          CREATE INDEX sessions_changed ON sessions (updated_at, id);
          CREATE INDEX sessions_project ON sessions (project_id, updated_at, id);",
}];

/// Writes the row. The view's lists are taken out while it is made JSON, and put back.
pub(crate) fn put(conn: &Connection, view: &mut SessionView) -> rusqlite::Result<()> {
    let (state, live_workers) = (word(&view.tree_state())?, view.live_workers());
    let asks = int(view.inbox.len() as u64);
    let lists =
        (std::mem::take(&mut view.tasks), std::mem::take(&mut view.inbox), std::mem::take(&mut view.queued));
    let bare = json(view);
    (view.tasks, view.inbox, view.queued) = lists;
    conn.prepare_cached(
        "INSERT INTO sessions (id, seq, project_id, title, state, live_workers, asks, created_at, updated_at, view)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (id) DO UPDATE SET seq = ?2, project_id = ?3, title = ?4, state = ?5, live_workers = ?6,
           asks = ?7, created_at = ?8, updated_at = ?9, view = ?10",
    )?
    .execute((
        view.id.as_str(),
        int(view.seq),
        view.project_id.as_ref().map(ProjectId::as_str),
        &view.title,
        state,
        live_workers,
        asks,
        view.created_at,
        view.updated_at,
        bare?,
    ))?;
    Ok(())
}

/// The fold's state, put together from its rows. Where one of them can't be decoded, it is folded anew from the
/// events, so that one damaged row costs time and nothing else.
pub(crate) fn view(db: Db<'_>, id: &SessionId) -> rusqlite::Result<Option<SessionView>> {
    let bare: Option<String> = db
        .conn
        .prepare_cached("SELECT view FROM sessions WHERE id = ?1")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    let Some(bare) = bare else { return Ok(None) };
    let whole = match serde_json::from_str::<SessionView>(&bare) {
        Ok(mut view) => tasks::of_session(db, id)?.map(|tasks| {
            view.tasks = tasks;
            view
        }),
        Err(error) => {
            db.damages.add("sessions", id, error);
            None
        }
    };
    let Some(mut view) = whole else { return folded(db, id).map(Some) };
    view.inbox = inbox::open_of(db, id)?;
    view.queued = messages::waiting(db, id)?.into_iter().map(|waiting| waiting.message).collect();
    Ok(Some(view))
}

fn folded(db: Db<'_>, id: &SessionId) -> rusqlite::Result<SessionView> {
    let mut view = SessionView::empty(id.clone());
    let sql = "SELECT * FROM event_rows WHERE session_id = ?1 ORDER BY seq";
    crate::table::events::for_each(db, sql, [id.as_str()], |event| {
        view.apply(&event);
        Ok(())
    })?;
    Ok(view)
}

const COLUMNS: &str =
    "SELECT id, project_id, title, state, live_workers, asks, created_at, updated_at FROM sessions";

/// A page of the list, the session that changed last first, and whether more follow.
pub(crate) fn page(
    db: Db<'_>,
    project: Option<&ProjectId>,
    before: Option<&SessionCursor>,
    limit: u32,
) -> rusqlite::Result<(Vec<SessionRow>, bool)> {
    let (at, id) = before.map_or((i64::MAX, ""), |cursor| (cursor.updated_at, cursor.id.as_str()));
    let sql = page_sql(project.is_some());
    let mut statement = db.conn.prepare_cached(&sql)?;
    let mut rows = statement.query((project.map(ProjectId::as_str), at, id, u64::from(limit) as i64 + 1))?;
    let (mut list, mut seen) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        seen += 1;
        if seen <= limit {
            list.extend(decode(db, row)?);
        }
    }
    Ok((list, seen > limit))
}

fn page_sql(of_one_project: bool) -> String {
    let which = if of_one_project { "project_id = ?1" } else { "?1 IS NULL AND project_id IS NOT NULL" };
    format!(
        "{COLUMNS} WHERE {which} AND (updated_at, id) < (?2, ?3) ORDER BY updated_at DESC, id DESC LIMIT ?4"
    )
}

/// One line of the list.
pub(crate) fn row(db: Db<'_>, id: &SessionId) -> rusqlite::Result<Option<SessionRow>> {
    let sql = format!("{COLUMNS} WHERE id = ?1 AND project_id IS NOT NULL");
    let mut statement = db.conn.prepare_cached(&sql)?;
    let mut rows = statement.query([id.as_str()])?;
    match rows.next()? {
        Some(row) => decode(db, row),
        None => Ok(None),
    }
}

fn decode(db: Db<'_>, row: &Row<'_>) -> rusqlite::Result<Option<SessionRow>> {
    let id = SessionId::new(row.get::<_, String>("id")?);
    match from_word(row.get("state")?) {
        Ok(state) => Ok(Some(SessionRow {
            project_id: ProjectId::new(row.get::<_, String>("project_id")?),
            title: row.get("title")?,
            state,
            live_workers: count32(row.get("live_workers")?),
            asks: count32(row.get("asks")?),
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
            id,
        })),
        Err(error) => {
            db.damages.add("sessions", id, error);
            Ok(None)
        }
    }
}

/// Sessions with something that recovery has to look at: a task that is not terminal (a lead that was never spoken
/// to is left out), a message or notification that waits, an open item, a call without its result, a process.
pub(crate) fn live(conn: &Connection) -> rusqlite::Result<Vec<SessionId>> {
    conn.prepare_cached(
        "SELECT session_id FROM tasks WHERE live = 1
         UNION SELECT session_id FROM messages
         UNION SELECT session_id FROM notifications
         UNION SELECT session_id FROM inbox WHERE closed IS NULL
         UNION SELECT session_id FROM calls
         UNION SELECT session_id FROM processes
         ORDER BY session_id",
    )?
    .query_map((), |row| row.get::<_, String>(0).map(SessionId::new))?
    .collect()
}

#[cfg(test)]
mod tests {
    use crate::{OpenOptions, Store};

    /// R41, R47: lists and panels are read along an index, whatever the size; nothing is scanned or sorted.
    #[tokio::test]
    async fn what_is_read_often_is_read_along_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let _store = Store::open(folder.path(), OpenOptions::default(), Box::new(|_| {})).unwrap();
        let conn = crate::database::reading(folder.path()).unwrap();
        let plan = |sql: &str| {
            let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let rows = statement.raw_query().mapped(|row| row.get::<_, String>(3));
            rows.collect::<Result<Vec<_>, _>>().unwrap().join("; ")
        };
        let cases = [
            (super::page_sql(false), "sessions_changed"),
            (super::page_sql(true), "sessions_project"),
            (crate::transcript::BEFORE.to_owned(), "events_entries"),
            (crate::table::events::AFTER.to_owned(), "events_session"),
        ];
        for (sql, index) in cases {
            let plan = plan(&sql);
            assert!(plan.contains(&format!("USING INDEX {index}")), "{sql}: {plan}");
            assert!(!plan.contains("TEMP B-TREE") && !plan.contains("SCAN"), "{sql}: {plan}");
        }
    }
}
