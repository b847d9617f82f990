//! Events in, rows out: what is written beside the log in the same transaction (W3), and how all of it is made
//! anew from the events.

use crate::damage::Db;
use crate::rows::RebuildReport;
use crate::table::{calls, events, inbox, messages, notifications, partials, processes, usage};
use crate::views::Views;
use cox_protocol::event::EventKind;
use cox_protocol::{Entry, Event, SessionId};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The tables that are projections, and what orders their rows.
pub(crate) const TABLES: [(&str, &str); 8] = [
    ("sessions", "id"),
    ("tasks", "session_id, ordinal"),
    ("inbox", "opened"),
    ("messages", "seq"),
    ("notifications", "seq"),
    ("calls", "task_id, call_id"),
    ("processes", "session_id, pgid"),
    ("usage", "seq"),
];

/// Writes the rows that one event changes, but for the session's and its tasks', which [`Views`] writes once a
/// transaction.
pub(crate) fn apply(conn: &Connection, event: &Event) -> rusqlite::Result<()> {
    let Some(kind) = event.known() else { return Ok(()) };
    match kind {
        EventKind::Entry { entry } => {
            let Some(task) = &event.task_id else { return Ok(()) };
            calls::entry(conn, event, task, entry)?;
            match entry {
                Entry::Assistant { .. } => partials::answered(conn, event, task),
                Entry::User { .. } | Entry::ToolResults { .. } | Entry::Runtime { .. } => Ok(()),
            }
        }
        EventKind::ToolStarted { call_id, read_only } => match &event.task_id {
            Some(task) => calls::start(conn, task, call_id, *read_only),
            None => Ok(()),
        },
        EventKind::InboxOpened { item } => {
            inbox::open(conn, event, &item.id)?;
            match &event.task_id {
                Some(task) => calls::ask(conn, task, &item.call_id),
                None => Ok(()),
            }
        }
        EventKind::InboxClosed { id, .. } => inbox::close(conn, event, id),
        EventKind::MessageQueued { message } => messages::queue(conn, event, &message.id),
        EventKind::MessageDelivered { message_id } | EventKind::MessageWithdrawn { message_id } => {
            messages::take(conn, event, message_id)
        }
        EventKind::NotificationQueued { notification_id, .. } => {
            notifications::queue(conn, event, notification_id)
        }
        EventKind::NotificationDelivered { notification_id } => {
            notifications::deliver(conn, event, notification_id)
        }
        EventKind::Usage { .. } => usage::insert(conn, event),
        EventKind::GenerationEnded { .. } | EventKind::TaskInterrupted { .. } => match &event.task_id {
            Some(task) => partials::ended(conn, event, task),
            None => Ok(()),
        },
        EventKind::ProcessStarted { pgid, start_ticks } => processes::start(conn, event, *pgid, *start_ticks),
        EventKind::ProcessEnded { pgid } => processes::end(conn, event, *pgid),
        EventKind::SessionCreated { .. }
        | EventKind::SessionTitled { .. }
        | EventKind::SessionModeSet { .. }
        | EventKind::TaskStarted { .. }
        | EventKind::GenerationStarted { .. }
        | EventKind::TaskResumed {}
        | EventKind::TaskWaiting { .. }
        | EventKind::RequestRetried { .. }
        | EventKind::FileChanged { .. } => Ok(()),
    }
}

/// Makes all projections anew, in one transaction, one session after another.
pub(crate) fn rebuild(db: Db<'_>) -> rusqlite::Result<RebuildReport> {
    let transaction = Transaction::new_unchecked(db.conn, TransactionBehavior::Immediate)?;
    let before = digests(db.conn)?;
    for (table, _) in TABLES {
        db.conn.execute(&format!("DELETE FROM {table}"), ())?;
    }
    let mut report = RebuildReport::default();
    let sessions: Vec<String> = db
        .conn
        .prepare("SELECT DISTINCT session_id FROM events ORDER BY session_id")?
        .query_map((), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for session in sessions {
        let session = SessionId::new(session);
        let mut views = Views::default();
        let sql = "SELECT * FROM event_rows WHERE session_id = ?1 ORDER BY seq";
        report.damaged += events::for_each(db, sql, [session.as_str()], |event| {
            report.events += 1;
            views.apply(db, &event)
        })?;
        views.write(db.conn)?;
        report.sessions += 1;
    }
    let after = digests(db.conn)?;
    report.changed =
        before.iter().zip(&after).filter(|(old, new)| old != new).map(|(old, _)| old.0.to_owned()).collect();
    transaction.commit()?;
    Ok(report)
}

/// A hash of all rows of each projection.
fn digests(conn: &Connection) -> rusqlite::Result<Vec<(&'static str, blake3::Hash)>> {
    TABLES.iter().map(|(table, order)| Ok((*table, digest(conn, table, order)?))).collect()
}

fn digest(conn: &Connection, table: &str, order: &str) -> rusqlite::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    let mut statement = conn.prepare(&format!("SELECT * FROM {table} ORDER BY {order}"))?;
    let columns = statement.column_count();
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            let (mark, number, bytes): (u8, i64, &[u8]) = match row.get_ref(column)? {
                ValueRef::Null => (0, 0, b""),
                ValueRef::Integer(number) => (1, number, b""),
                ValueRef::Real(number) => (2, number.to_bits().cast_signed(), b""),
                ValueRef::Text(bytes) => (3, crate::column::int(bytes.len() as u64), bytes),
                ValueRef::Blob(bytes) => (4, crate::column::int(bytes.len() as u64), bytes),
            };
            hasher.update(&[mark]).update(&number.to_le_bytes()).update(bytes);
        }
    }
    Ok(hasher.finalize())
}
