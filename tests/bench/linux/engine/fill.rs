//! A data folder with many projects and sessions.

use super::hold::unexpected;
use crate::linux::failure::Outcome;
use crate::linux::step::Filled;
use cox_engine::Engine;
use cox_protocol::ProjectId;
use cox_protocol::command::{Command, Reply};
use cox_protocol::settings::{ProviderSettings, Settings};
use std::ops::Range;
use std::path::Path;

/// Makes projects, and these of their sessions in turn; one session of each project has been talked in.
pub(super) async fn fill(
    engine: &Engine,
    below: &Path,
    projects: usize,
    sessions: Range<usize>,
) -> Outcome<Filled> {
    // The first-run choice is made, so that the window goes to its list.
    let settings = Settings { onboarded: true, ..Settings::default() };
    engine.submit(Command::SaveSettings { settings }).await?;
    let mut ids = Vec::with_capacity(projects);
    for project in 0..projects {
        ids.push(open(engine, &below.join(format!("project-{project:02}"))).await?);
    }
    let made = sessions.len();
    for (number, id) in sessions.zip(ids.iter().cycle()) {
        begin(engine, id, number, number < projects).await?;
    }
    Ok(Filled { sessions: made })
}

async fn open(engine: &Engine, folder: &Path) -> Outcome<ProjectId> {
    tokio::fs::create_dir_all(folder).await?;
    tokio::fs::write(folder.join("README.md"), "# A project\n").await?;
    let path = folder.to_string_lossy().into_owned();
    let reply = engine.submit(Command::OpenProject { path, confirmed: true }).await?;
    match reply {
        Reply::Project { project } => Ok(project.id),
        other => Err(unexpected(&other)),
    }
}

async fn begin(engine: &Engine, project: &ProjectId, number: usize, talks: bool) -> Outcome<()> {
    let command = Command::NewSession {
        project_id: project.clone(),
        mode: None,
        permission_mode: None,
        provider: Some(ProviderSettings::default()),
        model: None,
        output_schema: None,
    };
    let reply = engine.submit(command).await?;
    let Reply::Session { session_id, lead } = reply else { return Err(unexpected(&reply)) };
    if talks {
        let text = "What is in here?".to_owned();
        engine.submit(Command::SendMessage { task_id: lead, text }).await?;
        engine.submit(Command::StopAll { session_id: session_id.clone() }).await?;
        engine.wait_idle(&session_id).await?;
    }
    let title = format!("Session {number}: where the tide tables are read");
    engine.submit(Command::RenameSession { session_id, title }).await?;
    Ok(())
}
