//! Learns what a project consists of.

use super::answer::{Work, glob, read};
use super::desk::{Desk, Reply};
use super::facts::{LanguageCount, Layout, PartSize, Seen, Sized, short};
use super::found::{File, Listing, Page};
use super::languages::{folder_of, is_foreign, is_readme, is_source, language_of, name_of};
use std::collections::{BTreeMap, BTreeSet};

/// Files that are listed with their sizes: the most that Glob gives.
const LISTED: u64 = 5_000;
/// Folders that are reported.
const PARTS: usize = 24;
/// How far down a chain of lonely folders is followed, as in `src/main/java/org/…`.
const DEPTH: usize = 8;
const MANIFESTS: [&str; 10] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "CMakeLists.txt",
    "Makefile",
    "Gemfile",
];

/// The layout, from Glob and one look at the README.
pub(super) fn layout(desk: &Desk<'_>) -> Result<Layout, Work> {
    let reply = desk.one(glob(".", "**/*", LISTED), || "I list every file of the project.".to_owned())?;
    let Some(listing) = reply.ok().and_then(Listing::parse) else {
        return Ok(Layout { problems: unreadable(reply), ..Layout::default() });
    };
    let mut layout = counted(&listing);
    if listing.is_cut() {
        let (seen, total) = (listing.files.len(), listing.total);
        layout.problems.push(format!(
            "only the first {seen} of {total} files were listed; counts and sizes are of these, and folders behind them may be missing"
        ));
        // The list is in order of paths, so that whole folders may lie behind the cut: their names at least are found.
        let say = || {
            format!("There are {total} files and the list was cut, so I look for the folders behind the cut.")
        };
        let shallow = desk.replies(vec![glob(".", "*/*", LISTED), glob(".", "*/*/*", LISTED)], say)?;
        let more = shallow
            .into_iter()
            .filter_map(Reply::ok)
            .filter_map(Listing::parse)
            .flat_map(|found| found.files);
        let known: BTreeSet<String> = listing.files.iter().map(|file| file.path.clone()).collect();
        let unseen: Vec<File> = more.filter(|file| !known.contains(&file.path)).collect();
        let all: Vec<&File> = listing.files.iter().chain(&unseen).collect();
        layout.parts = parts(&all);
    }
    if layout.parts.len() > PARTS {
        layout.problems.push(format!("{} more folders are not named here", layout.parts.len() - PARTS));
        layout.parts.truncate(PARTS);
    }
    let readme = listing
        .files
        .iter()
        .filter(|file| is_readme(&file.path) && folder_of(&file.path) == ".")
        .min_by_key(|file| &file.path);
    if let Some(readme) = readme {
        let say = || format!("There are {} files. I read the README.", listing.total);
        let reply = desk.one(read(&readme.path, 1, 40), say)?;
        match seen(&readme.path, reply) {
            Ok(seen) => layout.readme = Some(seen),
            Err(problem) => layout.problems.push(problem),
        }
    }
    Ok(layout)
}

/// A file that was read, or why not.
pub(super) fn seen(path: &str, reply: Reply<'_>) -> Result<Seen, String> {
    let page = reply.ok().and_then(Page::parse);
    let page =
        page.ok_or_else(|| reply.problem().unwrap_or_else(|| format!("{path} could not be understood")))?;
    let first =
        page.lines.iter().map(|(_, text)| text.trim()).find(|text| text.chars().any(char::is_alphanumeric));
    Ok(Seen { path: path.to_owned(), lines: page.total, begins: short(first.unwrap_or_default(), 120) })
}

/// Why a listing can't be used.
pub(super) fn unreadable(reply: Reply<'_>) -> Vec<String> {
    vec![short(
        &reply.problem().unwrap_or_else(|| "the list of files could not be understood".to_owned()),
        200,
    )]
}

/// The largest of these, largest first.
pub(super) fn largest<'a>(files: impl Iterator<Item = &'a File>, most: usize) -> Vec<Sized> {
    let mut files: Vec<&File> = files.collect();
    files.sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.path.cmp(&other.path)));
    files.iter().take(most).map(|file| Sized { path: file.path.clone(), bytes: file.bytes }).collect()
}

fn counted(listing: &Listing) -> Layout {
    let files = &listing.files;
    let mut languages: BTreeMap<&str, LanguageCount> = BTreeMap::new();
    for file in files {
        let name = language_of(&file.path).map_or("Other", |language| language.name);
        let count = languages.entry(name).or_insert_with(|| LanguageCount {
            name: name.to_owned(),
            files: 0,
            bytes: 0,
        });
        count.files += 1;
        count.bytes += file.bytes;
    }
    let mut languages: Vec<LanguageCount> = languages.into_values().collect();
    languages.sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.name.cmp(&other.name)));
    let mut manifests: Vec<&str> = files
        .iter()
        .map(|file| file.path.as_str())
        .filter(|path| MANIFESTS.contains(&name_of(path)) && !is_foreign(path))
        .collect();
    manifests.sort_by_key(|path| (path.matches('/').count(), *path));
    Layout {
        files: listing.total,
        listed: files.len() as u64,
        bytes: files.iter().map(|file| file.bytes).sum(),
        languages,
        parts: parts(&files.iter().collect::<Vec<_>>()),
        manifests: manifests.into_iter().take(20).map(str::to_owned).collect(),
        largest: largest(files.iter(), 10),
        readme: None,
        problems: listing.remarks.iter().take(5).map(|remark| short(remark, 160)).collect(),
    }
}

/// The folders that could be looked at one by one, those with most code first. A folder that holds all of the code
/// is opened until it branches, so that `src/main/java` does not count as the only part of a project.
fn parts(files: &[&File]) -> Vec<PartSize> {
    let any_source = files.iter().any(|file| is_own_source(&file.path));
    let weight = |part: &PartSize| if any_source { part.source_files } else { part.files };
    let mut base = ".".to_owned();
    let mut found: Vec<PartSize> = Vec::new();
    for depth in 0..DEPTH {
        let (heavy, light): (Vec<PartSize>, Vec<PartSize>) =
            children(files, &base).into_iter().partition(|part| weight(part) > 0);
        found.extend(light);
        match heavy.as_slice() {
            [one] if !one.own_files && depth + 1 < DEPTH => base = one.folder.clone(),
            _ => {
                found.extend(heavy);
                break;
            }
        }
    }
    found.sort_by(|one, other| {
        let by_files = other.files.cmp(&one.files).then_with(|| one.folder.cmp(&other.folder));
        weight(other).cmp(&weight(one)).then(by_files)
    });
    found
}

fn is_own_source(path: &str) -> bool {
    is_source(path) && !is_foreign(path)
}

/// The folders directly in `base`, and its own files as one more.
fn children(files: &[&File], base: &str) -> Vec<PartSize> {
    let mut found: BTreeMap<(String, bool), PartSize> = BTreeMap::new();
    for file in files {
        let rest = match base {
            "." => Some(file.path.as_str()),
            base => file.path.strip_prefix(base).and_then(|rest| rest.strip_prefix('/')),
        };
        let Some(rest) = rest else { continue };
        let key = match (rest.split_once('/'), base) {
            (None, base) => (base.to_owned(), true),
            (Some((child, _)), ".") => (child.to_owned(), false),
            (Some((child, _)), base) => (format!("{base}/{child}"), false),
        };
        let (folder, own_files) = key.clone();
        let part = found.entry(key).or_insert(PartSize { folder, own_files, files: 0, source_files: 0 });
        part.files += 1;
        part.source_files += u64::from(is_own_source(&file.path));
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(paths: &[&str], expect: &[(&str, bool, u64)]) {
        let files: Vec<File> = paths.iter().map(|path| File { path: (*path).to_owned(), bytes: 1 }).collect();
        let parts = parts(&files.iter().collect::<Vec<_>>());
        let parts: Vec<(&str, bool, u64)> =
            parts.iter().map(|part| (part.folder.as_str(), part.own_files, part.source_files)).collect();
        assert_eq!(parts, expect, "{paths:?}");
    }

    #[test]
    fn parts_are_where_the_code_is() {
        check(&[], &[]);
        check(&["a.rs", "b.rs"], &[(".", true, 2)]);
        check(
            &["src/a.rs", "src/b.rs", "tests/c.rs", "README.md"],
            &[("src", false, 2), ("tests", false, 1), (".", true, 0)],
        );
        check(
            &["src/main/x/a.java", "src/main/y/b.java", "x.md"],
            &[("src/main/x", false, 1), ("src/main/y", false, 1), (".", true, 0)],
        );
        check(&["src/a.rs", "src/net/b.rs"], &[("src", true, 1), ("src/net", false, 1)]);
        check(
            &["a.js", "lib/b.js", "vendor/c.js"],
            &[(".", true, 1), ("lib", false, 1), ("vendor", false, 0)],
        );
        check(&["doc/a.md", "img/b.svg"], &[("doc", false, 0), ("img", false, 0)]);
    }
}
