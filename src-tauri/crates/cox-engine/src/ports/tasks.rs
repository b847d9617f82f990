//! Dispatch, messages, stops and reads, for the tools that direct tasks.

use super::CallPorts;
use crate::control::Halt;
use crate::session::mailbox::{Dispatched, Look, NewShell};
use async_trait::async_trait;
use cox_protocol::id::TaskId;
use cox_protocol::task::{KilledBy, TaskKind, TaskStatus};
use cox_tools::{
    Dispatch, OutputReport, Receipt, Retrieval, Sent, TaskControl, TaskError, TaskErrorKind, TaskSummary,
    ToolCx,
};
use std::time::Duration;

#[async_trait]
impl TaskControl for CallPorts {
    async fn dispatch(&self, cx: &ToolCx, dispatch: Dispatch) -> Result<Receipt, TaskError> {
        match self.session.dispatch(&self.task, &cx.call_id, dispatch).await? {
            Dispatched::Receipt(receipt) => Ok(receipt),
            Dispatched::Foreground { task, name, end } => {
                let ended = tokio::select! {
                    ended = end => ended.ok(),
                    () = cx.cancel.cancelled() => None,
                };
                let ended = ended.ok_or_else(|| {
                    TaskError::new(
                        TaskErrorKind::NotAllowed,
                        format!("the wait for {name} was interrupted; it goes on in the background"),
                    )
                })?;
                Ok(Receipt::Finished {
                    task_id: task,
                    name,
                    outcome: ended.outcome,
                    result: ended.result,
                    evidence: ended.evidence,
                })
            }
        }
    }

    async fn send(
        &self,
        _cx: &ToolCx,
        to: String,
        summary: Option<String>,
        text: String,
    ) -> Result<Sent, TaskError> {
        self.session.send(&self.task, to, summary, text).await
    }

    async fn stop(&self, _cx: &ToolCx, id: String) -> Result<TaskSummary, TaskError> {
        let look = self.find(&id).await?;
        if look.id == self.session.lead || look.id == self.task {
            return Err(TaskError::new(
                TaskErrorKind::NotAllowed,
                "an agent can't stop itself, and the coordinator can't be stopped by TaskStop",
            ));
        }
        if look.status.is_terminal() {
            return Err(TaskError::new(
                TaskErrorKind::NotRunning,
                format!("{} is not running; it has ended", look.name),
            ));
        }
        if !self.session.halt(&look.id, Halt::Killed(KilledBy::Coordinator)) {
            let ended = self.session.end_idle(look.id.clone(), KilledBy::Coordinator).await;
            ended.map_err(|error| TaskError::new(TaskErrorKind::NotRunning, error.message))?;
        }
        // B142: the kill is awaited.
        let mut state = look.state.clone();
        // An error means that the session is closing, and the task with it.
        let _ = state.wait_for(|(status, _)| status.is_terminal()).await;
        let status = state.borrow().0;
        Ok(TaskSummary {
            task_id: look.id.clone(),
            kind: kind(&look),
            description: look.description,
            name: look.name,
            status,
        })
    }

    async fn output(
        &self,
        cx: &ToolCx,
        id: String,
        block: bool,
        timeout_ms: u64,
    ) -> Result<OutputReport, TaskError> {
        let look = self.find(&id).await?;
        let mut state = look.state.clone();
        let mut retrieval = Retrieval::Success;
        if !look.status.is_terminal() {
            retrieval = Retrieval::NotReady;
            // W14: a suspended task goes on only when somebody continues it, so that a wait would be for nothing.
            if block && look.status != TaskStatus::Interrupted {
                tokio::select! {
                    ended = state.wait_for(|(status, _)| status.is_terminal()) => {
                        retrieval = if ended.is_ok() { Retrieval::Success } else { Retrieval::NotReady };
                    }
                    () = self.session.core.clock.sleep(Duration::from_millis(timeout_ms)) => retrieval = Retrieval::Timeout,
                    () = cx.cancel.cancelled() => {
                        return Err(TaskError::new(TaskErrorKind::NotAllowed, "the wait was interrupted"));
                    }
                }
            }
        }
        let look = self.find(&id).await?;
        if retrieval == Retrieval::Success && block {
            self.session.claim(&look.id).await;
        }
        self.report(look, retrieval).await
    }

    async fn start_shell(
        &self,
        cx: &ToolCx,
        command: String,
        running: cox_exec::Running,
        service: bool,
    ) -> Result<TaskId, TaskError> {
        let shell =
            NewShell { owner: self.task.clone(), call_id: cx.call_id.clone(), command, running, service };
        self.session.start_shell(shell).await
    }
}

impl CallPorts {
    async fn find(&self, id: &str) -> Result<Look, TaskError> {
        self.session.look(&self.task, id.to_owned()).await.ok_or_else(|| {
            TaskError::new(TaskErrorKind::NotFound, format!("there is no task \"{id}\" in this session"))
        })
    }

    async fn report(&self, look: Look, retrieval: Retrieval) -> Result<OutputReport, TaskError> {
        let result = match &look.shell {
            Some(running) => Some(shell_text(running)),
            None => look.last.as_ref().and_then(|last| last.result.clone()),
        };
        // B148: without a clean result, the transcript.
        let transcript = if look.shell.is_none() && result.is_none() && retrieval == Retrieval::Success {
            self.session.core.transcript_text(&look.id).await
        } else {
            None
        };
        let is_over = retrieval == Retrieval::Success;
        Ok(OutputReport {
            retrieval,
            kind: kind(&look),
            status: look.status,
            outcome: look.last.as_ref().filter(|_| is_over).map(|last| last.outcome.clone()),
            evidence: look.last.as_ref().filter(|_| is_over).map(|last| last.evidence.clone()),
            result,
            transcript,
            output_file: look.output_file,
            name: look.name,
            task_id: look.id,
        })
    }
}

fn kind(look: &Look) -> TaskKind {
    look.kind
}

/// Characters of a background command's output that a read gives.
const SHELL_CHARS: usize = 30_000;

fn shell_text(running: &cox_exec::Running) -> String {
    let output = running.ended().map_or_else(|| running.output(), |ended| (*ended.output).clone());
    let text = output.text(SHELL_CHARS);
    if text.cut_chars == 0 {
        text.head
    } else {
        format!("{}\n… {} characters cut …\n{}", text.head, text.cut_chars, text.tail)
    }
}
