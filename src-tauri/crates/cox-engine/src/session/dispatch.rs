//! New workers.
//!
//! A dispatch is a logged fact before the worker's first request (N24): one append holds the task, the start of
//! its first generation and its first user turn, which is the coordinator's prompt to the letter (R95).

use super::actor::{Actor, InLine, unknown};
use super::mailbox::Dispatched;
use super::table::{Row, slug};
use crate::agent::Start;
use crate::prompts::{self, Surroundings};
use cox_policy::role::Role;
use cox_protocol::entry::{Entry, Party};
use cox_protocol::error::CoxError;
use cox_protocol::event::{Cause, EventKind, NewEvent};
use cox_protocol::id::TaskId;
use cox_protocol::task::{Frozen, SessionMode, TaskKind, TaskSpec, TaskStatus};
use cox_tools::{Dispatch, Receipt, TaskError, TaskErrorKind};
use std::sync::Arc;
use tokio::sync::{oneshot, watch};

/// Panel colours.
const TINTS: usize = 8;

impl Actor {
    pub(super) async fn dispatch(
        &mut self,
        from: &TaskId,
        call_id: &str,
        dispatch: Dispatch,
    ) -> Result<Dispatched, TaskError> {
        let role = self.check(from, &dispatch)?;
        let spec = self.new_spec(role, &dispatch)?;
        let id = TaskId::new(self.session.core.mint.next(TaskId::PREFIX));
        let spec =
            Arc::new(TaskSpec { output_file: self.session.core.output_file(&self.session.id, &id), ..spec });
        let starts_now = self.has_slot() && self.line.is_empty();
        let now = self.session.core.clock.now_ms();
        self.table.insert(Row {
            id: id.clone(),
            kind: TaskKind::Worker,
            name: spec.name.clone(),
            description: spec.description.clone(),
            output_file: spec.output_file.clone(),
            parent: Some(from.clone()),
            tool_use_id: Some(call_id.to_owned()),
            status: TaskStatus::Pending,
            generation: 0,
            turn: 0,
            started_at: now,
            spec: Some(Arc::clone(&spec)),
            last: None,
            queue: std::collections::VecDeque::new(),
            notes: std::collections::VecDeque::new(),
            control: None,
            foreground: None,
            shell: None,
            state: watch::Sender::new((TaskStatus::Pending, 0)),
        });
        let mut events = vec![self.event(&id, 0, EventKind::TaskStarted { spec: (*spec).clone() })];
        if starts_now {
            events.extend(self.first_events(&id, &spec.prompt, from));
        }
        if let Err(error) = self.append(events).await {
            self.close_unstored(&id);
            return Err(TaskError::new(TaskErrorKind::NotAllowed, error.message));
        }
        let wait =
            (!dispatch.background && self.session.mode == SessionMode::Solo).then(|| self.foreground(&id));
        let begun = if starts_now {
            self.spawn(&id, Start::Fresh(Arc::new(first_entry(from, &spec.prompt)))).await
        } else {
            self.line.push_back(InLine::First(id.clone()));
            Ok(())
        };
        begun.map_err(|error| TaskError::new(TaskErrorKind::NotAllowed, error.message))?;
        Ok(match wait {
            Some(end) => Dispatched::Foreground { task: id, name: spec.name.clone(), end },
            None => Dispatched::Receipt(Receipt::Async {
                task_id: id,
                name: spec.name.clone(),
                description: spec.description.clone(),
                prompt: spec.prompt.clone(),
                output_file: spec.output_file.clone(),
            }),
        })
    }

    /// Begins the first generation of a worker that waited for a slot.
    pub(super) async fn begin_first(&mut self, task: &TaskId) -> Result<(), CoxError> {
        let row = self.table.get(task).ok_or_else(|| unknown(task))?;
        let from = row.parent.clone().unwrap_or_else(|| self.session.lead.clone());
        let spec = match &row.spec {
            Some(spec) => Arc::clone(spec),
            None => {
                let stored = self.session.core.store.task_spec(task).await;
                Arc::new(stored.map_err(|error| crate::core::storage(&error))?.ok_or_else(|| unknown(task))?)
            }
        };
        let events = self.first_events(task, &spec.prompt, &from);
        self.append(events).await?;
        self.spawn(task, Start::Fresh(Arc::new(first_entry(&from, &spec.prompt)))).await
    }

    fn first_events(&mut self, task: &TaskId, prompt: &str, from: &TaskId) -> Vec<NewEvent> {
        let now = self.session.core.clock.now_ms();
        if let Some(row) = self.table.get_mut(task) {
            row.generation = 1;
            row.started_at = now;
        }
        vec![
            self.event(task, 0, EventKind::GenerationStarted { cause: Cause::Dispatch }),
            self.event(task, 0, EventKind::Entry { entry: first_entry(from, prompt) }),
        ]
    }

    fn foreground(&mut self, task: &TaskId) -> oneshot::Receiver<super::table::Ended> {
        let (sender, receiver) = oneshot::channel();
        if let Some(row) = self.table.get_mut(task) {
            row.foreground = Some(sender);
        }
        receiver
    }

    /// A task that the store refused never existed; its name stays taken.
    fn close_unstored(&mut self, task: &TaskId) {
        if let Some(row) = self.table.get_mut(task) {
            row.parent = None;
            row.set_status(TaskStatus::Failed);
        }
    }

    fn check(&mut self, from: &TaskId, dispatch: &Dispatch) -> Result<Role, TaskError> {
        let refuse = |kind, message: String| Err(TaskError::new(kind, message));
        if dispatch.prompt.trim().is_empty() || dispatch.description.trim().is_empty() {
            return refuse(
                TaskErrorKind::InvalidInput,
                "description and prompt must not be empty: a worker sees nothing but its prompt".into(),
            );
        }
        let role = match dispatch.role.as_deref().map(Role::from_name) {
            None => Role::Worker,
            Some(Some(role @ (Role::Explore | Role::Plan | Role::Verify | Role::Worker))) => role,
            Some(Some(Role::Coordinator | Role::Solo) | None) => {
                return refuse(
                    TaskErrorKind::InvalidInput,
                    format!(
                        "unknown subagent_type \"{}\"; valid are: explore, plan, verify, worker",
                        dispatch.role.as_deref().unwrap_or_default()
                    ),
                );
            }
        };
        let most = self.session.limits.workers_per_session;
        if self.table.workers().count() >= usize::try_from(most).unwrap_or(usize::MAX) {
            return refuse(
                TaskErrorKind::LimitReached,
                format!(
                    "this session has dispatched {most} workers, the most that it may. Don't try again: no later call will succeed either. Continue workers that you have with SendMessage, or report to the user."
                ),
            );
        }
        let key = (role.name().to_owned(), dispatch.prompt.clone());
        let times = self.dispatches.entry(key).or_insert(0);
        if *times + 1 >= self.session.limits.repeats.max(1) && *times > 0 {
            return refuse(
                TaskErrorKind::RepeatGuard,
                format!(
                    "the same prompt has been dispatched {times} times. Don't dispatch it again; look at the results that you have."
                ),
            );
        }
        *times += 1;
        if let Some(name) = dispatch.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
            let is_plain = name.len() <= 40
                && name.chars().all(|ch| ch.is_ascii_alphanumeric() || matches!(ch, '-' | '_' | '.'));
            if !is_plain {
                return refuse(
                    TaskErrorKind::InvalidInput,
                    format!(
                        "the name \"{name}\" can't be used: at most 40 letters, digits, '-', '_' and '.'"
                    ),
                );
            }
            if self.table.has_name(name) {
                return refuse(
                    TaskErrorKind::NameTaken,
                    format!(
                        "a task named \"{name}\" exists in this session; names stay taken for ever. Continue it with SendMessage, or choose another name."
                    ),
                );
            }
        }
        if !self.table.get(from).is_some_and(|row| row.kind == TaskKind::Lead) {
            return refuse(TaskErrorKind::NotAllowed, "a worker can't dispatch workers (B72)".into());
        }
        Ok(role)
    }

    fn new_spec(&self, role: Role, dispatch: &Dispatch) -> Result<TaskSpec, TaskError> {
        let session = &self.session;
        let settings = session.core.settings();
        let known = session.core.known_models(session.provider_settings.kind);
        let model =
            crate::models::resolve(dispatch.model.as_deref(), &session.model, &settings.models, &known)
                .map_err(|message| TaskError::new(TaskErrorKind::UnknownModel, message))?;
        let permission_mode = match role.mode() {
            Some(mode) => cox_policy::stricter(mode, session.recorded_mode()),
            None => session.recorded_mode(),
        };
        let number = self.table.workers().count();
        Ok(TaskSpec {
            kind: TaskKind::Worker,
            name: self.name_for(dispatch),
            description: super::messages::first_line(&dispatch.description, 80),
            prompt: dispatch.prompt.clone(),
            role: role.name().to_owned(),
            model,
            permission_mode,
            tint: u8::try_from(number % TINTS).unwrap_or_default(),
            output_file: String::new(),
            frozen: Some(Frozen {
                system: prompts::render(role, &session.surroundings(None)),
                tools: session.core.tools_for(role, dispatch.output_schema.as_ref()),
                limits: session.limits,
                ask_every_command: role.ask_every_command(),
                output_schema: dispatch.output_schema.clone(),
            }),
        })
    }

    fn name_for(&self, dispatch: &Dispatch) -> String {
        if let Some(name) = dispatch.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
            return name.to_owned();
        }
        let base = slug(&dispatch.description);
        (1..).map(|number| format!("{base}-{number}")).find(|name| !self.table.has_name(name)).unwrap_or(base)
    }
}

fn first_entry(from: &TaskId, prompt: &str) -> Entry {
    Entry::User { from: Party::Agent { task_id: from.clone() }, text: prompt.to_owned(), message_id: None }
}

impl super::Session {
    /// What a prompt says about the place it works in.
    pub(crate) fn surroundings<'a>(&'a self, lead: Option<(&'a [&'a str], &'a str)>) -> Surroundings<'a> {
        Surroundings {
            folder: self.folder_text(),
            instructions: self.instructions.as_ref(),
            worker_tools: lead.map(|(tools, _)| tools),
            models: lead.map(|(_, models)| models).unwrap_or_default(),
            limits: (self.limits.workers_at_once, self.limits.workers_per_session),
        }
    }
}
