//! Background commands: tasks of their own, owned by the agent that started them (W18).

use super::Session;
use super::actor::Actor;
use super::mailbox::{End, NewShell};
use super::table::Row;
use crate::control::{Control, Halt};
use cox_exec::{Ended, Running, STOP_GRACE};
use cox_protocol::entry::CommandRun;
use cox_protocol::event::{Cause, EventKind, NewEvent};
use cox_protocol::id::TaskId;
use cox_protocol::task::{Evidence, FailKind, KilledBy, Outcome, TaskKind, TaskSpec, TaskStatus};
use cox_tools::{TaskError, TaskErrorKind};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::watch;

/// Characters of output that the result of a background command keeps.
const RESULT_CHARS: usize = 8_000;

impl Actor {
    pub(super) async fn start_shell(&mut self, shell: NewShell) -> Result<TaskId, TaskError> {
        let core = Arc::clone(&self.session.core);
        let id = TaskId::new(core.mint.next(TaskId::PREFIX));
        let number = self.table.rows().filter(|row| row.kind == TaskKind::Shell).count() + 1;
        let owner_tint = 0;
        let spec = TaskSpec {
            kind: TaskKind::Shell,
            name: format!("shell-{number}"),
            description: super::messages::first_line(&shell.command, 80),
            prompt: shell.command.clone(),
            role: "shell".into(),
            model: String::new(),
            permission_mode: self.session.recorded_mode(),
            tint: owner_tint,
            output_file: core.output_file(&self.session.id, &id),
            frozen: None,
        };
        let control = Arc::new(Control::default());
        self.table.insert(Row {
            id: id.clone(),
            kind: TaskKind::Shell,
            name: spec.name.clone(),
            description: spec.description.clone(),
            output_file: spec.output_file.clone(),
            parent: Some(shell.owner.clone()),
            tool_use_id: Some(shell.call_id),
            status: TaskStatus::Pending,
            generation: 1,
            turn: 0,
            started_at: core.clock.now_ms(),
            spec: None,
            last: None,
            queue: VecDeque::new(),
            notes: VecDeque::new(),
            control: Some(Arc::clone(&control)),
            foreground: None,
            shell: Some(shell.running.clone()),
            state: watch::Sender::new((TaskStatus::Pending, 1)),
        });
        let events = vec![
            self.event(&id, 0, EventKind::TaskStarted { spec }),
            self.event(&id, 0, EventKind::GenerationStarted { cause: Cause::Dispatch }),
        ];
        if let Err(error) = self.append(events).await {
            shell.running.stop(STOP_GRACE).await;
            if let Some(row) = self.table.get_mut(&id) {
                row.parent = None;
                row.set_status(TaskStatus::Failed);
            }
            return Err(TaskError::new(TaskErrorKind::NotAllowed, error.message));
        }
        self.session.register(&id, &control);
        self.services.insert(id.clone(), shell.service);
        if let Some(row) = self.table.get_mut(&id) {
            row.set_status(TaskStatus::Running);
        }
        tokio::spawn(follow(Arc::clone(&self.session), id.clone(), shell.command, shell.running, control));
        Ok(id)
    }

    /// Halts an agent's live background commands, services only or all. Gives what is being ended.
    pub(super) fn kill_shells(&mut self, owner: &TaskId, all: bool) -> Vec<(TaskId, String)> {
        let mut killed = Vec::new();
        for shell in self.table.live_shells(owner) {
            let is_service = self.services.get(&shell).copied().unwrap_or(false);
            if (all || is_service) && self.session.halt(&shell, Halt::Killed(KilledBy::Owner)) {
                let command = self.table.get(&shell).map(|row| row.description.clone()).unwrap_or_default();
                killed.push((shell, command));
            }
        }
        killed
    }
}

impl Session {
    fn process_ended(&self, task: &TaskId, pgid: i32) {
        let mut event =
            NewEvent::session(self.id.clone(), self.core.clock.now_ms(), EventKind::ProcessEnded { pgid });
        event.task_id = Some(task.clone());
        self.core.store.append_later(vec![event]);
    }
}

/// Follows one background command to its end.
async fn follow(session: Arc<Session>, id: TaskId, command: String, running: Running, control: Arc<Control>) {
    let ended = tokio::select! {
        ended = running.wait() => ended,
        () = control.token().cancelled() => running.stop(STOP_GRACE).await,
    };
    let outcome = match control.halted() {
        Some(Halt::Killed(by)) if ended.stopped => Outcome::Killed { by },
        Some(Halt::Suspended) if ended.stopped => Outcome::Killed { by: KilledBy::Owner },
        Some(_) | None => outcome_of(&ended),
    };
    let text = ended.output.text(RESULT_CHARS);
    let result = if text.cut_chars == 0 {
        text.head
    } else {
        format!("{}\n… {} characters cut …\n{}", text.head, text.cut_chars, text.tail)
    };
    let run = CommandRun {
        command,
        exit_code: ended.exit_code,
        signal: ended.signal,
        timed_out: ended.timed_out,
        killed: ended.killed,
        output_bytes: ended.output.total_bytes,
        duration_ms: ended.duration_ms,
    };
    session.process_ended(&id, running.pgid());
    let evidence =
        Evidence { tool_uses: 1, commands: vec![run], wall_ms: ended.duration_ms, ..Evidence::default() };
    session
        .end(End {
            task: id,
            turn: 0,
            outcome,
            result: Some(result),
            value: None,
            evidence,
            context_tokens: 0,
        })
        .await;
}

fn outcome_of(ended: &Ended) -> Outcome {
    match (ended.exit_code, ended.signal) {
        (Some(0), _) => Outcome::Completed,
        (Some(code), _) => Outcome::Failed {
            kind: FailKind::CommandFailed,
            message: format!("it ended with exit code {code}"),
        },
        (None, Some(signal)) => {
            Outcome::Failed { kind: FailKind::CommandFailed, message: format!("signal {signal} ended it") }
        }
        (None, None) => {
            Outcome::Failed { kind: FailKind::CommandFailed, message: "it ended in an unknown way".into() }
        }
    }
}
