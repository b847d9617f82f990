//! Connections: what is asked, and who answers it.

use super::state::State;
use super::{control, send};
use crate::captured::{CapturedRequest, Wire};
use crate::http::{self, Connection, HttpRequest};
use crate::speak;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Takes connections until it is aborted. All of their tasks are its own.
pub(super) async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(serve(Connection::new(stream), state.clone()));
        while connections.try_join_next().is_some() {}
    }
}

/// Answers a connection's requests, one after the other.
async fn serve(mut connection: Connection, state: Arc<State>) {
    while let Ok(Some(request)) = connection.request().await {
        let received_at = Instant::now();
        let close = request.wants_close();
        let goes_on = match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/v1/messages") => {
                answer(&mut connection, &state, request, Wire::Anthropic, received_at).await
            }
            ("POST", "/v1/chat/completions") => {
                answer(&mut connection, &state, request, Wire::Openai, received_at).await
            }
            ("GET", "/v1/models") => models(&mut connection, &state, &request).await,
            (_, path) if path.starts_with("/control/") => {
                control::answer(&mut connection, &state, &request).await
            }
            (_, path) => {
                let message = format!("there is nothing at {path}");
                let body = speak::error_body(format_of(&request), "not_found_error", &message, 404);
                reply(&mut connection, 404, &body).await
            }
        };
        if !goes_on || close {
            break;
        }
    }
    connection.close().await;
}

async fn answer(
    connection: &mut Connection,
    state: &State,
    request: HttpRequest,
    wire: Wire,
    received_at: Instant,
) -> bool {
    if let Some(refused) = refusal(state, &request, wire) {
        return reply(connection, 401, &refused).await;
    }
    let body = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    let captured = CapturedRequest {
        index: 0,
        wire,
        headers: request.headers,
        body,
        raw: request.body,
        agent: None,
        conversation: 0,
        received_at,
        first_byte_at: None,
        last_byte_at: None,
        closed_at: None,
    };
    let (captured, answer) = state.take(captured);
    send::answer(connection, state, &captured, &answer).await
}

async fn models(connection: &mut Connection, state: &State, request: &HttpRequest) -> bool {
    let wire = format_of(request);
    if let Some(refused) = refusal(state, request, wire) {
        return reply(connection, 401, &refused).await;
    }
    let body = state.with(|inner| speak::models_body(wire, &inner.models));
    reply(connection, 200, &body).await
}

/// The body of a 401, if a key is required and this is not it.
fn refusal(state: &State, request: &HttpRequest, wire: Wire) -> Option<Value> {
    let key = state.with(|inner| inner.key.clone())?;
    let given = match wire {
        Wire::Anthropic => request.header("x-api-key"),
        Wire::Openai => request.header("authorization").and_then(|value| value.strip_prefix("Bearer ")),
    };
    (given != Some(key.as_str()))
        .then(|| speak::error_body(wire, "authentication_error", "invalid x-api-key", 401))
}

/// The format of a request that both have, by its headers.
fn format_of(request: &HttpRequest) -> Wire {
    let anthropic = request.header("anthropic-version").is_some() || request.header("x-api-key").is_some();
    if anthropic { Wire::Anthropic } else { Wire::Openai }
}

/// Sends JSON. False when the connection is gone.
pub(super) async fn reply(connection: &mut Connection, status: u16, body: &Value) -> bool {
    let body = body.to_string();
    let mut bytes = http::head(status, &[("content-type", "application/json")], Some(body.len()));
    bytes.extend(body.as_bytes());
    connection.send(&bytes).await.is_ok()
}
