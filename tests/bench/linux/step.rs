//! What the engine process is told and what it says: a line of JSON each, on its standard input and output.

use cox_protocol::settings::ProviderSettings;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What it opens; its only argument, as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Opening {
    pub(crate) data: PathBuf,
    pub(crate) project: PathBuf,
    pub(crate) provider: ProviderSettings,
    /// Workers at once.
    pub(crate) workers_at_once: u32,
    /// Workers that a session may dispatch in all.
    pub(crate) workers_in_all: u32,
    /// The panels of the workers are on screen, and get every piece of their answers.
    pub(crate) watched: bool,
}

/// What it does next. Each is answered by one line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(crate) enum Step {
    /// Sends the lead a message, and waits until nothing runs. Answered by [`Ran`].
    Message { text: String },
    /// Counts what the session did. Answered by [`Counted`].
    Count {},
    /// Sends the lead a message, allows the command that its worker asks for, waits until the command has written
    /// the ids of so many processes, and stops the worker. Answered by [`Stopped`].
    Stop { text: String, pids: PathBuf, processes: usize },
    /// Makes projects below this folder, and sessions over them. Answered by [`Filled`].
    Fill { below: PathBuf, projects: usize, sessions: usize, from: usize },
}

/// A message and all that followed from it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Ran {
    /// From the message to the end of everything, in milliseconds.
    pub(crate) wall_ms: f64,
    /// Workers that completed, in the whole session.
    pub(crate) completed: usize,
}

/// What is in the log.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Counted {
    /// Reads that gave a file.
    pub(crate) reads: usize,
    /// Results of another kind, or that failed, in workers.
    pub(crate) others: usize,
}

/// A stop.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Stopped {
    /// From the stop to the last process gone, in milliseconds.
    pub(crate) gone_ms: f64,
    /// From the stop to the worker's recorded end, in milliseconds.
    pub(crate) ended_ms: f64,
    /// How many processes there were.
    pub(crate) processes: usize,
}

/// What was made.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Filled {
    pub(crate) sessions: usize,
}

/// The last line, after everything is closed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Closed {
    /// CPU of the whole process, in milliseconds.
    pub(crate) cpu_ms: f64,
}

/// A line in place of an answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Failed {
    pub(crate) failed: String,
}
