//! Large contents, each once, by BLAKE3 hash: bodies of events over 32 KB, whole outputs, before-images.

use crate::column::count;
use crate::migration::Dated;
use crate::rows::BlobPiece;
use cox_protocol::entry::BlobRef;
use rusqlite::{Connection, OptionalExtension as _};
use std::io::{Read as _, Seek as _, SeekFrom};

pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120101,
    sql: "CREATE TABLE blobs (
            id INTEGER PRIMARY KEY,
            hash BLOB NOT NULL UNIQUE,
            data BLOB NOT NULL
          ) STRICT;",
}];

/// Keeps the bytes, if they are not there yet.
pub(crate) fn insert(conn: &Connection, bytes: &[u8]) -> rusqlite::Result<blake3::Hash> {
    let hash = blake3::hash(bytes);
    conn.prepare_cached("INSERT INTO blobs (hash, data) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING")?
        .execute((hash.as_bytes(), bytes))?;
    Ok(hash)
}

/// Keeps the bytes and says how to find them.
pub(crate) fn put(conn: &Connection, bytes: &[u8]) -> rusqlite::Result<BlobRef> {
    let hash = insert(conn, bytes)?;
    Ok(BlobRef { hash: hash.to_hex().to_string(), size: bytes.len() as u64 })
}

/// Reads a piece without loading the rest; none when there is no such blob.
pub(crate) fn read(
    conn: &Connection,
    hash: &str,
    offset: u64,
    len: u64,
) -> rusqlite::Result<Option<BlobPiece>> {
    let Ok(parsed) = blake3::Hash::from_hex(hash) else { return Ok(None) };
    let found: Option<(i64, i64)> = conn
        .prepare_cached("SELECT id, length(data) FROM blobs WHERE hash = ?1")?
        .query_row([parsed.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((id, size)) = found else { return Ok(None) };
    let size = count(size);
    let blob = BlobRef { hash: parsed.to_hex().to_string(), size };
    let wanted = len.min(size.saturating_sub(offset));
    let mut bytes = Vec::new();
    if wanted > 0 {
        let mut data = conn.blob_open("main", "blobs", "data", id, true)?;
        let io = |error: std::io::Error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
        data.seek(SeekFrom::Start(offset)).map_err(io)?;
        data.take(wanted).read_to_end(&mut bytes).map_err(io)?;
    }
    Ok(Some(BlobPiece { blob, bytes }))
}
