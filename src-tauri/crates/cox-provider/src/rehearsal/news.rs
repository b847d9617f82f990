//! What came in since an agent last spoke.

use super::facts::short;
use super::job::Job;
use super::markdown::code;
use cox_protocol::entry::{Entry, Party, RuntimeNote};
use cox_protocol::envelope::Envelope;
use std::sync::Arc;

/// The entries after the last answer.
pub(super) fn since_last_answer(entries: &[Arc<Entry>]) -> &[Arc<Entry>] {
    let last = entries.iter().rposition(|entry| matches!(entry.as_ref(), Entry::Assistant { .. }));
    &entries[last.map_or(0, |at| at + 1)..]
}

/// Has this agent said nothing yet?
pub(super) fn is_first_word(entries: &[Arc<Entry>]) -> bool {
    !entries.iter().any(|entry| matches!(entry.as_ref(), Entry::Assistant { .. }))
}

/// A sentence for each message that no rule can carry out, and for a turn that was cut. `skip` entries at the
/// beginning are the task itself.
pub(super) fn acknowledged(entries: &[Arc<Entry>], skip: usize) -> Vec<String> {
    let new = since_last_answer(entries);
    let before = entries.len() - new.len();
    let new = new.iter().enumerate().filter(|(at, _)| before + at >= skip);
    new.filter_map(|(_, entry)| match entry.as_ref() {
        Entry::User { from: Party::Agent { .. }, text, .. } if Job::parse(text).is_some() => None,
        Entry::User { text, .. } => Some(format!(
            "Your message {} reached me. Rules can't act on words, so I take note of it and go on with the task.",
            code(&short(text, 80))
        )),
        Entry::Runtime { note: RuntimeNote::Interrupted { reason } } => {
            Some(format!("My last answer was cut ({}); I go on where it was.", short(reason, 120)))
        }
        Entry::Runtime { .. } | Entry::Assistant { .. } | Entry::ToolResults { .. } => None,
    })
    .collect()
}

/// Envelopes among these entries.
pub(super) fn envelopes(entries: &[Arc<Entry>]) -> impl DoubleEndedIterator<Item = &Envelope> {
    entries.iter().filter_map(|entry| match entry.as_ref() {
        Entry::Runtime { note: RuntimeNote::Notification { envelope } } => Some(envelope),
        Entry::Runtime { .. } | Entry::User { .. } | Entry::Assistant { .. } | Entry::ToolResults { .. } => {
            None
        }
    })
}
