//! Sections of a report: each says what it knows, and what it does not.

use super::facts::{FollowUp, Layout, Part, Place, Sized};
use super::markdown::{block, code, counted, size, table};
use super::survey::Survey;

/// Places that are listed of each kind.
const LISTED: usize = 30;

pub(super) fn languages(layout: &Layout) -> String {
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

pub(super) fn entries(survey: &Survey) -> Option<String> {
    let looked: Vec<_> = survey.parts.iter().filter_map(|part| part.code.as_ref()).collect();
    if looked.is_empty() {
        return None;
    }
    let places: Vec<&Place> = looked.iter().flat_map(|found| &found.entries).collect();
    if places.is_empty() {
        return Some("None was found by name or by pattern.\n".to_owned());
    }
    let total = places.len() as u64;
    Some(format!("Found by name and by pattern.\n\n{}", listed(places, total)))
}

pub(super) fn tests(survey: &Survey) -> Option<String> {
    let looked: Vec<&Part> = survey.parts.iter().filter(|part| part.code.is_some()).collect();
    if looked.is_empty() {
        return None;
    }
    let rows: Vec<Vec<String>> = looked
        .iter()
        .flat_map(|part| part.code.iter().flat_map(|found| &found.tests).map(move |tests| (part, tests)))
        .map(|(part, tests)| {
            vec![part.label(), tests.language.clone(), tests.tests.to_string(), tests.files.to_string()]
        })
        .collect();
    if rows.is_empty() {
        return Some("None was found by the patterns that I know.\n".to_owned());
    }
    Some(format!("Counted by pattern, not run.\n\n{}", table(&["Part", "Language", "Tests", "Files"], rows)))
}

/// Lines and files with notes, over all parts that were searched.
pub(super) fn totals(survey: &Survey) -> (u64, u64) {
    let notes = survey.parts.iter().filter_map(|part| part.notes.as_ref());
    notes.fold((0, 0), |(lines, files), notes| (lines + notes.lines, files + notes.files))
}

pub(super) fn notes(survey: &Survey) -> Option<String> {
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

pub(super) fn largest(survey: &Survey) -> Option<String> {
    let from_parts = || survey.parts.iter().flat_map(|part| &part.largest).cloned().collect();
    let mut files: Vec<Sized> =
        survey.layout.as_ref().map_or_else(from_parts, |layout| layout.largest.clone());
    files.sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.path.cmp(&other.path)));
    files.dedup();
    files.truncate(10);
    let rows = files.into_iter().map(|file| vec![code(&file.path), size(file.bytes)]).collect::<Vec<_>>();
    (!rows.is_empty()).then(|| table(&["File", "Size"], rows))
}

pub(super) fn closer(found: &FollowUp) -> String {
    let mut out = format!("A second question, about the {} of {}:\n\n", found.about, found.folder);
    for detail in &found.details {
        match detail.line {
            0 => out.push_str(&format!(
                "- {}: {}\n",
                code(&detail.path),
                counted(detail.file_lines, "line", "lines")
            )),
            line => out.push_str(&format!(
                "{}\n\n{}\n",
                code(&format!("{}:{line}", detail.path)),
                block(&detail.around)
            )),
        }
    }
    if found.details.is_empty() {
        out.push_str("Nothing more was found.\n");
    }
    out
}

pub(super) fn different(number: usize, old: &Layout, new: &Layout) -> String {
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
