//! A store in a folder of its own, and short ways to make events.

use cox_protocol::entry::{Party, ResultStatus, StopReason};
use cox_protocol::event::{Cause, EventBody, EventKind, QueuedMessage};
use cox_protocol::inbox::{Action, Ask, InboxItem};
use cox_protocol::task::{Evidence, Outcome, PermissionMode, SessionMode, TaskKind, TaskSpec};
use cox_protocol::{
    Block, Entry, Event, InboxId, MessageId, NewEvent, ProjectId, SessionId, TaskId, ToolCall, ToolDetail,
    ToolResult,
};
use cox_store::{OpenOptions, Store, output_file};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Every event that the sink got.
pub(crate) type Seen = Arc<Mutex<Vec<Arc<Event>>>>;

/// A store and its folder, which is removed at the end.
pub(crate) struct Fixture {
    pub(crate) store: Store,
    pub(crate) seen: Seen,
    pub(crate) folder: TempDir,
}

pub(crate) fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let (store, seen) = open(folder.path());
    Fixture { store, seen, folder }
}

impl Fixture {
    /// The handle goes, as in a crash: nothing is flushed or closed; and the database is opened again.
    pub(crate) fn reopen(self) -> Fixture {
        let Fixture { store, folder, .. } = self;
        drop(store);
        let (store, seen) = open(folder.path());
        Fixture { store, seen, folder }
    }
}

pub(crate) fn open(folder: &Path) -> (Store, Seen) {
    let seen = Seen::default();
    let sink = Arc::clone(&seen);
    let store = Store::open(
        folder,
        OpenOptions::default(),
        Box::new(move |events| sink.lock().unwrap().extend(events.iter().cloned())),
    )
    .unwrap();
    (store, seen)
}

pub(crate) fn session(n: impl std::fmt::Display) -> SessionId {
    SessionId::new(format!("s_{n}"))
}

pub(crate) fn task(n: impl std::fmt::Display) -> TaskId {
    TaskId::new(format!("t_{n}"))
}

/// An event about a session.
pub(crate) fn of_session(session: &SessionId, at: i64, kind: EventKind) -> NewEvent {
    NewEvent::session(session.clone(), at, kind)
}

/// An event about a task, in its first generation's first turn.
pub(crate) fn of_task(session: &SessionId, task: &TaskId, at: i64, kind: EventKind) -> NewEvent {
    NewEvent {
        task_id: Some(task.clone()),
        generation: 1,
        turn: 1,
        ..NewEvent::session(session.clone(), at, kind)
    }
}

pub(crate) fn created(project: &str) -> EventKind {
    EventKind::SessionCreated {
        project_id: ProjectId::new(project),
        title: "A session".into(),
        mode: SessionMode::Coordinator,
        permission_mode: PermissionMode::Default,
        provider: "rehearsal".into(),
        base_url: None,
        model: "rehearsal".into(),
    }
}

pub(crate) fn started(session: &SessionId, task: &TaskId, kind: TaskKind) -> EventKind {
    EventKind::TaskStarted {
        spec: TaskSpec {
            kind,
            name: task.to_string(),
            description: "looks around".into(),
            prompt: "Look around.".into(),
            role: "worker".into(),
            model: "rehearsal".into(),
            permission_mode: PermissionMode::Default,
            tint: 1,
            output_file: output_file(session, task),
            frozen: None,
        },
    }
}

/// A session with its lead.
pub(crate) fn begin(session: &SessionId, lead: &TaskId, project: &str, at: i64) -> Vec<NewEvent> {
    vec![
        of_session(session, at, created(project)),
        NewEvent {
            generation: 0,
            turn: 0,
            ..of_task(session, lead, at, started(session, lead, TaskKind::Lead))
        },
    ]
}

pub(crate) fn runs() -> EventKind {
    EventKind::GenerationStarted { cause: Cause::Dispatch }
}

pub(crate) fn ends() -> EventKind {
    EventKind::GenerationEnded {
        outcome: Outcome::Completed,
        result: Some("done".into()),
        value: None,
        evidence: Evidence::default(),
    }
}

pub(crate) fn entry(entry: Entry) -> EventKind {
    EventKind::Entry { entry }
}

pub(crate) fn says(text: &str) -> EventKind {
    entry(Entry::User { from: Party::User, text: text.into(), message_id: None })
}

pub(crate) fn answers(text: &str) -> EventKind {
    calls_and_says(text, &[])
}

pub(crate) fn calls(ids: &[&str]) -> EventKind {
    calls_and_says("", ids)
}

fn calls_and_says(text: &str, ids: &[&str]) -> EventKind {
    let mut blocks = vec![Block::Text { text: text.into() }];
    blocks.extend(ids.iter().map(|id| Block::ToolCall { call: call(id) }));
    let stop = if ids.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
    entry(Entry::Assistant { blocks, stop, model: "rehearsal".into(), interrupted: false })
}

pub(crate) fn call(id: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "Read".into(),
        input: serde_json::json!({ "path": "src/main.rs" }),
        invalid: None,
        raw: None,
    }
}

pub(crate) fn results(ids: &[&str]) -> EventKind {
    let result = |id: &&str| ToolResult {
        call_id: (*id).into(),
        tool: "Read".into(),
        status: ResultStatus::Ok,
        content: "1\tfn main() {}".into(),
        full: None,
        detail: ToolDetail::None,
        duration_ms: 1,
    };
    entry(Entry::ToolResults { results: ids.iter().map(result).collect() })
}

pub(crate) fn item(session: &SessionId, task: &TaskId, id: &str, call_id: &str) -> InboxItem {
    InboxItem {
        id: InboxId::new(id),
        session_id: session.clone(),
        task_id: task.clone(),
        asker: "coordinator > worker".into(),
        call_id: call_id.into(),
        reason: None,
        at: 5,
        ask: Ask::Permission {
            action: Action::Command { command: "cargo test".into(), cwd: ".".into(), background: false },
            because: "commands are asked about".into(),
            always: None,
            offer_accept_edits: false,
        },
    }
}

pub(crate) fn queued(id: &str, to: &TaskId) -> EventKind {
    EventKind::MessageQueued {
        message: QueuedMessage {
            id: MessageId::new(id),
            from: Party::User,
            to: Party::Agent { task_id: to.clone() },
            summary: None,
            text: "go on".into(),
        },
    }
}

/// A kind that this version does not know.
pub(crate) fn from_the_future(session: &SessionId, task: &TaskId) -> NewEvent {
    let fields = serde_json::json!({ "kind": "teamFormed", "members": ["a", "b"], "depth": 3 });
    let serde_json::Value::Object(fields) = fields else { unreachable!() };
    NewEvent { body: EventBody::Unknown(fields), ..of_task(session, task, 7, ends()) }
}
