//! A rig whose models are scripts behind a real server, in either wire format.

use crate::rig::{Folders, Rig, Setup};
use cox_protocol::command::{Command, Reply};
use cox_protocol::settings::{ProviderKind, ProviderSettings, Settings};
use cox_protocol::task::{Limits, PermissionMode, SessionMode};
use cox_protocol::{SessionId, TaskId};
use cox_testkit::{Answer, ModelServer, When, Wire};
use serde_json::{Value, json};

pub(crate) struct Wired {
    pub(crate) rig: Rig,
    pub(crate) server: ModelServer,
    wire: Wire,
}

/// What the user says first; the lead is known by it.
pub(crate) const PROMPT: &str = "Please see to the boat";

impl Wired {
    pub(crate) async fn new(wire: Wire) -> Self {
        Self::with(wire, Setup::default(), Limits::default()).await
    }

    pub(crate) async fn with(wire: Wire, setup: Setup, limits: Limits) -> Self {
        let rig = Rig::with(Folders::new(), setup).await;
        let settings = Settings { limits, ..Settings::default() };
        rig.engine.submit(Command::SaveSettings { settings }).await.unwrap();
        Self { rig, server: ModelServer::start().await, wire }
    }

    /// What the lead answers, one after another.
    pub(crate) fn lead(&self, answers: impl IntoIterator<Item = Answer>) {
        self.server.agent("lead", When::first_user(PROMPT)).answers(answers);
    }

    /// What the worker with this prompt answers.
    pub(crate) fn worker(&self, prompt: &str, answers: impl IntoIterator<Item = Answer>) {
        self.server.agent(prompt, When::first_user(prompt)).answers(answers);
    }

    pub(crate) fn provider(&self) -> ProviderSettings {
        let kind = match self.wire {
            Wire::Anthropic => ProviderKind::Anthropic,
            Wire::Openai => ProviderKind::Openai,
        };
        ProviderSettings { kind, base_url: Some(self.server.url(self.wire)), plain_http_confirmed: false }
    }

    pub(crate) async fn session(&self, mode: SessionMode) -> (SessionId, TaskId) {
        self.session_with(mode, None).await
    }

    pub(crate) async fn session_with(
        &self,
        mode: SessionMode,
        output_schema: Option<Value>,
    ) -> (SessionId, TaskId) {
        let command = Command::NewSession {
            project_id: self.rig.project.clone(),
            mode: Some(mode),
            permission_mode: Some(PermissionMode::Default),
            provider: Some(self.provider()),
            model: Some("scripted".into()),
            output_schema,
        };
        let reply = self.rig.engine.submit(command).await.unwrap();
        let Reply::Session { session_id, lead } = reply else { panic!("{reply:?}") };
        self.rig.engine.submit(Command::ViewPanel { task_id: lead.clone() }).await.unwrap();
        (session_id, lead)
    }
}

/// A dispatch of a worker that is known by its prompt.
pub(crate) fn agent(name: &str, prompt: &str) -> Value {
    json!({ "description": format!("Work on {name}"), "prompt": prompt, "name": name })
}
