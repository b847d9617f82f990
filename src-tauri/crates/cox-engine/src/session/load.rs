//! How a session comes to life: a new one, or one from the store.
//!
//! A session that this process brings to life is locked for as long as the process lives (W7). Whatever was
//! running when its last owner ended is suspended first (W14, N24): its process groups are reaped, its open
//! requests withdrawn, and each task is `interrupted`, one click from going on.

use super::actor::Actor;
use super::mailbox::MAILBOX;
use super::table::{Ended, Note, Row, Table};
use super::{Session, lock};
use crate::core::{Core, storage};
use cox_exec::{Roots, reap};
use cox_protocol::entry::{Entry, RuntimeNote};
use cox_protocol::error::{CoxError, ErrorCode};
use cox_protocol::event::{EventKind, NewEvent};
use cox_protocol::id::{SessionId, TaskId};
use cox_protocol::inbox::Answer;
use cox_protocol::settings::{ProviderKind, ProviderSettings};
use cox_protocol::task::{Evidence, KilledBy, Limits, Outcome, PermissionMode, TaskKind, TaskStatus};
use cox_protocol::view::{SessionView, TaskView};
use cox_store::OpenWork;
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

/// Bytes of a project's instruction file that are read.
const INSTRUCTIONS_CAP: u64 = crate::prompts::INSTRUCTIONS_CAP as u64;

impl Core {
    /// The session, brought to life if it is not yet. Fails as `read_only` when another process owns it.
    pub(crate) async fn session(self: &Arc<Self>, id: &SessionId) -> Result<Arc<Session>, CoxError> {
        let mut sessions = self.sessions.lock().await;
        if let Some(session) = sessions.get(id) {
            return Ok(Arc::clone(session));
        }
        let session = self.load(id).await?;
        sessions.insert(id.clone(), Arc::clone(&session));
        Ok(session)
    }

    /// The session of a task.
    pub(crate) async fn session_of(self: &Arc<Self>, task: &TaskId) -> Result<Arc<Session>, CoxError> {
        let found = self.store.task(task).await.map_err(|error| storage(&error))?;
        let (session, _) =
            found.ok_or_else(|| CoxError::new(ErrorCode::NotFound, format!("there is no task {task}")))?;
        self.session(&session).await
    }

    async fn load(self: &Arc<Self>, id: &SessionId) -> Result<Arc<Session>, CoxError> {
        let lock = self.store.lock_session(id, &self.owner).map_err(|taken| {
            CoxError::new(ErrorCode::ReadOnly, format!("this session is open in {}", taken.owner))
                .hint("It can be read here. Close it there to work with it here.")
        })?;
        suspend_leftovers(self, id).await?;
        let view = self.store.session_view(id).await.map_err(|error| storage(&error))?;
        let view =
            view.ok_or_else(|| CoxError::new(ErrorCode::NotFound, format!("there is no session {id}")))?;
        let lead = view.lead().map(|lead| lead.id.clone());
        let lead =
            lead.ok_or_else(|| CoxError::new(ErrorCode::Storage, "the session's record has no lead"))?;
        let project_id = view.project_id.clone();
        let project_id = project_id
            .ok_or_else(|| CoxError::new(ErrorCode::Storage, "the session's record has no project"))?;
        let project = self.store.project(&project_id).await.map_err(|error| storage(&error))?;
        let project = project.ok_or_else(|| {
            CoxError::new(ErrorCode::NotFound, "the session's project is not known any more")
        })?;
        let roots = open_roots(&project.path).await?;
        let spec = self.store.task_spec(&lead).await.map_err(|error| storage(&error))?;
        let limits = spec.and_then(|spec| spec.frozen).map(|frozen| frozen.limits).unwrap_or_default();
        let rules = self.rules.of(&project_id);
        let stored = self.store.rules(&project_id).await.map_err(|error| storage(&error))?;
        rules.set(&stored.into_iter().map(|row| row.rule).collect::<Vec<_>>());
        let work = self.store.open_work(id).await.map_err(|error| storage(&error))?;
        let (mailbox, requests) = mpsc::channel(MAILBOX);
        let session = Arc::new(Session {
            core: Arc::clone(self),
            id: id.clone(),
            project_id,
            folder: roots.project().to_path_buf(),
            folder_text: cox_exec::path_to_text(roots.project()),
            instructions: read_instructions(&roots).await,
            roots,
            mode: view.mode,
            model: view.model.clone(),
            limits: self.limits(limits),
            lead: lead.clone(),
            provider_settings: provider_settings(&view),
            provider: Mutex::new(None),
            rules,
            watch: OnceLock::new(),
            mode_now: RwLock::new(view.permission_mode),
            held: AtomicBool::new(false),
            controls: Mutex::new(HashMap::new()),
            stamps: Mutex::new(HashMap::new()),
            mailbox,
            settled: Notify::new(),
            unstored: Mutex::new(None),
            closed: CancellationToken::new(),
            _lock: lock,
        });
        let mut table = table(&view, work);
        note_suspended_children(self, &mut table, &lead).await;
        tokio::spawn(Actor::new(Arc::clone(&session), table).run(requests));
        Ok(session)
    }

    /// The limits that the session began with; the host's own word on workers at once goes before them.
    fn limits(&self, stored: Limits) -> Limits {
        match self.max_workers {
            None => stored,
            Some(most) => Limits {
                workers_at_once: most,
                workers_per_session: stored.workers_per_session.max(most),
                ..stored
            },
        }
    }

    /// Suspends what a dead owner left behind, in every session whose lock is free.
    pub(crate) async fn recover(&self) -> Result<(), CoxError> {
        for id in self.store.live_sessions().await.map_err(|error| storage(&error))? {
            let Ok(_lock) = self.store.lock_session(&id, &self.owner) else { continue };
            suspend_leftovers(self, &id).await?;
        }
        Ok(())
    }
}

pub(crate) async fn open_roots(path: &Path) -> Result<Roots, CoxError> {
    let path = path.to_path_buf();
    let shown = cox_exec::path_to_text(&path);
    let opened = tokio::task::spawn_blocking(move || Roots::open(&path)).await;
    let opened = opened.map_err(|error| CoxError::new(ErrorCode::Internal, error.to_string()))?;
    opened.map_err(|error| {
        CoxError::new(ErrorCode::FolderUnusable, format!("the folder {shown} can't be opened: {error}"))
            .hint("Put it back where it was, or open the project from its new place.")
    })
}

/// AGENTS.md, else CLAUDE.md: text for the model, never settings (W32).
pub(crate) async fn read_instructions(roots: &Roots) -> Option<(String, String)> {
    let read = |roots: &Roots| {
        ["AGENTS.md", "CLAUDE.md"].iter().find_map(|name| {
            let at = roots.resolve(name).ok()?;
            let content = roots.read(&at, INSTRUCTIONS_CAP).ok()?;
            let text = String::from_utf8(content.bytes).ok()?;
            (!text.trim().is_empty()).then(|| ((*name).to_owned(), text))
        })
    };
    roots.blocking(read).await
}

fn provider_settings(view: &SessionView) -> ProviderSettings {
    let kind = [ProviderKind::Anthropic, ProviderKind::Openai, ProviderKind::Rehearsal]
        .into_iter()
        .find(|kind| kind.name() == view.provider)
        .unwrap_or(ProviderKind::Rehearsal);
    // It was confirmed when the session began; without that there would be no session.
    ProviderSettings { kind, base_url: view.base_url.clone(), plain_http_confirmed: true }
}

/// Gives every task of a session that nobody runs any more a definite state (N10, N24, R10).
async fn suspend_leftovers(core: &Core, id: &SessionId) -> Result<(), CoxError> {
    let Some(view) = core.store.session_view(id).await.map_err(|error| storage(&error))? else {
        return Ok(());
    };
    let work = core.store.open_work(id).await.map_err(|error| storage(&error))?;
    let now = core.clock.now_ms();
    let mut events = Vec::new();
    for process in &work.processes {
        let marker = process.task_id.as_ref().map(TaskId::as_str).unwrap_or_default();
        let reaped = reap(process.pgid, process.start_ticks, marker).await;
        tracing::info!(pgid = process.pgid, ?reaped, "a process group of a dead owner");
        let mut event = NewEvent::session(id.clone(), now, EventKind::ProcessEnded { pgid: process.pgid });
        event.task_id.clone_from(&process.task_id);
        events.push(event);
    }
    for item in &view.inbox {
        let kind = EventKind::InboxClosed { id: item.id.clone(), answer: Answer::Withdrawn };
        let mut event = NewEvent::session(id.clone(), now, kind);
        event.task_id = Some(item.task_id.clone());
        events.push(event);
    }
    for task in view.tasks.iter().filter(|task| task.status.is_live()) {
        if task.kind == TaskKind::Lead && task.generation == 0 {
            continue;
        }
        events.extend(leftover(core, id, task, now));
    }
    if events.is_empty() {
        return Ok(());
    }
    core.store.append(events).await.map(drop).map_err(|error| storage(&error))
}

/// A task that ran is suspended; a background command is gone for good, and its owner is told.
fn leftover(core: &Core, id: &SessionId, task: &TaskView, now: i64) -> Vec<NewEvent> {
    let event = |of: &TaskId, parent: Option<TaskId>, kind: EventKind| {
        let mut event = NewEvent::session(id.clone(), now, kind);
        event.task_id = Some(of.clone());
        event.parent_task_id = parent;
        event.generation = task.generation;
        event.turn = task.turn;
        event
    };
    if task.kind != TaskKind::Shell {
        let reason = "Coxswain ended while it ran".to_owned();
        return vec![event(&task.id, task.parent.clone(), EventKind::TaskInterrupted { reason })];
    }
    let outcome = Outcome::Killed { by: KilledBy::Owner };
    let ended = EventKind::GenerationEnded {
        outcome: outcome.clone(),
        result: None,
        value: None,
        evidence: Evidence::default(),
    };
    let mut events = vec![event(&task.id, task.parent.clone(), ended)];
    if let Some(parent) = &task.parent {
        let envelope = cox_protocol::envelope::Envelope {
            task_id: task.id.clone(),
            name: task.name.clone(),
            generation: task.generation,
            tool_use_id: task.tool_use_id.clone(),
            output_file: task.output_file.clone(),
            summary: format!("Background command \"{}\" was killed because Coxswain ended", task.description),
            outcome,
            result: None,
            evidence: None,
            usage: None,
            still_open: Vec::new(),
        };
        let notification_id =
            cox_protocol::id::NotificationId::new(core.mint.next(cox_protocol::id::NotificationId::PREFIX));
        events.push(event(parent, None, EventKind::NotificationQueued { notification_id, envelope }));
    }
    events
}

fn table(view: &SessionView, work: OpenWork) -> Table {
    let mut table = Table::default();
    for task in &view.tasks {
        table.insert(row(task));
    }
    for waiting in work.messages {
        if let Some(row) = waiting.task_id.as_ref().and_then(|task| table.get_mut(task)) {
            row.queue.push_back(waiting.message);
        }
    }
    for waiting in work.notifications {
        if let Some(row) = waiting.task_id.as_ref().and_then(|task| table.get_mut(task)) {
            row.notes.push_back(Note::Notification { id: waiting.id, envelope: Box::new(waiting.envelope) });
        }
    }
    table
}

fn row(task: &TaskView) -> Row {
    let last = task.outcome.as_ref().map(|outcome| Ended {
        outcome: outcome.clone(),
        result: task.result.clone(),
        evidence: task.evidence.clone().unwrap_or_default(),
    });
    Row {
        id: task.id.clone(),
        kind: task.kind,
        name: task.name.clone(),
        description: task.description.clone(),
        output_file: task.output_file.clone(),
        parent: task.parent.clone(),
        tool_use_id: task.tool_use_id.clone(),
        status: task.status,
        generation: task.generation,
        turn: task.turn,
        started_at: task.started_at,
        spec: None,
        last,
        queue: VecDeque::new(),
        notes: VecDeque::new(),
        control: None,
        foreground: None,
        shell: None,
        state: watch::Sender::new((task.status, task.generation)),
    }
}

/// The lead learns once that a worker of its was suspended (W14). Whether it has learnt it already stands in its
/// transcript.
async fn note_suspended_children(core: &Core, table: &mut Table, lead: &TaskId) {
    let suspended: Vec<(TaskId, String)> = table
        .workers()
        .filter(|row| row.status == TaskStatus::Interrupted)
        .map(|row| (row.id.clone(), row.name.clone()))
        .collect();
    if suspended.is_empty() {
        return;
    }
    let rows = core.store.transcript(lead).await.unwrap_or_default();
    let knows = |task: &TaskId| {
        rows.iter().any(|row| {
            matches!(&row.entry, Entry::Runtime { note: RuntimeNote::ChildInterrupted { task_id, .. } } if task_id == task)
        })
    };
    for (task_id, name) in suspended {
        if !knows(&task_id)
            && let Some(row) = table.get_mut(lead)
        {
            let reason = "Coxswain ended while it ran".to_owned();
            row.notes.push_back(Note::Runtime(RuntimeNote::ChildInterrupted { task_id, name, reason }));
        }
    }
}

impl Session {
    /// Sets the live mode and gives the event that records it, if it may be recorded (W25).
    pub(crate) fn mode_event(&self, mode: PermissionMode) -> Option<NewEvent> {
        self.set_permission_mode(mode);
        if mode == PermissionMode::BypassPermissions {
            return None;
        }
        let kind = EventKind::SessionModeSet { permission_mode: mode };
        Some(NewEvent::session(self.id.clone(), self.core.clock.now_ms(), kind))
    }

    /// Is this the folder's own name?
    pub(crate) fn is_folder_name(&self, name: &str) -> bool {
        self.folder.file_name().is_some_and(|own| own.to_string_lossy() == name)
    }

    /// How many generations run in this process.
    pub(crate) fn running(&self) -> usize {
        lock(&self.controls).len()
    }
}
