//! A look at a folder before it becomes a project (W33).

use crate::path_to_text;
use std::fs;
use std::path::{Path, PathBuf};

/// How many entries are counted before it says "more than".
const COUNT_MOST: u64 = 10_000;

/// Folders whose dropping asks first. The host knows them; nothing here reads the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFolders {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Where Coxswain keeps its database.
    pub data: PathBuf,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderReport {
    /// Absolute, with links resolved where it exists.
    pub path: PathBuf,
    /// Can it be a project?
    pub usable: bool,
    /// Why it can't.
    pub problem: Option<FolderProblem>,
    /// What to ask about first.
    pub concerns: Vec<FolderConcern>,
    /// Entries at the top level.
    pub entries: u64,
    /// There are more than `entries`.
    pub entries_capped: bool,
    /// Nothing can be written in it.
    pub read_only: bool,
    /// It is the top of a git work tree.
    pub git: bool,
}

/// Why a folder can't be a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderProblem {
    /// Nothing is there.
    Missing,
    /// It is a file, or something else.
    NotAFolder,
    /// The system refused.
    Unreadable {
        /// Why.
        message: String,
    },
}

/// What makes a folder worth a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderConcern {
    /// It is `/`, or a drive.
    FilesystemRoot,
    /// It is the home folder.
    Home,
    /// The home folder is in it.
    HoldsHome,
    /// Coxswain's own data is in it, or it is that folder.
    HoldsData,
    /// It is in Coxswain's own data.
    InsideData,
}

/// Looks at a folder that somebody wants to open. Blocking.
pub fn check_folder(path: &Path, known: &KnownFolders) -> FolderReport {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (path, problem) = match fs::canonicalize(&absolute) {
        Ok(real) if real.is_dir() => (real, None),
        Ok(real) => (real, Some(FolderProblem::NotAFolder)),
        Err(error) => (absolute, Some(problem(&error))),
    };
    let mut report = FolderReport {
        usable: false,
        concerns: if problem.is_none() { concerns(&path, known) } else { Vec::new() },
        problem,
        entries: 0,
        entries_capped: false,
        read_only: false,
        git: false,
        path,
    };
    if report.problem.is_none() {
        report.look();
    }
    report.usable = report.problem.is_none();
    report
}

impl FolderReport {
    fn look(&mut self) {
        match fs::read_dir(&self.path) {
            Ok(entries) => {
                let counted =
                    entries.take(usize::try_from(COUNT_MOST + 1).unwrap_or(usize::MAX)).count() as u64;
                self.entries = counted.min(COUNT_MOST);
                self.entries_capped = counted > COUNT_MOST;
            }
            Err(error) => self.problem = Some(problem(&error)),
        }
        self.git = self.path.join(".git").exists();
        self.read_only = !writable(&self.path);
    }

    /// What to ask before it is opened; `None` when nothing is to be asked.
    pub fn question(&self) -> Option<String> {
        if self.concerns.is_empty() {
            return None;
        }
        let path = path_to_text(&self.path);
        let what: Vec<&str> = self.concerns.iter().map(|concern| concern.words()).collect();
        Some(format!(
            "{path} {}. It has {} at its top level, and workers could read and, where you allow it, change everything in it. Open it all the same?",
            what.join(", and "),
            self.entries_words(),
        ))
    }

    /// Why it can't be opened, and what to do; `None` when it can.
    pub fn message(&self) -> Option<String> {
        let path = path_to_text(&self.path);
        self.problem.as_ref().map(|problem| match problem {
            FolderProblem::Missing => format!("{path} doesn't exist. Pick a folder that does."),
            FolderProblem::NotAFolder => {
                let parent = self.path.parent().map(path_to_text).unwrap_or_default();
                format!("{path} is not a folder. Drop the folder that holds it: {parent}")
            }
            FolderProblem::Unreadable { message } => {
                format!("{path} can't be read: {message}. Check its permissions.")
            }
        })
    }

    fn entries_words(&self) -> String {
        match (self.entries, self.entries_capped) {
            (count, true) => format!("more than {count} entries"),
            (1, false) => "1 entry".to_owned(),
            (count, false) => format!("{count} entries"),
        }
    }
}

impl FolderConcern {
    fn words(self) -> &'static str {
        match self {
            Self::FilesystemRoot => "is the top of the file system",
            Self::Home => "is your home folder",
            Self::HoldsHome => "holds your home folder",
            Self::HoldsData => "holds Coxswain's own data",
            Self::InsideData => "is inside Coxswain's own data",
        }
    }
}

fn problem(error: &std::io::Error) -> FolderProblem {
    match error.kind() {
        std::io::ErrorKind::NotFound => FolderProblem::Missing,
        std::io::ErrorKind::NotADirectory => FolderProblem::NotAFolder,
        _ => FolderProblem::Unreadable { message: error.to_string() },
    }
}

fn concerns(path: &Path, known: &KnownFolders) -> Vec<FolderConcern> {
    let mut concerns = Vec::new();
    if path.parent().is_none() {
        concerns.push(FolderConcern::FilesystemRoot);
    }
    let home = known.home.as_deref().map(real);
    if let Some(home) = home {
        if home == path {
            concerns.push(FolderConcern::Home);
        } else if home.starts_with(path) {
            concerns.push(FolderConcern::HoldsHome);
        }
    }
    let data = real(&known.data);
    if data.starts_with(path) {
        concerns.push(FolderConcern::HoldsData);
    } else if path.starts_with(&data) {
        concerns.push(FolderConcern::InsideData);
    }
    concerns
}

/// With links resolved as far as it exists: the data folder may still be to be made.
fn real(path: &Path) -> PathBuf {
    for there in path.ancestors() {
        if let Ok(real) = fs::canonicalize(there) {
            let rest = path.strip_prefix(there).unwrap_or(Path::new(""));
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}

/// Can entries be made in it? Asked of the system, not tried out.
fn writable(folder: &Path) -> bool {
    #[cfg(unix)]
    return rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok();
    #[cfg(not(unix))]
    return fs::metadata(folder).is_ok_and(|found| !found.permissions().readonly());
}
