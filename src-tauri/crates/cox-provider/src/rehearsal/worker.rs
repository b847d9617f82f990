//! A worker: takes its task from the prompt (or from its role, where the prompt is none of rehearsal's own), works
//! through it, answers messages on the way, and reports with a fenced block of facts.

use super::answer::{Answer, Work, in_brief, opening};
use super::check::check;
use super::desk::Desk;
use super::facts::Facts;
use super::follow_up::follow_up;
use super::job::{Job, Look};
use super::layout::layout;
use super::news;
use super::part::{Area, part};
use super::words::words;
use cox_protocol::entry::{Entry, Party};
use cox_protocol::task::ToolDef;
use std::sync::Arc;

/// How a role's part of the system prompt begins (`prompts/agents/`).
const ROLE: &str = "# Role: ";

/// The next answer of a worker.
pub(super) fn answer(system: &str, tools: &[ToolDef], entries: &[Arc<Entry>]) -> Answer {
    let desk = Desk::over(tools, entries);
    let tasks = Tasks::of(system, entries);
    let is_first = news::is_first_word(entries);
    let mut said = news::acknowledged(entries, 1);
    if is_first && !tasks.is_own {
        said.push("The task is none of rehearsal's own, so I do what my role always does.".to_owned());
    }
    match tasks.run(&desk) {
        Ok(facts) => {
            said.push(format!("This is what my tools showed.\n\n{}\n\n{}", words(&facts), facts.fenced()));
            Answer::last_word(opening(&said.join("\n\n")))
        }
        Err(work) => {
            said.push(work.say);
            let text = said.join("\n\n");
            Answer { text: if is_first { opening(&text) } else { in_brief(&text) }, calls: work.calls }
        }
    }
}

/// What a worker was asked to do.
struct Tasks {
    /// The first task, which follow-ups are about.
    first: Job,
    /// The one at hand.
    current: Job,
    /// The first prompt is one of rehearsal's own.
    is_own: bool,
}

impl Tasks {
    fn of(system: &str, entries: &[Arc<Entry>]) -> Self {
        let role = system.lines().find_map(|line| line.strip_prefix(ROLE)).unwrap_or_default().trim();
        let usual = match role {
            "verify" => Job::Check,
            "worker" => Job::Part { folder: ".".to_owned(), own_files: false, look: Look::All },
            _ => Job::Layout,
        };
        let prompt = entries.iter().find_map(|entry| match entry.as_ref() {
            Entry::User { text, .. } => Some(text),
            Entry::Assistant { .. } | Entry::ToolResults { .. } | Entry::Runtime { .. } => None,
        });
        let own = prompt.and_then(|prompt| Job::parse(prompt));
        let is_own = own.is_some();
        let first = own.unwrap_or(usual);
        let mut later = entries.iter().skip(1).filter_map(|entry| match entry.as_ref() {
            Entry::User { from: Party::Agent { .. }, text, .. } => Job::parse(text),
            Entry::User { .. }
            | Entry::Assistant { .. }
            | Entry::ToolResults { .. }
            | Entry::Runtime { .. } => None,
        });
        let current = later.rfind(|job| *job != Job::GoOn).unwrap_or_else(|| first.clone());
        Self { first, current, is_own }
    }

    fn run(&self, desk: &Desk<'_>) -> Result<Facts, Work> {
        match &self.current {
            Job::Layout | Job::GoOn => layout(desk).map(Facts::Layout),
            Job::Part { folder, own_files, look } => {
                part(desk, Area { folder, own_files: *own_files, look: *look }).map(Facts::Part)
            }
            Job::FollowUp { about } => {
                let area = match &self.first {
                    Job::Part { folder, own_files, look } => {
                        Area { folder, own_files: *own_files, look: *look }
                    }
                    Job::Layout | Job::FollowUp { .. } | Job::Check | Job::GoOn => {
                        Area { folder: ".", own_files: false, look: Look::All }
                    }
                };
                let known = part(desk, area)?;
                follow_up(desk, &known, *about).map(Facts::FollowUp)
            }
            Job::Check => check(desk).map(Facts::Check),
        }
    }
}
