//! The tools on real files and real processes, with the engine's side played by fakes.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests, which clippy takes for production code"
)]

mod commands;
mod files;
mod pipeline;
mod schemas;
mod search;
mod support;
mod tasks;
