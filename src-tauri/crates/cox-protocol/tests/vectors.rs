//! The fold's shared vectors (W11): events in, views out. The window's fold reads the same files and has to come to
//! the same views. `COX_UPDATE_VECTORS=1 cargo test -p cox-protocol --test vectors` writes them anew.
#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

use cox_protocol::entry::{
    Block, CommandRun, Entry, FileChange, Party, ResultStatus, RuntimeNote, StopReason, ToolCall, ToolDetail,
    ToolResult,
};
use cox_protocol::envelope::Envelope;
use cox_protocol::event::{Cause, Event, EventBody, EventKind, NewEvent, PrefixMark, QueuedMessage};
use cox_protocol::inbox::{Action, Answer, Ask, InboxItem, Rule};
use cox_protocol::task::{
    Evidence, FailKind, KilledBy, Outcome, PermissionMode, SessionMode, TaskKind, TaskSpec, Usage,
};
use cox_protocol::view::{PanelView, SessionView};
use cox_protocol::{InboxId, MessageId, NotificationId, ProjectId, RequestId, SessionId, TaskId};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Vector {
    session: SessionId,
    events: Vec<Event>,
    view: SessionView,
    panels: BTreeMap<String, PanelView>,
}

/// Builds a log, one event after another.
struct Log {
    events: Vec<Event>,
    now: i64,
}

const LEAD: &str = "t_lead";

impl Log {
    fn begin() -> Self {
        let mut log = Self { events: Vec::new(), now: 1_790_000_000_000 };
        log.session(EventKind::SessionCreated {
            project_id: ProjectId::new("p_1"),
            title: "New session".into(),
            mode: SessionMode::Coordinator,
            permission_mode: PermissionMode::Default,
            provider: "rehearsal".into(),
            base_url: None,
            model: "rehearsal".into(),
        });
        log.push(LEAD, None, 0, 0, EventKind::TaskStarted { spec: spec(TaskKind::Lead, "coordinator", 0) });
        log
    }

    fn session(&mut self, kind: EventKind) {
        self.now += 10;
        let new = NewEvent::session(SessionId::new("s_1"), self.now, kind);
        self.events.push(new.stored(self.events.len() as u64 + 1));
    }

    fn push(&mut self, task: &str, parent: Option<&str>, generation: u32, turn: u32, kind: EventKind) {
        self.now += 10;
        let mut new = NewEvent::session(SessionId::new("s_1"), self.now, kind);
        new.task_id = Some(TaskId::new(task));
        new.parent_task_id = parent.map(TaskId::new);
        new.tool_use_id = parent.map(|_| format!("call_{task}"));
        (new.generation, new.turn) = (generation, turn);
        self.events.push(new.stored(self.events.len() as u64 + 1));
    }

    fn lead(&mut self, turn: u32, kind: EventKind) {
        self.push(LEAD, None, 1, turn, kind);
    }

    fn worker(&mut self, turn: u32, kind: EventKind) {
        self.push("t_w1", Some(LEAD), 1, turn, kind);
    }

    fn vector(self) -> Vector {
        let session = SessionId::new("s_1");
        let mut view = SessionView::empty(session.clone());
        let mut panels: BTreeMap<String, PanelView> = BTreeMap::new();
        for event in &self.events {
            view.apply(event);
            if let Some(task) = &event.task_id {
                let panel = panels.entry(task.to_string()).or_insert_with(|| PanelView::empty(task.clone()));
                panel.apply(event);
            }
        }
        Vector { session, events: self.events, view, panels }
    }
}

fn spec(kind: TaskKind, name: &str, tint: u8) -> TaskSpec {
    TaskSpec {
        kind,
        name: name.into(),
        description: format!("About {name}"),
        prompt: "Look at src/lib.rs".into(),
        role: if kind == TaskKind::Lead { "coordinator".into() } else { "worker".into() },
        model: "rehearsal".into(),
        permission_mode: PermissionMode::Default,
        tint,
        output_file: format!("output/s_1/{name}.jsonl"),
        frozen: None,
    }
}

fn call(id: &str, name: &str, input: serde_json::Value) -> Block {
    Block::ToolCall { call: ToolCall { id: id.into(), name: name.into(), input, invalid: None, raw: None } }
}

fn answer(blocks: Vec<Block>) -> EventKind {
    EventKind::Entry {
        entry: Entry::Assistant {
            blocks,
            stop: StopReason::ToolUse,
            model: "rehearsal".into(),
            interrupted: false,
        },
    }
}

fn text(text: &str) -> Block {
    Block::Text { text: text.into() }
}

fn result(call_id: &str, tool: &str, detail: ToolDetail) -> ToolResult {
    ToolResult {
        call_id: call_id.into(),
        tool: tool.into(),
        status: ResultStatus::Ok,
        content: "done".into(),
        full: None,
        detail,
        duration_ms: 7,
    }
}

fn results(results: Vec<ToolResult>) -> EventKind {
    EventKind::Entry { entry: Entry::ToolResults { results } }
}

fn user(text: &str, message: Option<&str>) -> EventKind {
    EventKind::Entry {
        entry: Entry::User { from: Party::User, text: text.into(), message_id: message.map(MessageId::new) },
    }
}

fn queued(id: &str, to: &str) -> EventKind {
    EventKind::MessageQueued {
        message: QueuedMessage {
            id: MessageId::new(id),
            from: Party::User,
            to: Party::Agent { task_id: TaskId::new(to) },
            summary: Some("Look".into()),
            text: "Look\nat it".into(),
        },
    }
}

fn usage(input: u64, cost: Option<u64>) -> EventKind {
    EventKind::Usage {
        request_id: RequestId::new(format!("r_{input}")),
        model: "rehearsal".into(),
        usage: Usage { input, output: 20, cache_read: 5, cache_write: 1, estimated: true },
        cost_micro_usd: cost,
        price_version: "1".into(),
        prefix: PrefixMark { tools: "a".into(), system: "b".into(), messages: "c".into(), count: 2 },
        moved: None,
    }
}

fn change(path: &str) -> FileChange {
    FileChange {
        path: path.into(),
        before: Some("aa".into()),
        after: Some("bb".into()),
        added: 2,
        removed: 1,
    }
}

/// A coordinator dispatches a worker, which asks, edits, is told that a file changed, and completes.
fn dispatch() -> Log {
    let mut log = Log::begin();
    log.session(EventKind::SessionTitled { title: "Fix it".into() });
    log.lead(0, queued("m_1", LEAD));
    log.lead(0, EventKind::GenerationStarted { cause: Cause::Message });
    log.lead(0, user("Fix it", Some("m_1")));
    log.lead(0, EventKind::MessageDelivered { message_id: MessageId::new("m_1") });
    log.lead(
        1,
        answer(vec![
            text("On it."),
            call("c_1", "Agent", json!({"description": "Look at it", "prompt": "…"})),
        ]),
    );
    log.lead(1, usage(100, None));
    log.lead(1, EventKind::ToolStarted { call_id: "c_1".into(), read_only: false });
    log.worker(0, EventKind::TaskStarted { spec: spec(TaskKind::Worker, "look-1", 1) });
    log.worker(0, EventKind::GenerationStarted { cause: Cause::Dispatch });
    log.worker(0, user("Look at src/lib.rs", None));
    log.lead(
        1,
        results(vec![result(
            "c_1",
            "Agent",
            ToolDetail::Task { task_id: TaskId::new("t_w1"), name: "look-1".into() },
        )]),
    );
    let calls: Vec<Block> =
        (0..6).map(|n| call(&format!("w_{n}"), "Read", json!({"path": format!("src/file{n}.rs")}))).collect();
    log.worker(1, answer(calls));
    log.worker(1, usage(50, Some(1_200)));
    log.worker(1, results((0..3).map(|n| result(&format!("w_{n}"), "Read", ToolDetail::None)).collect()));
    log.worker(1, results((3..6).map(|n| result(&format!("w_{n}"), "Read", ToolDetail::None)).collect()));
    log.worker(1, EventKind::FileChanged { change: change("src/file1.rs"), before_blob: None, own: false });
    log.worker(
        2,
        answer(vec![
            call("w_7", "Edit", json!({"path": "src/file1.rs"})),
            call("w_8", "Bash", json!({"command": "cargo  test\n --all"})),
        ]),
    );
    log.worker(
        2,
        EventKind::InboxOpened {
            item: InboxItem {
                id: InboxId::new("i_1"),
                session_id: SessionId::new("s_1"),
                task_id: TaskId::new("t_w1"),
                asker: "coordinator > look-1".into(),
                call_id: "w_8".into(),
                reason: None,
                at: 1_790_000_000_500,
                ask: Ask::Permission {
                    action: Action::Command {
                        command: "cargo test".into(),
                        cwd: ".".into(),
                        background: false,
                    },
                    because: "commands are asked about".into(),
                    always: Some(Rule {
                        effect: cox_protocol::inbox::Effect::Allow,
                        pattern: "Bash(cargo test)".into(),
                    }),
                    offer_accept_edits: false,
                },
            },
        },
    );
    log.worker(2, EventKind::ToolStarted { call_id: "w_7".into(), read_only: false });
    log.worker(
        2,
        EventKind::FileChanged {
            change: change("src/file1.rs"),
            before_blob: Some("hash".into()),
            own: true,
        },
    );
    let detail = ToolDetail::Change { change: change("src/file1.rs"), diff: "-a\n+b\n".into() };
    log.worker(2, results(vec![result("w_7", "Edit", detail)]));
    log
}

fn completed() -> Log {
    let mut log = dispatch();
    log.worker(2, EventKind::InboxClosed { id: InboxId::new("i_1"), answer: Answer::AllowOnce });
    log.worker(2, EventKind::ToolStarted { call_id: "w_8".into(), read_only: false });
    let run = CommandRun {
        command: "cargo test".into(),
        exit_code: Some(0),
        signal: None,
        timed_out: false,
        killed: 0,
        output_bytes: 12,
        duration_ms: 900,
    };
    log.worker(
        2,
        results(vec![result("w_8", "Bash", ToolDetail::Command { run: run.clone(), background: None })]),
    );
    log.worker(3, answer(vec![text("All good.")]));
    log.worker(3, usage(70, Some(900)));
    let evidence = Evidence {
        tool_uses: 8,
        commands: vec![run],
        files: vec![change("src/file1.rs")],
        wall_ms: 400,
        ..Evidence::default()
    };
    log.worker(
        3,
        EventKind::GenerationEnded {
            outcome: Outcome::Completed,
            result: Some("x".repeat(2_500)),
            value: None,
            evidence: evidence.clone(),
        },
    );
    let envelope = Envelope {
        task_id: TaskId::new("t_w1"),
        name: "look-1".into(),
        generation: 1,
        tool_use_id: Some("c_1".into()),
        output_file: "output/s_1/look-1.jsonl".into(),
        outcome: Outcome::Completed,
        summary: "look-1 completed".into(),
        result: Some("All good.".into()),
        evidence: Some(evidence),
        usage: None,
        still_open: vec![],
    };
    let notification_id = NotificationId::new("n_1");
    log.lead(
        0,
        EventKind::NotificationQueued {
            notification_id: notification_id.clone(),
            envelope: envelope.clone(),
        },
    );
    let note = RuntimeNote::Notification { envelope };
    log.lead(1, EventKind::Entry { entry: Entry::Runtime { note } });
    log.lead(1, EventKind::NotificationDelivered { notification_id });
    log.lead(2, answer(vec![text("Done.")]));
    log.lead(
        2,
        EventKind::GenerationEnded {
            outcome: Outcome::Completed,
            result: Some("Done.".into()),
            value: None,
            evidence: Evidence::default(),
        },
    );
    log
}

/// A retry, a cut answer, a suspension, a resumption, a stop; a message withdrawn; an event from the future.
fn rough() -> Log {
    let mut log = dispatch();
    log.worker(
        3,
        EventKind::RequestRetried {
            attempt: 1,
            max_attempts: 3,
            delay_ms: 1_500,
            status: Some(529),
            category: FailKind::Overloaded,
            message: "overloaded".into(),
        },
    );
    log.worker(0, queued("m_2", "t_w1"));
    log.worker(0, queued("m_3", "t_w1"));
    log.worker(0, EventKind::MessageWithdrawn { message_id: MessageId::new("m_2") });
    log.worker(2, EventKind::InboxClosed { id: InboxId::new("i_1"), answer: Answer::Withdrawn });
    log.worker(3, EventKind::TaskInterrupted { reason: "closed".into() });
    log.worker(3, EventKind::TaskResumed {});
    log.worker(3, EventKind::TaskWaiting { shells: vec![TaskId::new("t_s1")] });
    let fields = json!({"kind": "fromTheFuture", "colour": "blue"});
    let serde_json::Value::Object(fields) = fields else { unreachable!() };
    log.now += 10;
    let mut future = NewEvent::session(SessionId::new("s_1"), log.now, EventKind::TaskResumed {});
    future.body = EventBody::Unknown(fields);
    log.events.push(future.stored(log.events.len() as u64 + 1));
    log.worker(
        3,
        EventKind::GenerationEnded {
            outcome: Outcome::Killed { by: KilledBy::User },
            result: None,
            value: None,
            evidence: Evidence::default(),
        },
    );
    log.session(EventKind::SessionModeSet { permission_mode: PermissionMode::AcceptEdits });
    log.push("t_w1", Some(LEAD), 2, 0, EventKind::GenerationStarted { cause: Cause::Message });
    log
}

fn check(name: &str, log: Log) {
    let vector = log.vector();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fold").join(format!("{name}.json"));
    let text = serde_json::to_string_pretty(&vector).unwrap() + "\n";
    #[expect(clippy::disallowed_methods, reason = "a switch for the developer, in a test")]
    if std::env::var("COX_UPDATE_VECTORS").is_ok() {
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == text,
        "{name}.json is stale: COX_UPDATE_VECTORS=1 cargo test -p cox-protocol --test vectors"
    );
    let read: Vector = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, vector, "what is read is what was written, unknown kinds too (W2)");
}

#[test]
fn a_dispatch_in_progress() {
    check("dispatch", dispatch());
}

#[test]
fn a_completed_worker() {
    check("completed", completed());
}

#[test]
fn a_rough_ride() {
    check("rough", rough());
}

// W11: a snapshot and the events after it give the same as the whole log, at every place.
#[test]
fn a_snapshot_and_the_rest_are_the_whole() {
    for log in [dispatch(), completed(), rough()] {
        let whole = log.vector();
        for cut in 0..whole.events.len() {
            let mut view = SessionView::empty(whole.session.clone());
            whole.events[..cut].iter().for_each(|event| view.apply(event));
            let json = serde_json::to_string(&view).unwrap();
            let mut view: SessionView = serde_json::from_str(&json).unwrap();
            // An overlap changes nothing.
            whole.events[cut.saturating_sub(2)..].iter().for_each(|event| view.apply(event));
            assert_eq!(view, whole.view, "cut at {cut}");
        }
    }
}
