//! Permission requests and questions: each is recorded, waits without a time-out, and is closed once.

use super::CallPorts;
use crate::config::Host;
use crate::inbox::Waiting;
use async_trait::async_trait;
use cox_protocol::event::EventKind;
use cox_protocol::id::InboxId;
use cox_protocol::inbox::{Action, Answer, Ask as Asked, InboxItem, Question, Rule};
use cox_tools::{Ask, ToolCx};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::oneshot;

/// Characters of the asker's last words that a card shows.
const REASON_CHARS: usize = 600;

#[async_trait]
impl Ask for CallPorts {
    async fn permission(
        &self,
        cx: &ToolCx,
        action: Action,
        because: String,
        always: Option<Rule>,
        offer_accept_edits: bool,
    ) -> Answer {
        self.ask(cx, Asked::Permission { action, because, always, offer_accept_edits }).await
    }

    async fn questions(&self, cx: &ToolCx, questions: Vec<Question>) -> Answer {
        self.ask(cx, Asked::Question { questions }).await
    }
}

impl CallPorts {
    async fn ask(&self, cx: &ToolCx, ask: Asked) -> Answer {
        let core = &self.session.core;
        let id = InboxId::new(core.mint.next(InboxId::PREFIX));
        let lets_run = matches!(ask, Asked::Permission { .. });
        let item = InboxItem {
            id: id.clone(),
            session_id: self.session.id.clone(),
            task_id: self.task.clone(),
            asker: self.asker(),
            call_id: cx.call_id.clone(),
            reason: cx.reason.as_ref().map(|reason| reason.chars().take(REASON_CHARS).collect()),
            at: core.clock.now_ms(),
            ask,
        };
        let opened = self.event(EventKind::InboxOpened { item: item.clone() });
        if core.host == Host::Headless {
            // W26, R77: nobody can be asked, and the record says that, not that a user declined.
            let closed = self.event(EventKind::InboxClosed { id, answer: Answer::NoUi });
            core.store.append_later(vec![opened, closed]);
            return Answer::NoUi;
        }
        let (sender, answer) = oneshot::channel();
        let start = lets_run
            .then(|| self.event(EventKind::ToolStarted { call_id: cx.call_id.clone(), read_only: false }));
        // Known before it is recorded, so that an answer can't come too early.
        core.inbox.add(Waiting {
            session: Arc::clone(&self.session),
            item,
            start,
            close: self.event(EventKind::InboxClosed { id: id.clone(), answer: Answer::Withdrawn }),
            answer: sender,
        });
        let withdrawal = Withdrawal { ports: self, id };
        if let Err(error) = core.store.append(vec![opened]).await {
            tracing::error!(%error, "a request could not be recorded, so it is not asked");
            return Answer::Withdrawn;
        }
        let answer = tokio::select! {
            answer = answer => answer.unwrap_or(Answer::Withdrawn),
            () = cx.cancel.cancelled() => Answer::Withdrawn,
        };
        drop(withdrawal);
        if matches!(answer, Answer::AllowOnce | Answer::AllowAlways | Answer::AllowEdits) {
            self.start_recorded.store(true, Ordering::SeqCst);
        }
        answer
    }

    fn asker(&self) -> String {
        if self.parent.is_none() { self.name.clone() } else { format!("coordinator > {}", self.name) }
    }
}

/// Closes an item whose asker is gone: its turn was interrupted, it was stopped, or the process ends.
struct Withdrawal<'a> {
    ports: &'a CallPorts,
    id: InboxId,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        let core = &self.ports.session.core;
        if let Some(waiting) = core.inbox.take(&self.id) {
            core.store.append_later(vec![waiting.close]);
        }
    }
}
