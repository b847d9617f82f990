//! What a host may ask the engine to do (W10). Each command is answered by one [`Reply`] or a [`crate::CoxError`].

use crate::id::{InboxId, MessageId, ProjectId, RuleId, SessionId, TaskId};
use crate::inbox::{Answer, Rule};
use crate::settings::{ProviderSettings, Settings};
use crate::task::{PermissionMode, SessionMode};
use crate::view::ProjectRow;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// A command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum Command {
    /// Adds a folder to the projects, or finds it there. Answers `Project`, or the error `needs_confirmation` (W33).
    OpenProject {
        /// An absolute path.
        path: String,
        /// The user has read what is inside, and wants it.
        confirmed: bool,
    },
    /// Takes a project off the list. Its folder is not touched; its sessions stay in the database.
    ForgetProject {
        /// Which.
        project_id: ProjectId,
    },
    /// Begins a session. Answers `Session`.
    NewSession {
        /// Over this project.
        project_id: ProjectId,
        /// Null: the setting.
        mode: Option<SessionMode>,
        /// Null: the setting.
        permission_mode: Option<PermissionMode>,
        /// Null: the setting.
        provider: Option<ProviderSettings>,
        /// Null: the setting's lead model.
        model: Option<String>,
        /// The lead's result has to meet this schema (W39).
        #[ts(type = "unknown")]
        output_schema: Option<Value>,
    },
    /// Gives a session a title.
    RenameSession {
        /// Which.
        session_id: SessionId,
        /// The title, at most 200 characters.
        title: String,
    },
    /// Text for any agent: the lead, a running worker (queued until its next turn), an ended or interrupted one
    /// (continues it). Answers `Message`.
    SendMessage {
        /// To whom.
        task_id: TaskId,
        /// The text.
        text: String,
    },
    /// Goes on with an interrupted task.
    ContinueTask {
        /// Which.
        task_id: TaskId,
    },
    /// Stops one task and everything that it started. Never waits in a queue.
    StopTask {
        /// Which.
        task_id: TaskId,
    },
    /// Stops every task of a session. Its lead's turn is interrupted too.
    StopAll {
        /// Which.
        session_id: SessionId,
    },
    /// Interrupts the turn of the lead; its workers go on.
    InterruptTurn {
        /// Which.
        session_id: SessionId,
    },
    /// Answers a permission request or a question.
    AnswerInbox {
        /// Which.
        id: InboxId,
        /// How.
        answer: Answer,
    },
    /// Sets a session's permission mode. `bypassPermissions` needs the folder's name as confirmation (W25).
    SetPermissionMode {
        /// Which.
        session_id: SessionId,
        /// The mode.
        permission_mode: PermissionMode,
        /// The folder's name, typed by the user.
        confirm: Option<String>,
    },
    /// Stores the settings.
    SaveSettings {
        /// All of them.
        settings: Settings,
    },
    /// Stores a key in the keychain, or, where there is none, in memory for this run. Answers `Key`.
    SetKey {
        /// For this server.
        provider: ProviderSettings,
        /// The key. It is not logged, stored in the database, or sent back.
        key: String,
    },
    /// Removes a key from the keychain and from memory.
    ForgetKey {
        /// For this server.
        provider: ProviderSettings,
    },
    /// Adds a rule to a project.
    AddRule {
        /// Which.
        project_id: ProjectId,
        /// The rule.
        rule: Rule,
    },
    /// Removes a rule.
    RemoveRule {
        /// Which.
        rule_id: RuleId,
    },
    /// A panel was opened or focused (W12).
    ViewPanel {
        /// Whose.
        task_id: TaskId,
    },
    /// It was left.
    LeavePanel {
        /// Whose.
        task_id: TaskId,
    },
    /// It is kept until this is taken back.
    KeepPanel {
        /// Whose.
        task_id: TaskId,
        /// Keep, or no longer.
        keep: bool,
    },
    /// Which panels are on screen; only these get deltas.
    ShowPanels {
        /// All of them.
        task_ids: Vec<TaskId>,
    },
    /// Takes back a message that is not delivered. Answers `Text` with what it said.
    WithdrawMessage {
        /// Which.
        message_id: MessageId,
    },
}

/// What a command is answered with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum Reply {
    /// It is done.
    Done,
    /// The project.
    Project {
        /// Its line in the list.
        project: ProjectRow,
    },
    /// The session.
    Session {
        /// Its id.
        session_id: SessionId,
        /// Its lead.
        lead: TaskId,
    },
    /// The message was accepted.
    Message {
        /// Its id.
        message_id: MessageId,
        /// It waits for the next turn; false: it began a generation.
        queued: bool,
    },
    /// The key is kept.
    Key {
        /// In the keychain; false: in memory, for this run only.
        in_keychain: bool,
    },
    /// A text.
    Text {
        /// The text.
        text: String,
    },
}
