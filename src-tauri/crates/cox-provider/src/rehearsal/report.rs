//! The lead's last word: a report in Markdown, out of facts alone.

use super::answer::opening;
use super::facts::{End, short};
use super::job::Job;
use super::markdown::{code, counted, table};
use super::sections::{closer, different, entries, languages, largest, notes, tests, totals};
use super::survey::Survey;
use super::words::check_words;
use cox_protocol::entry::CommandRun;

/// The heading of every report, by which a round is known to be over.
pub(super) const TITLE: &str = "## Rehearsal report";

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
    finished(out)
}

/// A later round's report: what is new against what was known.
pub(super) fn compared(number: usize, before: &Survey, now: &Survey) -> String {
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
    finished(out)
}

fn head(about: &str) -> String {
    format!("{}\n\n{TITLE}\n\n", opening(about))
}

fn finished(out: String) -> String {
    format!("{}\n", out.trim_end())
}

fn section(out: &mut String, title: &str, body: Option<String>) {
    if let Some(body) = body {
        out.push_str(&format!("### {title}\n\n{}\n\n", body.trim_end()));
    }
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
            row.job.title(),
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
    format!("{} ({end})", code(&short(&run.command, 80)))
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
            .map(|part| part.label())
            .collect();
        if !left.is_empty() {
            lines.push(format!("- Nobody looked into {}.\n", left.join(", ")));
        }
    }
    for part in &survey.parts {
        lines.extend(part.problems.iter().map(|problem| format!("- {}: {}\n", part.label(), code(problem))));
    }
    for row in survey.rows.iter().filter(|row| row.end != "completed") {
        lines.push(format!("- {} ({}): {}\n", row.job.title(), code(&row.name), row.end));
    }
    (!lines.is_empty()).then(|| lines.concat())
}
