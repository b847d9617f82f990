//! The offline model that follows fixed rules (W42).
//!
//! 1. [`mod@answer`] looks at the tools on offer and at the role in the system prompt, and so knows who it is:
//!    coordinator, solo agent, or worker.
//! 2. That role's rules read the transcript and say what comes next: text, and calls of tools.
//! 3. [`stream`] hands the answer out, as a person reads or at once.
//!
//! An answer is a pure function of system prompt, tools and entries. There is no state between two requests: what
//! was done is read from the transcript every time, so that a stop, a restart and a message in between need no
//! rule of their own. Facts come only from results of tools; the coordinator reads only envelopes. It edits nothing.

mod answer;
mod assignment;
mod check;
mod coordinator;
mod crew;
mod desk;
mod facts;
mod follow_up;
mod form;
mod found;
mod job;
mod languages;
mod layout;
mod markdown;
mod news;
mod part;
mod question;
mod report;
mod round;
mod sections;
mod solo;
mod stream;
mod survey;
mod words;
mod worker;

#[cfg(test)]
mod tests;

use crate::door::{ModelEvent, ModelRequest, Provider};
use crate::error::ProviderError;
use answer::Answer;
use async_trait::async_trait;
use cox_protocol::entry::Entry;
use cox_protocol::settings::ProviderKind;
use cox_protocol::task::ToolDef;
use futures::stream::BoxStream;
use std::sync::Arc;

/// How fast it streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// As a person reads.
    #[default]
    Human,
    /// At once, for tests.
    Instant,
}

/// The offline model.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    /// How fast it streams.
    pub pace: Pace,
}

#[async_trait]
impl Provider for Rehearsal {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Rehearsal
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        stream::stream(request, self.pace)
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Ok(vec!["rehearsal".to_owned()])
    }
}

/// The answer. Never calls a tool that is not on offer.
fn answer(system: &str, tools: &[ToolDef], entries: &[Arc<Entry>]) -> Answer {
    let has = |name: &str| tools.iter().any(|tool| tool.name == name);
    let mut answer = if !has("Agent") {
        worker::answer(system, tools, entries)
    } else if has("Read") || has("Glob") {
        solo::answer(tools, entries)
    } else {
        coordinator::answer(tools, entries)
    };
    // The rules look first at what is on offer; this is the wall behind them.
    answer.calls.retain(|call| has(call.tool));
    answer
}
