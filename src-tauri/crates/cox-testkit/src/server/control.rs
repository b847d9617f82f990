//! The door for a test in another process: `/control/…`.
//!
//! - `POST /control/open/NAME`: opens a gate.
//! - `GET /control/reached/NAME?times=N`: waits until N answers (one, if not said) have reached a gate.
//! - `GET /control/received?count=N`: waits until N requests for an answer have come.
//! - `GET /control/requests`: all requests for an answer.
//! - `GET /control/problems`: what was wrong with them.
//! - `GET /control/timings`: when each came and was answered, in nanoseconds since the server started.

use super::serve::reply;
use super::state::State;
use crate::captured::CapturedRequest;
use crate::http::{Connection, HttpRequest};
use serde_json::{Value, json};
use std::time::Instant;

/// Answers a request to the door. False when the connection is gone.
pub(super) async fn answer(connection: &mut Connection, state: &State, request: &HttpRequest) -> bool {
    let path = request.path.trim_start_matches("/control/");
    let (what, name) = path.split_once('/').unwrap_or((path, ""));
    let name = decoded(name);
    let body = match (request.method.as_str(), what) {
        ("POST", "open") => {
            state.gates.open(&name);
            json!({"opened": name})
        }
        ("GET", "reached") => {
            let times = number(&request.query, "times").unwrap_or(1);
            tokio::select! {
                () = state.gates.reached(&name, times) => json!({"reached": name}),
                () = connection.closed() => return false,
            }
        }
        ("GET", "received") => {
            let count = number(&request.query, "count").unwrap_or(1);
            tokio::select! {
                count = state.until(|inner| (inner.requests.len() >= count).then_some(inner.requests.len())) => {
                    json!({"received": count})
                }
                () = connection.closed() => return false,
            }
        }
        ("GET", "requests") => state.with(|inner| inner.requests.iter().map(described).collect()),
        ("GET", "problems") => state.with(|inner| json!(inner.problems())),
        ("GET", "timings") => state
            .with(|inner| inner.requests.iter().map(|request| timing(request, state.started_at)).collect()),
        (method, _) => {
            let message = format!("there is no {method} {}", request.path);
            return reply(connection, 404, &json!({"error": message})).await;
        }
    };
    reply(connection, 200, &body).await
}

fn described(request: &CapturedRequest) -> Value {
    json!({
        "index": request.index,
        "wire": request.wire,
        "agent": request.agent,
        "conversation": request.conversation,
        "turn": request.turn(),
        "body": request.body,
    })
}

fn timing(request: &CapturedRequest, start: Instant) -> Value {
    let since = |at: Instant| u64::try_from(at.duration_since(start).as_nanos()).unwrap_or(u64::MAX);
    json!({
        "request": request.index,
        "agent": request.agent,
        "conversation": request.conversation,
        "turn": request.turn(),
        "receivedNs": since(request.received_at),
        "firstByteNs": request.first_byte_at.map(since),
        "lastByteNs": request.last_byte_at.map(since),
        "closedNs": request.closed_at.map(since),
    })
}

fn number(query: &str, name: &str) -> Option<usize> {
    query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name)?.1.parse().ok()
}

/// `%20` and the like.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let coded = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match coded.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *byte == b'%') {
            Some(value) => {
                bytes.push(value);
                rest = &after[2..];
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
