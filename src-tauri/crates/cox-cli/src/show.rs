//! `cox show`: a session's tasks, and the conversation with its lead.

use crate::args::{HostArgs, ListOutput, ShowArgs};
use crate::exit::{Exit, Stop};
use crate::host::{self, More};
use crate::{print, run};
use cox_engine::Engine;
use cox_protocol::entry::{Party, RuntimeNote};
use cox_protocol::query::{Page, Query};
use cox_protocol::task::TaskStatus;
use cox_protocol::view::{EntryRow, SessionView, TaskView, call_label};
use cox_protocol::{Block, Entry, SessionId, TaskId};
use serde_json::json;

/// Entries a query answers with at most.
const PAGE: u32 = 500;
/// Beyond every event's number, and still exact in every JSON reader.
const THE_END: u64 = 1 << 53;

/// Prints a session.
pub(crate) async fn show(host: &HostArgs, args: &ShowArgs) -> Result<Exit, Stop> {
    let engine = host::open(host, More::default()).await?;
    let found = async {
        let view = run::session_view(&engine, &SessionId::new(&args.id)).await?;
        let entries = match view.tasks.first() {
            Some(lead) => transcript(&engine, &lead.id).await?,
            None => Vec::new(),
        };
        Ok::<_, Stop>((view, entries))
    };
    let found = found.await;
    run::shut_down(&engine).await;
    let (view, entries) = found?;
    match args.output {
        ListOutput::Json => print::json(&json!({ "session": view, "entries": entries }))?,
        ListOutput::Text => in_words(&view, &entries)?,
    }
    Ok(Exit::Done)
}

async fn transcript(engine: &Engine, task_id: &TaskId) -> Result<Vec<EntryRow>, Stop> {
    let mut pages = Vec::new();
    let mut before = THE_END;
    loop {
        match engine.query(Query::Transcript { task_id: task_id.clone(), before, limit: PAGE }).await? {
            Page::Transcript { rows, has_earlier } => {
                let first = rows.first().map(|row| row.seq);
                pages.push(rows);
                match first {
                    Some(seq) if has_earlier => before = seq,
                    _ => break,
                }
            }
            other => return Err(run::unexpected(&other)),
        }
    }
    Ok(pages.into_iter().rev().flatten().collect())
}

fn in_words(view: &SessionView, entries: &[EntryRow]) -> Result<(), Stop> {
    print::line(&format!("{}  {}", view.id, print::plain(&view.title)))?;
    let is_named = !view.model.is_empty() && view.model != view.provider;
    print::line(&if is_named {
        format!("{}, {}", view.provider, view.model)
    } else {
        view.provider.clone()
    })?;
    print::line("")?;
    for task in &view.tasks {
        print::line(&task_line(task))?;
    }
    for row in entries {
        if let Some(text) = entry_text(&row.entry) {
            print::line(&format!("\n{}", print::plain(&text)))?;
        }
    }
    Ok(())
}

fn task_line(task: &TaskView) -> String {
    let status = match task.status {
        TaskStatus::Pending => "pending",
        TaskStatus::Running => "running",
        TaskStatus::Waiting => "waiting",
        TaskStatus::Interrupted => "interrupted",
        TaskStatus::Completed => "completed",
        TaskStatus::Failed => "failed",
        TaskStatus::Killed => "killed",
    };
    print::plain(&format!("{:<11}  {:<12}  {}: {}", status, task.role, task.name, task.description))
}

fn entry_text(entry: &Entry) -> Option<String> {
    match entry {
        Entry::User { from, text, .. } => {
            let who = match from {
                Party::User => "You",
                Party::Runtime => "Runtime",
                Party::Agent { .. } => "Agent",
            };
            Some(format!("{who}: {text}"))
        }
        Entry::Assistant { blocks, .. } => {
            let parts: Vec<String> = blocks
                .iter()
                .filter_map(|block| match block {
                    Block::Text { text } => Some(text.trim().to_owned()),
                    Block::ToolCall { call } => {
                        Some(format!("[{} {}]", call.name, call_label(&call.name, &call.input)))
                    }
                    Block::Thinking { .. } | Block::Opaque { .. } => None,
                })
                .filter(|part| !part.is_empty())
                .collect();
            (!parts.is_empty()).then(|| parts.join("\n\n"))
        }
        Entry::ToolResults { .. } => None,
        Entry::Runtime { note: RuntimeNote::Notification { envelope } } => {
            Some(format!("({})", envelope.summary))
        }
        Entry::Runtime { note: RuntimeNote::ChildInterrupted { name, reason, .. } } => {
            Some(format!("({name} was interrupted: {reason})"))
        }
        Entry::Runtime { note: RuntimeNote::Interrupted { reason } } => {
            Some(format!("(interrupted: {reason})"))
        }
        Entry::Runtime { note: RuntimeNote::UserActed { text } | RuntimeNote::Capability { text } } => {
            Some(format!("({text})"))
        }
        Entry::Runtime { note: RuntimeNote::Nudge | RuntimeNote::FilesChanged { .. } } => None,
    }
}
