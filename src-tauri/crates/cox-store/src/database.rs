//! The database file: opening, formats, and how connections are set up.

use crate::error::StoreError;
use crate::folder;
use crate::migration;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The database's name in the data folder.
pub(crate) const FILE: &str = "coxswain.db";

/// How long a statement waits for another process's transaction.
pub(crate) const BUSY: Duration = Duration::from_secs(10);

/// The database's place.
pub(crate) fn path(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// Makes or opens the database and brings it to this version's format.
///
/// 1. The data folder is made, for its user only.
/// 2. One process at a time: two that migrate at once would make the same table twice.
/// 3. A database of a newer version is refused before anything is written.
/// 4. The rest is migrated.
pub(crate) fn prepare(data: &Path) -> Result<(), StoreError> {
    folder::make_private(data).map_err(|error| StoreError::folder(data, error))?;
    let gate_path = data.join("open.lock");
    let gate = folder::private_file(&gate_path).map_err(|error| StoreError::folder(&gate_path, error))?;
    gate.lock().map_err(|error| StoreError::folder(&gate_path, error))?;

    let path = path(data);
    refuse_newer(&path)?;
    folder::private_file(&path).map_err(|error| StoreError::folder(&path, error))?;
    let mut conn = open(&path)?;
    let doing = "prepare the database";
    conn.pragma_update(None, "journal_mode", "WAL").map_err(StoreError::sql(doing))?;
    if format(&conn)? < migration::format() {
        migration::migrations()
            .to_latest(&mut conn)
            .map_err(|error| StoreError::Migration(error.to_string()))?;
    }
    drop(gate);
    Ok(())
}

fn refuse_newer(path: &Path) -> Result<(), StoreError> {
    if !path.exists() {
        return Ok(());
    }
    let conn = open(path)?;
    let (found, known) = (format(&conn)?, migration::format());
    if found > known {
        return Err(StoreError::Newer { path: path.to_owned(), found, known });
    }
    Ok(())
}

fn format(conn: &Connection) -> Result<u32, StoreError> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(StoreError::sql("read the database's format"))
}

fn open(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(StoreError::sql("open the database"))?;
    set_up(&conn).map_err(StoreError::sql("open the database"))?;
    Ok(conn)
}

/// For the writer and the checkpoints.
pub(crate) fn writing(data: &Path) -> Result<Connection, StoreError> {
    let conn = open(&path(data))?;
    let tune = || {
        // Checkpoints are made beside the writer; see `aside`.
        conn.pragma_update(None, "wal_autocheckpoint", 0)?;
        conn.pragma_update(None, "journal_size_limit", crate::aside::checkpoint::WAL_KEPT_BYTES)
    };
    tune().map_err(StoreError::sql("open the database"))?;
    Ok(conn)
}

/// `synchronous`: NORMAL survives the end of the process, FULL also a power cut.
pub(crate) fn set_durable(conn: &Connection, durable: bool) -> rusqlite::Result<()> {
    conn.pragma_update(None, "synchronous", if durable { "FULL" } else { "NORMAL" })
}

/// For reading only.
pub(crate) fn reading(data: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path(data), flags)?;
    set_up(&conn)?;
    Ok(conn)
}

/// What holds for every connection. The caches are small: the working set is the end of a few logs, and the
/// operating system caches the file anyway.
pub(crate) fn set_up(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(BUSY)?;
    conn.pragma_update(None, "cache_size", -512)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.set_prepared_statement_cache_capacity(48);
    Ok(())
}
