//! Folders that the user opened.

use crate::column::count32;
use crate::migration::Dated;
use crate::rows::ProjectRecord;
use cox_protocol::ProjectId;
use rusqlite::{Connection, OptionalExtension as _, Row};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// `path` is byte for byte what the system says, which may not be UTF-8; `display` is for people.
pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120112,
    sql: "CREATE TABLE projects (
            id TEXT PRIMARY KEY,
            path BLOB NOT NULL UNIQUE,
            display TEXT NOT NULL,
            opened_at INTEGER NOT NULL,
            listed INTEGER NOT NULL
          ) STRICT;",
}];

const COLUMNS: &str = "SELECT id, path, opened_at, listed,
    (SELECT count(*) FROM sessions WHERE project_id = projects.id) AS sessions FROM projects";

/// Adds a folder, or finds it: a known folder keeps its id, and is listed again.
pub(crate) fn put(
    conn: &Connection,
    id: &ProjectId,
    path: &Path,
    opened_at: i64,
) -> rusqlite::Result<ProjectRecord> {
    conn.prepare_cached(
        "INSERT INTO projects (id, path, display, opened_at, listed) VALUES (?1, ?2, ?3, ?4, 1)
         ON CONFLICT (path) DO UPDATE SET opened_at = ?4, listed = 1",
    )?
    .execute((id.as_str(), bytes(path), path.to_string_lossy(), opened_at))?;
    let sql = format!("{COLUMNS} WHERE path = ?1");
    conn.prepare_cached(&sql)?.query_row([bytes(path)], decode)
}

/// Takes a folder off the list; says whether it was there.
pub(crate) fn forget(conn: &Connection, id: &ProjectId) -> rusqlite::Result<bool> {
    let changed = conn
        .prepare_cached("UPDATE projects SET listed = 0 WHERE id = ?1 AND listed = 1")?
        .execute([id.as_str()])?;
    Ok(changed > 0)
}

/// The list, the one opened last first.
pub(crate) fn list(conn: &Connection) -> rusqlite::Result<Vec<ProjectRecord>> {
    let sql = format!("{COLUMNS} WHERE listed = 1 ORDER BY opened_at DESC, id");
    conn.prepare_cached(&sql)?.query_map((), decode)?.collect()
}

/// One, listed or not.
pub(crate) fn get(conn: &Connection, id: &ProjectId) -> rusqlite::Result<Option<ProjectRecord>> {
    let sql = format!("{COLUMNS} WHERE id = ?1");
    conn.prepare_cached(&sql)?.query_row([id.as_str()], decode).optional()
}

fn decode(row: &Row<'_>) -> rusqlite::Result<ProjectRecord> {
    Ok(ProjectRecord {
        id: ProjectId::new(row.get::<_, String>("id")?),
        path: path(row.get("path")?),
        opened_at: row.get("opened_at")?,
        sessions: count32(row.get("sessions")?),
        listed: row.get("listed")?,
    })
}

#[cfg(unix)]
fn bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(unix)]
fn path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

#[cfg(not(unix))]
fn path(bytes: Vec<u8>) -> PathBuf {
    OsString::from(String::from_utf8_lossy(&bytes).into_owned()).into()
}
