//! `cox run` and `cox resume`: one message, and everything that follows from it.

use crate::args::{HostArgs, Output, Permission, ResumeArgs, RunArgs};
use crate::exit::{Exit, Stop};
use crate::follow;
use crate::host::{self, More};
use crate::print;
use crate::signals::{Signal, Signals};
use cox_engine::{Engine, Idle, Pushes};
use cox_protocol::command::{Command, Reply};
use cox_protocol::query::{Page, Query};
use cox_protocol::settings::{ProviderKind, ProviderSettings, Settings};
use cox_protocol::view::SessionView;
use cox_protocol::{ErrorCode, Outcome, SessionId, TaskId};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// How long the engine may take to put its work down.
const SHUTDOWN_MOST: Duration = Duration::from_secs(10);
/// Bytes of a prompt on standard input.
const PROMPT_MOST: u64 = 4 * 1024 * 1024;

/// Starts a session and follows it to its end.
pub(crate) async fn run(host: &HostArgs, args: RunArgs) -> Result<Exit, Stop> {
    let mut signals = Signals::new()?;
    let prompt = prompt_of(&args.prompt)?;
    let output_schema = args.json_schema.as_deref().map(schema_of).transpose()?;
    let provider = args.provider.map(|kind| ProviderSettings {
        kind: kind.into(),
        base_url: args.base_url.clone(),
        plain_http_confirmed: false,
    });
    let key = match (&args.api_key_env, &provider) {
        (Some(variable), Some(provider)) => Some(host::key_from(variable, provider)?),
        _ => None,
    };
    let path = std::path::absolute(&args.project)
        .map_err(|error| Stop::usage(format!("{}: {error}", args.project.display())))?;
    let engine = host::open(host, More { max_workers: args.max_workers, key }).await?;
    let started = async {
        let (snapshot, pushes) = engine.attach().await?;
        if provider.is_none() {
            say_who_answers(&snapshot.settings);
        }
        let lead = start(&engine, &args, &path, provider, output_schema).await?;
        Ok::<_, Stop>((lead, pushes))
    };
    let done = match started.await {
        Ok(((session, lead), pushes)) => {
            say_and_follow(&engine, pushes, &mut signals, session, lead, prompt, args.output).await
        }
        Err(stop) => Err(stop),
    };
    shut_down(&engine).await;
    done
}

/// Gives a session another message, and follows it.
pub(crate) async fn resume(host: &HostArgs, args: ResumeArgs) -> Result<Exit, Stop> {
    let mut signals = Signals::new()?;
    let prompt = prompt_of(&args.prompt)?;
    let session = SessionId::new(args.id);
    // The key belongs to the server that the session was started with, so that has to be known before.
    let key = match &args.api_key_env {
        Some(variable) => {
            let engine = host::open(host, More::default()).await?;
            let view = session_view(&engine, &session).await;
            shut_down(&engine).await;
            Some(host::key_from(variable, &provider_of(&view?)?)?)
        }
        None => None,
    };
    let engine = host::open(host, More { max_workers: args.max_workers, key }).await?;
    let started = async {
        let (_, pushes) = engine.attach().await?;
        let view = session_view(&engine, &session).await?;
        let lead = view.tasks.first().map(|task| task.id.clone());
        let lead = lead.ok_or_else(|| Stop::usage(format!("the session {session} has no lead")))?;
        Ok::<_, Stop>((lead, pushes))
    };
    let done = match started.await {
        Ok((lead, pushes)) => {
            say_and_follow(&engine, pushes, &mut signals, session, lead, prompt, args.output).await
        }
        Err(stop) => Err(stop),
    };
    shut_down(&engine).await;
    done
}

async fn start(
    engine: &Engine,
    args: &RunArgs,
    path: &Path,
    provider: Option<ProviderSettings>,
    output_schema: Option<Value>,
) -> Result<(SessionId, TaskId), Stop> {
    let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
    let confirmed = args.confirm_folder.as_deref() == Some(&*name);
    let path_text = path
        .to_str()
        .ok_or_else(|| Stop::usage(format!("{} is not UTF-8, and can't be a project", path.display())))?;
    let opened = engine.submit(Command::OpenProject { path: path_text.to_owned(), confirmed }).await;
    let project = match opened {
        Ok(Reply::Project { project }) => project,
        Ok(other) => return Err(unexpected(&other)),
        Err(error) if error.code == ErrorCode::NeedsConfirmation => {
            return Err(Stop::from(error).hint(format!("If that is meant: --confirm-folder {name}")));
        }
        Err(error) => return Err(error.into()),
    };
    let bypass = matches!(args.permission_mode, Some(Permission::BypassPermissions));
    if bypass && !confirmed {
        return Err(Stop::usage("bypassPermissions runs every command in this folder without asking")
            .hint(format!("If that is meant: --confirm-folder {name}")));
    }
    let reply = engine
        .submit(Command::NewSession {
            project_id: project.id,
            mode: args.mode.map(Into::into),
            // Bypass is no mode to start in: it is set afterwards, confirmed, and never stored (W25).
            permission_mode: args.permission_mode.filter(|_| !bypass).map(Into::into),
            provider,
            model: args.model.clone(),
            output_schema,
        })
        .await?;
    let Reply::Session { session_id, lead } = reply else { return Err(unexpected(&reply)) };
    if bypass {
        engine
            .submit(Command::SetPermissionMode {
                session_id: session_id.clone(),
                permission_mode: Permission::BypassPermissions.into(),
                confirm: args.confirm_folder.clone(),
            })
            .await?;
    }
    Ok((session_id, lead))
}

async fn say_and_follow(
    engine: &Engine,
    pushes: Pushes,
    signals: &mut Signals,
    session: SessionId,
    lead: TaskId,
    prompt: String,
    output: Output,
) -> Result<Exit, Stop> {
    engine.submit(Command::SendMessage { task_id: lead.clone(), text: prompt }).await?;
    let ended = follow::to_the_end(engine, pushes, signals, &session, output).await?;
    let outcome =
        ended.idle.view.tasks.iter().find(|task| task.id == lead).and_then(|task| task.outcome.clone());
    tell(&ended.idle, &lead, outcome.as_ref(), output)?;
    Ok(ended.signal.map_or_else(|| Exit::of_outcome(outcome.as_ref()), Signal::exit))
}

fn tell(idle: &Idle, lead: &TaskId, outcome: Option<&Outcome>, output: Output) -> Result<(), Stop> {
    match output {
        Output::StreamJson => {}
        Output::Json => print::json(&json!({
            "sessionId": idle.view.id,
            "leadTaskId": lead,
            "outcome": outcome,
            "result": idle.report,
            "value": idle.value,
            "tasks": idle.view.tasks,
        }))?,
        Output::Text => {
            match (&idle.value, &idle.report) {
                (Some(value), _) => print::json(value)?,
                (None, Some(result)) => print::line(&print::plain(result))?,
                (None, None) => {}
            }
            print::to_stderr(&format!("session {}", idle.view.id));
        }
    }
    if let Some(Outcome::Failed { message, .. }) = outcome {
        print::to_stderr(&format!("cox: {}", print::plain(message)));
    }
    Ok(())
}

fn say_who_answers(settings: &Settings) {
    match settings.provider.kind {
        ProviderKind::Rehearsal => print::to_stderr(
            "No provider is set up: this is the rehearsal, which follows fixed rules and is no language model. \
             See --provider.",
        ),
        ProviderKind::Anthropic | ProviderKind::Openai => {}
    }
}

/// The session as it is.
pub(crate) async fn session_view(engine: &Engine, session: &SessionId) -> Result<SessionView, Stop> {
    match engine.query(Query::Session { session_id: session.clone() }).await? {
        Page::Session { view, .. } => Ok(view),
        other => Err(unexpected(&other)),
    }
}

fn provider_of(view: &SessionView) -> Result<ProviderSettings, Stop> {
    let kinds = [ProviderKind::Anthropic, ProviderKind::Openai, ProviderKind::Rehearsal];
    let kind = kinds.into_iter().find(|kind| kind.name() == view.provider);
    let kind =
        kind.ok_or_else(|| Stop::usage(format!("the provider {} is not known here", view.provider)))?;
    Ok(ProviderSettings { kind, base_url: view.base_url.clone(), plain_http_confirmed: false })
}

fn prompt_of(argument: &str) -> Result<String, Stop> {
    if argument != "-" {
        return if argument.trim().is_empty() {
            Err(Stop::usage("the prompt is empty"))
        } else {
            Ok(argument.to_owned())
        };
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(PROMPT_MOST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Stop::usage(format!("standard input can't be read: {error}")))?;
    if bytes.len() as u64 > PROMPT_MOST {
        return Err(Stop::usage(format!("the prompt on standard input is longer than {PROMPT_MOST} bytes")));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| Stop::usage("the prompt on standard input is not UTF-8"))?;
    if text.trim().is_empty() { Err(Stop::usage("the prompt on standard input is empty")) } else { Ok(text) }
}

fn schema_of(path: &Path) -> Result<Value, Stop> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Stop::usage(format!("the schema {} can't be read: {error}", path.display())))?;
    serde_json::from_str(&text)
        .map_err(|error| Stop::usage(format!("the schema {} is not JSON: {error}", path.display())))
}

/// An answer of another kind than was asked for: a defect.
pub(crate) fn unexpected(what: &impl std::fmt::Debug) -> Stop {
    Stop::new(Exit::Failed, format!("the engine gave an unexpected answer: {what:?}"))
}

/// Puts everything down; what hangs is left to the next start.
pub(crate) async fn shut_down(engine: &Engine) {
    if tokio::time::timeout(SHUTDOWN_MOST, engine.shutdown()).await.is_err() {
        print::to_stderr("cox: the work did not end in time; the next start cleans up after it");
    }
}
