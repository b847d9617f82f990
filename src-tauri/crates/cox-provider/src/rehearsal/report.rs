//! The lead's last word: a report in Markdown, out of facts alone.

use super::answer::opening;
use super::facts::{Check, End, FollowUp, Layout, Part, Place, Sized};
use super::job::Job;
use super::markdown::{code, counted, size, table};
use super::question::Choice;
use super::worker::check_words;
use cox_protocol::entry::CommandRun;

/// The heading of every report, by which a round is known to be over.
pub(super) const TITLE: &str = "## Rehearsal report";
/// Places that are listed of each kind.
const LISTED: usize = 30;

/// What is known at the end of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Survey {
    pub(super) layout: Option<Layout>,
    pub(super) parts: Vec<Part>,
    pub(super) follow_up: Option<FollowUp>,
    pub(super) check: Option<Check>,
    pub(super) choice: Option<Choice>,
    /// The workers; none when the lead worked itself.
    pub(super) rows: Vec<Row>,
}

/// A worker, as the runtime's envelopes tell of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) job: Job,
    pub(super) task: String,
    pub(super) end: String,
    pub(super) tool_uses: u64,
    pub(super) commands: Vec<CommandRun>,
    pub(super) violations: Vec<String>,
}

/// A full report.
pub(super) fn full(survey: &Survey) -> String {
    let mut out = head("What follows are facts out of the folder, nothing more.");
    if survey.layout.as_ref().is_some_and(|layout| layout.files == 0 && layout.problems.is_empty()) {
        out.push_str("The folder holds no file, so there was nothing to look at.\n\n");
        section(
            &mut out,
            "The project's own check",
            Some("Check not run: there is nothing to check.\n".to_owned()),
        );
    } else {
        section(
            &mut out,
            "Languages",
            survey
                .layout
                .as_ref()
                .map(languages)
                .or_else(|| Some(missing(survey, &Job::Layout, "The layout is not known"))),
        );
        section(&mut out, "Entry points", entries(survey));
        section(&mut out, "Tests", tests(survey));
        section(&mut out, "TODO and FIXME", notes(survey));
        section(&mut out, "Largest files", largest(survey));
        section(&mut out, "A closer look", survey.follow_up.as_ref().map(closer));
        section(&mut out, "The project's own check", Some(check(survey)));
    }
    section(&mut out, "Who did what", Some(who(survey)));
    section(&mut out, "Not covered", not_covered(survey));
    out
}

/// A later round's report: what is new against what was known.
pub(super) fn short(number: usize, before: &Survey, now: &Survey) -> String {
    let mut out = head(&format!("This is a short round: it compares with round {number}."));
    if let (Some(old), Some(new)) = (&before.layout, &now.layout) {
        section(&mut out, "What is different", Some(different(number, old, new)));
    }
    if now.check.is_some() || now.rows.iter().any(|row| row.job == Job::Check) {
        section(&mut out, "The project's own check", Some(check(now)));
    } else if now.layout.is_none() {
        section(&mut out, "What is different", Some(missing(now, &Job::Layout, "The layout is not known")));
    }
    let (lines, files) = totals(before);
    let known = format!(
        "As read in round {number}, and not looked at again: {}, {} with TODO or FIXME in {}.\n",
        counted(
            before.parts.iter().flat_map(|part| &part.code).map(|found| found.entries.len() as u64).sum(),
            "entry point",
            "entry points"
        ),
        counted(lines, "line", "lines"),
        counted(files, "file", "files"),
    );
    section(&mut out, "Still known", Some(known));
    section(&mut out, "Who did what", Some(who(now)));
    out
}

fn head(about: &str) -> String {
    format!("{}\n\n{TITLE}\n\n", opening(about))
}

fn section(out: &mut String, title: &str, body: Option<String>) {
    if let Some(body) = body {
        out.push_str(&format!("### {title}\n\n{}\n\n", body.trim_end()));
    }
}

fn languages(layout: &Layout) -> String {
    let rows = layout
        .languages
        .iter()
        .map(|count| vec![count.name.clone(), count.files.to_string(), size(count.bytes)]);
    let mut out = format!("{}, {}.", counted(layout.files, "file", "files"), size(layout.bytes));
    if layout.listed < layout.files {
        out = format!(
            "{}. The list was cut: the counts and sizes are of the first {}.",
            counted(layout.files, "file", "files"),
            layout.listed
        );
    }
    if !layout.manifests.is_empty() {
        let names: Vec<String> = layout.manifests.iter().take(8).map(|path| code(path)).collect();
        out.push_str(&format!(" Built by {}.", names.join(", ")));
    }
    if let Some(readme) = &layout.readme {
        out.push_str(&format!(
            " {} ({} lines) begins with {}.",
            code(&readme.path),
            readme.lines,
            code(&readme.begins)
        ));
    }
    format!("{out}\n\n{}", table(&["Language", "Files", "Size"], rows))
}

fn place(place: &Place) -> String {
    match place.line {
        0 => format!("- {}: {}\n", code(&place.path), place.text),
        line => format!("- {}: {}\n", code(&format!("{}:{line}", place.path)), code(&place.text)),
    }
}

/// A list with a cap that is said.
fn listed(places: Vec<&Place>, total: u64) -> String {
    let mut out: String = places.iter().take(LISTED).map(|found| place(found)).collect();
    let shown = places.len().min(LISTED) as u64;
    if total > shown {
        out.push_str(&format!("- and {} more\n", total - shown));
    }
    out
}

fn entries(survey: &Survey) -> Option<String> {
    let looked: Vec<_> = survey.parts.iter().filter_map(|part| part.code.as_ref()).collect();
    if looked.is_empty() {
        return None;
    }
    let places: Vec<&Place> = looked.iter().flat_map(|found| &found.entries).collect();
    if places.is_empty() {
        return Some("None was found by name or by pattern.\n".to_owned());
    }
    let total = places.len() as u64;
    Some(listed(places, total))
}

fn tests(survey: &Survey) -> Option<String> {
    let looked: Vec<&Part> = survey.parts.iter().filter(|part| part.code.is_some()).collect();
    if looked.is_empty() {
        return None;
    }
    let rows: Vec<Vec<String>> = looked
        .iter()
        .flat_map(|part| part.code.iter().flat_map(|found| &found.tests).map(move |tests| (part, tests)))
        .map(|(part, tests)| {
            vec![
                code(&part.label()),
                tests.language.clone(),
                tests.tests.to_string(),
                tests.files.to_string(),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Some("None was found by the patterns that I know.\n".to_owned());
    }
    Some(format!("Counted by pattern, not run.\n\n{}", table(&["Part", "Language", "Tests", "Files"], rows)))
}

/// Lines and files with notes, over all parts that were searched.
fn totals(survey: &Survey) -> (u64, u64) {
    let notes = survey.parts.iter().filter_map(|part| part.notes.as_ref());
    notes.fold((0, 0), |(lines, files), notes| (lines + notes.lines, files + notes.files))
}

fn notes(survey: &Survey) -> Option<String> {
    let looked: Vec<_> = survey.parts.iter().filter_map(|part| part.notes.as_ref()).collect();
    if looked.is_empty() {
        return None;
    }
    let (lines, files) = totals(survey);
    if lines == 0 {
        return Some("No line with TODO or FIXME was found.\n".to_owned());
    }
    let at_least = if looked.iter().any(|notes| notes.cut) { "At least " } else { "" };
    let places: Vec<&Place> = looked.iter().flat_map(|notes| &notes.places).collect();
    Some(format!(
        "{at_least}{} in {}.\n\n{}",
        counted(lines, "line", "lines"),
        counted(files, "file", "files"),
        listed(places, lines)
    ))
}

fn largest(survey: &Survey) -> Option<String> {
    let from_parts = || survey.parts.iter().flat_map(|part| &part.largest).cloned().collect();
    let mut files: Vec<Sized> =
        survey.layout.as_ref().map_or_else(from_parts, |layout| layout.largest.clone());
    files.sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.path.cmp(&other.path)));
    files.dedup();
    files.truncate(10);
    let rows = files.into_iter().map(|file| vec![code(&file.path), size(file.bytes)]).collect::<Vec<_>>();
    (!rows.is_empty()).then(|| table(&["File", "Size"], rows))
}

fn closer(found: &FollowUp) -> String {
    let mut out = format!("A second question, about the {} of {}:\n\n", found.about, code(&found.folder));
    for detail in &found.details {
        match detail.line {
            0 => out.push_str(&format!(
                "- {}: {}\n",
                code(&detail.path),
                counted(detail.file_lines, "line", "lines")
            )),
            line => {
                out.push_str(&format!("- {}\n", code(&format!("{}:{line}", detail.path))));
                out.extend(detail.around.iter().map(|text| format!("  - {}\n", code(text))));
            }
        }
    }
    if found.details.is_empty() {
        out.push_str("- nothing more was found\n");
    }
    out
}

fn check(survey: &Survey) -> String {
    if let Some(choice) = survey.choice.as_ref().filter(|choice| !choice.run_check) {
        return format!(
            "Check not run: {}.\n",
            choice.because.as_deref().unwrap_or("only reading was wanted")
        );
    }
    let Some(check) = &survey.check else { return missing(survey, &Job::Check, "Check not run") };
    let mut out = check_words(check);
    // The runtime's record stands beside the worker's word (N3).
    let runs: Vec<&CommandRun> =
        survey.rows.iter().filter(|row| row.job == Job::Check).flat_map(|row| &row.commands).collect();
    let recorded = runs.iter().rev().find(|run| Some(&run.command) == check.command.as_ref());
    let has_run = matches!(check.end, End::Passed | End::Failed | End::Missing);
    match (recorded.map(|run| run.exit_code), has_run && !survey.rows.is_empty()) {
        (Some(exit_code), true) if exit_code == check.exit_code => {
            out.push_str("\n\nThe runtime's own record agrees.");
        }
        (Some(_) | None, true) => {
            out.push_str("\n\nThe runtime's own record does not show that, so don't rely on it.")
        }
        (_, false) => {}
    }
    out.push('\n');
    out
}

/// Why something is not known: how its worker ended.
fn missing(survey: &Survey, job: &Job, what: &str) -> String {
    let row = survey.rows.iter().rev().find(|row| &row.job == job);
    match row {
        Some(row) if row.end == "completed" => {
            format!("{what} ({}: it handed in no facts that can be read).\n", code(&row.name))
        }
        Some(row) => format!("{what} ({}: {}).\n", code(&row.name), row.end),
        None => format!("{what}: nobody was asked.\n"),
    }
}

fn who(survey: &Survey) -> String {
    if survey.rows.is_empty() {
        return "I did all of it myself, with my own tools.\n".to_owned();
    }
    let rows = survey.rows.iter().map(|row| {
        let commands: Vec<String> = row.commands.iter().map(command).collect();
        vec![
            code(&row.name),
            row.task.clone(),
            row.end.clone(),
            row.tool_uses.to_string(),
            commands.join("; "),
        ]
    });
    let mut out = table(&["Worker", "Task", "End", "Tool calls", "Commands"], rows);
    for row in &survey.rows {
        out.extend(
            row.violations
                .iter()
                .map(|violation| format!("\nViolation by {}: {}\n", code(&row.name), code(violation))),
        );
    }
    out
}

fn command(run: &CommandRun) -> String {
    let end = match (run.exit_code, run.signal) {
        (Some(exit_code), _) => format!("exit code {exit_code}"),
        (None, _) if run.timed_out => "timed out".to_owned(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no end".to_owned(),
    };
    format!("{} ({end})", code(&super::facts::short(&run.command, 80)))
}

fn not_covered(survey: &Survey) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    if let Some(layout) = &survey.layout {
        lines.extend(layout.problems.iter().map(|problem| format!("- The layout: {}\n", code(problem))));
        let asked: Vec<(&str, bool)> = survey
            .rows
            .iter()
            .filter_map(|row| match &row.job {
                Job::Part { folder, own_files, .. } => Some((folder.as_str(), *own_files)),
                Job::Layout | Job::FollowUp { .. } | Job::Check | Job::GoOn => None,
            })
            .collect();
        let is_asked = |folder: &str, own_files: bool| {
            asked.contains(&(folder, own_files)) || asked.contains(&(".", false))
        };
        let left: Vec<String> = layout
            .parts
            .iter()
            .filter(|part| !survey.rows.is_empty() && !is_asked(&part.folder, part.own_files))
            .map(|part| code(&part.label()))
            .collect();
        if !left.is_empty() {
            lines.push(format!("- Nobody looked into {}.\n", left.join(", ")));
        }
    }
    for part in &survey.parts {
        lines.extend(
            part.problems.iter().map(|problem| format!("- {}: {}\n", code(&part.label()), code(problem))),
        );
    }
    for row in survey.rows.iter().filter(|row| row.end != "completed") {
        lines.push(format!("- {} ({}): {}\n", row.task, code(&row.name), row.end));
    }
    (!lines.is_empty()).then(|| lines.concat())
}

fn different(number: usize, old: &Layout, new: &Layout) -> String {
    let mut out = format!(
        "{} and {} now; {} and {} in round {number}.\n",
        counted(new.files, "file", "files"),
        size(new.bytes),
        counted(old.files, "file", "files"),
        size(old.bytes)
    );
    let mut names: Vec<&str> =
        old.languages.iter().chain(&new.languages).map(|count| count.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let count = |layout: &Layout, name: &str| {
        layout
            .languages
            .iter()
            .find(|count| count.name == name)
            .map_or((0, 0), |count| (count.files, count.bytes))
    };
    let changed = names.iter().filter(|name| count(old, name) != count(new, name));
    let rows: Vec<Vec<String>> = changed
        .map(|name| {
            let ((files_then, then), (files_now, now)) = (count(old, name), count(new, name));
            vec![
                (*name).to_owned(),
                format!("{files_then}, {}", size(then)),
                format!("{files_now}, {}", size(now)),
            ]
        })
        .collect();
    if rows.is_empty() {
        out.push_str("\nNo language has changed in number or size.\n");
    } else {
        out.push_str(&format!("\n{}", table(&["Language", "Then", "Now"], rows)));
    }
    out
}
