//! Tasks that are yet to be dispatched: to whom, under which name, in which role.

use super::answer::Call;
use super::facts::{Layout, PartSize, short};
use super::job::{Job, Look};
use serde_json::json;
use std::collections::BTreeSet;

/// Workers that look at parts at once.
const PARTS: usize = 5;

/// A task for a worker.
pub(super) struct Assignment {
    pub(super) job: Job,
    name: String,
    role: &'static str,
    round: usize,
}

impl Assignment {
    /// Learn the layout.
    pub(super) fn layout(round: usize) -> Self {
        Self::new(Job::Layout, "layout", "explore", round)
    }

    /// Run the check.
    pub(super) fn check(round: usize) -> Self {
        Self::new(Job::Check, "check", "verify", round)
    }

    /// One worker for each of the real parts; two with different eyes, where there is only one.
    pub(super) fn parts(layout: Option<&Layout>, round: usize) -> Vec<Self> {
        let parts: Vec<&PartSize> = layout.into_iter().flat_map(Layout::main_parts).take(PARTS).collect();
        if parts.len() < 2 {
            let whole = |look| Job::Part { folder: ".".to_owned(), own_files: false, look };
            return vec![
                Self::new(whole(Look::Code), "code", "explore", round),
                Self::new(whole(Look::Notes), "notes", "explore", round),
            ];
        }
        let names = names(&parts);
        let assignment = |(part, name): (&PartSize, String)| {
            let job = Job::Part { folder: part.folder.clone(), own_files: part.own_files, look: Look::All };
            Self::new(job, &name, "explore", round)
        };
        parts.into_iter().zip(names).map(assignment).collect()
    }

    fn new(job: Job, name: &str, role: &'static str, round: usize) -> Self {
        // Names are unique in a session for ever.
        let name = if round == 1 { name.to_owned() } else { format!("{name}-{round}") };
        Self { job, name, role, round }
    }

    /// The call that dispatches it.
    pub(super) fn call(&self) -> Call {
        // A label is plain text.
        let description = short(&self.job.title().replace('`', ""), 60);
        Call {
            tool: "Agent",
            input: json!({
                "description": description,
                "prompt": self.job.prompt(self.round),
                "subagent_type": self.role,
                "name": self.name,
            }),
        }
    }
}

/// A name for each part. Two folders may look alike once they are plain letters, or have none.
fn names(parts: &[&PartSize]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let named = parts.iter().enumerate().map(|(at, part)| {
        let slug = slug(&part.folder);
        let name = match (part.folder.as_str(), part.own_files) {
            (".", true) => "top-files".to_owned(),
            (_, true) => format!("part-{slug}-files"),
            (_, false) => format!("part-{slug}"),
        };
        let is_free = (!slug.is_empty() || part.folder == ".") && taken.insert(name.clone());
        if is_free { name } else { format!("part-number-{}", at + 1) }
    });
    named.collect()
}

/// A folder as a part of a name: its last words, at most 20 letters, digits and hyphens.
fn slug(folder: &str) -> String {
    let plain = |ch: char| if ch.is_ascii_alphanumeric() { ch.to_ascii_lowercase() } else { '-' };
    let plain: String = folder.chars().map(plain).collect();
    let mut slug = String::new();
    for word in plain.split('-').filter(|word| !word.is_empty()).rev() {
        if slug.is_empty() {
            slug = word[..word.len().min(20)].to_owned();
        } else if slug.len() + word.len() < 20 {
            slug = format!("{word}-{slug}");
        } else {
            break;
        }
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_differ() {
        let part = |folder: &str| PartSize {
            folder: folder.to_owned(),
            own_files: false,
            files: 1,
            source_files: 1,
        };
        let parts = [part("a.b"), part("a b"), part("🚣"), part("src/very/deep/in/the/tree")];
        let names = names(&parts.iter().collect::<Vec<_>>());
        assert_eq!(names, ["part-a-b", "part-number-2", "part-number-3", "part-deep-in-the-tree"]);
    }
}
