//! The handle on a running command.

use super::output::{Keep, Output, Whole};
use crate::{ExecError, Result};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The shell's; `None` when a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended the shell.
    pub signal: Option<i32>,
    /// The time-out ended it.
    pub timed_out: bool,
    /// A stop ended it, or the drop of its last handle.
    pub stopped: bool,
    /// Processes that had to be signalled for the tree to end: at a stop all, else those that the command left behind.
    pub killed: u32,
    /// How many of them needed KILL.
    pub forced: u32,
    /// Processes that are alive all the same. Empty is the proof that nothing is left.
    pub left: Vec<i32>,
    /// Milliseconds from start to the end of the whole tree.
    pub duration_ms: u64,
    /// What it wrote.
    pub output: Arc<Output>,
}

/// What a handle tells the driver.
pub(super) enum Tell {
    Stop { grace: Duration },
    DetachTimeout,
}

pub(super) struct Shared {
    pub(super) pgid: i32,
    pub(super) start_ticks: u64,
    pub(super) command: String,
    pub(super) keep: Arc<Mutex<Keep>>,
    /// Closes when the last handle goes, and the driver stops the tree then.
    pub(super) tell: mpsc::UnboundedSender<Tell>,
    pub(super) ended: watch::Receiver<Option<Arc<Ended>>>,
}

/// A running command, or one that has ended. When the last clone is dropped, the tree is stopped.
#[derive(Clone)]
pub struct Running {
    pub(super) shared: Arc<Shared>,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("pgid", &self.pgid()).field("command", &self.command()).finish()
    }
}

impl Running {
    /// The process group, which is also the shell's process id.
    pub fn pgid(&self) -> i32 {
        self.shared.pgid
    }

    /// When the shell started, in clock ticks since the machine did; 0 where the system doesn't say. Together with
    /// the group it names this process and no other.
    pub fn start_ticks(&self) -> u64 {
        self.shared.start_ticks
    }

    /// The command as given.
    pub fn command(&self) -> &str {
        &self.shared.command
    }

    /// Lifts the time-out, for a command that goes to the background.
    pub fn detach_timeout(&self) {
        let _ = self.shared.tell.send(Tell::DetachTimeout);
    }

    /// Waits until the command has ended, its output is read and its tree is gone.
    pub async fn wait(&self) -> Ended {
        let mut ended = self.shared.ended.clone();
        match ended.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(ended)) => ended.as_ref().clone(),
            // The driver went with its runtime, and took the tree with it.
            Ok(None) | Err(_) => Ended {
                exit_code: None,
                signal: None,
                timed_out: false,
                stopped: true,
                killed: 0,
                forced: 0,
                left: Vec::new(),
                duration_ms: 0,
                output: Arc::new(self.output()),
            },
        }
    }

    /// Stops the whole tree: TERM, up to `grace` of waiting, then KILL. Gives the end, also when it had ended before.
    pub async fn stop(&self, grace: Duration) -> Ended {
        let _ = self.shared.tell.send(Tell::Stop { grace });
        self.wait().await
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<Ended> {
        self.shared.ended.borrow().as_deref().cloned()
    }

    /// Its output so far.
    pub fn output(&self) -> Output {
        self.shared.keep.lock().unwrap_or_else(PoisonError::into_inner).output()
    }

    /// The whole output so far, at most `limit` bytes from the beginning.
    ///
    /// # Errors
    /// `Io` when the file that holds it can't be read.
    pub async fn whole(&self, limit: u64) -> Result<Whole> {
        let source = self.shared.keep.lock().unwrap_or_else(PoisonError::into_inner).source();
        match tokio::task::spawn_blocking(move || source.read(limit)).await {
            Ok(whole) => whole,
            Err(error) => Err(ExecError::io("read", "the kept output", std::io::Error::other(error))),
        }
    }
}
