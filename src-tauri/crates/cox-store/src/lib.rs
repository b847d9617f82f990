//! SQLite: the event log, its projections, search, settings, migrations and the writer thread.
//!
//! In reading order:
//!
//! - [`store`]: the handle that the engine holds: open, append, close
//! - `reading`: what it tells
//! - `keeping`: what it keeps beside the log
//! - [`rows`]: what it hands out beyond the protocol's views
//! - [`error`]: what can go wrong
//! - [`lock`]: who owns a session
//! - [`folder`]: the data folder and the names in it
//! - `queue`, `writer`: commands, and the one thread that writes
//! - `projection`, `views`: events in, rows out
//! - `transcript`: the entries of one task
//! - `table`: one file per table
//! - `aside`: the second thread: search, exports, checkpoints
//! - `pool`, `database`, `migration`: connections and the file
//! - `column`, `damage`: values in columns, and rows that can't be decoded
//!
//! Absent on purpose: providers, tools, policy, clocks, randomness. The store never decides; it keeps what it is
//! given, in order, and gives it back.

pub mod error;
pub mod folder;
pub mod lock;
pub mod rows;
pub mod store;

mod aside;
mod column;
mod damage;
mod database;
mod keeping;
mod migration;
mod pool;
mod projection;
mod queue;
mod reading;
mod table;
mod transcript;
mod views;
mod writer;

#[cfg(test)]
mod failing_tests;

pub use error::StoreError;
pub use folder::output_file;
pub use lock::{LockedBy, SessionLock};
pub use rows::{
    BlobPiece, Damage, InboxRecord, LedgerSum, OpenProcess, OpenWork, ProjectRecord, RebuildReport,
    UnfinishedCall, WaitingMessage, WaitingNotification,
};
pub use store::{OpenOptions, Sink, Store};
