//! Looks closely at one part of a project.

use super::answer::{Call, Work, glob, grep_count, grep_lines, read};
use super::desk::{Desk, Reply};
use super::facts::{Code, Notes, Part, Place, TestCount, short};
use super::found::{Counts, File, Lines, Listing};
use super::job::Look;
use super::languages::{Language, entry_by_name, folder_of, is_readme, is_source, language_of, may_begin};
use super::layout::{largest, seen, unreadable};
use super::markdown::{code, counted};
use std::collections::{BTreeMap, BTreeSet};

/// Files that are listed with their sizes.
const LISTED: u64 = 2_000;
/// Lines that Grep shows.
const SHOWN: u64 = 200;
/// Places that are reported of each kind.
const PLACES: usize = 40;
/// Languages whose entry points and tests are looked for.
const LANGUAGES: usize = 3;
const NOTES: &str = r"\b(TODO|FIXME)\b";

/// A part that is looked at: which folder, and what of it.
#[derive(Clone, Copy)]
pub(super) struct Area<'a> {
    pub(super) folder: &'a str,
    pub(super) own_files: bool,
    pub(super) look: Look,
}

impl Area<'_> {
    /// The same names, but only those directly in the folder. A pattern with a slash in it is about the path.
    fn within(&self, names: &str) -> Option<String> {
        match (self.own_files, names) {
            (true, names) => Some(format!("{{{names},./{names}}}")),
            (false, "*") => None,
            (false, names) => Some(names.to_owned()),
        }
    }

    fn wants_notes(&self) -> bool {
        self.look != Look::Code
    }

    fn wants_code(&self) -> bool {
        self.look != Look::Notes
    }
}

/// The part, from Glob, Grep and one or two files.
pub(super) fn part(desk: &Desk<'_>, area: Area<'_>) -> Result<Part, Work> {
    let mut part = Part { folder: area.folder.to_owned(), own_files: area.own_files, ..Part::default() };
    let label = part.label();
    let mut first = vec![glob(area.folder, if area.own_files { "*" } else { "**/*" }, LISTED)];
    if area.wants_notes() {
        first.push(grep_count(area.folder, NOTES, area.within("*").as_deref(), SHOWN));
    }
    let replies = desk.replies(first, || format!("I list the files of {label} and look through them."))?;
    let Some(listing) = replies[0].ok().and_then(Listing::parse) else {
        part.problems = unreadable(replies[0]);
        return Ok(part);
    };
    part.files = listing.total;
    part.listed = listing.files.len() as u64;
    part.source_files = listing.files.iter().filter(|file| is_source(&file.path)).count() as u64;
    part.bytes = listing.files.iter().map(|file| file.bytes).sum();
    part.largest = largest(listing.files.iter(), 5);
    if listing.is_cut() {
        part.problems.push(format!("only the first {} of {} files were listed", part.listed, part.files));
    }
    part.problems.extend(listing.remarks.iter().take(3).map(|remark| short(remark, 160)));

    let languages = if area.wants_code() { languages(&listing.files) } else { Vec::new() };
    let searches = searches(area, replies.get(1).copied(), &languages);
    let calls = searches.iter().map(|(_, call)| call.clone()).collect();
    let replies_to_searches = desk.replies(calls, || {
        format!("{label}: {}. I look for {}.", counted(part.files, "file", "files"), wanted(area))
    })?;
    if area.wants_code() {
        part.code = Some(Code { entries: by_name(&listing.files), tests: Vec::new() });
    }
    if area.wants_notes() {
        part.notes = replies.get(1).and_then(|reply| reply.ok()).and_then(Counts::parse).map(|counts| {
            Notes { lines: counts.matches, files: counts.files, places: Vec::new(), cut: counts.stopped }
        });
    }
    for ((search, _), reply) in searches.iter().zip(replies_to_searches) {
        take(&mut part, search, reply);
    }
    if let Some(reply) = replies.get(1).filter(|reply| reply.ok().is_none()) {
        part.problems.extend(reply.problem().map(|problem| short(&problem, 160)));
    }

    if let Some(code) = &mut part.code {
        // A place that a pattern found says more than the file's name.
        let found: BTreeSet<String> =
            code.entries.iter().filter(|place| place.line > 0).map(|place| place.path.clone()).collect();
        code.entries.retain(|place| place.line > 0 || !found.contains(&place.path));
    }
    let to_read = worth_reading(area, &listing.files, &part);
    let names: Vec<String> = to_read.iter().map(|path| code(path)).collect();
    let calls = to_read.iter().map(|path| read(path, 1, 60)).collect();
    let pages = desk.replies(calls, || format!("I read the beginning of {}.", names.join(" and ")))?;
    for (path, reply) in to_read.iter().zip(pages) {
        match seen(path, reply) {
            Ok(seen) => part.read.push(seen),
            Err(problem) => part.problems.push(short(&problem, 160)),
        }
    }
    Ok(part)
}

enum Search<'a> {
    Notes,
    Entries,
    Tests(&'a Language),
}

fn searches<'a>(
    area: Area<'_>,
    counted: Option<Reply<'_>>,
    languages: &[&'a Language],
) -> Vec<(Search<'a>, Call)> {
    let mut searches = Vec::new();
    let notes = counted.and_then(Reply::ok).and_then(Counts::parse).map_or(0, |counts| counts.matches);
    if notes > 0 {
        searches.push((Search::Notes, grep_lines(area.folder, NOTES, area.within("*").as_deref(), SHOWN)));
    }
    for language in languages {
        let names = area.within(&language.glob());
        if let Some(entry) = language.entry {
            searches.push((Search::Entries, grep_lines(area.folder, entry, names.as_deref(), SHOWN)));
        }
        if let Some(test) = language.test {
            searches.push((Search::Tests(language), grep_count(area.folder, test, names.as_deref(), 2_000)));
        }
    }
    searches
}

fn take(part: &mut Part, search: &Search<'_>, reply: Reply<'_>) {
    let Some(text) = reply.ok() else {
        part.problems.extend(reply.problem().map(|problem| short(&problem, 160)));
        return;
    };
    match search {
        Search::Notes => {
            let places = Lines::parse(text).map(|lines| places(&lines)).unwrap_or_default();
            if let Some(notes) = &mut part.notes {
                notes.places = places;
            }
        }
        Search::Entries => {
            if let (Some(code), Some(lines)) = (&mut part.code, Lines::parse(text)) {
                code.entries.extend(places(&lines).into_iter().filter(|place| may_begin(&place.path)));
                code.entries.truncate(PLACES);
            }
        }
        Search::Tests(language) => {
            let counts = Counts::parse(text).filter(|counts| counts.matches > 0);
            if let (Some(code), Some(counts)) = (&mut part.code, counts) {
                let files = counts.files;
                code.tests.push(TestCount {
                    language: language.name.to_owned(),
                    tests: counts.matches,
                    files,
                });
                if counts.stopped {
                    part.problems
                        .push(format!("the search for {} tests was cut; there may be more", language.name));
                }
            }
        }
    }
}

fn places(lines: &Lines) -> Vec<Place> {
    let place = |line: &super::found::Line| Place {
        path: line.path.clone(),
        line: line.number,
        text: short(&line.text, 120),
    };
    lines.lines.iter().take(PLACES).map(place).collect()
}

fn by_name(files: &[File]) -> Vec<Place> {
    let named = files.iter().filter_map(|file| Some((file, entry_by_name(&file.path)?)));
    named
        .take(PLACES)
        .map(|(file, text)| Place { path: file.path.clone(), line: 0, text: text.to_owned() })
        .collect()
}

/// The languages with most files.
fn languages(files: &[File]) -> Vec<&'static Language> {
    let mut counts: BTreeMap<&str, (&'static Language, usize)> = BTreeMap::new();
    for language in
        files.iter().filter_map(|file| language_of(&file.path)).filter(|language| language.is_source)
    {
        counts.entry(language.name).or_insert((language, 0)).1 += 1;
    }
    let mut counts: Vec<(&'static Language, usize)> = counts.into_values().collect();
    counts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.name.cmp(other.0.name)));
    counts.into_iter().take(LANGUAGES).map(|(language, _)| language).collect()
}

/// One or two files: the folder's own README, a file where a program begins, else the largest source file.
fn worth_reading(area: Area<'_>, files: &[File], part: &Part) -> Vec<String> {
    if !area.wants_code() {
        return Vec::new();
    }
    let readme =
        files.iter().map(|file| &file.path).find(|path| is_readme(path) && folder_of(path) == area.folder);
    let entries = part.code.iter().flat_map(|code| &code.entries).map(|place| place.path.as_str());
    let source = largest(files.iter().filter(|file| is_source(&file.path)), 1).pop().map(|file| file.path);
    let file = entries.min().map(str::to_owned).or(source);
    let mut paths: Vec<String> = readme.cloned().into_iter().chain(file).collect();
    paths.dedup();
    paths
}

fn wanted(area: Area<'_>) -> &'static str {
    match area.look {
        Look::All => "notes, entry points and tests",
        Look::Code => "entry points and tests",
        Look::Notes => "the notes themselves",
    }
}
