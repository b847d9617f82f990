//! A worker: takes its task from the prompt (or from its role, where the prompt is none of rehearsal's own), works
//! through it, answers messages on the way, and reports with a fenced block of facts.

use super::answer::{Answer, Work, in_brief, opening};
use super::check::check;
use super::desk::Desk;
use super::facts::{Check, End, Facts, FollowUp, Layout, Part};
use super::follow_up::follow_up;
use super::job::{Job, Look};
use super::layout::layout;
use super::markdown::{code, counted, size};
use super::news;
use super::part::{Area, part};
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
            Answer::last_word(opening(&said.join(" ")))
        }
        Err(work) => {
            said.push(work.say);
            let text = said.join(" ");
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
        let later = entries.iter().skip(1).filter_map(|entry| match entry.as_ref() {
            Entry::User { from: Party::Agent { .. }, text, .. } => Job::parse(text),
            Entry::User { .. }
            | Entry::Assistant { .. }
            | Entry::ToolResults { .. }
            | Entry::Runtime { .. } => None,
        });
        let current = later.filter(|job| *job != Job::GoOn).last().unwrap_or_else(|| first.clone());
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

/// Facts in a few sentences.
pub(super) fn words(facts: &Facts) -> String {
    let (text, problems): (String, &[String]) = match facts {
        Facts::Layout(layout) => (layout_words(layout), &layout.problems),
        Facts::Part(part) => (part_words(part), &part.problems),
        Facts::FollowUp(found) => (follow_up_words(found), &found.problems),
        Facts::Check(check) => (check_words(check), &[]),
    };
    let problems: String =
        problems.iter().map(|problem| format!("\n- Not complete: {}", code(problem))).collect();
    format!("{text}{problems}")
}

fn layout_words(layout: &Layout) -> String {
    if layout.files == 0 {
        return "The folder holds no file.".to_owned();
    }
    let languages: Vec<String> =
        layout.languages.iter().take(5).map(|count| format!("{} {}", count.name, count.files)).collect();
    let parts: Vec<String> = layout.parts.iter().take(5).map(|part| code(&part.label())).collect();
    let mut text = format!(
        "{}, {}. By language: {}.",
        counted(layout.files, "file", "files"),
        size(layout.bytes),
        languages.join(", ")
    );
    if !parts.is_empty() {
        text.push_str(&format!(" Most of the code is in {}.", parts.join(", ")));
    }
    if let Some(readme) = &layout.readme {
        text.push_str(&format!(" {} begins with {}.", code(&readme.path), code(&readme.begins)));
    }
    text
}

fn part_words(part: &Part) -> String {
    let mut text =
        format!("{}: {}, {}.", code(&part.label()), counted(part.files, "file", "files"), size(part.bytes));
    if let Some(notes) = &part.notes {
        let lines = counted(notes.lines, "line", "lines");
        text.push_str(&format!(" {lines} with TODO or FIXME in {}.", counted(notes.files, "file", "files")));
    }
    if let Some(found) = &part.code {
        text.push_str(&format!(" {}.", counted(found.entries.len() as u64, "entry point", "entry points")));
        for tests in &found.tests {
            let files = counted(tests.files, "file", "files");
            text.push_str(&format!(
                " {} in {files} ({}).",
                counted(tests.tests, "test", "tests"),
                tests.language
            ));
        }
    }
    let read: Vec<String> =
        part.read.iter().map(|seen| format!("{} ({} lines)", code(&seen.path), seen.lines)).collect();
    if !read.is_empty() {
        text.push_str(&format!(" Read: {}.", read.join(", ")));
    }
    text
}

fn follow_up_words(found: &FollowUp) -> String {
    if found.details.is_empty() {
        return format!("There is nothing more to say about {} of {}.", found.about, code(&found.folder));
    }
    let details = found.details.iter().map(|detail| match detail.line {
        0 => format!("{} has {}", code(&detail.path), counted(detail.file_lines, "line", "lines")),
        line => format!("{} line {line} of {}", code(&detail.path), detail.file_lines),
    });
    format!("In {}: {}.", code(&found.folder), details.collect::<Vec<_>>().join("; "))
}

pub(super) fn check_words(check: &Check) -> String {
    let command = check.command.as_deref().map(code).unwrap_or_default();
    let says: String = check.says.iter().map(|line| format!("\n- {}", code(line))).collect();
    let head = match (check.end, check.exit_code) {
        (End::Passed, _) => format!("The check passed: {command}, exit code 0."),
        (End::Failed, Some(exit)) => format!("The check failed: {command}, exit code {exit}."),
        (End::Failed, None) => format!("The check did not come to an end by itself: {command}."),
        (End::Missing, _) => {
            format!("Check not run: the program of {command} is not installed here (exit code 127).")
        }
        (End::Denied, _) => format!("Check not run: {command} was denied."),
        (End::NoUi, _) => {
            format!("Check not run: {command} needs a permission, and nobody can be asked here (no_ui).")
        }
        (End::Stopped, _) => format!("Check not finished: {command} was stopped."),
        (End::NotRun, _) => "Check not run.".to_owned(),
    };
    format!("{} {head}{says}", check.because)
}
