//! What the end of an answer means: why the model stopped, and whether the answer can be believed.
//!
//! Two failures look like success: a prompt that the server cut without a word, and a call that came as text.

use super::leak::leaked;
use super::profile::{Profile, Quirk};
use crate::error::ProviderError;
use crate::fault::{Asked, Fault};
use cox_protocol::entry::StopReason;
use cox_protocol::task::{FailKind, ToolDef, Usage};
use std::sync::Arc;

/// What of the request an answer is measured against.
pub(super) struct Sent {
    pub(super) profile: &'static Profile,
    pub(super) bytes: u64,
    pub(super) max_tokens: Option<u32>,
    pub(super) tools: Arc<[ToolDef]>,
}

/// An answer at its end.
pub(super) struct End<'a> {
    pub(super) asked: &'a Asked,
    pub(super) sent: &'a Sent,
    pub(super) finish: Option<&'a str>,
    pub(super) called: bool,
    pub(super) refused: bool,
    pub(super) usage: &'a Usage,
    pub(super) text: &'a str,
}

/// Bytes of text that a token has, about.
pub(super) const BYTES_PER_TOKEN: u64 = 4;
/// More bytes than this for each token that the server counted mean that it did not read all of them.
const TOO_MANY_BYTES_PER_TOKEN: u64 = 12;
/// A prompt of fewer bytes than this says nothing about truncation.
const SMALL_PROMPT: u64 = 12_000;

impl End<'_> {
    /// Why the model stopped, or why its answer can't be believed.
    pub(super) fn stop(&self) -> Result<StopReason, Fault> {
        let stop = self.reason();
        self.check_truncation()?;
        self.check_leak(stop)?;
        Ok(stop)
    }

    fn reason(&self) -> StopReason {
        match self.finish {
            Some("length") => {
                let short = self.sent.max_tokens.is_some_and(|max| self.usage.output + 1 < u64::from(max));
                let full = short && !self.usage.estimated && self.has(Quirk::ShortLengthIsFullWindow);
                if full { StopReason::ContextFull } else { StopReason::MaxTokens }
            }
            Some("content_filter") => StopReason::Refusal,
            // Servers say `stop` although they called (ollama/ollama PR 7963), or nothing (waybarrios/vllm-mlx#628).
            Some(_) | None if self.called => StopReason::ToolUse,
            Some(_) if self.refused => StopReason::Refusal,
            Some(_) => StopReason::EndTurn,
            None => {
                tracing::warn!(server = self.asked.server(), "an answer ended without a finish reason");
                StopReason::EndTurn
            }
        }
    }

    fn has(&self, quirk: Quirk) -> bool {
        self.sent.profile.has(quirk)
    }

    /// R111: a prompt that was cut without a word lost its system prompt and its tools first.
    fn check_truncation(&self) -> Result<(), Fault> {
        let (bytes, read) = (self.sent.bytes, self.usage.prompt());
        let known = !self.usage.estimated && read > 0 && self.has(Quirk::SilentTruncation);
        if !known || bytes <= SMALL_PROMPT || bytes / read <= TOO_MANY_BYTES_PER_TOKEN {
            return Ok(());
        }
        let message = format!(
            "{} read only {read} tokens of a prompt of about {}: it cut the rest without saying so",
            self.asked.server(),
            bytes / BYTES_PER_TOKEN
        );
        Err(Fault::never(ProviderError::new(FailKind::ContextExceeded, message).hint(
            "Raise the server's context size (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx), or use a smaller task.",
        )))
    }

    /// R112: a call as text is a failure that is said, not an answer.
    fn check_leak(&self, stop: StopReason) -> Result<(), Fault> {
        if stop != StopReason::EndTurn || !self.has(Quirk::LeakedCalls) {
            return Ok(());
        }
        let Some(tool) = leaked(self.text, &self.sent.tools) else { return Ok(()) };
        let message = format!("{} wrote a call of {tool} as plain text, so it was not run", self.asked.model);
        Err(Fault::never(ProviderError::new(FailKind::StreamBroken, message).hint(
            "This model or its chat template does not support tools: choose another, or start the server with a template that does.",
        )))
    }
}
