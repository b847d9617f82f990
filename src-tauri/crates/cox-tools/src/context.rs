//! What a tool gets with each call.

use crate::ports::{Ask, Journal, TaskControl};
use cox_exec::{ReadStamps, Roots, Shell};
use cox_policy::RuleSet;
use cox_protocol::task::PermissionMode;
use cox_protocol::{SessionId, TaskId};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// The context of one call. Cheap to clone.
#[derive(Clone)]
pub struct ToolCx {
    /// Whose session.
    pub session_id: SessionId,
    /// The agent that calls.
    pub task_id: TaskId,
    /// The call.
    pub call_id: String,
    /// The only way to files (W30).
    pub roots: Roots,
    /// The only way to processes: it holds the environment that children get (W28).
    pub shell: Arc<Shell>,
    /// What this agent has read, and whether it still is what is on disk.
    pub stamps: Arc<ReadStamps>,
    /// What this agent may do.
    pub rights: Arc<Rights>,
    /// Cancelled by a stop or an interruption.
    pub cancel: CancellationToken,
    /// Asks people.
    pub ask: Arc<dyn Ask>,
    /// Directs tasks.
    pub tasks: Arc<dyn TaskControl>,
    /// Keeps records.
    pub journal: Arc<dyn Journal>,
    /// The schema that this agent's result has to meet, if there is one (W39).
    pub output_schema: Option<Arc<Value>>,
    /// The agent's last words before the call, shown to the person who is asked.
    pub reason: Option<String>,
}

/// What an agent may do. The engine changes it while calls run; every decision reads the latest.
pub struct Rights {
    mode: Mutex<PermissionMode>,
    rules: Mutex<Arc<RuleSet>>,
    /// Every command is asked about, whatever mode and rules allow (`verify`).
    pub ask_every_command: bool,
    /// A file that changes while one of its commands runs is a violation (`verify`).
    pub verify_no_changes: bool,
}

impl Rights {
    /// Rights in this mode, under these rules.
    pub fn new(
        mode: PermissionMode,
        rules: Arc<RuleSet>,
        ask_every_command: bool,
        verify_no_changes: bool,
    ) -> Self {
        Self { mode: Mutex::new(mode), rules: Mutex::new(rules), ask_every_command, verify_no_changes }
    }

    /// The effective mode now.
    pub fn mode(&self) -> PermissionMode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the effective mode.
    pub fn set_mode(&self, mode: PermissionMode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    /// The project's rules now.
    pub fn rules(&self) -> Arc<RuleSet> {
        Arc::clone(&self.rules.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the project's rules.
    pub fn set_rules(&self, rules: Arc<RuleSet>) {
        *self.rules.lock().unwrap_or_else(PoisonError::into_inner) = rules;
    }
}
