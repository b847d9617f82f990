//! The JSONL export of each task: `output/<session>/<task>.jsonl`, one event a line, for other tools to read.
//!
//! Its length is remembered beside the mark. A file that is longer has lines of a step that was not finished, and
//! is cut; one that is shorter or gone is written anew from the log.

use crate::column::int;
use crate::damage::Db;
use crate::folder::{self, output_file};
use crate::table::events;
use cox_protocol::event::{EventBody, EventKind};
use cox_protocol::{Event, SessionId, TaskId};
use rusqlite::{Connection, OptionalExtension as _};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Seek as _, SeekFrom, Write};
use std::path::Path;

/// Is it part of an export: the dispatch, the transcript, where generations begin and end?
fn is_exported(event: &Event) -> bool {
    match &event.body {
        EventBody::Unknown(_) => true,
        EventBody::Known(kind) => match kind {
            EventKind::TaskStarted { .. }
            | EventKind::GenerationStarted { .. }
            | EventKind::TaskInterrupted { .. }
            | EventKind::TaskResumed {}
            | EventKind::Entry { .. }
            | EventKind::GenerationEnded { .. } => true,
            EventKind::SessionCreated { .. }
            | EventKind::SessionTitled { .. }
            | EventKind::SessionModeSet { .. }
            | EventKind::TaskWaiting { .. }
            | EventKind::ToolStarted { .. }
            | EventKind::InboxOpened { .. }
            | EventKind::InboxClosed { .. }
            | EventKind::MessageQueued { .. }
            | EventKind::MessageDelivered { .. }
            | EventKind::MessageWithdrawn { .. }
            | EventKind::Usage { .. }
            | EventKind::RequestRetried { .. }
            | EventKind::NotificationQueued { .. }
            | EventKind::NotificationDelivered { .. }
            | EventKind::FileChanged { .. }
            | EventKind::ProcessStarted { .. }
            | EventKind::ProcessEnded { .. } => false,
        },
    }
}

fn write_line(out: &mut impl Write, event: &Event) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, event)?;
    out.write_all(b"\n")
}

fn io(error: std::io::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

/// The new lines of one step, by task.
#[derive(Default)]
pub(crate) struct Lines(HashMap<TaskId, (SessionId, Vec<u8>)>);

impl Lines {
    /// Adds an event, if it belongs into an export.
    pub(crate) fn add(&mut self, event: &Event) -> rusqlite::Result<()> {
        let Some(task) = event.task_id.as_ref().filter(|_| is_exported(event)) else { return Ok(()) };
        let (_, lines) = self.0.entry(task.clone()).or_insert_with(|| (event.session_id.clone(), Vec::new()));
        write_line(lines, event).map_err(io)
    }

    /// Appends them to their files. A file that can't be written holds up nothing: it is written anew later.
    pub(crate) fn write(
        &self,
        db: Db<'_>,
        derived: &Connection,
        data: &Path,
        end: u64,
    ) -> rusqlite::Result<()> {
        for (task, (session, lines)) in &self.0 {
            let known: Option<i64> = derived
                .prepare_cached("SELECT bytes FROM exports WHERE task_id = ?1")?
                .query_row([task.as_str()], |row| row.get(0))
                .optional()?;
            let path = data.join(output_file(session, task));
            let length = match append(&path, known, lines) {
                Ok(Some(length)) => int(length),
                Ok(None) => whole(db, session, task, &path, end)?,
                Err(error) => {
                    tracing::warn!(%error, path = %path.display(), "can't export");
                    -1
                }
            };
            derived
                .prepare_cached("INSERT OR REPLACE INTO exports (task_id, bytes) VALUES (?1, ?2)")?
                .execute((task.as_str(), length))?;
        }
        Ok(())
    }
}

/// Appends to a file that is as it should be, and says its length; none: it has to be written anew.
fn append(path: &Path, known: Option<i64>, lines: &[u8]) -> std::io::Result<Option<u64>> {
    if let Some(parent) = path.parent() {
        folder::make_private(parent)?;
    }
    let mut file = folder::private_file(path)?;
    let (length, known) = (file.metadata()?.len(), known.unwrap_or(0));
    let Ok(known) = u64::try_from(known) else { return Ok(None) };
    if length < known {
        return Ok(None);
    }
    file.set_len(known)?;
    file.seek(SeekFrom::Start(known))?;
    file.write_all(lines)?;
    Ok(Some(known + lines.len() as u64))
}

/// Writes a whole file from the log; its length, or -1 when it can't be written.
fn whole(db: Db<'_>, session: &SessionId, task: &TaskId, path: &Path, end: u64) -> rusqlite::Result<i64> {
    let file = folder::private_file(path).and_then(|file| file.set_len(0).map(|()| file));
    let written = file.map(BufWriter::new).map_err(io).and_then(|mut out| {
        write_task(db, session, task, end, &mut out)?;
        let file: File = out.into_inner().map_err(|error| io(error.into_error()))?;
        Ok(file.metadata().map_err(io)?.len())
    });
    match written {
        Ok(length) => Ok(int(length)),
        Err(error @ rusqlite::Error::ToSqlConversionFailure(_)) => {
            tracing::warn!(%error, path = %path.display(), "can't export");
            Ok(-1)
        }
        Err(error) => Err(error),
    }
}

/// Writes a task's lines up to an event; says how many.
pub(crate) fn write_task(
    db: Db<'_>,
    session: &SessionId,
    task: &TaskId,
    end: u64,
    out: &mut impl Write,
) -> rusqlite::Result<u64> {
    let mut lines = 0;
    let sql = "SELECT * FROM event_rows WHERE session_id = ?1 AND task_id = ?2 AND seq <= ?3 ORDER BY seq";
    events::for_each(db, sql, (session.as_str(), task.as_str(), int(end)), |event| {
        if is_exported(&event) {
            write_line(out, &event).map_err(io)?;
            lines += 1;
        }
        Ok(())
    })?;
    Ok(lines)
}

/// Writes a task's export to a place of the caller's choice, at once and whole: a reader never sees half of it.
pub(crate) fn to_file(db: Db<'_>, task: &TaskId, path: &Path) -> rusqlite::Result<u64> {
    let Some((session, _)) = crate::table::tasks::place(db.conn, task)? else { return Ok(0) };
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = Path::new(&beside);
    let file = folder::private_file(beside).and_then(|file| file.set_len(0).map(|()| file)).map_err(io)?;
    let mut out = BufWriter::new(file);
    let lines = write_task(db, &session, task, u64::MAX, &mut out)?;
    out.into_inner().map_err(|error| io(error.into_error()))?;
    std::fs::rename(beside, path).map_err(io)?;
    Ok(lines)
}
