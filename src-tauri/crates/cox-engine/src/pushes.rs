//! What a host takes, batch by batch.

use crate::core::Core;
use crate::hub::{Pending, Subscriber};
use cox_protocol::id::SessionId;
use cox_protocol::push::{BATCH, Batch};
use cox_protocol::view::SessionRow;
use std::sync::Arc;

/// The engine's side of one attached host. When it is dropped, the host counts as gone: its panels are left.
pub struct Pushes {
    pub(crate) core: Arc<Core>,
    pub(crate) subscriber: Arc<Subscriber>,
    pub(crate) is_window: bool,
}

impl Pushes {
    /// Everything since the last call, in order; waits until there is something. A host calls this at most once a
    /// frame. It never ends by itself.
    pub async fn next(&mut self) -> Batch {
        let pending = self.subscriber.take().await;
        self.batch(pending).await
    }

    async fn batch(&self, pending: Pending) -> Batch {
        let mut sessions = Vec::with_capacity(pending.sessions.len());
        for id in &pending.sessions {
            sessions.extend(self.row(id).await);
        }
        Batch {
            name: BATCH.to_owned(),
            events: pending.events.iter().map(|event| (**event).clone()).collect(),
            deltas: pending.deltas,
            panels: pending.panels.into_values().collect(),
            sessions,
            live: pending.live,
            projects: if pending.projects { self.core.project_rows().await.ok() } else { None },
            environment: if pending.environment { Some(self.core.environment().await) } else { None },
            gap: pending.gap,
        }
    }

    async fn row(&self, id: &SessionId) -> Option<SessionRow> {
        match self.core.store.session_row(id).await {
            Ok(row) => row,
            Err(error) => {
                tracing::warn!(%error, session = %id, "a session's line can't be read");
                None
            }
        }
    }
}

impl Drop for Pushes {
    fn drop(&mut self) {
        if self.is_window {
            self.core.hub.panels(|panels, now| panels.leave_all(now));
        }
    }
}
