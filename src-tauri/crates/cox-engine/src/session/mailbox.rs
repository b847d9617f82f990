//! What may be asked of a session's own task, and the calls that ask it.
//!
//! Stops are not in here: they are tokens and reach a running generation at once. What is in here about stopping
//! concerns tasks that do not run.

use super::Session;
use super::table::{Ended, Incoming};
use cox_protocol::error::{CoxError, ErrorCode};
use cox_protocol::id::{MessageId, TaskId};
use cox_protocol::task::{Evidence, KilledBy, Outcome, TaskKind, TaskStatus};
use cox_tools::{Dispatch, Receipt, Sent, TaskError};
use serde_json::Value;
use tokio::sync::{oneshot, watch};

/// Requests that may wait for a session's task.
pub(crate) const MAILBOX: usize = 1_024;

/// The end of a generation, as its agent sees it.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) task: TaskId,
    pub(crate) turn: u32,
    pub(crate) outcome: Outcome,
    pub(crate) result: Option<String>,
    pub(crate) value: Option<Value>,
    pub(crate) evidence: Evidence,
    /// The context gauge at the end; 0 where there was no request.
    pub(crate) context_tokens: u64,
}

/// What came of an attempt to end.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Something had come in: the generation goes on with it.
    More(Incoming),
    /// The generation is over.
    Ended,
}

/// A look at a task.
pub(crate) struct Look {
    pub(crate) id: TaskId,
    pub(crate) name: String,
    pub(crate) kind: TaskKind,
    pub(crate) description: String,
    pub(crate) shell: Option<cox_exec::Running>,
    pub(crate) status: TaskStatus,
    pub(crate) output_file: String,
    pub(crate) last: Option<Ended>,
    pub(crate) state: watch::Receiver<(TaskStatus, u32)>,
}

/// What came of a dispatch: a receipt at once, or the end that a foreground call waits for.
pub(crate) enum Dispatched {
    Receipt(Receipt),
    Foreground { task: TaskId, name: String, end: oneshot::Receiver<Ended> },
}

/// A new background command.
pub(crate) struct NewShell {
    pub(crate) owner: TaskId,
    pub(crate) call_id: String,
    pub(crate) command: String,
    pub(crate) running: cox_exec::Running,
    pub(crate) service: bool,
}

type To<T> = oneshot::Sender<T>;

/// A request to a session's task.
pub(crate) enum Msg {
    UserMessage {
        to: TaskId,
        text: String,
        reply: To<Result<(MessageId, bool), CoxError>>,
    },
    Continue {
        task: TaskId,
        reply: To<Result<(), CoxError>>,
    },
    Withdraw {
        message: MessageId,
        reply: To<Result<String, CoxError>>,
    },
    /// Ends a task that does not run: pending or interrupted.
    EndIdle {
        task: TaskId,
        by: KilledBy,
        reply: To<Result<(), CoxError>>,
    },
    EndAllIdle {
        reply: To<()>,
    },
    Drain {
        task: TaskId,
        reply: To<Incoming>,
    },
    DrainOrEnd {
        end: Box<End>,
        reply: To<Verdict>,
    },
    End {
        end: Box<End>,
        reply: To<()>,
    },
    Suspended {
        task: TaskId,
        turn: u32,
        reply: To<()>,
    },
    Incoming {
        task: TaskId,
        reply: To<()>,
    },
    HasOpenChildren {
        task: TaskId,
        reply: To<bool>,
    },
    LiveShells {
        owner: TaskId,
        reply: To<Vec<TaskId>>,
    },
    KillShells {
        owner: TaskId,
        all: bool,
        reply: To<Vec<(TaskId, String)>>,
    },
    Dispatch {
        from: TaskId,
        call_id: String,
        dispatch: Box<Dispatch>,
        reply: To<Result<Dispatched, TaskError>>,
    },
    Send {
        from: TaskId,
        to: String,
        summary: Option<String>,
        text: String,
        reply: To<Result<Sent, TaskError>>,
    },
    Look {
        from: TaskId,
        id: String,
        reply: To<Option<Look>>,
    },
    /// A look at a terminal task that also counts as the delivery of its notification (W15).
    Claim {
        task: TaskId,
        reply: To<()>,
    },
    StartShell {
        shell: Box<NewShell>,
        reply: To<Result<TaskId, TaskError>>,
    },
    /// Does nothing run, wait for a slot, or wait to wake the lead?
    IsIdle {
        reply: To<bool>,
    },
    /// A file changed on disk under these agents.
    FilesChanged {
        task: TaskId,
        paths: Vec<String>,
    },
}

impl Session {
    async fn call<T>(&self, make: impl FnOnce(To<T>) -> Msg) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.mailbox().send(make(reply)).await.ok()?;
        answer.await.ok()
    }

    fn gone() -> CoxError {
        CoxError::new(ErrorCode::Internal, "the session has been closed")
    }

    fn gone_for_agent() -> TaskError {
        TaskError::new(cox_tools::TaskErrorKind::NotAllowed, "the session is closing")
    }

    pub(crate) async fn user_message(&self, to: TaskId, text: String) -> Result<(MessageId, bool), CoxError> {
        self.call(|reply| Msg::UserMessage { to, text, reply }).await.unwrap_or_else(|| Err(Self::gone()))
    }

    pub(crate) async fn go_on(&self, task: TaskId) -> Result<(), CoxError> {
        self.call(|reply| Msg::Continue { task, reply }).await.unwrap_or_else(|| Err(Self::gone()))
    }

    pub(crate) async fn withdraw(&self, message: MessageId) -> Result<String, CoxError> {
        self.call(|reply| Msg::Withdraw { message, reply }).await.unwrap_or_else(|| Err(Self::gone()))
    }

    pub(crate) async fn end_idle(&self, task: TaskId, by: KilledBy) -> Result<(), CoxError> {
        self.call(|reply| Msg::EndIdle { task, by, reply }).await.unwrap_or_else(|| Err(Self::gone()))
    }

    pub(crate) async fn end_all_idle(&self) {
        self.call(|reply| Msg::EndAllIdle { reply }).await;
    }

    /// Everything that waits for this agent; empty while the session closes.
    pub(crate) async fn drain(&self, task: &TaskId) -> Incoming {
        self.call(|reply| Msg::Drain { task: task.clone(), reply }).await.unwrap_or_default()
    }

    /// In one step: gives what waits, or, when nothing does, ends the generation (W13).
    pub(crate) async fn drain_or_end(&self, end: End) -> Verdict {
        self.call(|reply| Msg::DrainOrEnd { end: Box::new(end), reply }).await.unwrap_or(Verdict::Ended)
    }

    /// Ends the generation whatever waits; messages stay queued (R100).
    pub(crate) async fn end(&self, end: End) {
        self.call(|reply| Msg::End { end: Box::new(end), reply }).await;
    }

    pub(crate) async fn suspended(&self, task: &TaskId, turn: u32) {
        self.call(|reply| Msg::Suspended { task: task.clone(), turn, reply }).await;
    }

    /// Ends when something waits for this agent.
    pub(crate) async fn incoming(&self, task: &TaskId) {
        self.call(|reply| Msg::Incoming { task: task.clone(), reply }).await;
    }

    pub(crate) async fn has_open_children(&self, task: &TaskId) -> bool {
        self.call(|reply| Msg::HasOpenChildren { task: task.clone(), reply }).await.unwrap_or(false)
    }

    pub(crate) async fn live_shells(&self, owner: &TaskId) -> Vec<TaskId> {
        self.call(|reply| Msg::LiveShells { owner: owner.clone(), reply }).await.unwrap_or_default()
    }

    /// Kills an agent's background commands, services only or all, and waits until they are gone. Gives their
    /// commands.
    pub(crate) async fn kill_shells(&self, owner: &TaskId, all: bool) -> Vec<String> {
        let shells =
            self.call(|reply| Msg::KillShells { owner: owner.clone(), all, reply }).await.unwrap_or_default();
        let mut commands = Vec::with_capacity(shells.len());
        for (shell, command) in shells {
            self.wait_terminal(&shell).await;
            commands.push(command);
        }
        commands
    }

    async fn wait_terminal(&self, task: &TaskId) {
        let look = self.look(task, task.as_str().to_owned()).await;
        if let Some(mut look) = look {
            // An error means that the table is gone, and the task with it.
            let _ = look.state.wait_for(|(status, _)| status.is_terminal()).await;
        }
    }

    pub(crate) async fn dispatch(
        &self,
        from: &TaskId,
        call_id: &str,
        dispatch: Dispatch,
    ) -> Result<Dispatched, TaskError> {
        let (from, call_id) = (from.clone(), call_id.to_owned());
        let answer =
            self.call(|reply| Msg::Dispatch { from, call_id, dispatch: Box::new(dispatch), reply }).await;
        answer.unwrap_or_else(|| Err(Self::gone_for_agent()))
    }

    pub(crate) async fn send(
        &self,
        from: &TaskId,
        to: String,
        summary: Option<String>,
        text: String,
    ) -> Result<Sent, TaskError> {
        let from = from.clone();
        let answer = self.call(|reply| Msg::Send { from, to, summary, text, reply }).await;
        answer.unwrap_or_else(|| Err(Self::gone_for_agent()))
    }

    pub(crate) async fn look(&self, from: &TaskId, id: String) -> Option<Look> {
        self.call(|reply| Msg::Look { from: from.clone(), id, reply }).await.flatten()
    }

    pub(crate) async fn is_idle(&self) -> bool {
        self.call(|reply| Msg::IsIdle { reply }).await.unwrap_or(true)
    }

    pub(crate) async fn claim(&self, task: &TaskId) {
        self.call(|reply| Msg::Claim { task: task.clone(), reply }).await;
    }

    pub(crate) async fn start_shell(&self, shell: NewShell) -> Result<TaskId, TaskError> {
        let answer = self.call(|reply| Msg::StartShell { shell: Box::new(shell), reply }).await;
        answer.unwrap_or_else(|| Err(Self::gone_for_agent()))
    }
}
