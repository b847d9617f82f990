//! Watching a project's folder for changes by anybody.
//!
//! Linux watches folders one by one, and the number of watches is limited for the whole user. So a watch takes only
//! the folders that .gitignore leaves, at most as many as it is told, and says when that is not all. Elsewhere one
//! watch covers the tree. Either way ignored files are not reported.

mod folders;
mod ignored;

use crate::{ExecError, Result};
use folders::{Folders, Input};
use notify::RecommendedWatcher;
use notify_debouncer_full::{Debouncer, NoCache, new_debouncer_opt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// How to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchOptions {
    /// Folders watched at most.
    pub max_folders: usize,
    /// How long a file has to be quiet before it is reported.
    pub settle: Duration,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self { max_folders: 8_192, settle: Duration::from_millis(150) }
    }
}

/// What a watch tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchEvent {
    /// From now on changes are seen.
    Ready {
        /// Folders watched.
        folders: usize,
        /// There are more folders than are watched: changes in the others are not seen.
        capped: bool,
    },
    /// These were made, changed or removed. Relative to the project, as in [`crate::Located::real`]; sorted.
    Changed {
        /// Files and folders.
        paths: Vec<String>,
    },
    /// More changed than can be named: look again at everything that was read.
    Overflow,
    /// Watching has failed, or covers less than it should.
    Failed {
        /// Why.
        message: String,
    },
}

/// A watch on a project's folder. Dropping it ends it: nothing is told after that.
#[derive(Debug)]
pub struct ProjectWatch {
    stopped: Arc<AtomicBool>,
    wake: mpsc::Sender<Input>,
}

type Debounced = Debouncer<RecommendedWatcher, NoCache>;

impl ProjectWatch {
    /// Begins to watch, on a thread of its own that calls `tell`. Returns at once; [`WatchEvent::Ready`] comes when all
    /// folders are under watch.
    ///
    /// # Errors
    /// `Missing`, `NotAFolder`, `Io`, and `Watch` when the system gives no watch at all.
    pub fn start(
        project: &Path,
        options: WatchOptions,
        tell: impl FnMut(WatchEvent) + Send + 'static,
    ) -> Result<ProjectWatch> {
        let text = crate::path_to_text(project);
        let root = std::fs::canonicalize(project).map_err(|source| ExecError::io("watch", &text, source))?;
        if !root.is_dir() {
            return Err(ExecError::NotAFolder { path: text });
        }
        let (wake, inputs) = mpsc::channel();
        let hand = wake.clone();
        let debouncer: Debounced = new_debouncer_opt(
            options.settle,
            None,
            move |result| {
                let _ = hand.send(Input::Seen(result));
            },
            // Ids of files would be read for the whole tree up front; renames are told by both names without them.
            NoCache,
            notify::Config::default().with_follow_symlinks(false),
        )
        .map_err(|error| ExecError::Watch { message: error.to_string() })?;
        let stopped = Arc::new(AtomicBool::new(false));
        let folders = Folders::new(root, options, debouncer, Arc::clone(&stopped), Box::new(tell));
        std::thread::Builder::new()
            .name("project-watch".into())
            .spawn(move || folders.run(&inputs))
            .map_err(|error| ExecError::Watch { message: error.to_string() })?;
        Ok(ProjectWatch { stopped, wake })
    }
}

impl Drop for ProjectWatch {
    fn drop(&mut self) {
        // Not joined: the thread may be in `tell`, waiting for whoever drops this.
        self.stopped.store(true, Ordering::Release);
        let _ = self.wake.send(Input::Stop);
    }
}
