//! The store on real files, seen from outside.

#![expect(clippy::unwrap_used, reason = "these are tests, their helpers too")]

mod blobs;
mod export;
mod keeping;
mod listing;
mod log;
mod opening;
mod partials;
mod projections;
mod recovery;
mod search;
mod sharing;
mod support;
mod transcripts;
mod wal;
