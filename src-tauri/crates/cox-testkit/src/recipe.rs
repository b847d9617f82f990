//! A script as JSON, for a server in a process of its own (`model-server SCRIPT.json`).
//!
//! ```json
//! {
//!   "models": ["test-model"],
//!   "key": null,
//!   "check": true,
//!   "agents": [
//!     {
//!       "name": "lead",
//!       "when": {"system": "You are the lead", "user": null, "first_user": null, "model": null},
//!       "answers": [
//!         {"steps": [{"text": "Two workers."}, {"tool": {"name": "Agent", "input": {"description": "a"}}}]},
//!         {"steps": [{"gate": "report"}, {"text": "Done."}]}
//!       ]
//!     },
//!     {
//!       "name": "worker",
//!       "by_turn": [
//!         {"steps": [{"tool": {"name": "Read", "input": {"path": "f{turn}.txt"}}}], "tokens_per_second": 100},
//!         {"steps": [{"text": "Read it."}]}
//!       ]
//!     }
//!   ]
//! }
//! ```
//!
//! - An agent answers requests for which all that `when` names is true; no `when`: any request. The first agent
//!   that fits and has an answer left gives it.
//! - `answers` is a queue. Once it is empty, `by_turn` goes by how many answers the request brings back: the first
//!   one for none, and the last one from the end on.
//! - `{turn}` (that number) and `{request}` (the request's number in the server) are replaced in texts,
//!   gates and arguments.
//! - An answer is [`crate::Answer`]: `steps` (each a [`crate::Step`]: `{"text": …}`,
//!   `{"thinking": {"text": …, "signature": …}}`, `{"redacted_thinking": …}`,
//!   `{"tool": {"name": …, "input": …, "id": …, "raw": …, "fragment": …}}`, `{"gate": …}`,
//!   `{"error": {"kind": …, "message": …}}`, `{"raw": …}`, `"break"`, `"ping"`, `"hang"`, `"cut"`), `stop`, `usage`
//!   (`input`, `cache_read`, `cache_write`, `output`), `tokens_per_second`, `status` with `body`, `headers`,
//!   `cut_after`, `no_end`, `replay` with `replay_piece`. All but `steps` may be left out.
//! - `check`: false leaves out the checks of requests, for benches.
//!
//! The server prints one line, `{"address": …, "anthropic": …, "openai": …}`, and is steered by HTTP:
//! `POST /control/open/NAME`, `GET /control/reached/NAME?times=N` (waits), `GET /control/received?count=N` (waits),
//! `GET /control/requests`, `GET /control/problems`, `GET /control/timings`.

use crate::answer::Answer;
use crate::script::When;
use crate::server::ModelServer;
use serde::{Deserialize, Serialize};

/// A whole script.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recipe {
    /// The models that are listed.
    pub models: Vec<String>,
    /// Requests without this key get 401.
    pub key: Option<String>,
    /// Requests are checked.
    pub check: bool,
    /// The agents, in order.
    pub agents: Vec<AgentRecipe>,
}

impl Default for Recipe {
    fn default() -> Self {
        Self { models: vec!["test-model".into()], key: None, check: true, agents: Vec::new() }
    }
}

/// One agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentRecipe {
    /// Its name.
    pub name: String,
    /// Which requests are its own.
    pub when: WhenRecipe,
    /// Its queue.
    pub answers: Vec<Answer>,
    /// Its answers by turn, once the queue is empty.
    pub by_turn: Vec<Answer>,
}

/// What a request must be like; all that is given has to be true.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WhenRecipe {
    /// The system prompt contains this.
    pub system: Option<String>,
    /// One of the user texts contains this.
    pub user: Option<String>,
    /// The first user text contains this.
    pub first_user: Option<String>,
    /// The model is this.
    pub model: Option<String>,
}

impl Recipe {
    /// Reads a recipe; the error says where it is wrong.
    pub fn parse(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// Gives the script to a server.
    pub fn apply(self, server: &ModelServer) {
        let models: Vec<&str> = self.models.iter().map(String::as_str).collect();
        server.set_models(&models);
        if let Some(key) = &self.key {
            server.require_key(key);
        }
        if !self.check {
            server.without_checks();
        }
        for agent in self.agents {
            let script = server.agent(&agent.name, agent.when.into());
            script.answers(agent.answers).by_turn(agent.by_turn);
        }
    }
}

impl From<WhenRecipe> for When {
    fn from(recipe: WhenRecipe) -> Self {
        let parts = [
            recipe.system.map(When::System),
            recipe.user.map(When::User),
            recipe.first_user.map(When::FirstUser),
            recipe.model.map(When::Model),
        ];
        Self::All(parts.into_iter().flatten().collect())
    }
}
