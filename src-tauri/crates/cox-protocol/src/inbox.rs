//! Permission requests and questions: everything that waits for a person.

use crate::id::{InboxId, SessionId, TaskId};
use crate::task::PermissionMode;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One open or answered item. Items wait without a time-out (W26).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct InboxItem {
    /// Its id.
    pub id: InboxId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// Who asks.
    pub task_id: TaskId,
    /// The asker's name, and its ancestors' from the root on (`coordinator > auth-bug`).
    pub asker: String,
    /// The call that waits.
    pub call_id: String,
    /// The asker's last words before the call: the reason, untrusted.
    pub reason: Option<String>,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// What is asked.
    pub ask: Ask,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum Ask {
    /// May it?
    Permission {
        /// Exactly what will run or change.
        action: Action,
        /// Why it is not allowed without asking, for a person.
        because: String,
        /// What "always" would store, shown before it is chosen; null when it can't be pre-approved.
        always: Option<Rule>,
        /// "Allow edits in this session" can be chosen.
        offer_accept_edits: bool,
    },
    /// Which one?
    Question {
        /// One to four questions.
        questions: Vec<Question>,
    },
}

/// What will run or change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum Action {
    /// A command for bash.
    Command {
        /// The whole command.
        command: String,
        /// Where, relative to the project; `.` is the project itself.
        cwd: String,
        /// It is started in the background.
        background: bool,
    },
    /// A file is made or changed.
    Edit {
        /// Relative to the project.
        path: String,
        /// Unified diff against what is there now.
        diff: String,
    },
    /// A file is read that is not in the project or is protected.
    Read {
        /// As asked.
        path: String,
    },
}

/// A question of an agent to the user (B164).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct Question {
    /// A word or two above the question.
    pub header: String,
    /// The question.
    pub question: String,
    /// Two to four options.
    pub options: Vec<QuestionOption>,
    /// More than one may be chosen.
    pub multi_select: bool,
}

/// One option of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct QuestionOption {
    /// What is chosen.
    pub label: String,
    /// What it means.
    pub description: String,
}

/// What a person answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum Answer {
    /// This once.
    AllowOnce,
    /// Now, and whenever the rule that was shown matches.
    AllowAlways,
    /// Now, and every edit in this session from now on.
    AllowEdits,
    /// No.
    Deny {
        /// Given to the model to read; may be empty.
        reason: String,
    },
    /// The answers to a question, one a question.
    Chosen {
        /// Labels, or the user's own words.
        answers: Vec<String>,
    },
    /// Nobody can be asked here.
    NoUi,
    /// The asker ended before it was answered.
    Withdrawn,
}

/// A permission rule of a project.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct Rule {
    /// What it does.
    pub effect: Effect,
    /// `Tool` or `Tool(specifier)`, as in `Bash(cargo test)` or `Edit(src/**)`.
    pub pattern: String,
}

/// What a rule does. Deny wins over allow, always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Effect {
    /// Passes without asking.
    Allow,
    /// Is refused without asking.
    Deny,
}

/// The name of a mode as people read it.
pub fn mode_name(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Plan => "plan only",
        PermissionMode::Default => "ask before changes",
        PermissionMode::AcceptEdits => "edits pass, commands ask",
        PermissionMode::BypassPermissions => "nothing asks",
    }
}
