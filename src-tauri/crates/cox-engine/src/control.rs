//! The stop of one running generation. A stop is a token and a reason; it never waits in a queue (W13).

use cox_protocol::task::KilledBy;
use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Why a running generation has to come to an end now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Somebody stopped it.
    Killed(KilledBy),
    /// The process is about to end; the generation is suspended (W14).
    Suspended,
}

/// The stop of one running generation. The first halt counts.
#[derive(Debug, Default)]
pub(crate) struct Control {
    token: CancellationToken,
    halt: Mutex<Option<Halt>>,
}

impl Control {
    /// Halts the generation, with everything that it runs.
    pub(crate) fn halt(&self, halt: Halt) {
        self.halt.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(halt);
        self.token.cancel();
    }

    /// Ends when it is halted; tools and requests run under this token.
    pub(crate) fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Why it was halted, if it was.
    pub(crate) fn halted(&self) -> Option<Halt> {
        *self.halt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
