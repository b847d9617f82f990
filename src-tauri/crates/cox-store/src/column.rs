//! Rust values as column values and back.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A count as SQLite's signed integer.
pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// And back; what is negative can only be damage, and counts as 0.
pub(crate) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// A small count and back.
pub(crate) fn count32(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

/// A value as JSON.
pub(crate) fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// A unit variant as its name on the wire.
pub(crate) fn word(value: &impl Serialize) -> rusqlite::Result<String> {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => Ok(word),
        Ok(other) => Ok(other.to_string()),
        Err(error) => Err(rusqlite::Error::ToSqlConversionFailure(Box::new(error))),
    }
}

/// And back.
pub(crate) fn from_word<T: DeserializeOwned>(word: String) -> serde_json::Result<T> {
    serde_json::from_value(Value::String(word))
}
