//! The engine, driven through its handle: commands in, events and views out.
//!
//! - `rig`: a data folder, a project, an engine, and waits for what it says
//! - `rehearsed`: whole sessions with the offline model
//! - `stopping`: stops, and what stays stopped
//! - `coming_back`: suspension, restart, several processes
//! - `wired`: the same with scripted models behind a real server, in both wire formats
//! - `flow`: dispatch, work, reports over real HTTP
//! - `trouble`: what goes wrong at the other end, limits, stops
//! - `panels`: how long a panel stays
//! - `bad_input`: what can't be used, and what is said about it
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

mod bad_input;
mod coming_back;
mod flow;
mod panels;
mod rehearsed;
mod rig;
mod stopping;
mod trouble;
mod wired;
