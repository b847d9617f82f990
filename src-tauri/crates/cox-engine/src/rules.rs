//! The permission rules of each project, shared by its sessions and read at every decision.

use cox_policy::RuleSet;
use cox_protocol::id::ProjectId;
use cox_protocol::inbox::Rule;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The rules of one project, as they are now.
#[derive(Default)]
pub(crate) struct RuleCell(RwLock<Arc<RuleSet>>);

impl RuleCell {
    pub(crate) fn get(&self) -> Arc<RuleSet> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set(&self, rules: &[Rule]) {
        let (set, problems) = RuleSet::parse(rules);
        for problem in problems {
            tracing::warn!(?problem, "a stored rule can't be read and is left out");
        }
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(set);
    }
}

/// The rules of all projects that have a session.
#[derive(Default)]
pub(crate) struct ProjectRules(Mutex<HashMap<ProjectId, Arc<RuleCell>>>);

impl ProjectRules {
    pub(crate) fn of(&self, project: &ProjectId) -> Arc<RuleCell> {
        let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(cells.entry(project.clone()).or_default())
    }
}
