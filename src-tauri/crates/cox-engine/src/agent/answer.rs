//! One request and its answer.

use super::generation::runtime;
use super::{Agent, Stop};
use crate::clock::Sleep;
use crate::control::Halt;
use crate::hub::Piece;
use cox_protocol::entry::{Block, Entry, ResultStatus, RuntimeNote, StopReason, ToolDetail, ToolResult};
use cox_protocol::event::{EventKind, PrefixMark, PrefixPart};
use cox_protocol::id::RequestId;
use cox_protocol::task::{FailKind, Usage};
use cox_protocol::view::PartialKind;
use cox_provider::{ModelEvent, ModelRequest, ProviderError};
use futures::StreamExt;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The text of an answer in progress is saved at least this often (W9).
const SAVE_PARTIAL: Duration = Duration::from_millis(250);

/// A complete answer.
pub(super) struct Answer {
    pub(super) blocks: Vec<Block>,
    pub(super) stop: StopReason,
    pub(super) model: String,
    pub(super) ledger: EventKind,
}

/// An answer in progress: its complete blocks, and what is known of its request.
struct Draft {
    blocks: BTreeMap<u32, Block>,
    mark: PrefixMark,
    moved: Option<PrefixPart>,
}

impl Agent {
    pub(super) async fn answer(&mut self) -> Result<Answer, Stop> {
        let request = self.request();
        let mut stream = self.provider.stream(request);
        let mut draft = Draft { blocks: BTreeMap::new(), mark: PrefixMark::default(), moved: None };
        // One timer from the first piece that is not saved to the save, not one a piece: a timer costs more than a
        // piece does.
        let mut save: Option<Sleep> = None;
        let control = Arc::clone(&self.control);
        loop {
            let event = tokio::select! {
                biased;
                () = control.token().cancelled() => {
                    drop(stream);
                    let halt = control.halted().unwrap_or(Halt::Suspended);
                    self.keep(draft, "it was stopped before it was complete").await?;
                    return Err(Stop::Halted(halt));
                }
                () = due(&mut save) => {
                    save = None;
                    self.save_partial();
                    continue;
                }
                event = stream.next() => event,
            };
            if let Some(Ok(ModelEvent::Delta { .. })) = &event
                && save.is_none()
            {
                save = Some(self.session.core.clock.sleep(SAVE_PARTIAL));
            }
            match event {
                Some(Ok(ModelEvent::Done { stop, usage, model })) => {
                    return Ok(self.complete(draft, stop, usage, model));
                }
                Some(Ok(event)) => self.take_event(&mut draft, event),
                Some(Err(error)) => {
                    self.keep(draft, "the answer broke off").await?;
                    return Err(failed(&error));
                }
                None => {
                    self.keep(draft, "the answer broke off").await?;
                    return Err(Stop::Failed(
                        FailKind::StreamBroken,
                        "the answer ended in the middle".into(),
                    ));
                }
            }
        }
    }

    fn request(&self) -> ModelRequest {
        ModelRequest {
            model: self.spec.model.clone(),
            system: Arc::clone(&self.system),
            tools: Arc::clone(&self.tools),
            entries: self.entries.clone(),
            max_tokens: None,
            last: self.mark.clone(),
        }
    }

    fn take_event(&self, draft: &mut Draft, event: ModelEvent) {
        match event {
            ModelEvent::Sent { mark, moved } => {
                draft.mark = mark;
                draft.moved = moved;
            }
            ModelEvent::Retrying { attempt, max_attempts, delay_ms, status, category, message } => {
                let kind =
                    EventKind::RequestRetried { attempt, max_attempts, delay_ms, status, category, message };
                self.session.core.store.append_later(vec![self.event(kind)]);
            }
            ModelEvent::Started | ModelEvent::Done { .. } => {}
            ModelEvent::Delta { block, kind, tool, text } => {
                let piece = Piece {
                    generation: self.generation,
                    turn: self.turn,
                    block,
                    kind,
                    tool: &tool,
                    text: &text,
                };
                self.session.core.hub.delta(&self.id, &piece);
            }
            ModelEvent::Block { block, content } => {
                draft.blocks.insert(block, content);
            }
        }
    }

    fn save_partial(&self) {
        let partial = self.session.core.hub.partial(&self.id);
        self.session.core.store.save_partial(&self.id, &self.session.id, partial);
    }

    fn complete(&mut self, draft: Draft, stop: StopReason, usage: Usage, model: String) -> Answer {
        let kind = self.provider.kind();
        let cost = cox_provider::models::price(kind, &model, &usage)
            .or_else(|| cox_provider::models::price(kind, &self.spec.model, &usage));
        self.context_tokens = usage.prompt() + usage.output;
        self.mark = Some(draft.mark.clone());
        Answer {
            blocks: draft.blocks.into_values().collect(),
            stop,
            ledger: EventKind::Usage {
                request_id: RequestId::new(self.session.core.mint.next(RequestId::PREFIX)),
                model: model.clone(),
                usage,
                cost_micro_usd: cost,
                price_version: cox_provider::models::version().to_owned(),
                prefix: draft.mark,
                moved: draft.moved,
            },
            model,
        }
    }

    /// Keeps what had arrived of an answer that was cut: whole blocks, and the text so far. A whole call gets
    /// the result that it was not run, so that the history stays paired (invariant 7).
    async fn keep(&mut self, draft: Draft, reason: &str) -> Result<(), Stop> {
        let partial = self.session.core.hub.partial(&self.id).unwrap_or_default();
        self.session.core.hub.drop_partial(&self.id);
        let blocks = kept_blocks(draft.blocks, &partial);
        if blocks.is_empty() {
            return Ok(());
        }
        let entry = Entry::Assistant {
            blocks,
            stop: StopReason::Unknown,
            model: self.spec.model.clone(),
            interrupted: true,
        };
        let results: Vec<ToolResult> = entry
            .calls()
            .map(|call| {
                not_run(
                    &call.id,
                    &call.name,
                    ResultStatus::Interrupted,
                    "It was not run: the answer that called it was cut.",
                )
            })
            .collect();
        let mut kinds = vec![EventKind::Entry { entry }];
        if !results.is_empty() {
            kinds.push(EventKind::Entry { entry: Entry::ToolResults { results } });
        }
        kinds.push(runtime(RuntimeNote::Interrupted { reason: reason.to_owned() }));
        self.append(kinds).await
    }
}

/// Ends when the save is due; never without one.
async fn due(save: &mut Option<Sleep>) {
    match save {
        Some(save) => save.await,
        None => std::future::pending().await,
    }
}

/// The blocks of a cut answer that can be kept: whole ones, and text as far as it came.
pub(super) fn kept_blocks(
    mut whole: BTreeMap<u32, Block>,
    partial: &cox_protocol::view::Partial,
) -> Vec<Block> {
    for (at, block) in partial.blocks.iter().enumerate() {
        let Ok(at) = u32::try_from(at) else { continue };
        if block.kind == PartialKind::Text && !block.text.trim().is_empty() {
            whole.entry(at).or_insert_with(|| Block::Text { text: block.text.clone() });
        }
    }
    let has_more = whole.values().any(|block| !matches!(block, Block::Thinking { .. }));
    if has_more { whole.into_values().collect() } else { Vec::new() }
}

/// The result of a call that was not run.
pub(super) fn not_run(call_id: &str, tool: &str, status: ResultStatus, content: &str) -> ToolResult {
    ToolResult {
        call_id: call_id.to_owned(),
        tool: tool.to_owned(),
        status,
        content: content.to_owned(),
        full: None,
        detail: ToolDetail::None,
        duration_ms: 0,
    }
}

fn failed(error: &ProviderError) -> Stop {
    Stop::Failed(error.kind, error.full_text())
}
