//! Transcripts: the entries of one task, read from the log by an index that holds nothing else.

use crate::column::int;
use crate::damage::Db;
use crate::table::{calls, events, partials, tasks};
use cox_protocol::event::{EventBody, EventKind};
use cox_protocol::view::{EntryRow, PanelView};
use cox_protocol::{Event, TaskId};

pub(crate) const BEFORE: &str = "SELECT * FROM event_rows WHERE task_id = ?1 AND kind = 'entry' AND seq < ?2
                      ORDER BY seq DESC LIMIT ?3";

/// The entries before an event, the last `limit` of them, in order; and whether there are earlier ones.
pub(crate) fn before(
    db: Db<'_>,
    task: &TaskId,
    seq: u64,
    limit: u32,
) -> rusqlite::Result<(Vec<EntryRow>, bool)> {
    let events = events::list(db, BEFORE, (task.as_str(), int(seq), limit))?;
    let mut rows: Vec<EntryRow> = events.into_iter().filter_map(entry).collect();
    rows.reverse();
    let has_earlier = match rows.first() {
        Some(first) => db
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM events WHERE task_id = ?1 AND kind = 'entry' AND seq < ?2)",
            )?
            .query_row((task.as_str(), int(first.seq)), |row| row.get(0))?,
        None => false,
    };
    Ok((rows, has_earlier))
}

/// A piece of the whole: entries after an event, in order, and where the next piece begins; none at the end.
pub(crate) fn after(
    db: Db<'_>,
    task: &TaskId,
    seq: u64,
    limit: u32,
) -> rusqlite::Result<(Vec<EntryRow>, Option<u64>)> {
    let last: Option<i64> = db
        .conn
        .prepare_cached(
            "SELECT max(seq) FROM (SELECT seq FROM events WHERE task_id = ?1 AND kind = 'entry' AND seq > ?2
                                   ORDER BY seq LIMIT ?3)",
        )?
        .query_row((task.as_str(), int(seq), limit), |row| row.get(0))?;
    let Some(last) = last else { return Ok((Vec::new(), None)) };
    let sql = "SELECT * FROM event_rows WHERE task_id = ?1 AND kind = 'entry' AND seq > ?2 AND seq <= ?3
               ORDER BY seq";
    let events = events::list(db, sql, (task.as_str(), int(seq), last))?;
    Ok((events.into_iter().filter_map(entry).collect(), Some(crate::column::count(last))))
}

/// A panel as the fold would have it, with the last entries only.
pub(crate) fn panel(db: Db<'_>, task: &TaskId, last: u32) -> rusqlite::Result<Option<PanelView>> {
    let Some((_, seq)) = tasks::place(db.conn, task)? else { return Ok(None) };
    let (entries, has_earlier) = before(db, task, u64::MAX, last)?;
    Ok(Some(PanelView {
        seq,
        task_id: task.clone(),
        entries,
        has_earlier,
        open_calls: calls::states(db, task)?,
        partial: partials::get(db, task)?,
    }))
}

fn entry(event: Event) -> Option<EntryRow> {
    match event.body {
        EventBody::Known(EventKind::Entry { entry }) => Some(EntryRow {
            seq: event.seq,
            at: event.at,
            generation: event.generation,
            turn: event.turn,
            entry,
        }),
        _ => None,
    }
}
