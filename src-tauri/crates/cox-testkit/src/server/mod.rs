//! The server on 127.0.0.1: a real socket, real bytes.
//!
//! 1. `serve` takes a connection's requests one after the other and finds the way for each.
//! 2. A request for an answer is captured, checked ([`crate::check`]) and given to the script.
//! 3. `send` sends the answer, frame by frame, and notes the times.
//! 4. `control` is the same server's door for a test in another process.
//!
//! Everything ends when the [`ModelServer`] is dropped.

mod control;
mod send;
mod serve;
mod state;

use crate::answer::Answer;
use crate::captured::{CapturedRequest, Wire};
use crate::check::{Problem, ProblemKind};
use crate::gates::Gates;
use crate::script::{Agent, When};
use cox_protocol::settings::{ProviderKind, ProviderSettings};
use state::State;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A running server. Dropping it ends all its connections.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

impl ModelServer {
    /// Starts one on a free port, on the current runtime.
    pub async fn start() -> Self {
        Self::start_on(0).await
    }

    /// Starts one on this port; 0: a free one.
    pub async fn start_on(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("the port is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        let state = Arc::new(State::default());
        let accepting = tokio::spawn(serve::accept(listener, state.clone()));
        Self { address, state, accepting }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base URL for a format: Anthropic without `/v1`, OpenAI with it.
    pub fn url(&self, wire: Wire) -> String {
        match wire {
            Wire::Anthropic => self.address(),
            Wire::Openai => format!("{}/v1", self.address()),
        }
    }

    /// Provider settings that lead here.
    pub fn settings(&self, wire: Wire) -> ProviderSettings {
        let kind = match wire {
            Wire::Anthropic => ProviderKind::Anthropic,
            Wire::Openai => ProviderKind::Openai,
        };
        ProviderSettings { kind, base_url: Some(self.url(wire)), plain_http_confirmed: false }
    }

    /// An agent: requests that fit get its answers. The first agent that fits and has an answer left gives it.
    pub fn agent(&self, name: &str, when: When) -> AgentScript<'_> {
        let index = self.state.add(Agent::new(name, when));
        AgentScript { state: &self.state, index }
    }

    /// Any request that no agent answers gets what this says.
    pub fn respond(&self, rule: impl Fn(&CapturedRequest) -> Answer + Send + Sync + 'static) {
        self.state.set_fallback(Arc::new(rule));
    }

    /// The models that are listed. At first: `test-model`.
    pub fn set_models(&self, models: &[&str]) {
        self.state.with(|inner| inner.models = models.iter().map(|id| (*id).to_owned()).collect());
    }

    /// Requests without this key get 401.
    pub fn require_key(&self, key: &str) {
        self.state.with(|inner| inner.key = Some(key.into()));
    }

    /// No request is checked any more: for benches.
    pub fn without_checks(&self) {
        self.state.with(|inner| inner.unchecked = true);
    }

    /// Opens a gate, for those who wait there and all who come later.
    pub fn open(&self, gate: &str) {
        self.gates().open(gate);
    }

    /// Waits until an answer has reached a gate.
    pub async fn reached(&self, gate: &str) {
        self.gates().reached(gate, 1).await;
    }

    /// Waits until this many answers have reached a gate.
    pub async fn reached_by(&self, gate: &str, answers: usize) {
        self.gates().reached(gate, answers).await;
    }

    /// Waits until this many requests for an answer have come, and returns all of them.
    pub async fn received(&self, count: usize) -> Vec<CapturedRequest> {
        self.state.until(|inner| (inner.requests.len() >= count).then(|| inner.requests.clone())).await
    }

    /// Waits until this many answers have been sent to their end, failed, or lost their client.
    pub async fn finished(&self, count: usize) -> Vec<CapturedRequest> {
        let ended =
            |request: &&CapturedRequest| request.last_byte_at.is_some() || request.closed_at.is_some();
        self.state
            .until(|inner| {
                (inner.requests.iter().filter(ended).count() >= count).then(|| inner.requests.clone())
            })
            .await
    }

    /// Waits until the client of a request has closed its connection before the answer was whole.
    pub async fn closed_by_client(&self, request: usize) {
        let closed = |inner: &state::Inner| inner.requests.get(request)?.closed_at.map(|_| ());
        self.state.until(closed).await;
    }

    /// All requests for an answer so far.
    pub fn requests(&self) -> Vec<CapturedRequest> {
        self.state.with(|inner| inner.requests.clone())
    }

    /// Those that this agent answered.
    pub fn requests_of(&self, agent: &str) -> Vec<CapturedRequest> {
        let mut requests = self.requests();
        requests.retain(|request| request.agent.as_deref() == Some(agent));
        requests
    }

    /// Declares an exception: problems of this kind whose message contains this text are expected here. The
    /// reason is for the reader of the test.
    pub fn allow(&self, kind: ProblemKind, message_contains: &str, reason: &str) {
        assert!(!reason.trim().is_empty(), "an exception needs a reason");
        self.state.with(|inner| inner.allowed.push((kind, message_contains.into())));
    }

    /// What was wrong with requests so far, without what was allowed.
    pub fn problems(&self) -> Vec<Problem> {
        self.state.with(|inner| inner.problems())
    }

    /// Panics if anything was wrong with a request.
    pub fn assert_valid(&self) {
        let problems: Vec<String> = self.problems().iter().map(ToString::to_string).collect();
        assert!(problems.is_empty(), "the model server found problems:\n{}", problems.join("\n"));
    }

    /// Panics if anything was wrong, or if an answer in a queue was never asked for.
    pub fn assert_valid_and_used(&self) {
        self.assert_valid();
        let left = self.state.with(|inner| inner.script.left());
        assert!(left.is_empty(), "answers that nobody asked for: {left:?}");
    }

    fn gates(&self) -> &Gates {
        &self.state.gates
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // The connections' tasks belong to this one and end with it.
        self.accepting.abort();
    }
}

/// An agent in the script, to give answers to.
#[derive(Debug)]
pub struct AgentScript<'s> {
    state: &'s State,
    index: usize,
}

impl AgentScript<'_> {
    /// One answer more in its queue.
    pub fn answer(&self, answer: Answer) -> &Self {
        self.with(|agent| agent.queue.push_back(answer))
    }

    /// Answers more in its queue.
    pub fn answers(&self, answers: impl IntoIterator<Item = Answer>) -> &Self {
        self.with(|agent| agent.queue.extend(answers))
    }

    /// Once the queue is empty: the answer of this number of the turn, and the last one from then on. What was
    /// said so far decides, so that many alike agents can share it.
    pub fn by_turn(&self, answers: impl IntoIterator<Item = Answer>) -> &Self {
        self.with(|agent| agent.by_turn = answers.into_iter().collect())
    }

    /// Once the queue is empty: always this one.
    pub fn forever(&self, answer: Answer) -> &Self {
        self.by_turn([answer])
    }

    /// Once the queue is empty: what this says.
    pub fn respond(&self, rule: impl Fn(&CapturedRequest) -> Answer + Send + Sync + 'static) -> &Self {
        self.with(|agent| agent.rule = Some(Arc::new(rule)))
    }

    fn with(&self, change: impl FnOnce(&mut Agent)) -> &Self {
        self.state.with(|inner| change(&mut inner.script.agents[self.index]));
        self
    }
}
