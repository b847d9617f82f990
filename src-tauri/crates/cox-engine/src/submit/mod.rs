//! Commands, by topic. Each is one function; a branch that a host would need belongs in here, not there.
//!
//! - `projects`: folders and their rules
//! - `sessions`: new sessions, titles, modes
//! - `tasks`: messages, stops, continues
//! - `inbox`: answers
//! - `settings`: settings and keys
//! - `panels`: what is looked at

mod inbox;
mod panels;
mod projects;
mod sessions;
mod settings;
mod tasks;

pub(crate) use sessions::provider_error;

use crate::core::Core;
use cox_protocol::command::{Command, Reply};
use cox_protocol::error::CoxError;
use std::sync::Arc;

impl Core {
    pub(crate) async fn submit(self: &Arc<Self>, command: Command) -> Result<Reply, CoxError> {
        match command {
            Command::OpenProject { path, confirmed } => self.open_project(&path, confirmed).await,
            Command::ForgetProject { project_id } => self.forget_project(&project_id).await,
            Command::NewSession { project_id, mode, permission_mode, provider, model, output_schema } => {
                self.new_session(sessions::NewSession {
                    project_id,
                    mode,
                    permission_mode,
                    provider,
                    model,
                    output_schema,
                })
                .await
            }
            Command::RenameSession { session_id, title } => self.rename_session(&session_id, &title).await,
            Command::SendMessage { task_id, text } => self.send_message(&task_id, text).await,
            Command::ContinueTask { task_id } => self.continue_task(&task_id).await,
            Command::StopTask { task_id } => self.stop_task(&task_id).await,
            Command::StopAll { session_id } => self.stop_all(&session_id).await,
            Command::InterruptTurn { session_id } => self.interrupt_turn(&session_id).await,
            Command::AnswerInbox { id, answer } => self.answer_inbox(&id, answer).await,
            Command::SetPermissionMode { session_id, permission_mode, confirm } => {
                self.set_permission_mode(&session_id, permission_mode, confirm.as_deref()).await
            }
            Command::SaveSettings { settings } => self.save_settings(settings).await,
            Command::SetKey { provider, key } => self.set_key(&provider, key).await,
            Command::ForgetKey { provider } => self.forget_key(&provider).await,
            Command::AddRule { project_id, rule } => self.add_rule(&project_id, rule).await,
            Command::RemoveRule { rule_id } => self.remove_rule(&rule_id).await,
            Command::ViewPanel { task_id } => self.view_panel(&task_id).await,
            Command::LeavePanel { task_id } => self.leave_panel(&task_id),
            Command::KeepPanel { task_id, keep } => self.keep_panel(&task_id, keep).await,
            Command::ShowPanels { task_ids } => self.show_panels(&task_ids).await,
            Command::WithdrawMessage { message_id } => self.withdraw_message(&message_id).await,
        }
    }
}
