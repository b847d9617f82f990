//! The file beside the database for what is made from it: the search index, and how far the exports have come.
//! It can be deleted at any time while nothing runs; it is filled again from the log.

use crate::error::StoreError;
use crate::{database, folder};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::{Path, PathBuf};

/// The format is part of the name: another format is another file, and is filled from the log.
const FILE: &str = "derived-1.db";

/// `bytes` is how long a task's export was when it was last written; -1: not as it should be.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS marks (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS exports (task_id TEXT PRIMARY KEY, bytes INTEGER NOT NULL) STRICT;
    CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
        text, session, content = '', tokenize = 'unicode61 remove_diacritics 2');";

/// Its place.
pub(crate) fn path(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// Opens it, or makes it. One that can't be read is replaced: nothing in it is of its own.
pub(crate) fn open(data: &Path) -> Result<Connection, StoreError> {
    let path = path(data);
    let broken = |error: &rusqlite::Error| {
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown)
        )
    };
    folder::private_file(&path).map_err(|error| StoreError::folder(&path, error))?;
    match connect(&path) {
        Err(error) if broken(&error) => {
            tracing::warn!(%error, "the search index is damaged and is made anew");
            for ending in ["", "-wal", "-shm"] {
                let mut name = path.clone().into_os_string();
                name.push(ending);
                match std::fs::remove_file(&name) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        return Err(StoreError::folder(Path::new(&name), error));
                    }
                    _ => {}
                }
            }
            folder::private_file(&path).map_err(|error| StoreError::folder(&path, error))?;
            connect(&path).map_err(StoreError::sql("make the search index"))
        }
        other => other.map_err(StoreError::sql("open the search index")),
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    database::set_up(&conn)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    conn.pragma_update(None, "journal_size_limit", super::checkpoint::WAL_KEPT_BYTES)?;
    conn.execute_batch(TABLES)?;
    Ok(conn)
}

/// For a search.
pub(crate) fn reading(data: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path(data), flags)?;
    database::set_up(&conn)?;
    Ok(conn)
}

/// Empties it; it is filled anew from the log.
pub(crate) fn clear(conn: &Connection) -> rusqlite::Result<()> {
    let transaction = conn.unchecked_transaction()?;
    conn.execute_batch(
        "DELETE FROM marks; DELETE FROM exports; INSERT INTO words (words) VALUES ('delete-all');",
    )?;
    transaction.commit()
}
