//! The built-in roles (W35): which tools each may have at most, its mode, and what it always asks about.
//!
//! A role is the definition in "definition ∩ session pool ∩ allow-list" (W24): the engine still drops what the
//! session doesn't offer, and `SyntheticOutput` unless a schema was given (W39).

use cox_protocol::task::PermissionMode;

/// A built-in role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Directs workers; never touches the project (D1).
    Coordinator,
    /// Does the work itself, and may dispatch workers.
    Solo,
    /// Reads and searches.
    Explore,
    /// Reads and searches, and says what should be done.
    Plan,
    /// Runs checks, each asked for; changes nothing.
    Verify,
    /// Does the work it was given.
    Worker,
}

const COORDINATOR: &[&str] =
    &["Agent", "SendMessage", "TaskStop", "TaskOutput", "AskUserQuestion", "SyntheticOutput"];
const SOLO: &[&str] = &[
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "Bash",
    "Agent",
    "SendMessage",
    "TaskStop",
    "TaskOutput",
    "AskUserQuestion",
    "SyntheticOutput",
];
const READERS: &[&str] = &["Read", "Glob", "Grep", "SyntheticOutput"];
const VERIFY: &[&str] = &["Read", "Glob", "Grep", "Bash", "SyntheticOutput"];
// TaskStop and TaskOutput are for the background shells that the worker itself started.
const WORKER: &[&str] =
    &["Read", "Write", "Edit", "Glob", "Grep", "Bash", "TaskStop", "TaskOutput", "SyntheticOutput"];

impl Role {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Coordinator, Self::Solo, Self::Explore, Self::Plan, Self::Verify, Self::Worker];

    /// Those that a dispatch may name, in the order in which they are listed to a model.
    pub const WORKERS: [Self; 4] = [Self::Explore, Self::Plan, Self::Verify, Self::Worker];

    /// By its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// As written in a dispatch.
    pub fn name(self) -> &'static str {
        match self {
            Self::Coordinator => "coordinator",
            Self::Solo => "solo",
            Self::Explore => "explore",
            Self::Plan => "plan",
            Self::Verify => "verify",
            Self::Worker => "worker",
        }
    }

    /// The tools it may have at most, in the order in which they are offered.
    pub fn tools(&self) -> &'static [&'static str] {
        match self {
            Self::Coordinator => COORDINATOR,
            Self::Solo => SOLO,
            Self::Explore | Self::Plan => READERS,
            Self::Verify => VERIFY,
            Self::Worker => WORKER,
        }
    }

    /// The mode it is bound to; none: a worker's is [`crate::worker_mode`], the lead's is the session's.
    pub fn mode(&self) -> Option<PermissionMode> {
        match self {
            Self::Explore | Self::Plan => Some(PermissionMode::Plan),
            Self::Verify => Some(PermissionMode::Default),
            Self::Coordinator | Self::Solo | Self::Worker => None,
        }
    }

    /// Each of its commands is asked about, whatever rules and mode say.
    pub fn ask_every_command(&self) -> bool {
        matches!(self, Self::Verify)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coordinator_has_no_tool_that_reads_writes_or_runs() {
        // D1
        for tool in ["Read", "Write", "Edit", "Glob", "Grep", "Bash"] {
            assert!(!Role::Coordinator.tools().contains(&tool), "{tool}");
        }
    }

    #[test]
    fn a_worker_can_neither_dispatch_nor_message_nor_ask() {
        // B72, W22
        for role in Role::WORKERS {
            for tool in ["Agent", "SendMessage", "AskUserQuestion"] {
                assert!(!role.tools().contains(&tool), "{role:?} has {tool}");
            }
        }
    }

    #[test]
    fn readers_can_only_read() {
        // W35
        for role in [Role::Explore, Role::Plan] {
            assert_eq!(role.tools(), ["Read", "Glob", "Grep", "SyntheticOutput"]);
        }
        assert_eq!(Role::Verify.tools(), ["Read", "Glob", "Grep", "Bash", "SyntheticOutput"]);
        assert!(Role::Verify.ask_every_command());
    }

    #[test]
    fn names_lead_back() {
        for role in Role::ALL {
            assert_eq!(Role::from_name(role.name()), Some(role));
        }
        assert_eq!(Role::from_name("Worker"), None);
    }
}
