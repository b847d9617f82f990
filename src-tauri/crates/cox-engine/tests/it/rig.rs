//! A data folder, a project and an engine for one test, and waits for what the engine says. Every wait is for an
//! event; a test that would wait for ever is ended by the runner.

use cox_engine::clock::{Clock, SystemClock};
use cox_engine::{Engine, EngineConfig, Host, Pushes};
use cox_protocol::command::{Command, Reply};
use cox_protocol::event::{Event, EventKind};
use cox_protocol::inbox::{Answer, InboxItem};
use cox_protocol::push::{PanelState, Retention};
use cox_protocol::query::{Page, Query};
use cox_protocol::task::{PermissionMode, SessionMode, TaskKind};
use cox_protocol::view::{SessionView, TaskView};
use cox_protocol::{CoxError, ProjectId, SessionId, TaskId};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) struct Rig {
    pub(crate) engine: Engine,
    pushes: Pushes,
    /// Everything that was said so far, in order.
    pub(crate) log: Vec<Event>,
    /// What was said and not yet looked at by a wait.
    fresh: VecDeque<Event>,
    pub(crate) panels: Vec<PanelState>,
    pub(crate) project: ProjectId,
    pub(crate) folders: Folders,
}

/// The folders of a test; they outlive an engine.
pub(crate) struct Folders {
    pub(crate) data: TempDir,
    pub(crate) project: TempDir,
}

impl Folders {
    pub(crate) fn new() -> Self {
        let folders = Self { data: tempfile::tempdir().unwrap(), project: tempfile::tempdir().unwrap() };
        let write = |name: &str, text: &str| {
            let path = folders.project.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("Cargo.toml", "[package]\nname = \"boat\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
        write("src/lib.rs", "//! A boat.\n// TODO: oars\npub fn row() {}\n\n#[test]\nfn rows() { row(); }\n");
        write("src/main.rs", "fn main() { boat::row(); }\n");
        write("README.md", "# Boat\n");
        folders
    }

    pub(crate) fn project(&self) -> &Path {
        self.project.path()
    }
}

pub(crate) struct Setup {
    pub(crate) host: Host,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Default for Setup {
    fn default() -> Self {
        Self { host: Host::Window, clock: Arc::new(SystemClock) }
    }
}

pub(crate) async fn open(data: PathBuf, setup: Setup) -> Result<Engine, CoxError> {
    let mut config = EngineConfig::new(data, setup.host);
    config.rehearsal_pace = cox_engine::Pace::Instant;
    config.keychain = false;
    config.clock = setup.clock;
    let path = ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
    config.env.vars = vec![path];
    Engine::open(config).await
}

impl Rig {
    pub(crate) async fn new() -> Self {
        Self::with(Folders::new(), Setup::default()).await
    }

    pub(crate) async fn with(folders: Folders, setup: Setup) -> Self {
        let engine = open(folders.data.path().to_path_buf(), setup).await.unwrap();
        let (_, pushes) = engine.attach().await.unwrap();
        let path = folders.project().to_str().unwrap().to_owned();
        let reply = engine.submit(Command::OpenProject { path, confirmed: true }).await.unwrap();
        let Reply::Project { project } = reply else { panic!("{reply:?}") };
        Self {
            engine,
            pushes,
            log: Vec::new(),
            fresh: VecDeque::new(),
            panels: Vec::new(),
            project: project.id,
            folders,
        }
    }

    /// Closes the engine in order and gives the folders back.
    pub(crate) async fn close(self) -> Folders {
        self.engine.shutdown().await;
        self.folders
    }

    pub(crate) async fn session(&self, mode: SessionMode) -> (SessionId, TaskId) {
        let reply = self
            .engine
            .submit(Command::NewSession {
                project_id: self.project.clone(),
                mode: Some(mode),
                permission_mode: Some(PermissionMode::Default),
                provider: None,
                model: None,
                output_schema: None,
            })
            .await
            .unwrap();
        let Reply::Session { session_id, lead } = reply else { panic!("{reply:?}") };
        // A window looks at the lead of the session that it opens, so that entries are pushed.
        self.engine.submit(Command::ViewPanel { task_id: lead.clone() }).await.unwrap();
        (session_id, lead)
    }

    pub(crate) async fn say(&self, task: &TaskId, text: &str) -> Reply {
        self.engine.submit(Command::SendMessage { task_id: task.clone(), text: text.into() }).await.unwrap()
    }

    pub(crate) async fn answer(&self, item: &InboxItem, answer: Answer) {
        self.engine.submit(Command::AnswerInbox { id: item.id.clone(), answer }).await.unwrap();
    }

    async fn take(&mut self) {
        let batch = self.pushes.next().await;
        assert!(!batch.gap, "nothing is dropped in a small test");
        self.log.extend(batch.events.iter().cloned());
        self.fresh.extend(batch.events);
        self.panels.extend(batch.panels);
    }

    /// The next event for which `pick` gives something.
    pub(crate) async fn until<T>(&mut self, mut pick: impl FnMut(&Event, &EventKind) -> Option<T>) -> T {
        loop {
            while let Some(event) = self.fresh.pop_front() {
                if let Some(kind) = event.known()
                    && let Some(found) = pick(&event, kind)
                {
                    return found;
                }
            }
            self.take().await;
        }
    }

    pub(crate) async fn until_asked(&mut self) -> InboxItem {
        self.until(
            |_, kind| if let EventKind::InboxOpened { item } = kind { Some(item.clone()) } else { None },
        )
        .await
    }

    /// Waits until the answer in progress holds this text.
    pub(crate) async fn until_partial(&mut self, task: &TaskId, text: &str) {
        self.engine.submit(Command::ShowPanels { task_ids: vec![task.clone()] }).await.unwrap();
        loop {
            let page = self.engine.query(Query::Panel { task_id: task.clone() }).await.unwrap();
            let Page::Panel { view, .. } = page else { panic!("{page:?}") };
            if view
                .partial
                .is_some_and(|partial| partial.blocks.iter().any(|block| block.text.contains(text)))
            {
                return;
            }
            // Each piece of a panel on screen is said.
            self.take().await;
        }
    }

    pub(crate) async fn until_retention(&mut self, task: &TaskId, wanted: impl Fn(Retention) -> bool) {
        loop {
            if self.panels.iter().any(|panel| &panel.task_id == task && wanted(panel.retention)) {
                self.panels.clear();
                return;
            }
            self.take().await;
        }
    }

    pub(crate) async fn view(&self, session: &SessionId) -> SessionView {
        let page = self.engine.query(Query::Session { session_id: session.clone() }).await.unwrap();
        let Page::Session { view, .. } = page else { panic!("{page:?}") };
        view
    }

    pub(crate) async fn idle(&self, session: &SessionId) -> SessionView {
        self.engine.wait_idle(session).await.unwrap().view
    }
}

pub(crate) fn workers(view: &SessionView) -> Vec<&TaskView> {
    view.tasks.iter().filter(|task| task.kind == TaskKind::Worker).collect()
}

/// How often each kind of event came, for invariants.
pub(crate) fn count(log: &[Event], is: impl Fn(&EventKind) -> bool) -> usize {
    log.iter().filter(|event| event.known().is_some_and(&is)).count()
}

impl Rig {
    /// The session's whole log, as stored.
    pub(crate) async fn engine_log(&self, session: &SessionId) -> Vec<Event> {
        self.engine.events(session, 0).await.unwrap()
    }

    /// The next request, or nothing when the session comes to rest first.
    pub(crate) async fn until_asked_or_idle(&mut self, session: &SessionId) -> Option<InboxItem> {
        loop {
            let view = self.view(session).await;
            if let Some(item) = view.inbox.first() {
                return Some(item.clone());
            }
            if view.tasks.iter().all(|task| task.status.is_terminal()) {
                return None;
            }
            self.take().await;
        }
    }
}
