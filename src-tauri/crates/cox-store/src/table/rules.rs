//! Permission rules of projects. They live here and never in the project's own files.

use crate::column::{from_word, word};
use crate::damage::Db;
use crate::migration::Dated;
use cox_protocol::inbox::Rule;
use cox_protocol::view::RuleRow;
use cox_protocol::{ProjectId, RuleId};
use rusqlite::{Connection, OptionalExtension as _, Params};

pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120113,
    sql: "CREATE TABLE rules (
            id TEXT PRIMARY KEY,
            project_id TEXT NOT NULL REFERENCES projects (id),
            effect TEXT NOT NULL,
            pattern TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            UNIQUE (project_id, effect, pattern)
          ) STRICT;",
}];

/// Adds a rule. An equal one that is there already is given back instead.
pub(crate) fn add(conn: &Connection, rule: &RuleRow) -> rusqlite::Result<RuleRow> {
    let effect = word(&rule.rule.effect)?;
    conn.prepare_cached(
        "INSERT INTO rules (id, project_id, effect, pattern, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (project_id, effect, pattern) DO NOTHING",
    )?
    .execute((
        rule.id.as_str(),
        rule.project_id.as_str(),
        &effect,
        &rule.rule.pattern,
        rule.created_at,
    ))?;
    conn.prepare_cached(
        "SELECT id, created_at FROM rules WHERE project_id = ?1 AND effect = ?2 AND pattern = ?3",
    )?
    .query_row((rule.project_id.as_str(), &effect, &rule.rule.pattern), |row| {
        Ok(RuleRow {
            id: RuleId::new(row.get::<_, String>(0)?),
            project_id: rule.project_id.clone(),
            rule: rule.rule.clone(),
            created_at: row.get(1)?,
        })
    })
}

/// Removes a rule and gives it back.
pub(crate) fn remove(db: Db<'_>, id: &RuleId) -> rusqlite::Result<Option<RuleRow>> {
    let found = list(db, "WHERE id = ?1", [id.as_str()])?.pop();
    db.conn.prepare_cached("DELETE FROM rules WHERE id = ?1")?.execute([id.as_str()])?;
    Ok(found)
}

/// A project's rules, oldest first.
pub(crate) fn of_project(db: Db<'_>, project: &ProjectId) -> rusqlite::Result<Vec<RuleRow>> {
    list(db, "WHERE project_id = ?1 ORDER BY created_at, id", [project.as_str()])
}

/// Is there such a project to add a rule to?
pub(crate) fn project_exists(conn: &Connection, project: &ProjectId) -> rusqlite::Result<bool> {
    let found = conn
        .prepare_cached("SELECT 1 FROM projects WHERE id = ?1")?
        .query_row([project.as_str()], |_| Ok(()))
        .optional()?;
    Ok(found.is_some())
}

fn list(db: Db<'_>, condition: &str, params: impl Params) -> rusqlite::Result<Vec<RuleRow>> {
    let sql = format!("SELECT id, project_id, effect, pattern, created_at FROM rules {condition}");
    let mut statement = db.conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params)?;
    let mut list = Vec::new();
    while let Some(row) = rows.next()? {
        let id = RuleId::new(row.get::<_, String>(0)?);
        match from_word(row.get(2)?) {
            Ok(effect) => list.push(RuleRow {
                id,
                project_id: ProjectId::new(row.get::<_, String>(1)?),
                rule: Rule { effect, pattern: row.get(3)? },
                created_at: row.get(4)?,
            }),
            Err(error) => db.damages.add("rules", id, error),
        }
    }
    Ok(list)
}
