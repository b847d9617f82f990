//! The ledger: one row a request (W38).

use crate::column::{count, count32, int};
use crate::migration::Dated;
use crate::rows::LedgerSum;
use cox_protocol::event::EventKind;
use cox_protocol::task::Usage;
use cox_protocol::{Event, SessionId, TaskId};
use rusqlite::Connection;

pub(crate) const MIGRATIONS: &[Dated] = &[Dated {
    date: 2026120110,
    sql: "CREATE TABLE usage (
            seq INTEGER PRIMARY KEY,
            session_id TEXT NOT NULL,
            task_id TEXT,
            generation INTEGER NOT NULL,
            request_id TEXT NOT NULL,
            model TEXT NOT NULL,
            input INTEGER NOT NULL,
            output INTEGER NOT NULL,
            cache_read INTEGER NOT NULL,
            cache_write INTEGER NOT NULL,
            estimated INTEGER NOT NULL,
            cost_micro_usd INTEGER,
            price_version TEXT NOT NULL
          ) STRICT;
          CREATE INDEX usage_session ON usage (session_id);",
}];

/// Writes the row of a usage event; other events have none.
pub(crate) fn insert(conn: &Connection, event: &Event) -> rusqlite::Result<()> {
    let Some(EventKind::Usage { request_id, model, usage, cost_micro_usd, price_version, .. }) =
        event.known()
    else {
        return Ok(());
    };
    conn.prepare_cached(
        "INSERT INTO usage (seq, session_id, task_id, generation, request_id, model, input, output, cache_read,
                            cache_write, estimated, cost_micro_usd, price_version)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute((
        int(event.seq),
        event.session_id.as_str(),
        event.task_id.as_ref().map(TaskId::as_str),
        event.generation,
        request_id.as_str(),
        model,
        int(usage.input),
        int(usage.output),
        int(usage.cache_read),
        int(usage.cache_write),
        usage.estimated,
        cost_micro_usd.map(int),
        price_version,
    ))?;
    Ok(())
}

/// A session's sums, one for each task and model, in the order of their first requests.
pub(crate) fn sums(conn: &Connection, session: &SessionId) -> rusqlite::Result<Vec<LedgerSum>> {
    conn.prepare_cached(
        "SELECT task_id, model, count(*), sum(input), sum(output), sum(cache_read), sum(cache_write),
                max(estimated), coalesce(sum(cost_micro_usd), 0), sum(cost_micro_usd IS NULL)
         FROM usage WHERE session_id = ?1 GROUP BY task_id, model ORDER BY min(seq)",
    )?
    .query_map([session.as_str()], |row| {
        Ok(LedgerSum {
            task_id: row.get::<_, Option<String>>(0)?.map(TaskId::new),
            model: row.get(1)?,
            requests: count32(row.get(2)?),
            usage: Usage {
                input: count(row.get(3)?),
                output: count(row.get(4)?),
                cache_read: count(row.get(5)?),
                cache_write: count(row.get(6)?),
                estimated: row.get(7)?,
            },
            cost_micro_usd: count(row.get(8)?),
            unpriced_requests: count32(row.get(9)?),
        })
    })?
    .collect()
}
