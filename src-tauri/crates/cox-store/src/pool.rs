//! Connections for reading: a few, opened when they are first needed, used on tokio's blocking threads.
//!
//! Each read is one short transaction, so that it sees one state, and none of them holds up a checkpoint for long.

use crate::damage::{Damages, Db};
use crate::database;
use crate::error::StoreError;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Reads at once. More wait; each connection costs memory, and a read takes about a millisecond.
const READERS: usize = 3;

#[derive(Debug)]
pub(crate) struct Pool {
    data: PathBuf,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
    damages: Arc<Damages>,
}

impl Pool {
    pub(crate) fn new(data: PathBuf, damages: Arc<Damages>) -> Arc<Self> {
        Arc::new(Self { data, idle: Mutex::default(), permits: Semaphore::new(READERS), damages })
    }

    /// Runs a read. `doing` says what was attempted, should it fail.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        doing: &'static str,
        work: impl FnOnce(Db<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let _permit = self.permits.acquire().await.map_err(|_| StoreError::Closed)?;
        let pool = Arc::clone(self);
        let run = move || {
            let taken = pool.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let conn = match taken {
                Some(conn) => conn,
                None => database::reading(&pool.data)?,
            };
            let transaction = conn.unchecked_transaction()?;
            let value = work(Db { conn: &conn, damages: &pool.damages })?;
            transaction.finish()?;
            pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
            Ok(value)
        };
        match tokio::task::spawn_blocking(run).await {
            Ok(result) => result.map_err(StoreError::sql(doing)),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(StoreError::Closed),
            },
        }
    }

    /// Ends all reads to come and closes the connections.
    pub(crate) fn close(&self) {
        self.permits.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
