//! What is known at the end of a round, out of completed envelopes, and how each worker ended.

use super::crew::{Crew, Hand, Standing, ended};
use super::facts::{Check, Facts, FollowUp, Layout, Part};
use super::job::Job;
use super::question::Choice;
use cox_protocol::entry::CommandRun;

/// What is known at the end of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Survey {
    pub(super) layout: Option<Layout>,
    pub(super) parts: Vec<Part>,
    pub(super) follow_up: Option<FollowUp>,
    pub(super) check: Option<Check>,
    pub(super) choice: Option<Choice>,
    /// The workers; none when the lead worked itself.
    pub(super) rows: Vec<Row>,
}

/// A worker, as the runtime's envelopes tell of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) job: Job,
    pub(super) end: String,
    pub(super) tool_uses: u64,
    pub(super) commands: Vec<CommandRun>,
    pub(super) violations: Vec<String>,
}

/// Everything that a crew has found, and how each of it ended.
pub(super) fn survey(crew: &Crew<'_>, choice: Option<Choice>) -> Survey {
    let mut survey = Survey { choice, ..Survey::default() };
    for hand in &crew.hands {
        let mut is_known = false;
        for facts in crew.facts(hand) {
            match facts {
                Facts::Layout(layout) => survey.layout = Some(layout),
                // A worker that the user wrote to reports again.
                Facts::Part(part) if !is_known => {
                    survey.parts.push(part);
                    is_known = true;
                }
                Facts::Part(_) => {}
                Facts::FollowUp(found) => survey.follow_up = Some(found),
                Facts::Check(check) => survey.check = Some(check),
            }
        }
        survey.rows.push(row(crew, hand));
    }
    survey
}

fn row(crew: &Crew<'_>, hand: &Hand) -> Row {
    let end = match crew.standing(hand) {
        Standing::Working => "still at work".to_owned(),
        Standing::Suspended => "cut off".to_owned(),
        Standing::Gone(why) => format!("not started: {why}"),
        Standing::Ended(envelope) => ended(&envelope.outcome),
    };
    let evidence: Vec<_> = crew.envelopes(hand).filter_map(|envelope| envelope.evidence.as_ref()).collect();
    Row {
        name: hand.name.clone(),
        job: hand.job.clone(),
        end,
        tool_uses: evidence.iter().map(|evidence| u64::from(evidence.tool_uses)).sum(),
        commands: evidence.iter().flat_map(|evidence| &evidence.commands).cloned().collect(),
        violations: evidence.iter().flat_map(|evidence| &evidence.violations).cloned().collect(),
    }
}
