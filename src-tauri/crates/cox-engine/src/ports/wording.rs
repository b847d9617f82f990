//! One line for people about a task that ended.

use cox_protocol::task::{Evidence, KilledBy, Outcome, TaskKind};

/// The summary of an envelope (B118).
pub(crate) fn summary(name: &str, kind: TaskKind, outcome: &Outcome, evidence: &Evidence) -> String {
    let what = match kind {
        TaskKind::Lead | TaskKind::Worker => name.to_owned(),
        TaskKind::Shell => match evidence.commands.first() {
            Some(run) => format!("Background command \"{}\"", run.command),
            None => "Background command".to_owned(),
        },
    };
    match outcome {
        Outcome::Completed if kind == TaskKind::Worker && evidence.tool_uses == 0 => {
            format!("{what} completed without using any tool: nothing was checked")
        }
        Outcome::Completed => format!("{what} completed"),
        Outcome::Failed { message, .. } => format!("{what} failed: {message}"),
        Outcome::Killed { by: KilledBy::User } => format!("{what} was stopped by the user"),
        Outcome::Killed { by: KilledBy::Coordinator } => format!("{what} was stopped by you"),
        Outcome::Killed { by: KilledBy::Owner } => format!("{what} was ended with its owner"),
    }
}
