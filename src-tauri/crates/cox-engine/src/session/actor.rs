//! The one async task that owns a session's table (W13). It answers requests one after another, so that each is
//! one atomic step: a message is either drained by a running generation or begins the next one.

use super::Session;
use super::mailbox::{Look, Msg};
use super::table::{Row, Table};
use crate::agent::{Agent, Birth, Start};
use crate::control::Control;
use cox_protocol::error::{CoxError, ErrorCode};
use cox_protocol::event::{Cause, EventKind, NewEvent};
use cox_protocol::id::TaskId;
use cox_protocol::task::{KilledBy, TaskKind, TaskSpec, TaskStatus};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use tokio::sync::{mpsc, oneshot};

pub(crate) struct Actor {
    pub(super) session: Arc<Session>,
    pub(super) table: Table,
    /// Workers that wait for a slot, in order.
    pub(super) line: VecDeque<InLine>,
    /// Agents that wait for something to come in.
    pub(super) waiters: HashMap<TaskId, Vec<oneshot::Sender<()>>>,
    /// Identical dispatches, counted (W17).
    pub(super) dispatches: HashMap<(String, String), u32>,
    /// Background commands that run, with what stops at their owner's final text.
    pub(super) services: HashMap<TaskId, bool>,
}

/// A generation that waits for a slot.
pub(super) enum InLine {
    /// A new worker's first.
    First(TaskId),
    /// One that a message began.
    Next(TaskId),
    /// A suspended one.
    Resumed(TaskId),
}

impl InLine {
    fn task(&self) -> &TaskId {
        match self {
            Self::First(task) | Self::Next(task) | Self::Resumed(task) => task,
        }
    }
}

impl Actor {
    pub(super) fn new(session: Arc<Session>, table: Table) -> Self {
        Self {
            session,
            table,
            line: VecDeque::new(),
            waiters: HashMap::new(),
            dispatches: HashMap::new(),
            services: HashMap::new(),
        }
    }

    pub(super) async fn run(mut self, mut mailbox: mpsc::Receiver<Msg>) {
        let closed = self.session.closed.clone();
        loop {
            tokio::select! {
                biased;
                msg = mailbox.recv() => match msg {
                    Some(msg) => {
                        self.handle(msg).await;
                        if self.is_idle() {
                            self.session.settled.notify_waiters();
                        }
                    }
                    None => return,
                },
                () = closed.cancelled() => return,
            }
        }
    }

    async fn handle(&mut self, msg: Msg) {
        match msg {
            Msg::UserMessage { to, text, reply } => answer(reply, self.user_message(&to, text).await),
            Msg::Continue { task, reply } => answer(reply, self.go_on(&task).await),
            Msg::Withdraw { message, reply } => answer(reply, self.withdraw(&message).await),
            Msg::EndIdle { task, by, reply } => answer(reply, self.end_idle(&task, by).await),
            Msg::EndAllIdle { reply } => {
                self.end_all_idle().await;
                answer(reply, ());
            }
            Msg::Drain { task, reply } => {
                answer(reply, self.table.get_mut(&task).map(Row::drain).unwrap_or_default());
            }
            Msg::DrainOrEnd { end, reply } => answer(reply, self.drain_or_end(*end).await),
            Msg::End { end, reply } => {
                self.end(*end).await;
                answer(reply, ());
            }
            Msg::Suspended { task, turn, reply } => {
                self.suspended(&task, turn).await;
                answer(reply, ());
            }
            Msg::Incoming { task, reply } => self.when_incoming(task, reply),
            Msg::HasOpenChildren { task, reply } => {
                answer(reply, !self.table.open_children(&task).is_empty())
            }
            Msg::LiveShells { owner, reply } => answer(reply, self.table.live_shells(&owner)),
            Msg::KillShells { owner, all, reply } => answer(reply, self.kill_shells(&owner, all)),
            Msg::Dispatch { from, call_id, dispatch, reply } => {
                answer(reply, self.dispatch(&from, &call_id, *dispatch).await);
            }
            Msg::Send { from, to, summary, text, reply } => {
                answer(reply, self.agent_message(&from, &to, summary, text).await);
            }
            Msg::Look { from, id, reply } => answer(reply, self.look(&from, &id)),
            Msg::Claim { task, reply } => {
                self.claim(&task).await;
                answer(reply, ());
            }
            Msg::StartShell { shell, reply } => answer(reply, self.start_shell(*shell).await),
            Msg::IsIdle { reply } => answer(reply, self.is_idle()),
            Msg::FilesChanged { task, paths } => self.files_changed(&task, paths).await,
        }
    }

    /// An event about a task, at the generation it is in.
    pub(super) fn event(&self, task: &TaskId, turn: u32, kind: EventKind) -> NewEvent {
        let row = self.table.get(task);
        NewEvent {
            session_id: self.session.id.clone(),
            task_id: Some(task.clone()),
            parent_task_id: row.and_then(|row| row.parent.clone()),
            tool_use_id: row.and_then(|row| row.tool_use_id.clone()),
            generation: row.map_or(0, |row| row.generation),
            turn,
            at: self.session.core.clock.now_ms(),
            body: kind.into(),
        }
    }

    pub(super) async fn append(&self, events: Vec<NewEvent>) -> Result<(), CoxError> {
        self.session.core.store.append(events).await.map(drop).map_err(|error| crate::core::storage(&error))
    }

    /// The lead sees every task of the session; any other agent sees what is its own.
    fn look(&self, from: &TaskId, id: &str) -> Option<Look> {
        let row = self.table.get(&self.table.resolve(id)?)?;
        if from != &self.session.lead && from != &row.id && row.parent.as_ref() != Some(from) {
            return None;
        }
        Some(Look {
            id: row.id.clone(),
            name: row.name.clone(),
            kind: row.kind,
            description: row.description.clone(),
            shell: row.shell.clone(),
            status: row.status,
            output_file: row.output_file.clone(),
            last: row.last.clone(),
            state: row.state.subscribe(),
        })
    }

    /// Is a slot free for one more worker?
    pub(super) fn has_slot(&self) -> bool {
        self.table.running_workers()
            < usize::try_from(self.session.limits.workers_at_once.max(1)).unwrap_or(usize::MAX)
    }

    /// Lets waiting workers take free slots, in order.
    pub(super) async fn fill_slots(&mut self) {
        while !self.line.is_empty() && self.has_slot() {
            let Some(next) = self.line.pop_front() else { return };
            let task = next.task().clone();
            let started = match next {
                InLine::First(task) => self.begin_first(&task).await,
                InLine::Next(task) => self.begin(&task, Cause::Message).await,
                InLine::Resumed(task) => self.begin_resumed(&task).await,
            };
            if let Err(error) = started {
                tracing::error!(%task, %error, "a waiting worker could not be started");
            }
        }
    }

    pub(super) fn is_in_line(&self, task: &TaskId) -> bool {
        self.line.iter().any(|waiting| waiting.task() == task)
    }

    pub(super) fn leave_line(&mut self, task: &TaskId) {
        self.line.retain(|waiting| waiting.task() != task);
    }

    /// Begins the next generation of a task that is over.
    pub(super) async fn begin(&mut self, task: &TaskId, cause: Cause) -> Result<(), CoxError> {
        let now = self.session.core.clock.now_ms();
        let row = self.table.get_mut(task).ok_or_else(|| unknown(task))?;
        row.generation += 1;
        row.turn = 0;
        row.started_at = now;
        let event = self.event(task, 0, EventKind::GenerationStarted { cause });
        if let Err(error) = self.append(vec![event]).await {
            if let Some(row) = self.table.get_mut(task) {
                row.generation -= 1;
            }
            return Err(error);
        }
        self.spawn(task, Start::Again).await
    }

    /// Goes on with a suspended generation.
    pub(super) async fn begin_resumed(&mut self, task: &TaskId) -> Result<(), CoxError> {
        let event = self.event(task, 0, EventKind::TaskResumed {});
        self.append(vec![event]).await?;
        self.spawn(task, Start::Resumed).await
    }

    /// Starts an agent's own async task. The generation's start is stored already.
    pub(super) async fn spawn(&mut self, task: &TaskId, start: Start) -> Result<(), CoxError> {
        let spec = self.spec(task).await?;
        self.session.watch();
        let provider = self.session.provider().await;
        let control = Arc::new(Control::default());
        self.session.register(task, &control);
        let row = self.table.get_mut(task).ok_or_else(|| unknown(task))?;
        row.control = Some(Arc::clone(&control));
        row.set_status(TaskStatus::Running);
        let birth = Birth {
            id: row.id.clone(),
            parent: row.parent.clone(),
            tool_use_id: row.tool_use_id.clone(),
            spec,
            control,
            provider,
            generation: row.generation,
            turn: row.turn,
            started_at: row.started_at,
        };
        let agent = Agent::new(Arc::clone(&self.session), birth);
        let (session, task) = (Arc::downgrade(&self.session), task.clone());
        let running = tokio::spawn(agent.run(start));
        tokio::spawn(async move {
            // A panic in a worker ends that worker, not the app.
            if let Err(error) = running.await
                && error.is_panic()
            {
                end_after_panic(&session, &task).await;
            }
        });
        Ok(())
    }

    async fn spec(&mut self, task: &TaskId) -> Result<Arc<TaskSpec>, CoxError> {
        let row = self.table.get(task).ok_or_else(|| unknown(task))?;
        if let Some(spec) = &row.spec {
            return Ok(Arc::clone(spec));
        }
        let stored =
            self.session.core.store.task_spec(task).await.map_err(|error| crate::core::storage(&error))?;
        let spec = Arc::new(stored.ok_or_else(|| unknown(task))?);
        if let Some(row) = self.table.get_mut(task) {
            row.spec = Some(Arc::clone(&spec));
        }
        Ok(spec)
    }

    fn is_idle(&self) -> bool {
        let runs = |row: &Row| row.status.is_live() && !(row.kind == TaskKind::Lead && row.generation == 0);
        self.line.is_empty() && !self.table.rows().any(runs)
    }

    fn when_incoming(&mut self, task: TaskId, reply: oneshot::Sender<()>) {
        if self.table.get(&task).is_some_and(Row::has_incoming) {
            let _ = reply.send(());
        } else {
            self.waiters.entry(task).or_default().push(reply);
        }
    }

    /// Tells those who wait that something came in.
    pub(super) fn tell_waiters(&mut self, task: &TaskId) {
        for waiter in self.waiters.remove(task).unwrap_or_default() {
            let _ = waiter.send(());
        }
    }

    /// Ends a task that does not run: pending, or suspended.
    async fn end_idle(&mut self, task: &TaskId, by: KilledBy) -> Result<(), CoxError> {
        let row = self.table.get(task).ok_or_else(|| unknown(task))?;
        if self.is_in_line(task) && row.status.is_terminal() {
            self.leave_line(task);
            return Ok(());
        }
        match row.status {
            TaskStatus::Pending | TaskStatus::Interrupted
                if row.kind != TaskKind::Lead || row.generation > 0 =>
            {
                self.leave_line(task);
                self.end_now(task, by).await;
                Ok(())
            }
            TaskStatus::Pending
            | TaskStatus::Interrupted
            | TaskStatus::Running
            | TaskStatus::Waiting
            | TaskStatus::Completed
            | TaskStatus::Failed
            | TaskStatus::Killed => {
                Err(CoxError::new(ErrorCode::NotRunning, format!("{} is not running", row.name)))
            }
        }
    }

    async fn end_all_idle(&mut self) {
        let idle: Vec<TaskId> = self
            .table
            .rows()
            .filter(|row| matches!(row.status, TaskStatus::Pending | TaskStatus::Interrupted))
            .filter(|row| row.kind != TaskKind::Lead || row.generation > 0)
            .map(|row| row.id.clone())
            .collect();
        self.line.clear();
        for task in idle {
            self.end_now(&task, KilledBy::User).await;
        }
    }
}

async fn end_after_panic(session: &Weak<Session>, task: &TaskId) {
    let Some(session) = session.upgrade() else { return };
    tracing::error!(%task, "an agent's loop panicked");
    let outcome = cox_protocol::Outcome::Failed {
        kind: cox_protocol::task::FailKind::Internal,
        message: "a defect in Coxswain ended it; its transcript is kept, and a message continues it".into(),
    };
    let end = super::mailbox::End {
        task: task.clone(),
        turn: 0,
        outcome,
        result: None,
        value: None,
        evidence: cox_protocol::task::Evidence::default(),
        context_tokens: 0,
    };
    session.end(end).await;
}

pub(super) fn unknown(task: &TaskId) -> CoxError {
    CoxError::new(ErrorCode::NotFound, format!("there is no task {task} in this session"))
}

/// Answers. A dropped receiver means that the asker is gone; what was asked has been done all the same.
fn answer<T>(reply: oneshot::Sender<T>, value: T) {
    let _ = reply.send(value);
}
