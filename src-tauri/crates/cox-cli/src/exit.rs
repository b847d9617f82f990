//! The exit codes, and what leads to them. `cox --help` lists them.

use crate::print;
use cox_protocol::error::{CoxError, ErrorCode};
use cox_protocol::task::{FailKind, Outcome};
use std::process::ExitCode;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// The session failed, or was stopped from elsewhere.
    Failed = 1,
    /// The command line can't be used.
    Usage = 2,
    /// Something can't be opened.
    Open = 3,
    /// The provider refused or did not answer.
    Provider = 4,
    /// SIGINT.
    Interrupted = 130,
    /// The reader of standard output is gone.
    PipeClosed = 141,
    /// SIGTERM.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// By how the lead's generation ended; null: it did not end.
    pub(crate) fn of_outcome(outcome: Option<&Outcome>) -> Self {
        match outcome {
            Some(Outcome::Completed) => Self::Done,
            Some(Outcome::Failed { kind, .. }) => Self::of_failure(*kind),
            Some(Outcome::Killed { .. }) | None => Self::Failed,
        }
    }

    fn of_failure(kind: FailKind) -> Self {
        match kind {
            FailKind::Auth
            | FailKind::Billing
            | FailKind::ModelNotFound
            | FailKind::Unreachable
            | FailKind::RateLimited
            | FailKind::Overloaded
            | FailKind::InvalidRequest
            | FailKind::StreamBroken
            | FailKind::ServerError => Self::Provider,
            FailKind::ContextExceeded
            | FailKind::Refused
            | FailKind::OutputLimit
            | FailKind::TurnLimit
            | FailKind::RepeatGuard
            | FailKind::InvalidResult
            | FailKind::CommandFailed
            | FailKind::Internal => Self::Failed,
            FailKind::Storage => Self::Open,
        }
    }
}

/// An early end.
#[derive(Debug)]
pub(crate) struct Stop {
    /// The exit code.
    pub(crate) exit: Exit,
    message: String,
    hint: Option<String>,
}

impl Stop {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says it on standard error. A closed pipe is no news to anyone.
    pub(crate) fn tell(&self) {
        if self.exit == Exit::PipeClosed {
            return;
        }
        print::to_stderr(&format!("cox: {}", self.message));
        if let Some(hint) = &self.hint {
            print::to_stderr(&format!("  {hint}"));
        }
    }
}

impl From<CoxError> for Stop {
    fn from(error: CoxError) -> Self {
        let exit = match error.code {
            ErrorCode::NotFound | ErrorCode::InvalidInput | ErrorCode::NeedsConfirmation => Exit::Usage,
            ErrorCode::ReadOnly
            | ErrorCode::FolderUnusable
            | ErrorCode::DatabaseNewer
            | ErrorCode::Storage => Exit::Open,
            ErrorCode::NoKey | ErrorCode::Keychain | ErrorCode::Provider => Exit::Provider,
            ErrorCode::NotRunning | ErrorCode::QueueFull | ErrorCode::LimitReached | ErrorCode::Internal => {
                Exit::Failed
            }
        };
        Self { exit, message: error.message, hint: error.hint }
    }
}
