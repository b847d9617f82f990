//! What a host takes, batch by batch.

use crate::core::Core;
use crate::hub::{Pending, Subscriber};
use cox_protocol::id::SessionId;
use cox_protocol::push::{BATCH, Batch};
use cox_protocol::view::{Environment, ProjectRow, SessionRow};
use std::sync::Arc;

/// The engine's side of one attached host. When it is dropped, the host counts as gone: its panels are left.
pub struct Pushes {
    pub(crate) core: Arc<Core>,
    pub(crate) subscriber: Arc<Subscriber>,
    pub(crate) is_window: bool,
    /// What was taken and not given out yet, so that a call that is given up loses nothing.
    pub(crate) taken: Option<Pending>,
}

impl Pushes {
    /// Everything since the last call, in order; waits until there is something. A host calls this at most once a
    /// frame. It never ends by itself. Safe to give up at any await: the next call gives what this one took.
    pub async fn next(&mut self) -> Batch {
        if self.taken.is_none() {
            self.taken = Some(self.subscriber.take().await);
        }
        let rows = match &self.taken {
            Some(pending) => self.rows(pending).await,
            None => Rows::default(),
        };
        rows.with(self.taken.take().unwrap_or_default())
    }

    /// What a batch needs from the store.
    async fn rows(&self, pending: &Pending) -> Rows {
        let mut sessions = Vec::with_capacity(pending.sessions.len());
        for id in &pending.sessions {
            sessions.extend(self.row(id).await);
        }
        Rows {
            sessions,
            projects: if pending.projects { self.core.project_rows().await.ok() } else { None },
            environment: if pending.environment { Some(self.core.environment().await) } else { None },
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

#[derive(Default)]
struct Rows {
    sessions: Vec<SessionRow>,
    projects: Option<Vec<ProjectRow>>,
    environment: Option<Environment>,
}

impl Rows {
    fn with(self, pending: Pending) -> Batch {
        Batch {
            name: BATCH.to_owned(),
            events: pending.events.iter().map(|event| (**event).clone()).collect(),
            deltas: pending.deltas,
            panels: pending.panels.into_values().collect(),
            sessions: self.sessions,
            live: pending.live,
            projects: self.projects,
            environment: self.environment,
            gap: pending.gap,
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
