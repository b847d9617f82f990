//! The handle that a host holds: the window's shell and `cox` use the same one, with the same commands and
//! queries (W10). The engine does not depend on its host; a host may go and come back (invariant 10).

use crate::config::{EngineConfig, Host};
use crate::control::Halt;
use crate::core::{Core, storage};
use crate::hub::{Hub, Wants};
use crate::pushes::Pushes;
use cox_protocol::command::{Command, Reply};
use cox_protocol::error::CoxError;
use cox_protocol::event::Event;
use cox_protocol::id::SessionId;
use cox_protocol::query::{Page, Query};
use cox_protocol::view::{SessionView, Snapshot};
use cox_store::{OpenOptions, Store};
use std::sync::Arc;

/// Sessions in a snapshot.
const SNAPSHOT_SESSIONS: u32 = 200;

/// The engine. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    core: Arc<Core>,
}

/// What a session looks like when nothing in it runs any more.
#[derive(Clone, Debug)]
pub struct Idle {
    /// The session as it is then.
    pub view: SessionView,
    /// The lead's last answer, whole.
    pub report: Option<String>,
    /// The value that the lead handed in, when it was asked for one.
    pub value: Option<serde_json::Value>,
}

impl Engine {
    /// Opens the data folder, makes or migrates the database, and suspends what a dead process left running.
    ///
    /// # Errors
    /// `database_newer` for a database of a later version, which is left untouched; `storage` when it can't be
    /// read or written.
    pub async fn open(config: EngineConfig) -> Result<Self, CoxError> {
        cox_exec::give_back_early();
        let hub = Hub::new(Arc::clone(&config.clock));
        let (folder, sink) = (config.data_folder.clone(), Arc::clone(&hub));
        let opened = tokio::task::spawn_blocking(move || {
            Store::open(&folder, OpenOptions::default(), Box::new(move |events| sink.committed(events)))
        });
        let store = opened
            .await
            .map_err(|error| CoxError::new(cox_protocol::ErrorCode::Internal, error.to_string()))?
            .map_err(|error| storage(&error))?;
        let settings = store.settings().await.map_err(|error| storage(&error))?;
        if settings.durable {
            store.put_settings(settings.clone()).await.map_err(|error| storage(&error))?;
        }
        let core = Arc::new(Core::new(config, store, hub, settings));
        core.recover().await?;
        let hub = Arc::clone(&core.hub);
        tokio::spawn(async move { hub.keep_time().await });
        Ok(Self { core })
    }

    /// A host comes, or comes back: a snapshot, and everything after it.
    ///
    /// # Errors
    /// `storage` when the database can't be read.
    pub async fn attach(&self) -> Result<(Snapshot, Pushes), CoxError> {
        let is_window = self.core.host == Host::Window;
        let wants = if is_window { Wants::OpenSessions } else { Wants::Everything };
        // First the subscription, then the snapshot: an event in between is in both, and the fold takes it once.
        let subscriber = self.core.hub.subscribe(wants);
        let store = &self.core.store;
        let seq = store.last_seq().await.map_err(|error| storage(&error))?;
        let (sessions, _) =
            store.sessions(None, None, SNAPSHOT_SESSIONS).await.map_err(|error| storage(&error))?;
        let snapshot = Snapshot {
            seq,
            projects: self.core.project_rows().await?,
            sessions,
            inbox: store.open_inbox().await.map_err(|error| storage(&error))?,
            settings: self.core.settings(),
            environment: self.core.environment().await,
        };
        Ok((snapshot, Pushes { core: Arc::clone(&self.core), subscriber, is_window, taken: None }))
    }

    /// Does what a command says.
    ///
    /// # Errors
    /// As the command says; the code is for the host, the message for the person.
    pub async fn submit(&self, command: Command) -> Result<Reply, CoxError> {
        self.core.submit(command).await
    }

    /// Answers a query.
    ///
    /// # Errors
    /// `not_found` for an unknown id, `storage` when the database can't be read.
    pub async fn query(&self, query: Query) -> Result<Page, CoxError> {
        self.core.query(query).await
    }

    /// Waits until nothing in a session runs, waits for a slot, or is about to wake.
    ///
    /// # Errors
    /// `not_found`, `read_only`; `storage` also when an end could not be stored, because the disk is full, say.
    pub async fn wait_idle(&self, session: &SessionId) -> Result<Idle, CoxError> {
        let live = self.core.session(session).await?;
        loop {
            let settled = live.settled.notified();
            tokio::pin!(settled);
            // Registered before the look, so that an end in between is not missed.
            settled.as_mut().enable();
            if live.is_idle().await {
                break;
            }
            settled.await;
        }
        if let Some(error) = live.storage_error() {
            return Err(error);
        }
        self.core.idle(session).await
    }

    /// The events of a session after this one, in order: what `stream-json` prints (W2).
    ///
    /// # Errors
    /// `storage` when the database can't be read.
    pub async fn events(&self, session: &SessionId, after: u64) -> Result<Vec<Event>, CoxError> {
        self.core.all_events(session, after).await
    }

    /// Makes every projection anew from the events (W3). Gives what was done, in words.
    ///
    /// # Errors
    /// `storage` when the database can't be read or written.
    pub async fn rebuild(&self) -> Result<String, CoxError> {
        let report = self.core.store.rebuild().await.map_err(|error| storage(&error))?;
        let mut words = format!("{} sessions from {} events", report.sessions, report.events);
        if report.damaged > 0 {
            words.push_str(&format!("; {} damaged rows were left out", report.damaged));
        }
        for changed in &report.changed {
            words.push_str(&format!("\n  changed: {changed}"));
        }
        Ok(words)
    }

    /// Suspends everything that runs, waits until no process is left, and closes the database. What ran goes on
    /// with Continue.
    pub async fn shutdown(&self) {
        let sessions: Vec<_> = self.core.sessions.lock().await.values().map(Arc::clone).collect();
        let subscriber = self.core.hub.subscribe(Wants::OpenSessions);
        for session in &sessions {
            session.hold(true);
            session.halt_all(Halt::Suspended);
        }
        while sessions.iter().any(|session| session.running() > 0) {
            tokio::select! {
                _ = subscriber.take() => {}
                // The last word of a generation is stored before its handle is given up.
                () = self.core.clock.sleep(std::time::Duration::from_millis(20)) => {}
            }
        }
        for session in &sessions {
            session.close();
        }
        drop(sessions);
        self.core.sessions.lock().await.clear();
        if let Err(error) = self.core.store.clone().close().await {
            tracing::error!(%error, "the database was not closed in order; nothing that was acknowledged is lost");
        }
    }
}
