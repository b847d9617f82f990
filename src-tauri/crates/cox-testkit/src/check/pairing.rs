//! Calls and results, the same rule in both formats: all results of an answer's calls come right after it, each
//! once, in the order of the calls, before anything else.

use super::{Findings, ProblemKind};
use std::collections::HashSet;

/// A history, reduced to what pairing is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// An answer with the ids of its calls.
    Answer(Vec<String>),
    /// A result of this call.
    Result(String),
    /// Anything else; in words.
    Other(&'static str),
}

pub(super) fn check(events: &[Event], findings: &mut Findings) {
    let mut seen = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    for event in events {
        match event {
            Event::Result(id) => match open.iter().position(|known| known == id) {
                Some(0) => {
                    open.remove(0);
                }
                Some(at) => {
                    findings.add(
                        ProblemKind::Order,
                        format!("the result of `{id}` comes before the one of `{}`", open[0]),
                    );
                    open.remove(at);
                }
                None if seen.contains(id) => findings.add(
                    ProblemKind::Pairing,
                    format!("the result of `{id}` comes twice, or not right after its call"),
                ),
                None => findings.add(ProblemKind::Pairing, format!("the result of `{id}` has no call")),
            },
            Event::Answer(_) | Event::Other(_) if !open.is_empty() => {
                let before = match event {
                    Event::Answer(_) => "the next answer",
                    Event::Other(what) => what,
                    Event::Result(_) => "a result",
                };
                for id in open.drain(..) {
                    findings.add(ProblemKind::Pairing, format!("`{id}` has no result before {before}"));
                }
            }
            Event::Answer(_) | Event::Other(_) => {}
        }
        if let Event::Answer(calls) = event {
            for id in calls {
                if !seen.insert(id.clone()) {
                    findings.add(ProblemKind::Pairing, format!("the id `{id}` is used for two calls"));
                }
            }
            open.clone_from(calls);
        }
    }
    for id in open {
        findings.add(ProblemKind::Pairing, format!("`{id}` has no result"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(events: &[Event]) -> Vec<String> {
        let mut findings = Findings::default();
        check(events, &mut findings);
        findings.list.into_iter().map(|(_, message)| message).collect()
    }

    fn answer(ids: &[&str]) -> Event {
        Event::Answer(ids.iter().map(|id| (*id).to_owned()).collect())
    }

    fn result(id: &str) -> Event {
        Event::Result(id.into())
    }

    #[test]
    fn pairs_are_quiet() {
        let other = Event::Other("a text");
        assert!(
            told(&[other.clone(), answer(&["a", "b"]), result("a"), result("b"), other, answer(&[])])
                .is_empty()
        );
    }

    #[test]
    fn broken_pairs_are_told() {
        let other = Event::Other("a text");
        assert_eq!(told(&[answer(&["a"])]), ["`a` has no result"]);
        assert_eq!(
            told(&[answer(&["a"]), other, result("a")]),
            ["`a` has no result before a text", "the result of `a` comes twice, or not right after its call",]
        );
        assert_eq!(told(&[answer(&["a"]), answer(&[])]), ["`a` has no result before the next answer"]);
        assert_eq!(told(&[result("a")]), ["the result of `a` has no call"]);
        assert_eq!(
            told(&[answer(&["a", "b"]), result("b"), result("a")]),
            ["the result of `b` comes before the one of `a`",]
        );
        assert_eq!(
            told(&[answer(&["a"]), result("a"), result("a")]),
            ["the result of `a` comes twice, or not right after its call",]
        );
        assert_eq!(
            told(&[answer(&["a"]), result("a"), answer(&["a"]), result("a")]),
            ["the id `a` is used for two calls",]
        );
    }
}
