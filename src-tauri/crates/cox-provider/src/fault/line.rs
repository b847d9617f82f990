//! Connections that fail before an answer or under it, and answers that make no sense.

use super::{Asked, Fault};
use crate::error::ProviderError;
use cox_protocol::task::FailKind;
use std::error::Error;
use std::time::Duration;

/// Which silence was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// No answer at all.
    Answer(Duration),
    /// No byte of an answer that had begun.
    Byte(Duration),
    /// No piece of an answer, although the line was kept open.
    Piece(Duration),
}

/// No connection, or it broke before an answer.
pub(crate) fn no_connection(asked: &Asked, error: &reqwest::Error) -> Fault {
    let cause = asked.redact(&root(error));
    let server = asked.server();
    let message = if error.is_timeout() {
        format!("no connection to {server} in time")
    } else if error.is_connect() {
        format!("no connection to {server} ({cause})")
    } else {
        format!("the connection to {server} broke before an answer ({cause})")
    };
    let hint = if asked.address.is_loopback() {
        "Is the model server running, and on this port?"
    } else {
        "Is this machine online, and is the base URL right?"
    };
    Fault::back_off(ProviderError::new(FailKind::Unreachable, message).hint(hint))
}

/// The connection broke under an answer.
pub(crate) fn broken(asked: &Asked, error: &reqwest::Error) -> Fault {
    Fault::back_off(
        ProviderError::new(
            FailKind::StreamBroken,
            format!(
                "the connection to {} broke in the middle of an answer ({})",
                asked.server(),
                root(error)
            ),
        )
        .hint(GO_ON),
    )
}

/// The answer ended before it was complete.
pub(crate) fn cut(asked: &Asked) -> Fault {
    Fault::back_off(
        ProviderError::new(
            FailKind::StreamBroken,
            format!("the answer of {} ended in the middle", asked.server()),
        )
        .hint(GO_ON),
    )
}

/// It was silent for too long.
pub(crate) fn silent(asked: &Asked, silence: Silence) -> Fault {
    let server = asked.server();
    let message = match silence {
        Silence::Answer(time) => format!("{server} did not answer in {} s", time.as_secs_f64()),
        Silence::Byte(time) => {
            format!("{server} went silent in the middle of an answer for {} s", time.as_secs_f64())
        }
        Silence::Piece(time) => {
            format!("{server} kept the line open without a word of an answer for {} s", time.as_secs_f64())
        }
    };
    Fault::back_off(
        ProviderError::new(FailKind::Unreachable, message)
            .hint("The server may be overloaded or hang; its own log may say more."),
    )
}

/// A piece of a stream can't be understood.
pub(crate) fn garbled(asked: &Asked, what: impl std::fmt::Display) -> Fault {
    Fault::never(
        ProviderError::new(FailKind::StreamBroken, format!("the answer of {} can't be understood: {what}", asked.server()))
            .hint("What had arrived is kept. If it happens again, the server or a proxy in front of it is at fault."),
    )
}

/// The whole answer can't be understood. Asking again would most likely bring the same.
pub(crate) fn no_sense(asked: &Asked, what: impl std::fmt::Display) -> Fault {
    Fault::never(
        ProviderError::new(
            FailKind::StreamBroken,
            format!("the answer of {} can't be understood: {what}", asked.server()),
        )
        .hint("Does the base URL lead to a model server of this wire format?"),
    )
}

const GO_ON: &str = "What had arrived is kept; continue to go on from there.";

/// The innermost cause, which is the one that a person can do something about.
fn root(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
