//! What follows an answer: its calls are checked, recorded and run, side by side.
//!
//! 1. Every call is prepared: schema, plan, policy. Nothing runs yet.
//! 2. The answer, its ledger row, and the start of every call that needs no question are recorded in one
//!    append, awaited. From here on each call is owed one result.
//! 3. The calls run. Reads and commands run side by side; changes to files one after another. A question to the
//!    user goes first, and dispatches beside it wait for its answer (R64).
//! 4. Results are recorded as they come; the last append is awaited before the next request.

use super::answer::Answer;
use super::generation::{Next, runtime};
use super::{Agent, Stop};
use crate::ports::CallPorts;
use cox_protocol::entry::{Block, Entry, ResultStatus, RuntimeNote, StopReason, ToolCall};
use cox_protocol::event::EventKind;
use cox_protocol::task::FailKind;
use cox_tools::{Done, Prepared, ToolCx};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Times in a row that an empty, a cut or an unhanded result is asked for again.
const ASK_AGAIN_MOST: u32 = 2;

/// A call that passed step 1, with what it runs in.
pub(super) struct Ready {
    pub(super) prepared: Prepared,
    pub(super) cx: ToolCx,
    ports: Arc<CallPorts>,
}

impl Agent {
    /// Takes a complete answer.
    pub(super) async fn take(&mut self, answer: Answer) -> Result<Next, Stop> {
        let Answer { blocks, stop, model, ledger } = answer;
        if blocks.iter().all(is_blank) {
            self.session.core.hub.drop_partial(&self.id);
            return self.take_blank(stop, ledger).await;
        }
        let entry = Entry::Assistant { blocks, stop, model, interrupted: false };
        let calls: Vec<ToolCall> = entry.calls().cloned().collect();
        let reason = entry.text();
        let ready = self.prepare(&calls, reason.as_deref()).await;
        let mut kinds = vec![EventKind::Entry { entry }, ledger];
        kinds.extend(ready.iter().filter(|ready| ready.prepared.is_ready()).map(|ready| {
            EventKind::ToolStarted {
                call_id: ready.prepared.call().id.clone(),
                read_only: ready.prepared.read_only(),
            }
        }));
        self.append(kinds).await?;
        for ready in ready.iter().filter(|ready| ready.prepared.is_ready()) {
            ready.ports.start_recorded.store(true, Ordering::SeqCst);
        }
        if calls.is_empty() {
            return self.take_last_word(stop).await;
        }
        let repeats = self.limits().repeats;
        if self.guard.note(calls.iter()) >= repeats {
            self.refuse_all(&calls, "It was not run: the same call came again and again.").await?;
            return Err(Stop::Failed(
                FailKind::RepeatGuard,
                format!(
                    "it made the same call {repeats} times in a row. Message it with another instruction to go on."
                ),
            ));
        }
        self.asked_again = 0;
        match self.run_calls(ready).await? {
            Some(value) => Err(Stop::HandedIn(value)),
            None => Ok(Next::Again),
        }
    }

    /// An answer with nothing in it. After tool results this is a known slip: it is not sent back, and the
    /// model is asked once more.
    async fn take_blank(&mut self, stop: StopReason, ledger: EventKind) -> Result<Next, Stop> {
        let after_results = matches!(self.entries.last().map(Arc::as_ref), Some(Entry::ToolResults { .. }));
        match stop {
            StopReason::Refusal => return Err(refused()),
            StopReason::ContextFull => return Err(context_full()),
            StopReason::EndTurn
            | StopReason::ToolUse
            | StopReason::MaxTokens
            | StopReason::Pause
            | StopReason::Unknown => {}
        }
        if after_results {
            self.append(vec![ledger, runtime(RuntimeNote::Nudge)]).await?;
            return Ok(Next::Again);
        }
        self.append(vec![ledger]).await?;
        self.hand_in_or_end().await
    }

    /// An answer without calls.
    async fn take_last_word(&mut self, stop: StopReason) -> Result<Next, Stop> {
        match stop {
            StopReason::Refusal => Err(refused()),
            StopReason::ContextFull => Err(context_full()),
            StopReason::Pause => Ok(Next::Again),
            StopReason::MaxTokens if self.asked_again == 0 => {
                self.asked_again = 1;
                let reason = "the output limit cut your answer; go on exactly where it stops".to_owned();
                self.append(vec![runtime(RuntimeNote::Interrupted { reason })]).await?;
                Ok(Next::Again)
            }
            StopReason::MaxTokens => Err(Stop::Failed(
                FailKind::OutputLimit,
                "the output limit cut its answer twice. Ask for less at once, or message it to go on.".into(),
            )),
            StopReason::EndTurn | StopReason::ToolUse | StopReason::Unknown => self.hand_in_or_end().await,
        }
    }

    /// With a schema, the result has to be handed in (W39); without one, the last word is the result.
    async fn hand_in_or_end(&mut self) -> Result<Next, Stop> {
        let wants_value = self.spec.frozen.as_ref().is_some_and(|frozen| frozen.output_schema.is_some());
        if !wants_value {
            return Ok(Next::Final);
        }
        if self.session.has_open_children(&self.id).await {
            return Ok(Next::Final);
        }
        self.asked_again += 1;
        if self.asked_again > ASK_AGAIN_MOST {
            return Err(Stop::Failed(
                FailKind::InvalidResult,
                "it did not hand in a result that meets the schema, though it was asked again".into(),
            ));
        }
        let text = "Hand in your result now by calling SyntheticOutput with a value that meets its schema."
            .to_owned();
        self.append(vec![runtime(RuntimeNote::Capability { text })]).await?;
        Ok(Next::Again)
    }

    pub(super) async fn prepare(&self, calls: &[ToolCall], reason: Option<&str>) -> Vec<Ready> {
        let pool: Vec<String> =
            self.spec.frozen.iter().flat_map(|frozen| &frozen.tools).map(|tool| tool.name.clone()).collect();
        let mut ready = Vec::with_capacity(calls.len());
        for call in calls {
            let ports = self.ports();
            let cx = self.cx(call, reason, &ports);
            let prepared = self.session.core.toolbox.prepare(call, &pool, &cx).await;
            ready.push(Ready { prepared, cx, ports });
        }
        ready
    }

    fn ports(&self) -> Arc<CallPorts> {
        Arc::new(CallPorts {
            session: Arc::clone(&self.session),
            task: self.id.clone(),
            name: self.spec.name.clone(),
            parent: self.parent.clone(),
            tool_use_id: self.tool_use_id.clone(),
            generation: self.generation,
            turn: self.turn,
            start_recorded: AtomicBool::new(false),
        })
    }

    fn cx(&self, call: &ToolCall, reason: Option<&str>, ports: &Arc<CallPorts>) -> ToolCx {
        ToolCx {
            session_id: self.session.id.clone(),
            task_id: self.id.clone(),
            call_id: call.id.clone(),
            roots: self.session.roots.clone(),
            shell: Arc::clone(&self.session.core.shell),
            stamps: Arc::clone(&self.stamps),
            rights: Arc::new(self.session.rights_of(&self.spec)),
            cancel: self.control.token().child_token(),
            ask: ports.clone(),
            tasks: ports.clone(),
            journal: ports.clone(),
            output_schema: self
                .spec
                .frozen
                .as_ref()
                .and_then(|frozen| frozen.output_schema.clone())
                .map(Arc::new),
            reason: reason.map(str::to_owned),
        }
    }

    /// Runs calls and records one result for each. Gives the value, when one of them hands the result in.
    pub(super) async fn run_calls(&mut self, ready: Vec<Ready>) -> Result<Option<Value>, Stop> {
        let (questions, mut rest): (Vec<Ready>, Vec<Ready>) =
            ready.into_iter().partition(|ready| ready.prepared.is_question());
        let mut outcome = Ran::default();
        if !questions.is_empty() {
            // R64: what stands beside a question runs at once, but nobody is dispatched before the answer.
            let (dispatches, others): (Vec<Ready>, Vec<Ready>) =
                rest.into_iter().partition(|ready| ready.prepared.is_dispatch());
            rest = dispatches;
            let last = rest.is_empty();
            self.run_side_by_side(questions.into_iter().chain(others).collect(), last, &mut outcome).await?;
        }
        if !rest.is_empty() {
            self.run_side_by_side(rest, true, &mut outcome).await?;
        }
        self.check_halt()?;
        if let Some((kind, message)) = outcome.failed {
            return Err(Stop::Failed(kind, message));
        }
        Ok(outcome.value)
    }

    async fn run_side_by_side(
        &mut self,
        ready: Vec<Ready>,
        is_last: bool,
        outcome: &mut Ran,
    ) -> Result<(), Stop> {
        let toolbox = Arc::clone(&self.session.core.toolbox);
        let (parallel, in_order): (Vec<Ready>, Vec<Ready>) =
            ready.into_iter().partition(|ready| ready.prepared.parallel());
        let (sender, mut results) = tokio::sync::mpsc::unbounded_channel::<Done>();
        let mut running = FuturesUnordered::new();
        for Ready { prepared, cx, .. } in parallel {
            let (toolbox, sender) = (Arc::clone(&toolbox), sender.clone());
            running.push(futures::future::FutureExt::boxed(async move {
                // The receiver lives until every sender is gone.
                let _ = sender.send(toolbox.execute(prepared, &cx).await);
            }));
        }
        if !in_order.is_empty() {
            running.push(futures::future::FutureExt::boxed(async move {
                for Ready { prepared, cx, .. } in in_order {
                    let _ = sender.send(toolbox.execute(prepared, &cx).await);
                }
            }));
        } else {
            drop(sender);
        }
        loop {
            let ended = running.next().await.is_none();
            let mut kinds = Vec::new();
            while let Ok(done) = results.try_recv() {
                self.take_done(done, &mut kinds, outcome);
            }
            let is_over = ended || running.is_empty();
            if is_over && is_last {
                self.append(kinds).await?;
            } else if !kinds.is_empty() {
                self.append_unawaited(kinds);
            }
            if is_over {
                return Ok(());
            }
        }
    }

    fn take_done(&mut self, done: Done, kinds: &mut Vec<EventKind>, outcome: &mut Ran) {
        let ran = match done.result.status {
            ResultStatus::Ok
            | ResultStatus::Error
            | ResultStatus::Interrupted
            | ResultStatus::OutcomeUnknown => true,
            ResultStatus::InvalidCall | ResultStatus::Denied | ResultStatus::NoUi => false,
        };
        if ran {
            self.evidence.tool_use();
        }
        if let Some(run) = done.command {
            self.evidence.command(run);
        }
        self.evidence.violations(done.violations);
        if let Some((change, before_blob)) = done.change {
            self.evidence.change(&change);
            kinds.push(EventKind::FileChanged { change, before_blob, own: true });
        }
        kinds.push(EventKind::Entry { entry: Entry::ToolResults { results: vec![done.result] } });
        outcome.value = done.end.or(outcome.value.take());
        outcome.failed = done.fail.or(outcome.failed.take());
    }

    /// Appends without waiting: the queue to the store keeps the order, and the next awaited append covers it.
    fn append_unawaited(&mut self, kinds: Vec<EventKind>) {
        for kind in &kinds {
            if let EventKind::Entry { entry } = kind {
                self.entries.push(Arc::new(entry.clone()));
            }
        }
        let events = kinds.into_iter().map(|kind| self.event(kind)).collect();
        self.session.core.store.append_later(events);
    }

    async fn refuse_all(&mut self, calls: &[ToolCall], content: &str) -> Result<(), Stop> {
        let results = calls
            .iter()
            .map(|call| super::answer::not_run(&call.id, &call.name, ResultStatus::Error, content))
            .collect();
        self.append(vec![EventKind::Entry { entry: Entry::ToolResults { results } }]).await
    }
}

#[derive(Default)]
struct Ran {
    value: Option<Value>,
    failed: Option<(FailKind, String)>,
}

fn is_blank(block: &Block) -> bool {
    match block {
        Block::Text { text } => text.trim().is_empty(),
        Block::Thinking { .. } => true,
        Block::ToolCall { .. } | Block::Opaque { .. } => false,
    }
}

fn refused() -> Stop {
    Stop::Failed(
        FailKind::Refused,
        "the model refused to answer. The same request to the same model will be refused again; change the instruction or the model.".into(),
    )
}

fn context_full() -> Stop {
    Stop::Failed(
        FailKind::ContextExceeded,
        "the transcript no longer fits the model's context window. Dispatch a fresh worker with a summary of what is known.".into(),
    )
}
