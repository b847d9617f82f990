//! A project folder, and fakes for what the engine does.

mod fakes;

pub(crate) use fakes::{Asked, FakeAsk, FakeJournal, FakeTasks};

use cox_exec::{ChildEnv, ReadStamps, Roots, Shell};
use cox_policy::RuleSet;
use cox_protocol::entry::ResultStatus;
use cox_protocol::inbox::{Answer, Effect, Rule};
use cox_protocol::task::PermissionMode;
use cox_protocol::{SessionId, TaskId, ToolCall};
use cox_tools::{Done, Rights, ToolCx, Toolbox};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A project and an agent in it.
pub(crate) struct Room {
    pub(crate) folder: TempDir,
    pub(crate) cx: ToolCx,
    pub(crate) ask: Arc<FakeAsk>,
    pub(crate) tasks: Arc<FakeTasks>,
    pub(crate) journal: Arc<FakeJournal>,
    pub(crate) toolbox: Toolbox,
    calls: AtomicU32,
}

/// A room in which edits pass and commands are asked about.
pub(crate) fn room(files: &[(&str, &str)]) -> Room {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let (ask, tasks, journal): (Arc<FakeAsk>, Arc<FakeTasks>, Arc<FakeJournal>) = Default::default();
    let cx = ToolCx {
        session_id: SessionId::new("s1"),
        task_id: TaskId::new("t1"),
        call_id: String::new(),
        roots: Roots::open(folder.path()).unwrap(),
        shell: Arc::new(Shell::new(ChildEnv::inherited())),
        stamps: Arc::new(ReadStamps::default()),
        rights: Arc::new(Rights::new(PermissionMode::AcceptEdits, Arc::new(rules(&[])), false, false)),
        cancel: CancellationToken::new(),
        ask: ask.clone(),
        tasks: tasks.clone(),
        journal: journal.clone(),
        output_schema: None,
        reason: None,
    };
    Room { folder, cx, ask, tasks, journal, toolbox: Toolbox::standard(), calls: AtomicU32::new(0) }
}

/// Rules from their patterns.
pub(crate) fn rules(rules: &[(Effect, &str)]) -> RuleSet {
    let rules: Vec<Rule> = rules
        .iter()
        .map(|(effect, pattern)| Rule { effect: *effect, pattern: (*pattern).to_owned() })
        .collect();
    let (set, problems) = RuleSet::parse(&rules);
    assert!(problems.is_empty(), "every rule of a test can be read");
    set
}

impl Room {
    pub(crate) fn mode(self, mode: PermissionMode) -> Self {
        self.cx.rights.set_mode(mode);
        self
    }

    pub(crate) fn rules(self, list: &[(Effect, &str)]) -> Self {
        self.cx.rights.set_rules(Arc::new(rules(list)));
        self
    }

    /// The next questions are answered with these, in order.
    pub(crate) fn answers(self, answers: impl IntoIterator<Item = Answer>) -> Self {
        self.ask.answers.lock().unwrap().extend(answers);
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// A call with a fresh id.
    pub(crate) fn a_call(&self, tool: &str, input: Value) -> ToolCall {
        let id = format!("c{}", self.calls.fetch_add(1, Ordering::Relaxed) + 1);
        ToolCall { id, name: tool.to_owned(), input, invalid: None, raw: None }
    }

    /// Every tool.
    pub(crate) fn pool(&self) -> Vec<String> {
        self.toolbox.names().into_iter().map(str::to_owned).collect()
    }

    /// The context of a call.
    pub(crate) fn cx(&self, call: &ToolCall) -> ToolCx {
        ToolCx { call_id: call.id.clone(), ..self.cx.clone() }
    }

    /// Prepares and executes.
    pub(crate) async fn run(&self, call: ToolCall) -> Done {
        let cx = self.cx(&call);
        let prepared = self.toolbox.prepare(&call, &self.pool(), &cx).await;
        let mut done = self.toolbox.execute(prepared, &cx).await;
        done.result.duration_ms = 0;
        done
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, tool: &str, input: Value) -> Done {
        self.run(self.a_call(tool, input)).await
    }

    /// Calls a tool; its status and content.
    pub(crate) async fn says(&self, tool: &str, input: Value) -> (ResultStatus, String) {
        let done = self.call(tool, input).await;
        (done.result.status, done.result.content)
    }

    /// Calls a tool that has to do what was asked; its content.
    pub(crate) async fn ok(&self, tool: &str, input: Value) -> String {
        let (status, content) = self.says(tool, input).await;
        assert_eq!(status, ResultStatus::Ok, "{content}");
        content
    }
}
