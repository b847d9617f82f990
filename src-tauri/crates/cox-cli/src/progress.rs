//! One line for each thing that a person who waits wants to know. It goes to standard error.

use crate::print::plain;
use cox_protocol::event::{Event, EventKind};
use cox_protocol::inbox::{Action, Answer, Ask, InboxItem};
use cox_protocol::task::TaskKind;
use cox_protocol::view::SessionView;
use cox_protocol::{InboxId, Outcome, TaskId};
use std::collections::HashMap;

/// Knows the names that were given out.
pub(crate) struct Progress {
    names: HashMap<TaskId, String>,
    asked: HashMap<InboxId, InboxItem>,
}

impl Progress {
    /// Over a session that may have tasks already.
    pub(crate) fn over(view: &SessionView) -> Self {
        let workers = view.tasks.iter().filter(|task| task.kind != TaskKind::Lead);
        Self {
            names: workers.map(|task| (task.id.clone(), plain(&task.name))).collect(),
            asked: HashMap::new(),
        }
    }

    /// The line for an event; null for the many that have none.
    pub(crate) fn line(&mut self, event: &Event) -> Option<String> {
        let task = event.task_id.as_ref()?;
        if let EventKind::TaskStarted { spec } = event.known()? {
            if spec.kind == TaskKind::Lead {
                return None;
            }
            self.names.insert(task.clone(), plain(&spec.name));
            return Some(format!("{}: {}", plain(&spec.name), plain(&spec.description)));
        }
        let name = self.names.get(task).map_or("the lead", String::as_str);
        let said = match event.known()? {
            EventKind::GenerationEnded { outcome, evidence, .. } => match outcome {
                Outcome::Completed if self.names.contains_key(task) => {
                    let (calls, ms) = (evidence.tool_uses, evidence.wall_ms);
                    let plural = if calls == 1 { "" } else { "s" };
                    format!("done, {calls} tool call{plural} in {}.{} s", ms / 1000, ms % 1000 / 100)
                }
                Outcome::Completed => return None,
                Outcome::Failed { message, .. } => format!("failed: {}", plain(message)),
                Outcome::Killed { .. } => "stopped".to_owned(),
            },
            EventKind::InboxOpened { item } => {
                self.asked.insert(item.id.clone(), item.clone());
                return None;
            }
            EventKind::InboxClosed { id, answer: Answer::NoUi } => {
                format!(
                    "not allowed, because nobody can be asked here: {}",
                    plain(&subject(self.asked.get(id)?))
                )
            }
            EventKind::RequestRetried { attempt, max_attempts, delay_ms, message, .. } => {
                format!(
                    "try {attempt} of {max_attempts} failed, the next in {delay_ms} ms: {}",
                    plain(message)
                )
            }
            EventKind::TaskInterrupted { reason } => format!("interrupted: {}", plain(reason)),
            EventKind::SessionCreated { .. }
            | EventKind::SessionTitled { .. }
            | EventKind::SessionModeSet { .. }
            | EventKind::TaskStarted { .. }
            | EventKind::GenerationStarted { .. }
            | EventKind::TaskResumed {}
            | EventKind::TaskWaiting { .. }
            | EventKind::Entry { .. }
            | EventKind::ToolStarted { .. }
            | EventKind::InboxClosed { .. }
            | EventKind::MessageQueued { .. }
            | EventKind::MessageDelivered { .. }
            | EventKind::MessageWithdrawn { .. }
            | EventKind::Usage { .. }
            | EventKind::NotificationQueued { .. }
            | EventKind::NotificationDelivered { .. }
            | EventKind::FileChanged { .. }
            | EventKind::ProcessStarted { .. }
            | EventKind::ProcessEnded { .. } => return None,
        };
        Some(format!("{name}: {said}"))
    }
}

/// What was asked about, in one line.
fn subject(item: &InboxItem) -> String {
    match &item.ask {
        Ask::Permission { action: Action::Command { command, .. }, .. } => command.clone(),
        Ask::Permission { action: Action::Edit { path, .. }, .. } => format!("edit {path}"),
        Ask::Permission { action: Action::Read { path }, .. } => format!("read {path}"),
        Ask::Question { questions } => {
            questions.iter().map(|question| question.question.as_str()).collect::<Vec<_>>().join(" ")
        }
    }
}
