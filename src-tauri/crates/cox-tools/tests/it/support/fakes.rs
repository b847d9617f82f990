//! The ports of the engine, as far as tests need them.

use async_trait::async_trait;
use cox_exec::{FileHash, Running};
use cox_protocol::TaskId;
use cox_protocol::entry::BlobRef;
use cox_protocol::inbox::{Action, Answer, Question, Rule};
use cox_tools::{
    Ask, Dispatch, Journal, OutputReport, Receipt, Sent, TaskControl, TaskError, TaskErrorKind, TaskSummary,
    ToolCx,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// What a person was asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) action: Action,
    pub(crate) always: Option<Rule>,
    pub(crate) offer_accept_edits: bool,
}

type Meanwhile = Box<dyn Fn(&ToolCx) + Send + Sync>;

/// Answers in order; with no answer left it waits for ever.
#[derive(Default)]
pub(crate) struct FakeAsk {
    pub(crate) answers: Mutex<VecDeque<Answer>>,
    pub(crate) asked: Mutex<Vec<Asked>>,
    pub(crate) questions: Mutex<Vec<Question>>,
    /// Happens while the person thinks.
    pub(crate) meanwhile: Mutex<Option<Meanwhile>>,
    /// Somebody was asked.
    pub(crate) waiting: Notify,
}

impl FakeAsk {
    async fn answer(&self, cx: &ToolCx) -> Answer {
        if let Some(meanwhile) = &*self.meanwhile.lock().unwrap() {
            meanwhile(cx);
        }
        self.waiting.notify_one();
        let next = self.answers.lock().unwrap().pop_front();
        match next {
            Some(answer) => answer,
            None => {
                cx.cancel.cancelled().await;
                Answer::Withdrawn
            }
        }
    }
}

#[async_trait]
impl Ask for FakeAsk {
    async fn permission(
        &self,
        cx: &ToolCx,
        action: Action,
        _because: String,
        always: Option<Rule>,
        offer_accept_edits: bool,
    ) -> Answer {
        self.asked.lock().unwrap().push(Asked { action, always, offer_accept_edits });
        self.answer(cx).await
    }

    async fn questions(&self, cx: &ToolCx, questions: Vec<Question>) -> Answer {
        self.questions.lock().unwrap().extend(questions);
        self.answer(cx).await
    }
}

/// Keeps everything in memory, in order.
#[derive(Default)]
pub(crate) struct FakeJournal {
    pub(crate) log: Mutex<Vec<String>>,
    pub(crate) blobs: Mutex<BTreeMap<String, Vec<u8>>>,
    pub(crate) live: Mutex<String>,
    pub(crate) heard: Notify,
    /// The store refuses blobs.
    pub(crate) full: Mutex<bool>,
    /// Cancelled when a call starts.
    pub(crate) on_start: Mutex<Option<CancellationToken>>,
}

impl FakeJournal {
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    fn note(&self, line: String) {
        self.log.lock().unwrap().push(line);
    }

    /// Waits until a running command has said this.
    pub(crate) async fn hear(&self, word: &str) {
        loop {
            let heard = self.heard.notified();
            if self.live.lock().unwrap().contains(word) {
                return;
            }
            heard.await;
        }
    }
}

#[async_trait]
impl Journal for FakeJournal {
    async fn started(&self, cx: &ToolCx, read_only: bool) {
        self.note(format!("started {} {}", cx.call_id, if read_only { "read" } else { "change" }));
        if let Some(token) = &*self.on_start.lock().unwrap() {
            token.cancel();
        }
    }

    async fn blob(&self, bytes: Vec<u8>) -> Result<BlobRef, String> {
        if *self.full.lock().unwrap() {
            return Err("the disk is full".to_owned());
        }
        let blob = BlobRef { hash: FileHash::of(&bytes).to_string(), size: bytes.len() as u64 };
        self.blobs.lock().unwrap().insert(blob.hash.clone(), bytes);
        Ok(blob)
    }

    async fn process(&self, cx: &ToolCx, pgid: i32, start_ticks: u64) {
        assert!(pgid > 1 && start_ticks > 0, "a group can be found again: {pgid} {start_ticks}");
        self.note(format!("process {}", cx.call_id));
    }

    async fn process_ended(&self, cx: &ToolCx, _pgid: i32) {
        self.note(format!("process ended {}", cx.call_id));
    }

    fn live_output(&self, cx: &ToolCx, text: &str) {
        self.live.lock().unwrap().push_str(&format!("{}:{text}", cx.task_id));
        self.heard.notify_one();
    }
}

/// Gives what the test put in; refuses what it did not.
#[derive(Default)]
pub(crate) struct FakeTasks {
    pub(crate) dispatched: Mutex<Vec<Dispatch>>,
    pub(crate) receipt: Mutex<Option<Receipt>>,
    pub(crate) sent: Mutex<Vec<(String, Option<String>, String)>>,
    pub(crate) sending: Mutex<Option<Sent>>,
    pub(crate) stopping: Mutex<Option<TaskSummary>>,
    pub(crate) report: Mutex<Option<OutputReport>>,
    /// A blocking read never sees the end.
    pub(crate) never_ends: Mutex<bool>,
    pub(crate) shells: Mutex<Vec<(String, Running, bool)>>,
    /// Background commands are refused.
    pub(crate) no_shells: Mutex<bool>,
}

fn not_found() -> TaskError {
    TaskError::new(TaskErrorKind::NotFound, "there is no such task")
}

#[async_trait]
impl TaskControl for FakeTasks {
    async fn dispatch(&self, _cx: &ToolCx, dispatch: Dispatch) -> Result<Receipt, TaskError> {
        self.dispatched.lock().unwrap().push(dispatch);
        let limit = || {
            TaskError::new(TaskErrorKind::LimitReached, "50 workers were started; work with what they gave")
        };
        self.receipt.lock().unwrap().clone().ok_or_else(limit)
    }

    async fn send(
        &self,
        _cx: &ToolCx,
        to: String,
        summary: Option<String>,
        text: String,
    ) -> Result<Sent, TaskError> {
        self.sent.lock().unwrap().push((to, summary, text));
        self.sending.lock().unwrap().clone().ok_or_else(not_found)
    }

    async fn stop(&self, _cx: &ToolCx, _id: String) -> Result<TaskSummary, TaskError> {
        self.stopping.lock().unwrap().clone().ok_or_else(not_found)
    }

    async fn output(
        &self,
        cx: &ToolCx,
        _id: String,
        block: bool,
        timeout_ms: u64,
    ) -> Result<OutputReport, TaskError> {
        assert!(timeout_ms <= 600_000, "the wait has a cap");
        let never = *self.never_ends.lock().unwrap();
        if block && never {
            cx.cancel.cancel();
            std::future::pending::<()>().await;
        }
        self.report.lock().unwrap().clone().ok_or_else(not_found)
    }

    async fn start_shell(
        &self,
        _cx: &ToolCx,
        command: String,
        running: Running,
        service: bool,
    ) -> Result<TaskId, TaskError> {
        if *self.no_shells.lock().unwrap() {
            return Err(TaskError::new(TaskErrorKind::LimitReached, "no more background commands"));
        }
        self.shells.lock().unwrap().push((command, running, service));
        Ok(TaskId::new("t9"))
    }
}
