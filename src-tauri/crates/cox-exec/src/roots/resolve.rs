//! From what was asked to where it really is.

use super::located::{Kind, Located, Place};
use super::name::{path_to_text, text_to_path};
use super::{Root, Roots};
use crate::{ExecError, Result};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// As many links as Linux follows.
const MAX_LINKS: u32 = 40;

impl Roots {
    /// Resolves a path that is relative to the project, or absolute. A missing file and a path outside every root
    /// are not errors: the result says so.
    ///
    /// # Errors
    /// `BadName`, `LinkLoop`, and `Io` where a folder on the way may not be searched.
    pub fn resolve(&self, asked: &str) -> Result<Located> {
        if asked.is_empty() || asked.contains('\0') {
            return Err(ExecError::BadName { path: asked.to_owned() });
        }
        let path = Path::new(asked);
        let words = normalise(&self.project().join(path));
        let start = if path.is_absolute() { PathBuf::new() } else { self.project().to_owned() };
        let real = follow(start, path).map_err(|problem| match problem {
            Problem::Loop => ExecError::LinkLoop { path: asked.to_owned() },
            Problem::Io(source) => ExecError::io("look at", asked, source),
        })?;
        let kind = kind_of(&real).map_err(|source| ExecError::io("look at", asked, source))?;
        let place = self.place(&real);
        Ok(Located {
            asked: self.text(&words),
            real: self.text(&real),
            outside: place.is_none(),
            read_only_root: place.as_ref().is_some_and(|place| self.root(place).read_only),
            kind,
            place,
        })
    }

    /// The innermost root that holds a real path.
    fn place(&self, real: &Path) -> Option<Place> {
        self.roots
            .iter()
            .enumerate()
            .filter_map(|(index, root)| Some((index, root, real.strip_prefix(&root.real).ok()?)))
            .max_by_key(|(_, root, _)| root.real.as_os_str().len())
            .map(|(root, _, path)| Place { root, path: path.to_owned() })
    }

    #[expect(clippy::indexing_slicing, reason = "places are made from this list, and it never shrinks")]
    pub(super) fn root(&self, place: &Place) -> &Root {
        &self.roots[place.root]
    }

    /// Relative to the project with "." for itself, or absolute.
    pub(super) fn text(&self, absolute: &Path) -> String {
        let project = self.first();
        let inside = absolute.strip_prefix(&project.real).or_else(|_| absolute.strip_prefix(&project.given));
        match inside {
            Ok(path) if path.as_os_str().is_empty() => ".".to_owned(),
            Ok(path) => path_to_text(path),
            Err(_) => path_to_text(absolute),
        }
    }
}

/// Takes `.` and `..` out by the words alone.
fn normalise(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(component),
        }
    }
    plain
}

enum Problem {
    Loop,
    Io(io::Error),
}

/// Follows every link, as the system would, but goes on by the words where nothing exists yet.
fn follow(start: PathBuf, path: &Path) -> std::result::Result<PathBuf, Problem> {
    let mut real = start;
    let mut links = 0;
    let mut rest: VecDeque<OsString> = path.components().map(|part| part.as_os_str().to_owned()).collect();
    while let Some(part) = rest.pop_front() {
        match Path::new(&part).components().next() {
            None | Some(Component::CurDir) => continue,
            Some(Component::ParentDir) => {
                real.pop();
                continue;
            }
            Some(Component::Prefix(_) | Component::RootDir) => {
                real.push(&part);
                continue;
            }
            Some(Component::Normal(_)) => {}
        }
        let (next, is_link) = step(&real, &part).map_err(Problem::Io)?;
        if !is_link {
            real = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(Problem::Loop);
        }
        let target = std::fs::read_link(&next).map_err(Problem::Io)?;
        for part in target.components().rev() {
            rest.push_front(part.as_os_str().to_owned());
        }
    }
    #[cfg(not(target_os = "linux"))]
    let real = true_case(real);
    Ok(real)
}

/// One name further, and whether it is a link. Where the name isn't there as written, but is as `\xNN` text, that is it.
fn step(folder: &Path, name: &OsString) -> io::Result<(PathBuf, bool)> {
    let literal = folder.join(name);
    if let Some(is_link) = is_link(&literal)? {
        return Ok((literal, is_link));
    }
    if let Some(text) = name.to_str().filter(|text| text.contains("\\x")) {
        let decoded = folder.join(text_to_path(text));
        if let Some(is_link) = is_link(&decoded)? {
            return Ok((decoded, is_link));
        }
    }
    Ok((literal, false))
}

/// `None` when nothing is there.
fn is_link(path: &Path) -> io::Result<Option<bool>> {
    absent(std::fs::symlink_metadata(path)).map(|found| found.map(|found| found.is_symlink()))
}

fn kind_of(path: &Path) -> io::Result<Option<Kind>> {
    Ok(absent(std::fs::symlink_metadata(path))?.map(|found| super::walk::kind(found.file_type())))
}

/// "Nothing there" as a value. A name that is too long for the file system can't be there either.
fn absent<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(value) => Ok(Some(value)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Where file names ignore case, `.GIT` is `.git`: the real path is written as the disk has it, so that rules on
/// names can't be dodged by spelling.
#[cfg(not(target_os = "linux"))]
fn true_case(real: PathBuf) -> PathBuf {
    let mut there = real.as_path();
    loop {
        if let Ok(canonical) = std::fs::canonicalize(there) {
            return match real.strip_prefix(there) {
                Ok(rest) if rest.as_os_str().is_empty() => canonical,
                Ok(rest) => canonical.join(rest),
                Err(_) => real,
            };
        }
        match there.parent() {
            Some(parent) => there = parent,
            None => return real,
        }
    }
}
