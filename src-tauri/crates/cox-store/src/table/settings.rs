//! The settings, as one value. No keys (W31).

use crate::damage::Db;
use crate::migration::Dated;
use cox_protocol::settings::Settings;
use rusqlite::{Connection, OptionalExtension as _};

pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120114,
    sql: "CREATE TABLE settings (
            name TEXT PRIMARY KEY,
            value TEXT NOT NULL
          ) STRICT;",
}];

const NAME: &str = "settings";

/// Stores all settings.
pub(crate) fn put(conn: &Connection, settings: &Settings) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT OR REPLACE INTO settings (name, value) VALUES (?1, ?2)")?
        .execute((NAME, crate::column::json(settings)?))?;
    Ok(())
}

/// The settings; the defaults where none are stored, or what is stored can't be read.
pub(crate) fn get(db: Db<'_>) -> rusqlite::Result<Settings> {
    let stored: Option<String> = db
        .conn
        .prepare_cached("SELECT value FROM settings WHERE name = ?1")?
        .query_row([NAME], |row| row.get(0))
        .optional()?;
    let Some(stored) = stored else { return Ok(Settings::default()) };
    Ok(serde_json::from_str(&stored).unwrap_or_else(|error| {
        db.damages.add("settings", NAME, error);
        Settings::default()
    }))
}
