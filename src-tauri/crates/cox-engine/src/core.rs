//! What all sessions of an engine share.

use crate::clock::Clock;
use crate::config::{EngineConfig, Host};
use crate::hub::Hub;
use crate::inbox::Inbox;
use crate::mint::Mint;
use crate::rules::ProjectRules;
use crate::session::Session;
use cox_exec::{ChildEnv, Shell};
use cox_policy::role::Role;
use cox_protocol::entry::{Block, Entry};
use cox_protocol::error::CoxError;
use cox_protocol::id::{SessionId, TaskId};
use cox_protocol::settings::{ProviderKind, ProviderSettings, Settings};
use cox_protocol::task::{SessionMode, ToolDef};
use cox_protocol::view::Environment;
use cox_provider::{Key, KeyRing, KeySource, Net, NetOptions, Provider, ProviderError};
use cox_store::{Store, StoreError};
use cox_tools::Toolbox;
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

pub(crate) struct Core {
    pub(crate) store: Store,
    pub(crate) hub: Arc<Hub>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) mint: Mint,
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) shell: Arc<Shell>,
    pub(crate) inbox: Inbox,
    pub(crate) rules: ProjectRules,
    pub(crate) host: Host,
    pub(crate) owner: String,
    pub(crate) data_folder: PathBuf,
    pub(crate) home: Option<PathBuf>,
    pub(crate) default_mode: Option<SessionMode>,
    pub(crate) keys: KeyRing,
    env_keys: KeySource,
    net: Net,
    pub(crate) max_workers: Option<u32>,
    version: &'static str,
    settings: RwLock<Settings>,
    /// Sessions that this process owns.
    pub(crate) sessions: tokio::sync::Mutex<HashMap<SessionId, Arc<Session>>>,
}

impl Core {
    pub(crate) fn new(config: EngineConfig, store: Store, hub: Arc<Hub>, settings: Settings) -> Self {
        let EngineConfig {
            data_folder,
            home,
            version,
            host,
            owner,
            rehearsal_pace,
            env,
            max_workers,
            keychain,
            clock,
            random,
        } = config;
        let mut env_keys = KeySource::none();
        let key_variables: Vec<String> = env.api_keys.iter().map(|key| key.variable.clone()).collect();
        for found in env.api_keys {
            let server = ProviderSettings {
                kind: found.kind,
                base_url: found.origin_base_url,
                plain_http_confirmed: true,
            };
            let Some(key) = Key::new(found.key) else { continue };
            if let Err(error) = env_keys.add(&server, key) {
                tracing::warn!(%error, variable = found.variable, "a key from the environment can't be used");
            }
        }
        let vars = env
            .vars
            .into_iter()
            .filter(|(name, _)| !key_variables.iter().any(|variable| name == variable.as_str()));
        Self {
            mint: Mint::new(Arc::clone(&clock), random),
            store,
            hub,
            clock,
            toolbox: Arc::new(Toolbox::standard()),
            shell: Arc::new(Shell::new(ChildEnv::from_parent(vars))),
            inbox: Inbox::default(),
            rules: ProjectRules::default(),
            host,
            owner,
            data_folder,
            home,
            default_mode: env.default_mode,
            keys: if keychain { KeyRing::system() } else { KeyRing::in_memory() },
            env_keys,
            net: Net::new(NetOptions { rehearsal_pace, ..NetOptions::default() }),
            max_workers,
            version,
            settings: RwLock::new(settings),
            sessions: tokio::sync::Mutex::new(HashMap::new()),
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        let mut settings = self.settings.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(most) = self.max_workers {
            settings.limits.workers_at_once = most;
            settings.limits.workers_per_session = settings.limits.workers_per_session.max(most);
        }
        settings
    }

    pub(crate) fn set_settings(&self, settings: Settings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// Opens the door to a model.
    pub(crate) async fn connect(
        &self,
        settings: &ProviderSettings,
    ) -> Result<Arc<dyn Provider>, ProviderError> {
        let found = self.keys.get(settings, &self.env_keys).await;
        cox_provider::connect(settings, found.key, &self.net)
    }

    /// The exact ids of the models that the data file names for this wire format.
    pub(crate) fn known_models(&self, kind: ProviderKind) -> Vec<String> {
        cox_provider::models::rows()
            .into_iter()
            .filter(|row| row.provider == kind)
            .map(|row| row.id)
            .collect()
    }

    /// What the settings page shows about this machine.
    pub(crate) async fn environment(&self) -> Environment {
        let provider = self.settings().provider;
        let store = self.store.clone();
        let data_bytes = tokio::task::spawn_blocking(move || store.disk_bytes()).await.unwrap_or_default();
        Environment {
            version: self.version.to_owned(),
            data_folder: cox_exec::path_to_text(&self.data_folder),
            data_bytes,
            key: self.keys.get(&provider, &self.env_keys).await.state,
            models: cox_provider::models::rows(),
        }
    }

    pub(crate) fn output_file(&self, session: &SessionId, task: &TaskId) -> String {
        cox_store::output_file(session, task)
    }

    /// The tools of a role as offered to a model, in a fixed order.
    pub(crate) fn tools_for(&self, role: Role, output_schema: Option<&Value>) -> Vec<ToolDef> {
        let mut tools = self.toolbox.defs(role.tools());
        tools.extend(output_schema.map(Toolbox::synthetic_output));
        tools
    }

    /// A transcript as text, for a read of a task that has no clean result (B148).
    pub(crate) async fn transcript_text(&self, task: &TaskId) -> Option<String> {
        let rows = self.store.transcript(task).await.ok()?;
        let lines: Vec<String> = rows.iter().map(|row| entry_text(&row.entry)).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

fn entry_text(entry: &Entry) -> String {
    match entry {
        Entry::User { text, .. } => format!("[user] {text}"),
        Entry::Assistant { blocks, .. } => {
            let parts = blocks.iter().filter_map(|block| match block {
                Block::Text { text } => Some(format!("[assistant] {text}")),
                Block::ToolCall { call } => Some(format!("[call] {} {}", call.name, call.input)),
                Block::Thinking { .. } | Block::Opaque { .. } => None,
            });
            parts.collect::<Vec<_>>().join("\n")
        }
        Entry::ToolResults { results } => {
            results.iter().map(|result| format!("[result] {}", result.content)).collect::<Vec<_>>().join("\n")
        }
        Entry::Runtime { note } => format!("[runtime] {}", note.to_text()),
    }
}

pub(crate) fn storage(error: &StoreError) -> CoxError {
    CoxError::from(error.clone())
}
