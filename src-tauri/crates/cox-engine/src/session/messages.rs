//! Messages to agents (W5): accepted as an event, delivered once, never lost.

use super::actor::{Actor, InLine, unknown};
use super::table::QUEUE_MOST;
use cox_protocol::entry::Party;
use cox_protocol::error::{CoxError, ErrorCode};
use cox_protocol::event::{EventKind, NewEvent, QueuedMessage};
use cox_protocol::id::{MessageId, TaskId};
use cox_protocol::task::{TaskKind, TaskStatus};
use cox_tools::{Sent, TaskError, TaskErrorKind};

/// Characters of a title made from the first message.
const TITLE_CHARS: usize = 60;
/// Characters of a message's summary (B186).
const SUMMARY_CHARS: usize = 200;

impl Actor {
    /// The user writes to an agent. True: it waits for the next turn of a running generation.
    pub(super) async fn user_message(
        &mut self,
        to: &TaskId,
        text: String,
    ) -> Result<(MessageId, bool), CoxError> {
        if text.trim().is_empty() {
            return Err(CoxError::new(ErrorCode::InvalidInput, "the message is empty"));
        }
        let row = self.table.get(to).ok_or_else(|| unknown(to))?;
        if row.kind == TaskKind::Shell {
            return Err(CoxError::new(
                ErrorCode::InvalidInput,
                "a background command can't be messaged, only stopped",
            ));
        }
        let (name, is_lead, is_first) = (row.name.clone(), row.kind == TaskKind::Lead, row.generation == 0);
        let was_live = row.status.is_live() && !(is_lead && is_first);
        let mut before = Vec::new();
        if is_lead && is_first {
            let title = EventKind::SessionTitled { title: first_line(&text, TITLE_CHARS) };
            before.push(NewEvent::session(self.session.id.clone(), self.session.core.clock.now_ms(), title));
        }
        let id = self.queue(to, Party::User, None, text.clone(), before).await?;
        self.session.hold(false);
        if !is_lead {
            self.tell_lead(format!(
                "The user wrote to worker {name} directly: {}",
                first_line(&text, SUMMARY_CHARS)
            ));
        }
        self.start_for_message(to).await?;
        Ok((id, was_live))
    }

    /// An agent writes to another.
    pub(super) async fn agent_message(
        &mut self,
        from: &TaskId,
        to: &str,
        summary: Option<String>,
        text: String,
    ) -> Result<Sent, TaskError> {
        let not_found = || {
            let names: Vec<&str> = self.table.workers().map(|row| row.name.as_str()).collect();
            TaskError::new(
                TaskErrorKind::NotFound,
                format!(
                    "there is no worker \"{to}\" in this session. Workers: {}",
                    if names.is_empty() { "none".into() } else { names.join(", ") }
                ),
            )
        };
        let target = self.table.resolve(to).ok_or_else(not_found)?;
        let row = self.table.get(&target).ok_or_else(not_found)?;
        if row.kind != TaskKind::Worker || &target == from {
            return Err(TaskError::new(
                TaskErrorKind::NotAllowed,
                format!("\"{to}\" is not a worker; only workers can be messaged"),
            ));
        }
        if row.stopped_by_user() {
            return Err(TaskError::new(
                TaskErrorKind::NotAllowed,
                format!(
                    "the user stopped {}; it stays stopped until the user continues it. Don't start the same work again; ask the user if it is needed.",
                    row.name
                ),
            ));
        }
        let (name, was_live) = (row.name.clone(), row.status.is_live());
        let from = Party::Agent { task_id: from.clone() };
        let queued = self.queue(&target, from, summary, text, Vec::new()).await;
        let message_id = queued.map_err(|error| TaskError::new(kind_of(error.code), error.message))?;
        let started = self.start_for_message(&target).await;
        started.map_err(|error| TaskError::new(kind_of(error.code), error.message))?;
        Ok(Sent { task_id: target, name, message_id, queued: was_live })
    }

    async fn queue(
        &mut self,
        to: &TaskId,
        from: Party,
        summary: Option<String>,
        text: String,
        mut events: Vec<NewEvent>,
    ) -> Result<MessageId, CoxError> {
        let row = self.table.get(to).ok_or_else(|| unknown(to))?;
        if row.queue.len() >= QUEUE_MOST {
            return Err(CoxError::new(
                ErrorCode::QueueFull,
                format!("{QUEUE_MOST} messages wait for {} already; this one was not accepted", row.name),
            ));
        }
        let message = QueuedMessage {
            id: MessageId::new(self.session.core.mint.next(MessageId::PREFIX)),
            from,
            to: Party::Agent { task_id: to.clone() },
            summary: Some(summary.unwrap_or_else(|| first_line(&text, SUMMARY_CHARS))),
            text,
        };
        events.push(self.event(to, 0, EventKind::MessageQueued { message: message.clone() }));
        self.append(events).await?;
        let id = message.id.clone();
        if let Some(row) = self.table.get_mut(to) {
            row.queue.push_back(message);
        }
        Ok(id)
    }

    /// A message wakes an idle agent, and continues a suspended one.
    async fn start_for_message(&mut self, to: &TaskId) -> Result<(), CoxError> {
        let row = self.table.get(to).ok_or_else(|| unknown(to))?;
        if row.status == TaskStatus::Interrupted {
            return self.go_on(to).await;
        }
        self.wake(to).await;
        Ok(())
    }

    /// Goes on with a suspended generation; with an ended one, when messages wait for it.
    pub(super) async fn go_on(&mut self, task: &TaskId) -> Result<(), CoxError> {
        let row = self.table.get(task).ok_or_else(|| unknown(task))?;
        let name = row.name.clone();
        match row.status {
            TaskStatus::Interrupted => {}
            TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Killed if row.has_incoming() => {
                self.session.hold(false);
                return self.begin(task, cox_protocol::event::Cause::Message).await;
            }
            TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Killed => {
                return Err(CoxError::new(
                    ErrorCode::InvalidInput,
                    format!("{name} has ended; write what it should do next"),
                ));
            }
            TaskStatus::Pending | TaskStatus::Running | TaskStatus::Waiting => {
                return Err(CoxError::new(ErrorCode::NotRunning, format!("{name} runs already")));
            }
        }
        if self.is_in_line(task) {
            return Ok(());
        }
        self.session.hold(false);
        let is_worker = row.kind == TaskKind::Worker;
        let has_begun = row.generation > 0;
        if is_worker && !self.has_slot() {
            self.line.push_back(if has_begun {
                InLine::Resumed(task.clone())
            } else {
                InLine::First(task.clone())
            });
            return Ok(());
        }
        if has_begun { self.begin_resumed(task).await } else { self.begin_first(task).await }
    }

    /// Takes a message back that is not delivered; gives its text.
    pub(super) async fn withdraw(&mut self, message: &MessageId) -> Result<String, CoxError> {
        let found = self.table.rows().find_map(|row| {
            row.queue
                .iter()
                .find(|queued| &queued.id == message)
                .map(|queued| (row.id.clone(), queued.text.clone()))
        });
        let (task, text) = found.ok_or_else(|| {
            CoxError::new(
                ErrorCode::NotFound,
                "the message has been delivered already; it can't be taken back",
            )
        })?;
        let event = self.event(&task, 0, EventKind::MessageWithdrawn { message_id: message.clone() });
        self.append(vec![event]).await?;
        if let Some(row) = self.table.get_mut(&task) {
            row.queue.retain(|queued| &queued.id != message);
        }
        Ok(text)
    }
}

fn kind_of(code: ErrorCode) -> TaskErrorKind {
    if code == ErrorCode::QueueFull { TaskErrorKind::QueueFull } else { TaskErrorKind::NotAllowed }
}

/// The first line with words in it, at most so many characters.
pub(crate) fn first_line(text: &str, most: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.chars().count() <= most {
        return line.to_owned();
    }
    line.chars().take(most - 1).collect::<String>() + "…"
}
