//! What the runtime itself saw an agent do in one generation (N3).

use cox_protocol::entry::{CommandRun, FileChange};
use cox_protocol::task::Evidence;

const COMMANDS_MOST: usize = 50;
const FILES_MOST: usize = 200;

/// Collects evidence as results come in.
#[derive(Debug, Default)]
pub(super) struct EvidenceLog {
    so_far: Evidence,
}

impl EvidenceLog {
    pub(super) fn tool_use(&mut self) {
        self.so_far.tool_uses += 1;
    }

    pub(super) fn command(&mut self, run: CommandRun) {
        if self.so_far.commands.len() < COMMANDS_MOST {
            self.so_far.commands.push(run);
        }
    }

    /// A file that changed several times is listed once: as it was before the first change, and is after the last.
    pub(super) fn change(&mut self, change: &FileChange) {
        let files = &mut self.so_far.files;
        if let Some(known) = files.iter_mut().find(|known| known.path == change.path) {
            known.after.clone_from(&change.after);
            known.added += change.added;
            known.removed += change.removed;
        } else if files.len() < FILES_MOST {
            files.push(change.clone());
        }
    }

    pub(super) fn violations(&mut self, violations: Vec<String>) {
        self.so_far.violations.extend(violations);
    }

    pub(super) fn killed_shells(&mut self, commands: Vec<String>) {
        self.so_far.killed_shells.extend(commands);
    }

    pub(super) fn snapshot(&self, wall_ms: u64) -> Evidence {
        Evidence { wall_ms, ..self.so_far.clone() }
    }
}
