//! The coordinator: directs workers by fixed rules, and reads nothing but envelopes.
//!
//! A full round: a question card, when the prompt speaks of one → one worker learns the layout → two to five look at
//! the parts, side by side → one of them gets a follow-up → a fresh one runs the project's check → the report.
//! A later round is short: one worker, and the report compares with what is known. A worker that was refused, failed
//! or was stopped is named in the report, and the round goes on without it.

use super::answer::{Answer, Work, in_brief, opening, send_message};
use super::assignment::Assignment;
use super::crew::{Crew, Hand, Standing, ended};
use super::desk::Desk;
use super::facts::{Facts, Layout, Part};
use super::job::{About, Job};
use super::markdown::code;
use super::question::{Choice, choice};
use super::report;
use super::round::{Round, rounds};
use super::survey::{Survey, survey};
use super::{form, news, words};
use cox_protocol::entry::{Entry, RuntimeNote};
use cox_protocol::envelope::Envelope;
use cox_protocol::task::{Outcome, ToolDef};
use std::sync::Arc;

/// The next answer of a coordinator.
pub(super) fn answer(tools: &[ToolDef], entries: &[Arc<Entry>]) -> Answer {
    let rounds = rounds(entries);
    let Some((round, earlier)) = rounds.split_last() else {
        return Answer::last_word(opening("There is no prompt yet."));
    };
    if round.is_over {
        return Answer::last_word(opening(&late(entries)));
    }
    let inside = &entries[round.start..round.end];
    let desk = Desk::over(tools, inside);
    let crew = Crew::of(&desk, inside);
    let leg = Leg { round, desk: &desk, crew: &crew };
    match leg.next(&known(tools, entries, earlier)) {
        Ok(report) => form::last_word(tools, report),
        Err(work) => {
            let mut said = news::acknowledged(entries, round.start + 1);
            said.extend(ends(entries));
            said.push(work.say);
            let text = said.join("\n\n");
            let text = if news::is_first_word(inside) { opening(&text) } else { in_brief(&text) };
            Answer { text, calls: work.calls }
        }
    }
}

/// What the last full round found.
fn known(tools: &[ToolDef], entries: &[Arc<Entry>], earlier: &[Round<'_>]) -> Option<(usize, Survey)> {
    earlier.iter().rev().find_map(|round| {
        let inside = &entries[round.start..round.end];
        let survey = survey(&Crew::of(&Desk::over(tools, inside), inside), None);
        (survey.layout.is_some() && !survey.parts.is_empty()).then_some((round.number, survey))
    })
}

/// A sentence for each worker that ended since the last answer.
fn ends(entries: &[Arc<Entry>]) -> Vec<String> {
    let line = |envelope: &Envelope| {
        let facts = envelope
            .result
            .as_deref()
            .filter(|_| envelope.outcome == Outcome::Completed)
            .and_then(Facts::parse);
        let found = facts.map(|facts| format!(": {}", words::words(&facts))).unwrap_or_default();
        format!("Worker {} {}{found}", code(&envelope.name), ended(&envelope.outcome))
    };
    news::envelopes(news::since_last_answer(entries)).map(line).collect()
}

/// What there is to say after the report.
fn late(entries: &[Arc<Entry>]) -> String {
    let mut said = ends(entries);
    said.extend(news::since_last_answer(entries).iter().filter_map(|entry| match entry.as_ref() {
        Entry::Runtime { note: RuntimeNote::UserActed { text } } => Some(format!("{text}.")),
        Entry::Runtime { .. } | Entry::User { .. } | Entry::Assistant { .. } | Entry::ToolResults { .. } => {
            None
        }
    }));
    if said.is_empty() {
        return "There is nothing new since the report.".to_owned();
    }
    format!("This came after the report, which stays as it is.\n\n{}", said.join("\n\n"))
}

/// The round at hand.
struct Leg<'a> {
    round: &'a Round<'a>,
    desk: &'a Desk<'a>,
    crew: &'a Crew<'a>,
}

impl Leg<'_> {
    /// The report, or what has to be done before it. Work without calls means: wait.
    fn next(&self, known: &Option<(usize, Survey)>) -> Result<String, Work> {
        let choice = choice(self.desk, self.round.prompt)?;
        self.continue_suspended()?;
        match known {
            Some((number, before)) => self.short(*number, before, &choice),
            None => self.full(choice),
        }
    }

    fn full(&self, choice: Choice) -> Result<String, Work> {
        self.over(vec![Assignment::layout(self.round.number)], "One worker learns the layout first.")?;
        let layout = self
            .crew
            .find(&Job::Layout)
            .into_iter()
            .flat_map(|hand| self.crew.facts(hand))
            .find_map(as_layout);
        let is_empty = layout.as_ref().is_some_and(|layout| layout.files == 0 && layout.problems.is_empty());
        if !is_empty {
            self.over(
                Assignment::parts(layout.as_ref(), self.round.number),
                "I know the parts now; each gets a worker of its own, side by side.",
            )?;
            self.follow_up()?;
            if choice.run_check {
                let say = "The parts are known. A fresh worker runs the project's own check; it asks you before it runs anything.";
                self.over(vec![Assignment::check(self.round.number)], say)?;
            }
        }
        Ok(report::full(&survey(self.crew, Some(choice))))
    }

    fn short(&self, number: usize, before: &Survey, choice: &Choice) -> Result<String, Work> {
        // A card that was answered with "run the check" wants that, and one worker is enough for a short round.
        let assignment = if choice.run_check && choice.because.is_some() {
            Assignment::check(self.round.number)
        } else {
            Assignment::layout(self.round.number)
        };
        let say = format!(
            "Round {number} has told me the parts, so one worker is enough: I compare with what is known."
        );
        self.over(vec![assignment], &say)?;
        Ok(report::compared(number, before, &survey(self.crew, Some(choice.clone()))))
    }

    /// Passes when all these have ended, in whatever way.
    fn over(&self, wanted: Vec<Assignment>, say: &str) -> Result<(), Work> {
        let (made, missing): (Vec<Assignment>, Vec<Assignment>) =
            wanted.into_iter().partition(|assignment| self.crew.find(&assignment.job).is_some());
        if !missing.is_empty() {
            let calls = missing.iter().map(Assignment::call).collect();
            return Err(Work { say: say.to_owned(), calls });
        }
        let hands = made.iter().filter_map(|assignment| self.crew.find(&assignment.job));
        self.wait_for(hands)
    }

    fn wait_for<'h>(&self, hands: impl Iterator<Item = &'h Hand>) -> Result<(), Work> {
        let working = hands.filter(|hand| self.crew.standing(hand) == Standing::Working);
        let names: Vec<String> = working.map(|hand| code(&hand.name)).collect();
        match names.as_slice() {
            [] => Ok(()),
            [one] => {
                Err(Work { say: format!("{one} is at work; I wait for its envelope."), calls: Vec::new() })
            }
            many => {
                let say = format!("{} are at work; I wait for their envelopes.", many.join(", "));
                Err(Work { say, calls: Vec::new() })
            }
        }
    }

    /// A second question to the worker with most to tell, in its own context (B33).
    fn follow_up(&self) -> Result<(), Work> {
        let candidates = self.crew.hands.iter().rev().filter_map(|hand| {
            let part = self.crew.facts(hand).into_iter().find_map(as_part)?;
            let notes = part.notes.as_ref().map_or(0, |notes| notes.lines);
            let about = if notes > 0 { About::Notes } else { About::Largest };
            (notes > 0 || part.source_files > 0).then_some((notes, part.source_files, hand, about))
        });
        let best = candidates.max_by_key(|(notes, files, _, _)| (*notes, *files));
        let Some((_, _, hand, about)) = best.filter(|_| self.desk.offers("SendMessage")) else {
            return Ok(());
        };
        let job = Job::FollowUp { about };
        match self.crew.message(hand, &job) {
            None => {
                let say = format!(
                    "The parts are looked at. {} knows most, so it gets a second question in its own context.",
                    code(&hand.name)
                );
                let summary = job.title();
                let call = send_message(&hand.name, &summary, &job.prompt(self.round.number));
                Err(Work { say, calls: vec![call] })
            }
            Some(Ok(())) => self.wait_for(std::iter::once(hand)),
            // Refused: the user stopped it, for one. What was stopped stays stopped.
            Some(Err(_)) => Ok(()),
        }
    }

    /// A worker that was cut off with its process is continued, once it is known.
    fn continue_suspended(&self) -> Result<(), Work> {
        let suspended: Vec<&Hand> =
            self.crew.hands.iter().filter(|hand| self.crew.standing(hand) == Standing::Suspended).collect();
        if suspended.is_empty() || !self.desk.offers("SendMessage") {
            return Ok(());
        }
        let names: Vec<String> = suspended.iter().map(|hand| code(&hand.name)).collect();
        let go_on = Job::GoOn.prompt(self.round.number);
        let calls = suspended.iter().map(|hand| send_message(&hand.name, "Go on", &go_on)).collect();
        Err(Work { say: format!("{} was cut off; I let it go on.", names.join(", ")), calls })
    }
}

fn as_layout(facts: Facts) -> Option<Layout> {
    match facts {
        Facts::Layout(layout) => Some(layout),
        Facts::Part(_) | Facts::FollowUp(_) | Facts::Check(_) => None,
    }
}

fn as_part(facts: Facts) -> Option<Part> {
    match facts {
        Facts::Part(part) => Some(part),
        Facts::Layout(_) | Facts::FollowUp(_) | Facts::Check(_) => None,
    }
}
