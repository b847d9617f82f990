//! Rounds of a lead: each begins with a prompt of the user and ends with a report.

use super::report::TITLE;
use cox_protocol::entry::{Entry, Party};
use std::sync::Arc;

/// A round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Round<'a> {
    /// From 1.
    pub(super) number: usize,
    pub(super) prompt: &'a str,
    /// Index of the prompt.
    pub(super) start: usize,
    /// Index after the last entry.
    pub(super) end: usize,
    /// The report is given.
    pub(super) is_over: bool,
}

/// The rounds of a transcript, in order. A message of the user in the middle of a round does not begin another.
pub(super) fn rounds(entries: &[Arc<Entry>]) -> Vec<Round<'_>> {
    let mut rounds: Vec<Round<'_>> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let is_over = rounds.last().is_none_or(|round| round.is_over);
        match entry.as_ref() {
            Entry::User { from: Party::User, text, .. } if is_over => {
                if let Some(last) = rounds.last_mut() {
                    last.end = at;
                }
                let (number, end) = (rounds.len() + 1, entries.len());
                rounds.push(Round { number, prompt: text, start: at, end, is_over: false });
            }
            // A report that was cut is given again.
            Entry::Assistant { interrupted: false, .. }
                if entry.text().is_some_and(|text| text.contains(TITLE)) =>
            {
                if let Some(last) = rounds.last_mut() {
                    last.is_over = true;
                }
            }
            Entry::User { .. }
            | Entry::Assistant { .. }
            | Entry::ToolResults { .. }
            | Entry::Runtime { .. } => {}
        }
    }
    rounds
}
