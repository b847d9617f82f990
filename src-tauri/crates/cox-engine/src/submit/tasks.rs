//! Messages, stops and continues.

use crate::control::Halt;
use crate::core::{Core, storage};
use cox_protocol::command::Reply;
use cox_protocol::error::{CoxError, ErrorCode};
use cox_protocol::id::{MessageId, SessionId, TaskId};
use cox_protocol::task::KilledBy;
use std::sync::Arc;

impl Core {
    pub(super) async fn send_message(
        self: &Arc<Self>,
        task: &TaskId,
        text: String,
    ) -> Result<Reply, CoxError> {
        let session = self.session_of(task).await?;
        let (message_id, queued) = session.user_message(task.clone(), text).await?;
        Ok(Reply::Message { message_id, queued })
    }

    pub(super) async fn continue_task(self: &Arc<Self>, task: &TaskId) -> Result<Reply, CoxError> {
        self.session_of(task).await?.go_on(task.clone()).await?;
        Ok(Reply::Done)
    }

    /// The user's stop: the token at once, then what does not run.
    pub(super) async fn stop_task(self: &Arc<Self>, task: &TaskId) -> Result<Reply, CoxError> {
        let session = self.session_of(task).await?;
        if !session.halt(task, Halt::Killed(KilledBy::User)) {
            session.end_idle(task.clone(), KilledBy::User).await?;
        }
        Ok(Reply::Done)
    }

    pub(super) async fn stop_all(self: &Arc<Self>, id: &SessionId) -> Result<Reply, CoxError> {
        let session = self.session(id).await?;
        session.stop_all();
        session.end_all_idle().await;
        Ok(Reply::Done)
    }

    /// Interrupts the lead's turn; its workers go on (R14).
    pub(super) async fn interrupt_turn(self: &Arc<Self>, id: &SessionId) -> Result<Reply, CoxError> {
        let session = self.session(id).await?;
        if !session.halt(&session.lead, Halt::Killed(KilledBy::User)) {
            return Err(CoxError::new(ErrorCode::NotRunning, "no turn of the coordinator runs"));
        }
        Ok(Reply::Done)
    }

    pub(super) async fn withdraw_message(self: &Arc<Self>, message: &MessageId) -> Result<Reply, CoxError> {
        let sessions: Vec<_> = self.sessions.lock().await.values().map(Arc::clone).collect();
        let mut last = CoxError::new(ErrorCode::NotFound, "there is no such message");
        for session in sessions {
            match session.withdraw(message.clone()).await {
                Ok(text) => return Ok(Reply::Text { text }),
                Err(error) => last = error,
            }
        }
        // It may wait in a session that this process has not brought to life yet.
        for id in self.store.live_sessions().await.map_err(|error| storage(&error))? {
            let work = self.store.open_work(&id).await.map_err(|error| storage(&error))?;
            if work.messages.iter().any(|waiting| &waiting.message.id == message) {
                let text = self.session(&id).await?.withdraw(message.clone()).await?;
                return Ok(Reply::Text { text });
            }
        }
        Err(last)
    }
}
