//! `cox sessions`.

use crate::args::{HostArgs, ListOutput, SessionsArgs};
use crate::exit::{Exit, Stop};
use crate::host::{self, More};
use crate::{print, run};
use cox_engine::Engine;
use cox_protocol::ProjectId;
use cox_protocol::query::{Page, Query, SessionCursor};
use cox_protocol::view::{ProjectRow, SessionRow, TreeState};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Sessions a query answers with at most.
const PAGE: u32 = 500;

/// Lists the sessions.
pub(crate) async fn sessions(host: &HostArgs, args: &SessionsArgs) -> Result<Exit, Stop> {
    let engine = host::open(host, More::default()).await?;
    let found = async {
        let projects = projects(&engine).await?;
        let project = args.project.as_deref().map(|folder| project_at(&projects, folder)).transpose()?;
        Ok::<_, Stop>((rows(&engine, project, args.limit).await?, projects))
    };
    let found = found.await;
    run::shut_down(&engine).await;
    let (rows, projects) = found?;
    for row in &rows {
        match args.output {
            ListOutput::Json => print::json(row)?,
            ListOutput::Text => print::line(&line(row, &projects))?,
        }
    }
    if rows.is_empty() && args.output == ListOutput::Text {
        print::to_stderr("No sessions.");
    }
    Ok(Exit::Done)
}

async fn projects(engine: &Engine) -> Result<Vec<ProjectRow>, Stop> {
    match engine.query(Query::Projects).await? {
        Page::Projects { rows } => Ok(rows),
        other => Err(run::unexpected(&other)),
    }
}

fn project_at(projects: &[ProjectRow], folder: &Path) -> Result<ProjectId, Stop> {
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    projects
        .iter()
        .find(|project| Path::new(&project.path) == real || Path::new(&project.path) == folder)
        .map(|project| project.id.clone())
        .ok_or_else(|| Stop::usage(format!("there is no project over {}", folder.display())))
}

async fn rows(engine: &Engine, project_id: Option<ProjectId>, limit: u32) -> Result<Vec<SessionRow>, Stop> {
    let mut all: Vec<SessionRow> = Vec::new();
    let limit_rows = limit as usize;
    while all.len() < limit_rows {
        let before = all.last().map(|row| SessionCursor { updated_at: row.updated_at, id: row.id.clone() });
        let wanted = u32::try_from(limit_rows - all.len()).unwrap_or(PAGE).min(PAGE);
        match engine.query(Query::Sessions { project_id: project_id.clone(), before, limit: wanted }).await? {
            Page::Sessions { rows, more } => {
                all.extend(rows);
                if !more {
                    break;
                }
            }
            other => return Err(run::unexpected(&other)),
        }
    }
    Ok(all)
}

fn line(row: &SessionRow, projects: &[ProjectRow]) -> String {
    let project = projects.iter().find(|project| project.id == row.project_id);
    let project = project.map_or("(removed)", |project| project.name.as_str());
    let one_line = |text: &str| print::plain(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    format!(
        "{}  {:<11}  {:>8}  {}  {}",
        row.id,
        state(row.state),
        age(row.updated_at),
        one_line(project),
        one_line(&row.title)
    )
}

/// A state as people read it.
pub(crate) fn state(state: TreeState) -> &'static str {
    match state {
        TreeState::Idle => "idle",
        TreeState::Busy => "busy",
        TreeState::Asks => "asks",
        TreeState::Interrupted => "interrupted",
        TreeState::Failed => "failed",
    }
}

fn age(at: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let seconds = (i64::try_from(now).unwrap_or(i64::MAX) - at).max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}
