//! What a call wants to do, and what the answer can be.

use crate::rules::RuleSet;
use cox_protocol::inbox::Rule;
use cox_protocol::task::PermissionMode;

/// Everything that [`crate::decide()`] may look at.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// What the call would do.
    pub access: &'a Access,
    /// The asker's mode (its effective one: W25).
    pub mode: PermissionMode,
    /// The rules of the project.
    pub rules: &'a RuleSet,
    /// The asker's role asks for each command, whatever rules and mode say (W35).
    pub ask_every_command: bool,
}

/// What a call would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// It stays inside the runtime: tasks, questions to the user, handing in a result. Never asked about.
    Internal,
    /// It reads a file, or searches below a folder.
    Read {
        /// The file or folder.
        path: ResolvedPath,
    },
    /// It makes or changes a file.
    Write {
        /// The file.
        path: ResolvedPath,
    },
    /// It runs a command in bash.
    Command {
        /// As given to the shell.
        command: String,
        /// Where.
        cwd: ResolvedPath,
        /// Without waiting for its end.
        background: bool,
    },
}

/// A path as asked for and as it is once links are followed. Made by cox-exec, which alone may look at the disk.
///
/// Both are relative to the project, with `/` between the parts and without `.` and `..`; the project itself
/// is `.`. A path that is not in the project is absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    /// As asked for.
    pub asked: String,
    /// With every link followed.
    pub real: String,
    /// It is in no root at all.
    pub outside: bool,
    /// It is in a further root, which may only be read.
    pub read_only_root: bool,
}

impl ResolvedPath {
    /// A path in the project that is no link and goes through none.
    pub fn inside(path: impl Into<String>) -> Self {
        let asked = path.into();
        Self { real: asked.clone(), asked, outside: false, read_only_root: false }
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may run at once.
    Allow {
        /// Why, for a person.
        because: String,
    },
    /// A person has to say.
    Ask {
        /// Why it is not allowed unasked, for a person.
        because: String,
        /// The rule that would spare the next asking: exactly this command or this file. Null where nothing
        /// can pre-approve it.
        always: Option<Rule>,
        /// Switching the session to `acceptEdits` would spare it too.
        offer_accept_edits: bool,
    },
    /// It may not run.
    Deny {
        /// Why, for the model and for a person.
        because: String,
    },
}

impl Decision {
    /// It may run at once.
    pub fn is_allow(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }

    /// It may not run.
    pub fn is_deny(&self) -> bool {
        matches!(self, Self::Deny { .. })
    }
}
