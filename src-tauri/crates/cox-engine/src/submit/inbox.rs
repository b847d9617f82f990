//! Answers to permission requests and questions.
//!
//! An answer is recorded before the asker goes on, in one append with the start of the call that it lets run.

use crate::core::{Core, storage};
use crate::inbox::Waiting;
use cox_protocol::command::Reply;
use cox_protocol::error::{CoxError, ErrorCode};
use cox_protocol::event::{EventBody, EventKind};
use cox_protocol::id::InboxId;
use cox_protocol::inbox::{Answer, Ask};
use cox_protocol::push::SessionLive;
use cox_protocol::task::PermissionMode;

impl Core {
    pub(super) async fn answer_inbox(&self, id: &InboxId, answer: Answer) -> Result<Reply, CoxError> {
        let item = self.inbox.item(id).ok_or_else(gone)?;
        check(&item.ask, &answer)?;
        let Some(waiting) = self.inbox.take(id) else { return Err(gone()) };
        if let Err(error) = self.record(&waiting, &answer).await {
            // Not recorded is not answered: it waits on.
            self.inbox.add(waiting);
            return Err(error);
        }
        if waiting.answer.send(answer).is_err() {
            return Err(CoxError::new(
                ErrorCode::NotFound,
                "whoever asked has been stopped in this moment; nothing runs",
            ));
        }
        Ok(Reply::Done)
    }

    async fn record(&self, waiting: &Waiting, answer: &Answer) -> Result<(), CoxError> {
        let mut events = Vec::new();
        let allows = match answer {
            Answer::AllowOnce => true,
            Answer::AllowAlways => {
                if let Ask::Permission { always: Some(rule), .. } = &waiting.item.ask {
                    self.add_rule(&waiting.session.project_id, rule.clone()).await?;
                }
                true
            }
            Answer::AllowEdits => {
                events.extend(self.allow_edits(waiting));
                true
            }
            Answer::Deny { .. } | Answer::Chosen { .. } | Answer::NoUi | Answer::Withdrawn => false,
        };
        let mut close = waiting.close.clone();
        close.at = self.clock.now_ms();
        close.body =
            EventBody::Known(EventKind::InboxClosed { id: waiting.item.id.clone(), answer: answer.clone() });
        events.push(close);
        events.extend(waiting.start.clone().filter(|_| allows));
        self.store.append(events).await.map(drop).map_err(|error| storage(&error))
    }

    /// "Allow edits in this session": a freer mode stays as it is.
    fn allow_edits(&self, waiting: &Waiting) -> Option<cox_protocol::NewEvent> {
        let session = &waiting.session;
        if session.permission_mode() >= PermissionMode::AcceptEdits {
            return None;
        }
        let event = session.mode_event(PermissionMode::AcceptEdits);
        let live =
            SessionLive { session_id: session.id.clone(), permission_mode: PermissionMode::AcceptEdits };
        self.hub.tell(|pending| pending.live.push(live.clone()));
        event
    }
}

fn check(ask: &Ask, answer: &Answer) -> Result<(), CoxError> {
    let fits = match (ask, answer) {
        (Ask::Permission { .. }, Answer::AllowOnce | Answer::Deny { .. }) => true,
        (Ask::Permission { always, .. }, Answer::AllowAlways) => always.is_some(),
        (Ask::Permission { offer_accept_edits, .. }, Answer::AllowEdits) => *offer_accept_edits,
        (Ask::Question { questions }, Answer::Chosen { answers }) => {
            answers.len() == questions.len() && answers.iter().all(|answer| !answer.trim().is_empty())
        }
        (Ask::Question { .. }, Answer::Deny { .. }) => true,
        (Ask::Permission { .. }, Answer::Chosen { .. } | Answer::NoUi | Answer::Withdrawn)
        | (
            Ask::Question { .. },
            Answer::AllowOnce | Answer::AllowAlways | Answer::AllowEdits | Answer::NoUi | Answer::Withdrawn,
        ) => false,
    };
    if fits {
        Ok(())
    } else {
        Err(CoxError::new(ErrorCode::InvalidInput, "this answer does not fit what is asked"))
    }
}

fn gone() -> CoxError {
    CoxError::new(
        ErrorCode::NotFound,
        "this is not open any more: it was answered, or whoever asked has ended",
    )
}
