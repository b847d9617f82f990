//! Facts in a few sentences.

use super::facts::{Check, End, Facts, FollowUp, Layout, Part};
use super::markdown::{code, counted, size};

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
    if problems.is_empty() { text } else { format!("{text}\n{problems}") }
}

fn layout_words(layout: &Layout) -> String {
    if layout.files == 0 {
        return "The folder holds no file.".to_owned();
    }
    let languages: Vec<String> =
        layout.languages.iter().take(5).map(|count| format!("{} {}", count.name, count.files)).collect();
    let parts: Vec<String> = layout.main_parts().take(5).map(|part| part.label()).collect();
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
        format!("{}: {}, {}.", part.label(), counted(part.files, "file", "files"), size(part.bytes));
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
        return format!("There is nothing more to say about {} of {}.", found.about, found.folder);
    }
    let details = found.details.iter().map(|detail| match detail.line {
        0 => format!("{} has {}", code(&detail.path), counted(detail.file_lines, "line", "lines")),
        line => format!("{} line {line} of {}", code(&detail.path), detail.file_lines),
    });
    format!("In {}: {}.", found.folder, details.collect::<Vec<_>>().join("; "))
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
    let gap = if says.is_empty() { "" } else { "\n" };
    format!("{} {head}{gap}{says}", check.because)
}
