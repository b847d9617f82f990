//! One session: its task table, its agents, its messages.
//!
//! - [`mailbox`]: what may be asked of a session's own task
//! - [`table`]: who there is and where each stands
//! - [`actor`]: the one async task that owns the table (W13)
//! - [`dispatch`]: new workers
//! - [`messages`]: messages to agents, and what wakes them
//! - [`ends`]: how generations end, once each
//! - [`shells`]: background commands
//! - [`load`]: how a session comes back from the store
//! - [`watch`]: files that change under agents

pub(crate) mod actor;
pub(crate) mod dispatch;
pub(crate) mod ends;
pub(crate) mod load;
pub(crate) mod mailbox;
pub(crate) mod messages;
pub(crate) mod shells;
pub(crate) mod table;
pub(crate) mod watch;

use crate::control::{Control, Halt};
use crate::core::Core;
use crate::rules::RuleCell;
use cox_exec::{ProjectWatch, ReadStamps, Roots};
use cox_policy::role::Role;
use cox_protocol::error::CoxError;
use cox_protocol::id::{ProjectId, SessionId, TaskId};
use cox_protocol::settings::ProviderSettings;
use cox_protocol::task::{KilledBy, Limits, PermissionMode, SessionMode, TaskSpec};
use cox_provider::Provider;
use cox_store::SessionLock;
use cox_tools::Rights;
use mailbox::Msg;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

/// What every agent of a session shares. Facts, and handles to those who own state; no state of its own but
/// what a stop must reach without waiting.
pub(crate) struct Session {
    pub(crate) core: Arc<Core>,
    pub(crate) id: SessionId,
    pub(crate) project_id: ProjectId,
    pub(crate) folder: PathBuf,
    pub(crate) roots: Roots,
    pub(crate) mode: SessionMode,
    pub(crate) model: String,
    pub(crate) limits: Limits,
    pub(crate) lead: TaskId,
    pub(crate) provider_settings: ProviderSettings,
    /// Made when a generation first needs it, and again after a key or a setting changed.
    provider: Mutex<Option<Arc<dyn Provider>>>,
    folder_text: String,
    watch: OnceLock<Option<ProjectWatch>>,
    pub(crate) rules: Arc<RuleCell>,
    /// AGENTS.md or CLAUDE.md, with its name.
    pub(crate) instructions: Option<(String, String)>,
    mode_now: RwLock<PermissionMode>,
    /// After "stop all": notifications are kept, but start no turn until the user writes (N26).
    held: AtomicBool,
    controls: Mutex<HashMap<TaskId, Arc<Control>>>,
    stamps: Mutex<HashMap<TaskId, Arc<ReadStamps>>>,
    mailbox: mpsc::Sender<Msg>,
    /// Told each time that nothing runs any more, whether or not that could be stored.
    pub(crate) settled: Notify,
    /// Why the end of a generation could not be stored, while that is so.
    unstored: Mutex<Option<CoxError>>,
    /// Ends the session's own task, so that everything it holds is given up.
    closed: CancellationToken,
    /// Held while this process owns the session (W7).
    _lock: SessionLock,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// The door to the model. When it can't be opened (no key, say), a door that gives the reason at each request.
    pub(crate) async fn provider(&self) -> Arc<dyn Provider> {
        if let Some(provider) = lock(&self.provider).as_ref() {
            return Arc::clone(provider);
        }
        match self.core.connect(&self.provider_settings).await {
            Ok(provider) => {
                *lock(&self.provider) = Some(Arc::clone(&provider));
                provider
            }
            Err(error) => Arc::new(crate::shut::ShutDoor::new(self.provider_settings.kind, error)),
        }
    }

    /// A key or a setting changed.
    pub(crate) fn forget_provider(&self) {
        *lock(&self.provider) = None;
    }

    /// The project's folder, for people and prompts.
    pub(crate) fn folder_text(&self) -> &str {
        &self.folder_text
    }

    /// The mode that holds right now.
    pub(crate) fn permission_mode(&self) -> PermissionMode {
        *self.mode_now.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mode as it may be stored: never `bypassPermissions` (W25).
    pub(crate) fn recorded_mode(&self) -> PermissionMode {
        match self.permission_mode() {
            PermissionMode::BypassPermissions => PermissionMode::Default,
            mode @ (PermissionMode::Plan | PermissionMode::Default | PermissionMode::AcceptEdits) => mode,
        }
    }

    pub(crate) fn set_permission_mode(&self, mode: PermissionMode) {
        *self.mode_now.write().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    pub(crate) fn hold(&self, held: bool) {
        self.held.store(held, Ordering::SeqCst);
    }

    pub(crate) fn is_held(&self) -> bool {
        self.held.load(Ordering::SeqCst)
    }

    /// What an agent has read, kept over its generations.
    pub(crate) fn stamps_of(&self, task: &TaskId) -> Arc<ReadStamps> {
        Arc::clone(lock(&self.stamps).entry(task.clone()).or_default())
    }

    /// All read stamps, for the watcher.
    pub(crate) fn all_stamps(&self) -> Vec<(TaskId, Arc<ReadStamps>)> {
        lock(&self.stamps).iter().map(|(task, stamps)| (task.clone(), Arc::clone(stamps))).collect()
    }

    /// What an agent may do right now: the stricter of the session's mode and its role's, the project's rules
    /// (W24, W25). Made anew for each call, so that a changed mode or rule holds for running agents too.
    pub(crate) fn rights_of(&self, spec: &TaskSpec) -> Rights {
        let role = Role::from_name(&spec.role);
        let mode = match role.and_then(|role| role.mode()) {
            Some(mode) => cox_policy::stricter(mode, self.permission_mode()),
            None => self.permission_mode(),
        };
        let asks_always = spec.frozen.as_ref().is_some_and(|frozen| frozen.ask_every_command);
        Rights::new(mode, self.rules.get(), asks_always, role == Some(Role::Verify))
    }

    /// The end of a generation could not be stored; or, with nothing, it could again.
    pub(crate) fn note_storage(&self, error: Option<CoxError>) {
        *lock(&self.unstored) = error;
    }

    /// Why the log does not say how things ended, if it does not.
    pub(crate) fn storage_error(&self) -> Option<CoxError> {
        lock(&self.unstored).clone()
    }

    pub(crate) fn register(&self, task: &TaskId, control: &Arc<Control>) {
        lock(&self.controls).insert(task.clone(), Arc::clone(control));
    }

    pub(crate) fn unregister(&self, task: &TaskId) {
        lock(&self.controls).remove(task);
    }

    /// Halts one running generation at once. False when none runs.
    pub(crate) fn halt(&self, task: &TaskId, halt: Halt) -> bool {
        let control = lock(&self.controls).get(task).map(Arc::clone);
        match control {
            Some(control) => {
                control.halt(halt);
                true
            }
            None => false,
        }
    }

    /// Halts everything that runs.
    pub(crate) fn halt_all(&self, halt: Halt) {
        let controls: Vec<Arc<Control>> = lock(&self.controls).values().map(Arc::clone).collect();
        for control in controls {
            control.halt(halt);
        }
    }

    /// Stops everything, and keeps it stopped until the user writes.
    pub(crate) fn stop_all(&self) {
        self.hold(true);
        self.halt_all(Halt::Killed(KilledBy::User));
    }

    /// Ends the session's own task. What it has accepted is done first.
    pub(crate) fn close(&self) {
        self.closed.cancel();
    }

    pub(crate) fn mailbox(&self) -> &mpsc::Sender<Msg> {
        &self.mailbox
    }
}
