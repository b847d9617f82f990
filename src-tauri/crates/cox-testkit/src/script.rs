//! Which agent gets which answer.
//!
//! Agents are asked in the order in which they were made; the first that recognises a request and has an answer
//! left gives it.

use crate::answer::Answer;
use crate::captured::CapturedRequest;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

type Test = Arc<dyn Fn(&CapturedRequest) -> bool + Send + Sync>;
type Rule = Arc<dyn Fn(&CapturedRequest) -> Answer + Send + Sync>;

/// What a request must be like to be an agent's.
#[derive(Clone)]
pub enum When {
    /// Any request.
    Any,
    /// Its system prompt contains this.
    System(String),
    /// One of its user texts contains this.
    User(String),
    /// Its first user text contains this.
    FirstUser(String),
    /// It asks for this model.
    Model(String),
    /// All of these.
    All(Vec<When>),
    /// The test says so.
    Says(Test),
}

impl When {
    /// The system prompt contains this.
    pub fn system(text: &str) -> Self {
        Self::System(text.into())
    }

    /// Any user text contains this.
    pub fn user(text: &str) -> Self {
        Self::User(text.into())
    }

    /// The first user text contains this.
    pub fn first_user(text: &str) -> Self {
        Self::FirstUser(text.into())
    }

    /// The model is this.
    pub fn model(id: &str) -> Self {
        Self::Model(id.into())
    }

    /// Both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::All(vec![self, other])
    }

    /// The test says so.
    pub fn says(test: impl Fn(&CapturedRequest) -> bool + Send + Sync + 'static) -> Self {
        Self::Says(Arc::new(test))
    }

    /// Is it?
    pub fn fits(&self, request: &CapturedRequest) -> bool {
        match self {
            Self::Any => true,
            Self::System(text) => request.system().contains(text),
            Self::User(text) => request.user_texts().iter().any(|said| said.contains(text)),
            Self::FirstUser(text) => request.user_texts().first().is_some_and(|said| said.contains(text)),
            Self::Model(id) => request.model() == id,
            Self::All(all) => all.iter().all(|when| when.fits(request)),
            Self::Says(test) => test(request),
        }
    }
}

impl fmt::Debug for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("Any"),
            Self::System(text) => write!(f, "System({text:?})"),
            Self::User(text) => write!(f, "User({text:?})"),
            Self::FirstUser(text) => write!(f, "FirstUser({text:?})"),
            Self::Model(id) => write!(f, "Model({id:?})"),
            Self::All(all) => write!(f, "All({all:?})"),
            Self::Says(_) => f.write_str("Says(…)"),
        }
    }
}

/// The answers of one agent: first the queue, then by turn, then the rule.
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) when: When,
    pub(crate) queue: VecDeque<Answer>,
    pub(crate) by_turn: Vec<Answer>,
    pub(crate) rule: Option<Rule>,
}

impl Agent {
    pub(crate) fn new(name: &str, when: When) -> Self {
        Self { name: name.into(), when, queue: VecDeque::new(), by_turn: Vec::new(), rule: None }
    }

    fn answer(&mut self, request: &CapturedRequest) -> Option<Answer> {
        let turn = request.turn();
        let answer = self
            .queue
            .pop_front()
            .or_else(|| self.by_turn.get(turn).or(self.by_turn.last()).cloned())
            .or_else(|| self.rule.as_ref().map(|rule| rule(request)))?;
        Some(answer.filled(turn, request.index))
    }
}

/// All agents of a server.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) agents: Vec<Agent>,
}

impl Script {
    /// The answer to a request, and whose it is.
    pub(crate) fn answer(&mut self, request: &CapturedRequest) -> Option<(String, Answer)> {
        self.agents
            .iter_mut()
            .filter(|agent| agent.when.fits(request))
            .find_map(|agent| agent.answer(request).map(|answer| (agent.name.clone(), answer)))
    }

    /// Answers in queues that nobody has asked for, by agent.
    pub(crate) fn left(&self) -> Vec<(String, usize)> {
        let left = self.agents.iter().map(|agent| (agent.name.clone(), agent.queue.len()));
        left.filter(|(_, count)| *count > 0).collect()
    }
}
