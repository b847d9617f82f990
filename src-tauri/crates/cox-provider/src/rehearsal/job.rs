//! Tasks of rehearsal's workers as text: what the coordinator writes, and what the worker reads out of it.
//!
//! A prompt is complete prose for whoever reads it, with a few fixed lines that the rules look for.

use super::facts::label;
use serde_json::Value;

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Job {
    /// Learn what files there are.
    Layout,
    /// Look closely at one part.
    Part { folder: String, own_files: bool, look: Look },
    /// A second question to a worker that knows its part.
    FollowUp { about: About },
    /// Run the project's own check.
    Check,
    /// Go on after an interruption.
    GoOn,
}

/// What to look for in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Everything.
    All,
    /// Entry points and tests.
    Code,
    /// TODO and FIXME.
    Notes,
}

/// What a follow-up is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// The lines around some TODO and FIXME.
    Notes,
    /// How long the largest files are.
    Largest,
}

impl About {
    /// As written in a prompt.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Notes => "notes",
            Self::Largest => "largest files",
        }
    }
}

impl Look {
    fn name(self) -> &'static str {
        match self {
            Self::All => "everything",
            Self::Code => "entry points and tests",
            Self::Notes => "TODO and FIXME",
        }
    }
}

impl Job {
    /// What it is, in Markdown.
    pub(super) fn title(&self) -> String {
        match self {
            Self::Layout => "Learn the layout".to_owned(),
            Self::Part { look: Look::Code, .. } => "Find programs and tests".to_owned(),
            Self::Part { look: Look::Notes, .. } => "Find TODO and FIXME".to_owned(),
            Self::Part { folder, own_files, look: Look::All } => {
                format!("Look at {}", label(folder, *own_files))
            }
            Self::FollowUp { about } => format!("More about its {}", about.name()),
            Self::Check => "Run the check".to_owned(),
            Self::GoOn => "Go on".to_owned(),
        }
    }

    /// The prompt, for this round of the session.
    pub(super) fn prompt(&self, round: usize) -> String {
        let body = match self {
            Self::Layout => "Goal: learn what this project consists of, so that its parts can be looked at one by one.\n\
                Task: layout\nFolder: \".\"\n\
                Requirements: list every file that the project's own ignore rules don't hide, with sizes. Count files and bytes for each language. Find the folders that hold most of the code, the largest files, and the files that say how the project is built. Read the README, if there is one.\n\
                Limits: change nothing and run nothing. Say where a list was cut.".to_owned(),
            Self::Part { folder, own_files, look } => {
                let what = match look {
                    Look::All => "Count its files and sizes. Find the lines with TODO or FIXME, the places where programs begin, and the tests. Read its README or its most telling files.",
                    Look::Code => "Count its files and sizes. Find the places where programs begin, and the tests. Read its README or its most telling files.",
                    Look::Notes => "Count its files and sizes. Find the lines with TODO or FIXME, and name each with file and line.",
                };
                let only = if *own_files { "\nOnly: files directly in this folder" } else { "" };
                format!(
                    "Goal: know one part of this project well enough to report about it. Other workers look at the other parts.\n\
                    Task: part\nFolder: {}{only}\nLook for: {}\n\
                    Requirements: {what}\n\
                    Limits: stay in this folder. Change nothing and run nothing. Say where a list was cut.",
                    Value::from(folder.as_str()),
                    look.name()
                )
            }
            Self::FollowUp { about } => {
                let what = match about {
                    About::Notes => "For the first three lines with TODO or FIXME that you found in your folder, read the lines around them and quote those with their numbers.",
                    About::Largest => "For the three largest source files that you found in your folder, say how many lines each has.",
                };
                format!(
                    "Goal: more detail about the folder that you looked at; what you have read is still valid.\n\
                    Task: follow-up\nAbout: {}\n\
                    Requirements: {what}\n\
                    Limits: change nothing and run nothing.",
                    about.name()
                )
            }
            Self::Check => "Goal: find out whether the project passes its own cheapest check.\n\
                Task: check\nFolder: \".\"\n\
                Requirements: see how the project is built (Cargo.toml, package.json, pyproject.toml, go.mod, or the source files themselves) and run one quick command that checks it offline and leaves nothing behind. Say first what it is and why.\n\
                Limits: one command. Change no file. If it is refused, or its program is missing, report that and run nothing else.".to_owned(),
            Self::GoOn => return "Task: go on\nYou were interrupted. Go on with your task where you were; what you have found is still valid.".to_owned(),
        };
        format!(
            "{body}\n\
            Background: this is a rehearsal, round {round} of this session. Rules write this prompt, and rules carry it out.\n\
            Done when: every point above is answered or named as not found.\n\
            Report: a few sentences, then a fenced block `{}` with the facts as JSON.",
            super::facts::FENCE
        )
    }

    /// Reads a prompt. Null when it is not one of these.
    pub(super) fn parse(prompt: &str) -> Option<Self> {
        let field = |name: &str| prompt.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        match field("Task")? {
            "layout" => Some(Self::Layout),
            "part" => {
                let folder = serde_json::from_str(field("Folder")?).ok()?;
                let look = [Look::All, Look::Code, Look::Notes];
                let wanted = field("Look for").unwrap_or_default();
                let look = look.into_iter().find(|look| look.name() == wanted).unwrap_or(Look::All);
                Some(Self::Part { folder, own_files: field("Only").is_some(), look })
            }
            "follow-up" => {
                let wanted = field("About").unwrap_or_default();
                let about = if wanted == About::Notes.name() { About::Notes } else { About::Largest };
                Some(Self::FollowUp { about })
            }
            "check" => Some(Self::Check),
            "go on" => Some(Self::GoOn),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_reads_back() {
        let part = |folder: &str, own_files, look| Job::Part { folder: folder.to_owned(), own_files, look };
        for job in [
            Job::Layout,
            part("src", false, Look::All),
            part(".", true, Look::Code),
            part("a\n\"b\" 🚣", false, Look::Notes),
            Job::FollowUp { about: About::Notes },
            Job::FollowUp { about: About::Largest },
            Job::Check,
            Job::GoOn,
        ] {
            assert_eq!(Job::parse(&job.prompt(1)), Some(job.clone()), "{job:?}");
        }
        assert_eq!(Job::parse("Please look around."), None);
    }
}
