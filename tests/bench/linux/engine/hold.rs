//! An engine as a window holds it: attached, its pushes taken once a frame, the lead's panel open.

use crate::linux::failure::{Outcome, failure};
use crate::linux::step::{Counted, Opening, Ran};
use cox_engine::{Engine, EngineConfig, Host, Pushes};
use cox_protocol::command::{Command, Reply};
use cox_protocol::entry::ResultStatus;
use cox_protocol::event::EventKind;
use cox_protocol::inbox::InboxItem;
use cox_protocol::settings::Settings;
use cox_protocol::task::{Limits, PermissionMode, SessionMode, TaskKind, TaskStatus};
use cox_protocol::{Entry, SessionId, TaskId};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

/// The shortest time between two batches, as in the window.
const FRAME: Duration = Duration::from_millis(16);
/// No run takes so many turns.
const TURNS_MOST: u32 = 10_000;

/// What a scenario may wait for.
pub(super) enum News {
    /// A person is asked.
    Asked(Box<InboxItem>),
    /// A generation of this task ended.
    Ended(TaskId),
}

/// The engine and its one session.
pub(super) struct Hold {
    pub(super) engine: Engine,
    opening: Opening,
    session: Option<(SessionId, TaskId)>,
    news: UnboundedReceiver<News>,
    pump: JoinHandle<()>,
}

impl Hold {
    pub(super) async fn open(opening: Opening) -> Outcome<Self> {
        let mut config = EngineConfig::new(opening.data.clone(), Host::Window);
        config.keychain = false;
        config.env.vars = std::env::vars_os().filter(|(name, _)| name == "PATH").collect();
        let engine = Engine::open(config).await?;
        let limits = Limits {
            workers_at_once: opening.workers_at_once,
            workers_per_session: opening.workers_in_all,
            turns_per_generation: TURNS_MOST,
            ..Limits::default()
        };
        let settings = Settings { limits, ..Settings::default() };
        engine.submit(Command::SaveSettings { settings }).await?;
        let (_, pushes) = engine.attach().await?;
        let (tell, news) = unbounded_channel();
        let pump = tokio::spawn(pump(engine.clone(), pushes, tell, opening.watched));
        Ok(Self { engine, opening, session: None, news, pump })
    }

    /// The session and its lead; made when it is first asked for.
    pub(super) async fn session(&mut self) -> Outcome<(SessionId, TaskId)> {
        if let Some(session) = &self.session {
            return Ok(session.clone());
        }
        let path = self.opening.project.to_string_lossy().into_owned();
        let reply = self.engine.submit(Command::OpenProject { path, confirmed: true }).await?;
        let Reply::Project { project } = reply else { return Err(unexpected(&reply)) };
        let begin = Command::NewSession {
            project_id: project.id,
            mode: Some(SessionMode::Coordinator),
            permission_mode: Some(PermissionMode::Default),
            provider: Some(self.opening.provider.clone()),
            model: Some("scripted".to_owned()),
            output_schema: None,
        };
        let reply = self.engine.submit(begin).await?;
        let Reply::Session { session_id, lead } = reply else { return Err(unexpected(&reply)) };
        self.engine.submit(Command::ViewPanel { task_id: lead.clone() }).await?;
        Ok(self.session.insert((session_id, lead)).clone())
    }

    /// Sends the lead a message, and waits until nothing runs.
    pub(super) async fn message(&mut self, text: String) -> Outcome<Ran> {
        let (session, lead) = self.session().await?;
        let began = Instant::now();
        self.engine.submit(Command::SendMessage { task_id: lead, text }).await?;
        let idle = self.engine.wait_idle(&session).await?;
        let wall_ms = began.elapsed().as_secs_f64() * 1e3;
        let workers = idle.view.tasks.iter().filter(|task| task.kind == TaskKind::Worker);
        let completed = workers.filter(|worker| worker.status == TaskStatus::Completed).count();
        Ok(Ran { wall_ms, completed })
    }

    /// Counts the results of the workers' calls in the log.
    pub(super) async fn count(&mut self) -> Outcome<Counted> {
        let (session, lead) = self.session().await?;
        let mut counted = Counted { reads: 0, others: 0 };
        for event in self.engine.events(&session, 0).await? {
            let Some(EventKind::Entry { entry: Entry::ToolResults { results } }) = event.known() else {
                continue;
            };
            if event.task_id.as_ref() == Some(&lead) {
                continue;
            }
            for result in results {
                match (result.tool.as_str(), result.status) {
                    ("Read", ResultStatus::Ok) => counted.reads += 1,
                    _ => counted.others += 1,
                }
            }
        }
        Ok(counted)
    }

    /// The next piece of news for which this gives something.
    pub(super) async fn until<T>(&mut self, pick: impl Fn(News) -> Option<T>) -> Outcome<T> {
        while let Some(news) = self.news.recv().await {
            if let Some(found) = pick(news) {
                return Ok(found);
            }
        }
        Err(failure("the engine says nothing any more"))
    }

    pub(super) async fn close(self) {
        self.pump.abort();
        // Its end by this is what was asked for.
        let _ = self.pump.await;
        self.engine.shutdown().await;
    }
}

/// Takes what the engine says, and puts each worker's panel on screen when they are watched.
async fn pump(engine: Engine, mut pushes: Pushes, tell: UnboundedSender<News>, watched: bool) {
    let mut shown = Vec::new();
    loop {
        for event in pushes.next().await.events {
            let news = match (event.known(), &event.task_id) {
                (Some(EventKind::InboxOpened { item }), _) => News::Asked(Box::new(item.clone())),
                (Some(EventKind::GenerationEnded { .. }), Some(task)) => News::Ended(task.clone()),
                (Some(EventKind::TaskStarted { .. }), Some(task)) if watched => {
                    shown.push(task.clone());
                    show(&engine, &shown).await;
                    continue;
                }
                _ => continue,
            };
            if tell.send(news).is_err() {
                return;
            }
        }
        tokio::time::sleep(FRAME).await;
    }
}

async fn show(engine: &Engine, shown: &[TaskId]) {
    if let Some(task_id) = shown.last().cloned() {
        // A panel that can't be shown is one that is not measured, no more.
        let _ = engine.submit(Command::ViewPanel { task_id }).await;
    }
    let _ = engine.submit(Command::ShowPanels { task_ids: shown.to_vec() }).await;
}

/// A reply that does not belong to its command.
pub(super) fn unexpected(reply: &Reply) -> crate::linux::failure::Failure {
    failure(format!("the engine replied {reply:?}"))
}
