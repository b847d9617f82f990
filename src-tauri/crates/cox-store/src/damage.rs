//! Rows that can't be decoded: collected and told, so that one of them never keeps the rest from opening.

use crate::rows::Damage;
use rusqlite::Connection;
use std::sync::{Mutex, PoisonError};

/// The first [`KEPT`] damaged rows that were met.
#[derive(Debug, Default)]
pub(crate) struct Damages(Mutex<Vec<Damage>>);

/// How many are remembered; a broken disk has more than anybody reads.
const KEPT: usize = 100;

impl Damages {
    pub(crate) fn add(&self, table: &'static str, row: impl ToString, problem: impl ToString) {
        let damage = Damage { table, row: row.to_string(), problem: problem.to_string() };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < KEPT && !all.contains(&damage) {
            tracing::warn!(table, row = damage.row, problem = damage.problem, "a damaged row is left out");
            all.push(damage);
        }
    }

    pub(crate) fn list(&self) -> Vec<Damage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What a read needs: a connection, and where to tell of damage.
#[derive(Clone, Copy)]
pub(crate) struct Db<'a> {
    pub(crate) conn: &'a Connection,
    pub(crate) damages: &'a Damages,
}
