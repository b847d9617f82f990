//! How an agent comes back to its transcript.

use super::answer::{kept_blocks, not_run};
use super::generation::runtime;
use super::{Agent, Stop, storage_message};
use cox_protocol::entry::{Entry, ResultStatus, RuntimeNote, StopReason, ToolCall, ToolResult};
use cox_protocol::event::EventKind;
use cox_protocol::task::FailKind;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

impl Agent {
    /// Loads the transcript of an agent whose last generation was over.
    pub(super) async fn load(&mut self) -> Result<(), Stop> {
        let rows = self.session.core.store.transcript(&self.id).await;
        let rows = rows.map_err(|error| Stop::Failed(FailKind::Storage, storage_message(&error)))?;
        self.entries = rows.into_iter().map(|row| Arc::new(row.entry)).collect();
        self.close_open_calls().await
    }

    /// Loads the transcript of a suspended generation and settles what was under way (W19): a call that never
    /// started, or waited for permission, is asked again; a read-only one is repeated; of any other the outcome
    /// is unknown, and the model is told so.
    pub(super) async fn resume(&mut self) -> Result<(), Stop> {
        let rows = self.session.core.store.transcript(&self.id).await;
        let rows = rows.map_err(|error| Stop::Failed(FailKind::Storage, storage_message(&error)))?;
        self.entries = rows.into_iter().map(|row| Arc::new(row.entry)).collect();
        self.fold_partial().await?;
        let work = self.session.core.store.open_work(&self.session.id).await;
        let work = work.map_err(|error| Stop::Failed(FailKind::Storage, storage_message(&error)))?;
        let mut again = Vec::new();
        let mut unknown = Vec::new();
        for call in self.open_calls() {
            let record = work.calls.iter().find(|open| open.task_id == self.id && open.call.id == call.id);
            if record.is_none_or(|record| !record.started || record.read_only) {
                again.push(call);
            } else {
                unknown.push(not_run(
                    &call.id,
                    &call.name,
                    ResultStatus::OutcomeUnknown,
                    "outcome_unknown: the program ended while this ran. It may have taken effect wholly, in part or not at all; look before you repeat it.",
                ));
            }
        }
        if !unknown.is_empty() {
            self.append(vec![EventKind::Entry { entry: Entry::ToolResults { results: unknown } }]).await?;
        }
        if !again.is_empty() {
            let ready = self.prepare(&again, None).await;
            if let Some(value) = self.run_calls(ready).await? {
                return Err(Stop::HandedIn(value));
            }
        }
        Ok(())
    }

    /// An answer that was in progress when the process ended becomes an entry.
    async fn fold_partial(&mut self) -> Result<(), Stop> {
        let partials = self.session.core.store.partials(&self.session.id).await;
        let partials = partials.map_err(|error| Stop::Failed(FailKind::Storage, storage_message(&error)))?;
        let Some((_, partial)) = partials.into_iter().find(|(task, _)| task == &self.id) else {
            return Ok(());
        };
        let blocks = kept_blocks(BTreeMap::new(), &partial);
        if blocks.is_empty() {
            return Ok(());
        }
        let model = self.spec.model.clone();
        let entry = Entry::Assistant { blocks, stop: StopReason::Unknown, model, interrupted: true };
        let reason = "the program ended before your answer was complete".to_owned();
        self.append(vec![EventKind::Entry { entry }, runtime(RuntimeNote::Interrupted { reason })]).await
    }

    /// Calls at the end of the transcript that have no result.
    fn open_calls(&self) -> Vec<ToolCall> {
        let Some(at) = self.entries.iter().rposition(|entry| entry.calls().next().is_some()) else {
            return Vec::new();
        };
        let answered: HashSet<&str> = self.entries[at..]
            .iter()
            .filter_map(|entry| {
                if let Entry::ToolResults { results } = entry.as_ref() { Some(results) } else { None }
            })
            .flatten()
            .map(|result| result.call_id.as_str())
            .collect();
        self.entries[at].calls().filter(|call| !answered.contains(call.id.as_str())).cloned().collect()
    }

    /// A generation that is over owes no result. Should one be missing all the same, the history would be
    /// refused by every provider for ever, so the gap is closed in words.
    async fn close_open_calls(&mut self) -> Result<(), Stop> {
        let results: Vec<ToolResult> = self
            .open_calls()
            .iter()
            .map(|call| {
                not_run(
                    &call.id,
                    &call.name,
                    ResultStatus::Interrupted,
                    "It was interrupted, and no result was recorded.",
                )
            })
            .collect();
        if results.is_empty() {
            return Ok(());
        }
        self.append(vec![EventKind::Entry { entry: Entry::ToolResults { results } }]).await
    }
}
