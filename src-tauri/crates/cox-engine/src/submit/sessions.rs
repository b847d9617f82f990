//! New sessions, titles and modes.

use crate::core::{Core, storage};
use crate::prompts::{self, Surroundings};
use cox_policy::role::Role;
use cox_protocol::command::Reply;
use cox_protocol::error::{CoxError, ErrorCode};
use cox_protocol::event::{EventKind, NewEvent};
use cox_protocol::id::{ProjectId, SessionId, TaskId};
use cox_protocol::push::SessionLive;
use cox_protocol::settings::{ProviderKind, ProviderSettings, Settings};
use cox_protocol::task::{Frozen, PermissionMode, SessionMode, TaskKind, TaskSpec};
use cox_provider::address;
use serde_json::Value;
use std::sync::Arc;

/// What a new session is made from; null is the setting.
pub(super) struct NewSession {
    pub(super) project_id: ProjectId,
    pub(super) mode: Option<SessionMode>,
    pub(super) permission_mode: Option<PermissionMode>,
    pub(super) provider: Option<ProviderSettings>,
    pub(super) model: Option<String>,
    pub(super) output_schema: Option<Value>,
}

/// What the list shows until the first message gives a title.
const UNTITLED: &str = "New session";
const TITLE_CHARS: usize = 200;

impl Core {
    pub(super) async fn new_session(self: &Arc<Self>, new: NewSession) -> Result<Reply, CoxError> {
        let project = self.store.project(&new.project_id).await.map_err(|error| storage(&error))?;
        let project =
            project.ok_or_else(|| CoxError::new(ErrorCode::NotFound, "there is no such project"))?;
        let roots = crate::session::load::open_roots(&project.path).await?;
        let settings = self.settings();
        let provider = new.provider.clone().unwrap_or_else(|| settings.provider.clone());
        check_address(&provider)?;
        let model = self.lead_model(&new, &provider, &settings)?;
        let mode = new.mode.or(self.default_mode).unwrap_or(settings.session_mode);
        let permission_mode = new.permission_mode.unwrap_or(settings.permission_mode);
        if permission_mode == PermissionMode::BypassPermissions {
            return Err(CoxError::new(
                ErrorCode::InvalidInput,
                "a session can't begin with bypassPermissions",
            )
            .hint(
                "Begin it in another mode and set this one afterwards, confirmed with the folder's name.",
            ));
        }
        let session_id = SessionId::new(self.mint.next(SessionId::PREFIX));
        let lead = TaskId::new(self.mint.next(TaskId::PREFIX));
        let spec = self.lead_spec(LeadParts {
            mode,
            permission_mode,
            model: &model,
            folder: &cox_exec::path_to_text(roots.project()),
            instructions: crate::session::load::read_instructions(&roots).await,
            output_schema: new.output_schema,
            settings: &settings,
        });
        let spec = TaskSpec { output_file: self.output_file(&session_id, &lead), ..spec };
        let now = self.clock.now_ms();
        let created = EventKind::SessionCreated {
            project_id: new.project_id,
            title: UNTITLED.to_owned(),
            mode,
            permission_mode,
            provider: provider.kind.name().to_owned(),
            base_url: provider.base_url,
            model,
        };
        let mut started = NewEvent::session(session_id.clone(), now, EventKind::TaskStarted { spec });
        started.task_id = Some(lead.clone());
        let events = vec![NewEvent::session(session_id.clone(), now, created), started];
        self.store.append(events).await.map_err(|error| storage(&error))?;
        self.session(&session_id).await?;
        self.hub.tell(|pending| pending.projects = true);
        Ok(Reply::Session { session_id, lead })
    }

    fn lead_model(
        &self,
        new: &NewSession,
        provider: &ProviderSettings,
        settings: &Settings,
    ) -> Result<String, CoxError> {
        if provider.kind == ProviderKind::Rehearsal {
            return Ok("rehearsal".to_owned());
        }
        if let Some(model) = new.model.as_deref().map(str::trim).filter(|model| !model.is_empty()) {
            return Ok(model.to_owned());
        }
        if provider.kind == settings.provider.kind && !settings.models.lead.trim().is_empty() {
            return Ok(settings.models.lead.trim().to_owned());
        }
        let known = self.known_models(provider.kind);
        match known.into_iter().next() {
            Some(model) if provider.base_url.is_none() => Ok(model),
            Some(_) | None => {
                Err(CoxError::new(ErrorCode::InvalidInput, "no model is chosen for this server")
                    .hint("Name one in the settings (Models, lead), or with --model."))
            }
        }
    }

    fn lead_spec(&self, parts: LeadParts<'_>) -> TaskSpec {
        let role = match parts.mode {
            SessionMode::Coordinator => Role::Coordinator,
            SessionMode::Solo => Role::Solo,
        };
        let limits = parts.settings.limits;
        let models = crate::models::describe(parts.model, &parts.settings.models);
        let surroundings = Surroundings {
            folder: parts.folder,
            instructions: parts.instructions.as_ref(),
            worker_tools: Some(Role::Worker.tools()),
            models: &models,
            limits: (limits.workers_at_once, limits.workers_per_session),
        };
        TaskSpec {
            kind: TaskKind::Lead,
            name: role.name().to_owned(),
            description: "The agent that you talk to".to_owned(),
            prompt: String::new(),
            role: role.name().to_owned(),
            model: parts.model.to_owned(),
            permission_mode: parts.permission_mode,
            tint: 0,
            output_file: String::new(),
            frozen: Some(Frozen {
                system: prompts::render(role, &surroundings),
                tools: self.tools_for(role, parts.output_schema.as_ref()),
                limits,
                ask_every_command: role.ask_every_command(),
                output_schema: parts.output_schema,
            }),
        }
    }

    pub(super) async fn rename_session(
        self: &Arc<Self>,
        id: &SessionId,
        title: &str,
    ) -> Result<Reply, CoxError> {
        let title = crate::session::messages::first_line(title, TITLE_CHARS);
        if title.is_empty() {
            return Err(CoxError::new(ErrorCode::InvalidInput, "the title is empty"));
        }
        let session = self.session(id).await?;
        let event =
            NewEvent::session(session.id.clone(), self.clock.now_ms(), EventKind::SessionTitled { title });
        self.store.append(vec![event]).await.map_err(|error| storage(&error))?;
        Ok(Reply::Done)
    }

    pub(super) async fn set_permission_mode(
        self: &Arc<Self>,
        id: &SessionId,
        mode: PermissionMode,
        confirm: Option<&str>,
    ) -> Result<Reply, CoxError> {
        let session = self.session(id).await?;
        if mode == PermissionMode::BypassPermissions
            && !confirm.is_some_and(|name| session.is_folder_name(name.trim()))
        {
            return Err(CoxError::new(
                ErrorCode::NeedsConfirmation,
                "with bypassPermissions nothing is asked before commands run and files change; confirm it with the folder's name",
            ));
        }
        if let Some(event) = session.mode_event(mode) {
            self.store.append(vec![event]).await.map_err(|error| storage(&error))?;
        }
        let live = SessionLive { session_id: session.id.clone(), permission_mode: mode };
        self.hub.tell(|pending| pending.live.push(live.clone()));
        Ok(Reply::Done)
    }
}

struct LeadParts<'a> {
    mode: SessionMode,
    permission_mode: PermissionMode,
    model: &'a str,
    folder: &'a str,
    instructions: Option<(String, String)>,
    output_schema: Option<Value>,
    settings: &'a Settings,
}

fn check_address(provider: &ProviderSettings) -> Result<(), CoxError> {
    if address::needs_confirmation(provider) {
        return Err(CoxError::new(
            ErrorCode::NeedsConfirmation,
            "this address is plain http to another machine: keys, prompts and files would cross the network readable to anyone on it",
        ));
    }
    if provider.kind == ProviderKind::Rehearsal {
        return Ok(());
    }
    address::Address::of(provider).map(drop).map_err(|error| provider_error(&error))
}

/// A provider's error for a host.
pub(crate) fn provider_error(error: &cox_provider::ProviderError) -> CoxError {
    let code = match error.kind {
        cox_protocol::task::FailKind::Auth => ErrorCode::NoKey,
        _ => ErrorCode::Provider,
    };
    CoxError { code, message: error.message.clone(), hint: error.hint.clone() }
}
