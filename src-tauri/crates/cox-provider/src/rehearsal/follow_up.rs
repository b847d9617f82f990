//! Answers a second question out of what a worker already knows of its part.

use super::answer::{Work, read};
use super::desk::Desk;
use super::facts::{Detail, FollowUp, Part, cut, short};
use super::found::Page;
use super::job::About;
use super::languages::is_source;

/// Places or files that are looked at.
const MOST: usize = 3;

/// The details, with a Read for each place.
pub(super) fn follow_up(desk: &Desk<'_>, part: &Part, about: About) -> Result<FollowUp, Work> {
    let wanted: Vec<(String, u64)> = match about {
        About::Notes => part
            .notes
            .iter()
            .flat_map(|notes| &notes.places)
            .map(|place| (place.path.clone(), place.line))
            .take(MOST)
            .collect(),
        About::Largest => part
            .largest
            .iter()
            .filter(|file| is_source(&file.path))
            .map(|file| (file.path.clone(), 0))
            .take(MOST)
            .collect(),
    };
    let calls = wanted
        .iter()
        .map(|(path, line)| match about {
            About::Notes => read(path, line.saturating_sub(2).max(1), 5),
            About::Largest => read(path, 1, 1),
        })
        .collect();
    let say = || match about {
        About::Notes => format!("I read the lines around {} notes of {}.", wanted.len(), part.label()),
        About::Largest => {
            format!("I look how long the {} largest source files of {} are.", wanted.len(), part.label())
        }
    };
    let replies = desk.replies(calls, say)?;
    let mut found = FollowUp { folder: part.label(), about: about.name().to_owned(), ..FollowUp::default() };
    for ((path, line), reply) in wanted.into_iter().zip(replies) {
        match reply.ok().and_then(Page::parse) {
            Some(page) => {
                let around = page.lines.iter().filter(|_| about == About::Notes);
                let around =
                    around.map(|(number, text)| format!("{number:>4}  {}", cut(text, 120))).collect();
                found.details.push(Detail { path, line, file_lines: page.total, around });
            }
            None => found.problems.push(short(&reply.problem().unwrap_or_default(), 160)),
        }
    }
    Ok(found)
}
