//! A session that plays itself (W43), for `cargo xtask run` on a machine without a display.
//!
//! 1. Opens the folder, starts a rehearsal session over it, opens the window, and says one prompt: all through
//!    the commands that the page uses, while the page shows it.
//! 2. Allows the first command that is asked about, once, and refuses any after it.
//! 3. When the whole tree is idle, writes `{"report", "answered", "error"}` as one line to standard output.
//! 4. Ends the process when standard input is closed.

use crate::house::{House, unexpected};
use crate::{ending, log, window};
use cox_engine::{Engine, Pushes};
use cox_protocol::command::{Command, Reply};
use cox_protocol::event::EventKind;
use cox_protocol::inbox::{Action, Answer, Ask, InboxItem};
use cox_protocol::push::Batch;
use cox_protocol::settings::{ProviderSettings, Settings};
use cox_protocol::{CoxError, SessionId, TaskId};
use serde::Serialize;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tauri::AppHandle;

const PROMPT: &str = "Get to know this project, and report what is in it.";

/// What is written when it is over.
#[derive(Debug, Default, Serialize)]
struct Told {
    /// The lead's final text.
    report: Option<String>,
    /// What was allowed.
    answered: Option<String>,
    /// What went wrong.
    error: Option<String>,
}

/// Begins. The window opens once the session is there, so that it shows no first-run choice.
pub(crate) fn begin(app: &AppHandle, house: Arc<House>, folder: PathBuf) {
    let window = app.clone();
    tauri::async_runtime::spawn(async move {
        let started = start(&house, &folder).await;
        window::open_or_end(&window);
        let mut told = Told::default();
        match started {
            Ok(mut started) => {
                let played = play(&mut started, &mut told).await;
                write(told, played.err());
                // A host that goes away leaves its panels (W12), so this one stays.
                loop {
                    started.pushes.next().await;
                }
            }
            Err(error) => write(told, Some(error)),
        }
    });
    let app = app.clone();
    std::thread::spawn(move || {
        let mut rest = [0; 64];
        while std::io::stdin().read(&mut rest).is_ok_and(|count| count > 0) {}
        ending::end(&app);
    });
}

/// A session that waits for its prompt.
struct Started<'a> {
    engine: &'a Engine,
    pushes: Pushes,
    session: SessionId,
    lead: TaskId,
}

async fn start<'a>(house: &'a House, folder: &Path) -> Result<Started<'a>, CoxError> {
    let engine = house.engine().await?;
    let (snapshot, pushes) = engine.attach().await?;
    let settings = Settings { onboarded: true, ..snapshot.settings };
    engine.submit(Command::SaveSettings { settings }).await?;
    let path = folder.to_string_lossy().into_owned();
    let project = match engine.submit(Command::OpenProject { path, confirmed: false }).await? {
        Reply::Project { project } => project,
        other => return Err(unexpected(&other)),
    };
    let new = Command::NewSession {
        project_id: project.id,
        mode: None,
        permission_mode: None,
        provider: Some(ProviderSettings::default()),
        model: None,
        output_schema: None,
    };
    match engine.submit(new).await? {
        Reply::Session { session_id, lead } => Ok(Started { engine, pushes, session: session_id, lead }),
        other => Err(unexpected(&other)),
    }
}

async fn play(started: &mut Started<'_>, told: &mut Told) -> Result<(), CoxError> {
    let Started { engine, pushes, session, lead } = started;
    engine.submit(Command::SendMessage { task_id: lead.clone(), text: PROMPT.into() }).await?;
    let idle = engine.wait_idle(session);
    tokio::pin!(idle);
    let idle = loop {
        tokio::select! {
            idle = &mut idle => break idle?,
            batch = pushes.next() => see(engine, session, &batch, told).await?,
        }
    };
    told.report = idle.report;
    Ok(())
}

fn write(mut told: Told, error: Option<CoxError>) {
    told.error = error.map(|error| match error.hint {
        Some(hint) => format!("{} ({hint})", error.message),
        None => error.message,
    });
    match serde_json::to_string(&told) {
        Ok(line) => log::to_stdout(&line),
        Err(error) => tracing::error!(%error, "the report can't be written"),
    }
}

async fn see(engine: &Engine, session: &SessionId, batch: &Batch, told: &mut Told) -> Result<(), CoxError> {
    for event in batch.events.iter().filter(|event| &event.session_id == session) {
        if let Some(EventKind::InboxOpened { item }) = event.known() {
            answer(engine, item, told).await?;
        }
    }
    Ok(())
}

/// The way a person answers: the same command that a card in the window sends.
async fn answer(engine: &Engine, item: &InboxItem, told: &mut Told) -> Result<(), CoxError> {
    let answer = match (&item.ask, &told.answered) {
        (Ask::Permission { action: Action::Command { command, .. }, .. }, None) => {
            told.answered = Some(format!("{} may run `{command}`", item.asker));
            Answer::AllowOnce
        }
        _ => Answer::Deny { reason: "a rehearsal allows one command, and nothing else".into() },
    };
    engine.submit(Command::AnswerInbox { id: item.id.clone(), answer }).await.map(|_| ())
}
