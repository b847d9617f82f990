//! Walking a folder: .gitignore holds, links are not followed, `.git` is left out, and there is always a cap.

use super::located::{Kind, Located, Place, millis};
use super::write::DRAFT;
use super::{Roots, path_to_text};
use crate::{ExecError, Result};
use ignore::{DirEntry, WalkBuilder};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// Unreadable folders that are named; more are only counted.
const PROBLEMS: usize = 20;

/// How to walk.
#[derive(Clone, Debug)]
pub struct WalkOptions {
    /// Stop after so many.
    pub max_files: usize,
    /// Levels below the base; 1 is its own entries.
    pub max_depth: Option<usize>,
    /// Also what .gitignore and .ignore hide.
    pub ignored: bool,
    /// Also folders.
    pub folders: bool,
    /// Stops the walk.
    pub cancel: Option<CancellationToken>,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self { max_files: 200_000, max_depth: None, ignored: false, folders: false, cancel: None }
    }
}

/// Something that a walk met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// In the form of [`Located::real`].
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Bytes.
    pub size: u64,
    /// Milliseconds since 1970; 0 when the file system doesn't say.
    pub modified_at: i64,
    place: Place,
}

/// How a walk ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkEnd {
    /// How many were given.
    pub emitted: usize,
    /// Why there may be more; `None` when all were given.
    pub cut: Option<WalkCut>,
    /// What could not be read, the first twenty.
    pub problems: Vec<String>,
    /// How many more could not be read.
    pub more_problems: usize,
}

/// Why a walk ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkCut {
    /// There are more than `max_files`.
    Cap,
    /// The token.
    Cancelled,
    /// The caller had enough.
    Caller,
}

/// A collected walk.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Sorted by path.
    pub found: Vec<Found>,
    /// How it ended.
    pub end: WalkEnd,
}

impl Roots {
    /// Walks depth first, names in order, and gives each file to `each`. A base that is a file gives itself.
    ///
    /// # Errors
    /// `Outside`, `Missing`. What can't be read on the way is in [`WalkEnd::problems`].
    pub fn walk(
        &self,
        base: &Located,
        options: &WalkOptions,
        mut each: impl FnMut(Found) -> ControlFlow<()>,
    ) -> Result<WalkEnd> {
        let place = self.inside(base)?;
        let root = self.root(place);
        let start = root.real.join(&place.path);
        if base.kind.is_none() {
            return Err(ExecError::Missing { path: base.real.clone() });
        }
        let mut end = WalkEnd { emitted: 0, cut: None, problems: Vec::new(), more_problems: 0 };
        for entry in walker(&start, options).build() {
            if options.cancel.as_ref().is_some_and(CancellationToken::is_cancelled) {
                end.cut = Some(WalkCut::Cancelled);
                break;
            }
            let found = match entry {
                Ok(entry) => self.found(&entry, &root.real, place.root, options),
                Err(error) => {
                    end.note(error.to_string());
                    continue;
                }
            };
            let Some(found) = found else { continue };
            if end.emitted == options.max_files {
                end.cut = Some(WalkCut::Cap);
                break;
            }
            end.emitted += 1;
            if each(found).is_break() {
                end.cut = Some(WalkCut::Caller);
                break;
            }
        }
        Ok(end)
    }

    /// Collects a walk, sorted by path.
    ///
    /// # Errors
    /// As for [`Roots::walk`].
    pub fn files(&self, base: &Located, options: &WalkOptions) -> Result<Listing> {
        let mut found = Vec::new();
        let end = self.walk(base, options, |file| {
            found.push(file);
            ControlFlow::Continue(())
        })?;
        found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(Listing { found, end })
    }

    /// What a walk met, as a path to open. A link is given as it is, and refused when opened.
    pub fn at(&self, found: &Found) -> Located {
        Located {
            asked: found.path.clone(),
            real: found.path.clone(),
            outside: false,
            read_only_root: self.root(&found.place).read_only,
            kind: Some(found.kind),
            place: Some(found.place.clone()),
        }
    }

    fn found(&self, entry: &DirEntry, root: &Path, index: usize, options: &WalkOptions) -> Option<Found> {
        let kind = kind(entry.file_type()?);
        if kind == Kind::Folder && (!options.folders || entry.depth() == 0) {
            return None;
        }
        let path: PathBuf = entry.path().strip_prefix(root).ok()?.to_owned();
        let (size, modified_at) = match entry.metadata() {
            Ok(found) => (found.len(), millis(found.modified())),
            // Gone since the folder was listed.
            Err(_) => return None,
        };
        let text = if index == 0 { path_to_text(&path) } else { path_to_text(entry.path()) };
        Some(Found { path: text, kind, size, modified_at, place: Place { root: index, path } })
    }
}

impl WalkEnd {
    fn note(&mut self, problem: String) {
        if self.problems.len() < PROBLEMS {
            self.problems.push(problem);
        } else {
            self.more_problems += 1;
        }
    }
}

fn walker(start: &Path, options: &WalkOptions) -> WalkBuilder {
    let mut builder = WalkBuilder::new(start);
    builder
        .standard_filters(false)
        .follow_links(false)
        .max_depth(options.max_depth)
        .sort_by_file_name(|a, b| a.cmp(b))
        .filter_entry(|entry| entry.depth() == 0 || !is_ours(entry.file_name()));
    if !options.ignored {
        // The user's global ignore file is left out on purpose: the same folder gives the same answer everywhere.
        builder.parents(true).ignore(true).git_ignore(true).git_exclude(true).require_git(false);
    }
    builder
}

/// `.git` is nobody's source, and drafts are half-written.
pub(crate) fn is_ours(name: &std::ffi::OsStr) -> bool {
    name == ".git" || name.as_encoded_bytes().starts_with(DRAFT.as_bytes())
}

pub(super) fn kind(found: std::fs::FileType) -> Kind {
    if found.is_file() {
        Kind::File
    } else if found.is_dir() {
        Kind::Folder
    } else if found.is_symlink() {
        Kind::Link
    } else {
        Kind::Other
    }
}
