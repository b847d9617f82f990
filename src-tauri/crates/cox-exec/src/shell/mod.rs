//! Commands and their whole process trees (invariant 6: nothing outlives its owner).
//!
//! 1. [`Shell::spawn`] starts `bash --noprofile --norc -c` in a process group of its own, with an allow-listed
//!    environment and two markers in it, and hands the tree to one async task, the driver.
//! 2. The driver reads the output, waits for the shell, a stop or the time-out, and then ends the tree: TERM, a grace
//!    period, KILL, over the whole group and over those who left it, until a look at the process table shows nobody.
//! 3. [`Running`] is the handle. When its last clone is dropped, the driver stops the tree.
//! 4. After a crash, [`mod@reap`] ends what an earlier process left behind, if it is provably the same.

mod driver;
mod env;
mod output;
mod read_end;
mod reap;
mod running;
mod tree;

#[cfg(target_os = "linux")]
#[path = "table_linux.rs"]
mod table;
#[cfg(not(target_os = "linux"))]
#[path = "table_other.rs"]
mod table;

pub use env::ChildEnv;
pub use output::{Output, OutputCaps, OutputText, Whole};
pub use reap::{Reaped, Swept, reap, sweep_task};
pub use running::{Ended, Running};

use crate::{ExecError, Result};
use process_wrap::tokio::{CommandWrap, KillOnDrop};
use read_end::ReadEnd;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a tree gets to end by itself after TERM.
pub const STOP_GRACE: Duration = Duration::from_millis(1_500);

/// The environment variable that carries the task's id; whatever has it belongs to the task.
pub(crate) const TASK_MARKER: &str = "COXSWAIN_TASK";
/// The one that tells the commands of a task apart.
const RUN_MARKER: &str = "COXSWAIN_RUN";

/// Gets new output as text, at most every 50 ms, and of a flood only the newest 8 KB.
pub type Live = Box<dyn FnMut(&str) + Send>;

/// A command to run.
pub struct Spawn {
    /// For bash.
    pub command: String,
    /// An absolute path, from [`crate::Roots::folder_path`].
    pub cwd: PathBuf,
    /// The id of the task that it belongs to.
    pub task: String,
    /// After which it is stopped.
    pub timeout: Option<Duration>,
    /// How much output is kept.
    pub caps: OutputCaps,
    /// Watches the output.
    pub live: Option<Live>,
}

impl Spawn {
    /// With no time-out, the usual caps, and nobody watching.
    pub fn new(command: impl Into<String>, cwd: impl Into<PathBuf>, task: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            cwd: cwd.into(),
            task: task.into(),
            timeout: None,
            caps: OutputCaps::default(),
            live: None,
        }
    }
}

/// Starts commands.
#[derive(Clone, Debug)]
pub struct Shell {
    env: ChildEnv,
}

impl Default for Shell {
    fn default() -> Self {
        Self::new(ChildEnv::inherited())
    }
}

impl Shell {
    /// One that gives its commands this environment.
    pub fn new(env: ChildEnv) -> Self {
        Self { env }
    }

    /// Starts a command. Returns at once. Needs a tokio runtime around it.
    ///
    /// # Errors
    /// `Missing` or `NotAFolder` for the folder, `NoShell`, `Spawn`.
    pub fn spawn(&self, spec: Spawn) -> Result<Running> {
        let folder = spec.cwd.to_string_lossy().into_owned();
        let found =
            std::fs::metadata(&spec.cwd).map_err(|source| ExecError::io("run in", &folder, source))?;
        if !found.is_dir() {
            return Err(ExecError::NotAFolder { path: folder });
        }
        let run = run_id();
        let (reader, writer) = io::pipe().map_err(|source| ExecError::Spawn { source })?;
        let second = writer.try_clone().map_err(|source| ExecError::Spawn { source })?;
        let mut wrap = CommandWrap::with_new("bash", |command| {
            command
                .args(["--noprofile", "--norc", "-c", "--", &spec.command])
                .current_dir(&spec.cwd)
                .env_clear()
                .envs(self.env.vars())
                .env(TASK_MARKER, &spec.task)
                .env(RUN_MARKER, &run)
                .stdin(Stdio::null())
                // One pipe for both, so that the lines stand in the order in which they were written.
                .stdout(Stdio::from(writer))
                .stderr(Stdio::from(second));
            #[cfg(unix)]
            command.process_group(0);
        });
        wrap.wrap(KillOnDrop);
        #[cfg(windows)]
        {
            use process_wrap::tokio::{CreationFlags, JobObject};
            // A console window that flashes up for each command is what R113 is about.
            wrap.wrap(CreationFlags(windows::Win32::System::Threading::CREATE_NO_WINDOW));
            wrap.wrap(JobObject);
        }
        let child = wrap.spawn().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ExecError::NoShell { source },
            _ => ExecError::Spawn { source },
        })?;
        // Our copies of the pipe's writing end go now, so that its end is seen when the tree is gone.
        drop(wrap);
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).filter(|pid| *pid > 1);
        let pid = pid.ok_or_else(|| ExecError::Spawn { source: io::Error::other("it has no process id") })?;
        let tree = tree::Tree::of_group(pid, format!("{RUN_MARKER}={run}"));
        let reader = ReadEnd::new(reader).map_err(|source| ExecError::Spawn { source })?;
        Ok(driver::start(driver::Start { child, tree, reader, spec }))
    }
}

/// Unlike any other, also across processes and restarts.
fn run_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{now:x}-{:x}-{:x}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
