//! What the connections of a server share.

use crate::answer::Answer;
use crate::captured::CapturedRequest;
use crate::check::conversation::Conversations;
use crate::check::{self, Problem, ProblemKind};
use crate::gates::Gates;
use crate::script::{Agent, Script};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::Notify;

type Rule = Arc<dyn Fn(&CapturedRequest) -> Answer + Send + Sync>;

/// Shared by all connections.
pub(super) struct State {
    pub(super) gates: Gates,
    pub(super) started_at: Instant,
    inner: Mutex<Inner>,
    changed: Notify,
}

/// What changes while it runs.
pub(super) struct Inner {
    pub(super) script: Script,
    pub(super) fallback: Option<Rule>,
    pub(super) models: Vec<String>,
    pub(super) key: Option<String>,
    pub(super) unchecked: bool,
    pub(super) requests: Vec<CapturedRequest>,
    pub(super) allowed: Vec<(ProblemKind, String)>,
    found: Vec<Problem>,
    conversations: Conversations,
}

impl Default for State {
    fn default() -> Self {
        let inner = Inner {
            script: Script::default(),
            fallback: None,
            models: vec!["test-model".into()],
            key: None,
            unchecked: false,
            requests: Vec::new(),
            allowed: Vec::new(),
            found: Vec::new(),
            conversations: Conversations::default(),
        };
        Self {
            gates: Gates::default(),
            started_at: Instant::now(),
            inner: Mutex::new(inner),
            changed: Notify::new(),
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

impl State {
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let result = change(&mut self.inner.lock().expect("no rule of a test has panicked"));
        self.changed.notify_waiters();
        result
    }

    /// Waits until there is something.
    pub(super) async fn until<T>(&self, mut look: impl FnMut(&Inner) -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(found) = look(&self.inner.lock().expect("no rule of a test has panicked")) {
                return found;
            }
            changed.await;
        }
    }

    pub(super) fn add(&self, agent: Agent) -> usize {
        self.with(|inner| {
            inner.script.agents.push(agent);
            inner.script.agents.len() - 1
        })
    }

    pub(super) fn set_fallback(&self, rule: Rule) {
        self.with(|inner| inner.fallback = Some(rule));
    }

    /// Captures a request, checks it, and finds its answer.
    pub(super) fn take(&self, mut request: CapturedRequest) -> (CapturedRequest, Answer) {
        self.with(|inner| {
            request.index = inner.requests.len();
            if !inner.unchecked {
                inner.check(&mut request);
            }
            let answer = match inner.script.answer(&request) {
                Some((agent, answer)) => {
                    request.agent = Some(agent);
                    answer
                }
                None => match &inner.fallback {
                    Some(rule) => rule(&request),
                    None => {
                        let said = request.last_user_text().unwrap_or_default();
                        let message = format!("no agent has an answer left; the last user text is {said:?}");
                        inner.note(request.index, ProblemKind::Script, message);
                        Answer::error(
                            400,
                            "invalid_request_error",
                            "the script has no answer for this request",
                        )
                    }
                },
            };
            if !inner.unchecked {
                inner.conversations.answered(request.conversation, request.index, &answer);
            }
            inner.requests.push(request.clone());
            (request, answer)
        })
    }

    /// Notes something about a captured request.
    pub(super) fn note(&self, index: usize, change: impl FnOnce(&mut CapturedRequest)) {
        self.with(|inner| {
            let request = &mut inner.requests[index];
            change(request);
            if request.closed_at.is_some() && !inner.unchecked {
                inner.conversations.broken(request.conversation);
            }
        });
    }
}

impl Inner {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let is_allowed = |problem: &Problem| {
            self.allowed.iter().any(|(kind, text)| *kind == problem.kind && problem.message.contains(text))
        };
        self.found.iter().filter(|problem| !is_allowed(problem)).cloned().collect()
    }

    fn check(&mut self, request: &mut CapturedRequest) {
        let place = self.conversations.place(request);
        request.conversation = place.conversation;
        for (kind, message) in check::alone(request, place.paused).into_iter().chain(place.problem) {
            self.note(request.index, kind, message);
        }
    }

    fn note(&mut self, request: usize, kind: ProblemKind, message: String) {
        self.found.push(Problem { request, kind, message });
    }
}
