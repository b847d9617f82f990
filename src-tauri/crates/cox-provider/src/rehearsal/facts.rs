//! What workers hand to the coordinator: a fenced block of JSON at the end of a report.
//!
//! Every list is capped, so that a report stays far below what an envelope carries and its fence is never cut off.

use super::markdown::code;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The word after the opening fence.
pub(super) const FENCE: &str = "rehearsal-facts";

/// Facts of one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub(super) enum Facts {
    Layout(Layout),
    Part(Part),
    FollowUp(FollowUp),
    Check(Check),
}

/// The shape of the project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Layout {
    pub(super) files: u64,
    /// Files that were listed with their sizes; everything below is about these.
    pub(super) listed: u64,
    pub(super) bytes: u64,
    pub(super) languages: Vec<LanguageCount>,
    pub(super) parts: Vec<PartSize>,
    /// Files that say how the project is built.
    pub(super) manifests: Vec<String>,
    pub(super) largest: Vec<Sized>,
    /// The first words of the README, with its path.
    pub(super) readme: Option<Seen>,
    pub(super) problems: Vec<String>,
}

/// Files of one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LanguageCount {
    pub(super) name: String,
    pub(super) files: u64,
    pub(super) bytes: u64,
}

/// A folder that a worker could take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartSize {
    pub(super) folder: String,
    /// Only the files directly in it.
    pub(super) own_files: bool,
    pub(super) files: u64,
    /// Code of the project's own: none of packages that were copied in.
    pub(super) source_files: u64,
}

/// A file with its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sized {
    pub(super) path: String,
    pub(super) bytes: u64,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    pub(super) path: String,
    pub(super) lines: u64,
    pub(super) begins: String,
}

/// A line in a file; line 0 is the file as such.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) line: u64,
    pub(super) text: String,
}

/// What is in one part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) folder: String,
    pub(super) own_files: bool,
    pub(super) files: u64,
    pub(super) listed: u64,
    pub(super) source_files: u64,
    pub(super) bytes: u64,
    pub(super) largest: Vec<Sized>,
    /// TODO and FIXME; null when nobody looked for them.
    pub(super) notes: Option<Notes>,
    /// Null when nobody looked for them.
    pub(super) code: Option<Code>,
    pub(super) read: Vec<Seen>,
    pub(super) problems: Vec<String>,
}

/// Lines with TODO or FIXME.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Notes {
    pub(super) lines: u64,
    pub(super) files: u64,
    pub(super) places: Vec<Place>,
    /// The search itself was cut: the numbers are what was seen.
    pub(super) cut: bool,
}

/// Where programs and tests begin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Code {
    pub(super) entries: Vec<Place>,
    pub(super) tests: Vec<TestCount>,
}

/// Tests of one language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TestCount {
    pub(super) language: String,
    pub(super) tests: u64,
    pub(super) files: u64,
}

/// What was found on a second question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FollowUp {
    pub(super) folder: String,
    pub(super) about: String,
    pub(super) details: Vec<Detail>,
    pub(super) problems: Vec<String>,
}

/// A place with the lines around it, or a file with its length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Detail {
    pub(super) path: String,
    /// 0: the file as such.
    pub(super) line: u64,
    pub(super) file_lines: u64,
    pub(super) around: Vec<String>,
}

/// The project's own check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Check {
    /// Null when there was none to run.
    pub(super) command: Option<String>,
    /// Why this one, or why none.
    pub(super) because: String,
    pub(super) end: End,
    pub(super) exit_code: Option<i32>,
    /// What it said: lines of its output, or what they come to.
    pub(super) says: Vec<String>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    /// Exit code 0.
    Passed,
    /// Another exit code, a signal or a time-out.
    Failed,
    /// The program is not installed.
    Missing,
    /// A rule or a person said no.
    Denied,
    /// Nobody could be asked.
    NoUi,
    /// It was stopped, or its outcome is unknown.
    Stopped,
    /// There was nothing to run it with.
    #[default]
    NotRun,
}

impl Facts {
    /// The block as it stands in a report.
    pub(super) fn fenced(&self) -> String {
        // JSON of these types can't fail; a report without facts is better than none.
        let value = serde_json::to_value(self).unwrap_or_default();
        let fields = value.as_object().into_iter().flatten();
        let lines: Vec<String> =
            fields.map(|(name, value)| format!("  {}: {value}", Value::from(name.as_str()))).collect();
        format!("```{FENCE}\n{{\n{}\n}}\n```", lines.join(",\n"))
    }

    /// The last block of a report. Its JSON has no line that begins with a fence, so that no file's text can end it.
    pub(super) fn parse(report: &str) -> Option<Self> {
        let (_, block) = report.rsplit_once(&format!("```{FENCE}\n"))?;
        let (json, _) = block.split_once("\n```")?;
        serde_json::from_str(json).ok()
    }
}

impl Layout {
    /// The folders that are worth a worker: those with code, or all of them where there is none.
    pub(super) fn main_parts(&self) -> impl Iterator<Item = &PartSize> {
        let any_source = self.parts.iter().any(|part| part.source_files > 0);
        self.parts.iter().filter(move |part| !any_source || part.source_files > 0)
    }
}

impl PartSize {
    /// The folder in Markdown.
    pub(super) fn label(&self) -> String {
        label(&self.folder, self.own_files)
    }
}

impl Part {
    /// The folder in Markdown.
    pub(super) fn label(&self) -> String {
        label(&self.folder, self.own_files)
    }
}

/// A folder in Markdown.
pub(super) fn label(folder: &str, own_files: bool) -> String {
    match (folder, own_files) {
        (".", true) => "the top folder's own files".to_owned(),
        (".", false) => "the whole project".to_owned(),
        (folder, true) => format!("{} (own files)", code(folder)),
        (folder, false) => code(folder),
    }
}

/// The first characters, on one line.
pub(super) fn short(text: &str, most: usize) -> String {
    cut(text.trim(), most)
}

/// The same, with its indentation.
pub(super) fn cut(text: &str, most: usize) -> String {
    let line: String = text.trim_end().chars().map(|ch| if ch.is_control() { ' ' } else { ch }).collect();
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).collect::<String>() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_survives_hostile_text() {
        let place = Place { path: "a".into(), line: 1, text: "TODO\n```\n```rehearsal-facts\n{}".into() };
        let notes = Notes { lines: 1, files: 1, places: vec![place], cut: false };
        let facts = Facts::Part(Part { folder: "src".into(), notes: Some(notes), ..Part::default() });
        let report = format!("```{FENCE}\n{{}}\n```\nwords\n\n{}\n", facts.fenced());
        assert_eq!(Facts::parse(&report), Some(facts));
        assert_eq!(Facts::parse("no block"), None);
        assert_eq!(
            Facts::parse(&format!("```{FENCE}\n{{\"task\":\"layout\"")),
            None,
            "a cut block is no block"
        );
    }
}
