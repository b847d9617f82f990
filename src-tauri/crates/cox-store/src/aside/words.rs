//! Full-text search over entries. The index holds no texts: a hit is a number, the text is read from the log.

use crate::aside::derived;
use crate::column::{count, int};
use crate::damage::Db;
use crate::table::events;
use cox_protocol::event::EventKind;
use cox_protocol::view::SearchHit;
use cox_protocol::{Block, Entry, Event, SessionId};
use rusqlite::{Connection, OptionalExtension as _};
use std::path::Path;

/// Hits at most.
const HITS: usize = 100;
/// Bytes of a text that are indexed; the rest of a long output is not worth its place.
const INDEXED: usize = 16 * 1024;
/// Words of a query at most, and characters of one.
const WORDS: usize = 16;
const WORD_CHARS: usize = 100;

/// Puts an entry's words into the index; other events have none.
pub(crate) fn index(derived: &Connection, event: &Event) -> rusqlite::Result<()> {
    let Some(EventKind::Entry { entry }) = event.known() else { return Ok(()) };
    let text = text_of(entry);
    if text.is_empty() {
        return Ok(());
    }
    derived.prepare_cached("INSERT INTO words (rowid, text, session) VALUES (?1, ?2, ?3)")?.execute((
        int(event.seq),
        text,
        event.session_id.as_str(),
    ))?;
    Ok(())
}

/// What is searched in an entry: what was said, what the calls ask for, what the results say.
fn text_of(entry: &Entry) -> String {
    let mut text = String::new();
    let mut add = |piece: &str| {
        if !piece.is_empty() {
            text.push_str(piece);
            text.push('\n');
        }
    };
    match entry {
        Entry::User { text, .. } => add(text),
        Entry::Assistant { blocks, .. } => {
            for block in blocks {
                match block {
                    Block::Text { text } => add(text),
                    Block::ToolCall { call } => add(&cox_protocol::view::call_label(&call.name, &call.input)),
                    Block::Thinking { .. } | Block::Opaque { .. } => {}
                }
            }
        }
        Entry::ToolResults { results } => results.iter().for_each(|result| add(&result.content)),
        Entry::Runtime { note } => add(&note.to_text()),
    }
    let end = (0..=INDEXED.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.truncate(end.unwrap_or(0));
    text
}

/// Each word as a quoted string, so that nothing in it is syntax; the last one may be the beginning of a word.
fn query_of(text: &str) -> Option<String> {
    let words: Vec<String> = text
        .split(|ch: char| ch.is_whitespace() || ch == '\0')
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .take(WORDS)
        .map(|word| format!("\"{}\"", word.chars().take(WORD_CHARS).collect::<String>().replace('"', "\"\"")))
        .collect();
    (!words.is_empty()).then(|| format!("text : ({} *)", words.join(" ")))
}

/// The newest entries in which all words occur.
pub(crate) fn search(
    db: Db<'_>,
    data: &Path,
    text: &str,
    session: Option<&SessionId>,
) -> rusqlite::Result<Vec<SearchHit>> {
    let Some(query) = query_of(text) else { return Ok(Vec::new()) };
    let derived = derived::reading(data)?;
    let within = match session {
        Some(session) => {
            format!("({query}) AND session : \"{}\"", session.as_str().replace(['"', '\0'], " "))
        }
        None => query.clone(),
    };
    let found: Vec<i64> = derived
        .prepare("SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT ?2")?
        .query_map((within, HITS as i64), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let excerpts = Excerpts::new(query)?;
    let mut hits = Vec::new();
    for seq in found {
        let Some(event) = events::get(db, count(seq))? else { continue };
        if session.is_some_and(|session| session != &event.session_id) {
            continue;
        }
        let (Some(EventKind::Entry { entry }), Some(task_id)) = (event.known(), &event.task_id) else {
            continue;
        };
        let (session_id, task_id) = (event.session_id.clone(), task_id.clone());
        hits.push(SearchHit { session_id, task_id, seq: event.seq, excerpt: excerpts.of(&text_of(entry))? });
    }
    Ok(hits)
}

/// Finds the words around a hit the way the index finds the hit: by an index in memory that holds one text.
struct Excerpts {
    conn: Connection,
    query: String,
}

impl Excerpts {
    fn new(query: String) -> rusqlite::Result<Self> {
        let conn = Connection::open_in_memory()?;
        conn.execute_batch(
            "CREATE VIRTUAL TABLE one USING fts5(text, tokenize = 'unicode61 remove_diacritics 2')",
        )?;
        Ok(Self { conn, query })
    }

    fn of(&self, text: &str) -> rusqlite::Result<String> {
        let text = text.replace(['\u{2068}', '\u{2069}', '\0'], " ");
        self.conn
            .prepare_cached("INSERT OR REPLACE INTO one (rowid, text) VALUES (1, ?1)")?
            .execute([&text])?;
        let found: Option<String> = self
            .conn
            .prepare_cached(
                "SELECT snippet(one, 0, char(0x2068), char(0x2069), '…', 20) FROM one WHERE one MATCH ?1",
            )?
            .query_row([&self.query], |row| row.get(0))
            .optional()?;
        Ok(found.unwrap_or_else(|| text.chars().take(160).collect()))
    }
}
