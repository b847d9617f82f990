//! Notifications that are not delivered: where they stand in the log (W15).

use crate::column::int;
use crate::damage::Db;
use crate::migration::Dated;
use crate::rows::WaitingNotification;
use crate::table::events;
use cox_protocol::event::{EventBody, EventKind};
use cox_protocol::{Event, NotificationId, SessionId};
use rusqlite::Connection;

pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120107,
    sql: "CREATE TABLE notifications (
            seq INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            session_id TEXT NOT NULL
          ) STRICT;
          CREATE INDEX notifications_session ON notifications (session_id);",
}];

/// A notification waits.
pub(crate) fn queue(conn: &Connection, event: &Event, id: &NotificationId) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT INTO notifications (seq, id, session_id) VALUES (?1, ?2, ?3)")?.execute((
        int(event.seq),
        id.as_str(),
        event.session_id.as_str(),
    ))?;
    Ok(())
}

/// It was delivered.
pub(crate) fn deliver(conn: &Connection, event: &Event, id: &NotificationId) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM notifications WHERE session_id = ?1 AND id = ?2")?
        .execute((event.session_id.as_str(), id.as_str()))?;
    Ok(())
}

/// What waits in a session, oldest first.
pub(crate) fn waiting(db: Db<'_>, session: &SessionId) -> rusqlite::Result<Vec<WaitingNotification>> {
    let sql = "SELECT * FROM event_rows WHERE seq IN
                 (SELECT seq FROM notifications WHERE session_id = ?1) ORDER BY seq";
    let events = events::list(db, sql, [session.as_str()])?;
    Ok(events
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::Known(EventKind::NotificationQueued { notification_id, envelope }) => {
                let (task_id, seq) = (event.task_id, event.seq);
                Some(WaitingNotification { id: notification_id, task_id, seq, envelope })
            }
            _ => None,
        })
        .collect())
}
