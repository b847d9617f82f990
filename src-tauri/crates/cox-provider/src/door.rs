//! The door between the engine and every model: one trait, one request, one kind of event.
//!
//! Implemented by the two wire formats and by rehearsal; called by the engine's turn loop. Left out on purpose:
//! tasks, sessions, and the decision what to do with a failed request.

use crate::error::ProviderError;
use async_trait::async_trait;
use cox_protocol::entry::{Block, Entry, StopReason};
use cox_protocol::event::{PrefixMark, PrefixPart};
use cox_protocol::settings::ProviderKind;
use cox_protocol::task::{FailKind, ToolDef, Usage};
use cox_protocol::view::PartialKind;
use futures::stream::BoxStream;
use std::sync::Arc;

/// A model behind some wire format.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The wire format.
    fn kind(&self) -> ProviderKind;

    /// Sends a request and streams the answer. Tries again by itself as long as nothing of an answer was handed
    /// out. The stream ends after [`ModelEvent::Done`] or the first error. Dropping it closes the connection.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ProviderError>>;

    /// The models that the server names. Fails as a request does.
    async fn models(&self) -> Result<Vec<String>, ProviderError>;
}

/// One request.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The exact id.
    pub model: String,
    /// The system prompt; may be empty.
    pub system: Arc<str>,
    /// The tools on offer, in order.
    pub tools: Arc<[ToolDef]>,
    /// The transcript.
    pub entries: Vec<Arc<Entry>>,
    /// Output tokens at most; null: what the model table says.
    pub max_tokens: Option<u32>,
    /// The mark of the request before this one, to tell which part moved.
    pub last: Option<PrefixMark>,
}

/// What comes back.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// The request is on its way. Comes once, first.
    Sent {
        /// Hashes of its parts, without cache markers.
        mark: PrefixMark,
        /// The part that is not as in the request before.
        moved: Option<PrefixPart>,
    },
    /// A try failed and there will be another.
    Retrying {
        /// Which try failed, from 1.
        attempt: u32,
        /// Tries in all.
        max_attempts: u32,
        /// Milliseconds until the next.
        delay_ms: u64,
        /// The HTTP status, if there was an answer.
        status: Option<u16>,
        /// What it was.
        category: FailKind,
        /// In words.
        message: String,
    },
    /// The first byte of the answer is here. Comes once a try.
    Started,
    /// A piece of a block in progress.
    Delta {
        /// The block's index.
        block: u32,
        /// What the block is.
        kind: PartialKind,
        /// A call's tool; empty for the others.
        tool: String,
        /// The piece.
        text: String,
    },
    /// A block is complete. Blocks come in ascending order without gaps: the index is the place in the answer.
    Block {
        /// The block's index.
        block: u32,
        /// The block.
        content: Block,
    },
    /// The answer is complete. Comes once, last.
    Done {
        /// Why the model stopped.
        stop: StopReason,
        /// What it cost in tokens.
        usage: Usage,
        /// The model that answered, as the server names it.
        model: String,
    },
}
