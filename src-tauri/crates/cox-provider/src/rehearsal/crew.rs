//! The workers of a round, as a coordinator can know them: its own dispatches, their receipts, and the envelopes.

use super::desk::Desk;
use super::facts::{Facts, short};
use super::job::Job;
use super::news;
use cox_protocol::entry::{Entry, ResultStatus, RuntimeNote, ToolCall, ToolResult};
use cox_protocol::envelope::Envelope;
use cox_protocol::task::{KilledBy, Outcome};
use serde_json::Value;
use std::sync::Arc;

/// A worker that was dispatched, or should have been.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hand {
    pub(super) name: String,
    pub(super) job: Job,
    call_id: String,
    /// The task id of the receipt, or why there is none.
    receipt: Result<String, String>,
}

/// How a worker stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Standing<'a> {
    /// Its end is yet to come.
    Working,
    /// It was cut off with its process and can be continued.
    Suspended,
    /// It never started, or can't be reached any more.
    Gone(String),
    /// It has ended.
    Ended(&'a Envelope),
}

/// The workers of a round.
pub(super) struct Crew<'a> {
    entries: &'a [Arc<Entry>],
    pub(super) hands: Vec<Hand>,
    messages: Vec<(&'a ToolCall, &'a ToolResult)>,
}

impl<'a> Crew<'a> {
    /// The workers that these entries tell of.
    pub(super) fn of(desk: &Desk<'a>, entries: &'a [Arc<Entry>]) -> Self {
        let mut hands: Vec<Hand> = Vec::new();
        let mut cut: Vec<Job> = Vec::new();
        for (call, result) in desk.finished("Agent") {
            let field = |name: &str| call.input[name].as_str().unwrap_or_default().to_owned();
            let Some(job) = Job::parse(&field("prompt")) else { continue };
            // A dispatch that was cut was not made. It is made again, once.
            if result.status == ResultStatus::Interrupted && !cut.contains(&job) {
                cut.push(job);
                continue;
            }
            let (name, call_id) = (field("name"), call.id.clone());
            hands.push(Hand { name, job, call_id, receipt: receipt(result) });
        }
        Self { entries, hands, messages: desk.finished("SendMessage").collect() }
    }

    /// The worker with this task.
    pub(super) fn find(&self, job: &Job) -> Option<&Hand> {
        self.hands.iter().rev().find(|hand| &hand.job == job)
    }

    /// How a worker stands now.
    pub(super) fn standing(&self, hand: &Hand) -> Standing<'a> {
        let mut standing = match &hand.receipt {
            Ok(_) => Standing::Working,
            Err(why) => Standing::Gone(why.clone()),
        };
        for entry in self.entries {
            match entry.as_ref() {
                Entry::Runtime { note: RuntimeNote::Notification { envelope } } if hand.is(envelope) => {
                    standing = Standing::Ended(envelope);
                }
                Entry::Runtime { note: RuntimeNote::ChildInterrupted { name, .. } } if *name == hand.name => {
                    standing = Standing::Suspended;
                }
                Entry::ToolResults { results } => {
                    for result in results.iter().filter(|result| self.is_message_to(hand, result)) {
                        standing = match (result.status, standing) {
                            (ResultStatus::Ok, _) => Standing::Working,
                            (ResultStatus::Interrupted, before) => before,
                            (_, Standing::Suspended) => Standing::Gone(reason(result)),
                            (_, before) => before,
                        };
                    }
                }
                Entry::Runtime { .. } | Entry::User { .. } | Entry::Assistant { .. } => {}
            }
        }
        standing
    }

    /// What came of a message with this task: null when it was not sent yet.
    pub(super) fn message(&self, hand: &Hand, job: &Job) -> Option<Result<(), String>> {
        let is_it = |call: &ToolCall| {
            call.input["to"].as_str() == Some(&hand.name)
                && call.input["message"].as_str().and_then(Job::parse).as_ref() == Some(job)
        };
        let sent: Vec<&ToolResult> =
            self.messages.iter().filter(|(call, _)| is_it(call)).map(|(_, result)| *result).collect();
        let last = sent.last()?;
        match last.status {
            ResultStatus::Ok => Some(Ok(())),
            ResultStatus::Interrupted if sent.len() < 2 => None,
            _ => Some(Err(reason(last))),
        }
    }

    /// The facts of a worker, in order. Only a completed generation is cited (N4).
    pub(super) fn facts(&self, hand: &Hand) -> Vec<Facts> {
        let ends = self.envelopes(hand).filter(|envelope| envelope.outcome == Outcome::Completed);
        ends.filter_map(|envelope| Facts::parse(envelope.result.as_deref()?)).collect()
    }

    /// Every end of a worker, in order.
    pub(super) fn envelopes(&self, hand: &Hand) -> impl Iterator<Item = &'a Envelope> {
        news::envelopes(self.entries).filter(move |envelope| hand.is(envelope))
    }

    fn is_message_to(&self, hand: &Hand, result: &ToolResult) -> bool {
        self.messages.iter().any(|(call, done)| {
            done.call_id == result.call_id && call.input["to"].as_str() == Some(&hand.name)
        })
    }
}

impl Hand {
    /// An envelope belongs to a worker by the id of its receipt. A dispatch whose outcome is unknown has none: there
    /// the call's own id tells.
    fn is(&self, envelope: &Envelope) -> bool {
        self.receipt.as_deref() == Ok(envelope.task_id.as_str())
            || envelope.tool_use_id.as_deref() == Some(&self.call_id)
    }
}

/// How a generation ended, in words.
pub(super) fn ended(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed => "completed".to_owned(),
        Outcome::Failed { message, .. } => format!("failed: {}", short(message, 200)),
        Outcome::Killed { by: KilledBy::User } => "stopped by you".to_owned(),
        Outcome::Killed { by: KilledBy::Coordinator } => "stopped by the coordinator".to_owned(),
        Outcome::Killed { by: KilledBy::Owner } => "ended with the session".to_owned(),
    }
}

fn receipt(result: &ToolResult) -> Result<String, String> {
    let value: Value = serde_json::from_str(&result.content).unwrap_or_default();
    match (result.status, value["agentId"].as_str()) {
        (ResultStatus::Ok, Some(id)) => Ok(id.to_owned()),
        _ => Err(reason(result)),
    }
}

/// Why a call did not do what was asked: the message of an error in JSON, else its first line.
fn reason(result: &ToolResult) -> String {
    let value: Value = serde_json::from_str(&result.content).unwrap_or_default();
    let text = value["message"].as_str().unwrap_or(&result.content);
    short(text.lines().next().unwrap_or_default(), 200)
}
