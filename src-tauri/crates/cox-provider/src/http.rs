//! One request and its answer over HTTP, for both wire formats.
//!
//! 1. [`run`] tries, waits and tries again, as long as nothing of an answer was handed out
//! 2. a try sends the request and judges the status
//! 3. a good answer is decoded, piece by piece, into a [`Reader`], which belongs to the wire format
//!
//! Time-outs are kept here; what an answer means is left to the reader, what an error means to `fault`.

use crate::door::ModelEvent;
use crate::error::ProviderError;
use crate::fault::{Asked, Fault, Said, Silence, broken, garbled, judge, no_connection, no_sense, silent};
use crate::flow::Out;
use crate::net::{Net, Timeouts};
use crate::retry::MAX_ATTEMPTS;
use crate::sse::{Decoder, SseEvent};
use cox_protocol::task::FailKind;
use futures::FutureExt;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Request, Response};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How long a finished answer is read on, so that its connection can be used again.
const DRAIN: Duration = Duration::from_secs(1);
/// How long an answer that said it is over is waited for, since some servers send the usage after that.
const CLOSING: Duration = Duration::from_millis(250);
/// Bytes of an error that are read.
const ERROR_CAP: usize = 64 * 1024;
/// Bytes of an answer in one piece that are read.
const WHOLE_CAP: usize = 32 * 1024 * 1024;

/// What a wire format makes of an answer. One reader a try.
pub(crate) trait Reader: Send {
    /// Takes one event of the stream.
    fn event(&mut self, event: SseEvent, out: &Out) -> Result<Progress, Fault>;
    /// Takes an answer that came as one JSON body although a stream was asked for.
    fn whole(&mut self, body: &Value, out: &Out) -> Result<(), Fault>;
    /// The body is over, with or without a proper end.
    fn end(&mut self, out: &Out) -> Result<(), Fault>;
}

/// What an event was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// A sign of life.
    Nothing,
    /// A piece of the answer.
    Piece,
    /// The last piece, but for what may trail it.
    Closing,
    /// The answer is complete and handed out.
    Finished,
}

/// What is sent, to whom.
pub(crate) struct Exchange {
    pub(crate) net: Net,
    pub(crate) asked: Asked,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

/// Sends until an answer is complete or nothing more can be tried.
pub(crate) async fn run<R: Reader>(
    exchange: Exchange,
    out: Out,
    reader: impl Fn() -> R,
) -> Result<(), ProviderError> {
    let Exchange { net, asked, url, headers, body } = exchange;
    let client = net.client(&asked.address)?;
    let request =
        client.post(url).headers(headers).header(CONTENT_TYPE, "application/json").body(body).build();
    let request = request.map_err(|error| unsendable(&error))?;
    let timeouts = net.options().timeouts;
    let mut attempt = 1;
    loop {
        // A copy shares the body's bytes.
        let Some(copy) = request.try_clone() else {
            return Err(ProviderError::new(FailKind::Internal, "the request can't be copied"));
        };
        let Err(fault) = try_once(&client, copy, &asked, timeouts, &out, &mut reader()).await else {
            return Ok(());
        };
        let wait = fault
            .again
            .wait(attempt, timeouts.back_off, (net.options().jitter)())
            .filter(|_| !out.delivered());
        let Some(wait) = wait else { return Err(fault.error) };
        tracing::warn!(attempt, ?wait, error = %fault.error, "a request failed and is sent again");
        out.push(ModelEvent::Retrying {
            attempt,
            max_attempts: MAX_ATTEMPTS,
            delay_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            status: fault.error.status,
            category: fault.error.kind,
            message: fault.error.message,
        });
        tokio::time::sleep(wait).await;
        attempt += 1;
    }
}

/// Asks for a JSON document, once.
pub(crate) async fn get(
    net: &Net,
    asked: &Asked,
    url: String,
    headers: HeaderMap,
) -> Result<Value, ProviderError> {
    let client = net.client(&asked.address)?;
    let request = client.get(url).headers(headers).build().map_err(|error| unsendable(&error))?;
    let timeouts = net.options().timeouts;
    let mut response = answer(&client, request, asked, timeouts).await.map_err(|fault| fault.error)?;
    let body = body(&mut response, asked, timeouts, WHOLE_CAP).await.map_err(|fault| fault.error)?;
    serde_json::from_str(&body).map_err(|_| not_json(asked, &body).error)
}

async fn try_once(
    client: &reqwest::Client,
    request: Request,
    asked: &Asked,
    timeouts: Timeouts,
    out: &Out,
    reader: &mut impl Reader,
) -> Result<(), Fault> {
    let mut response = answer(client, request, asked, timeouts).await?;
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("application/json") || kind.starts_with("text/html") {
        let body = body(&mut response, asked, timeouts, WHOLE_CAP).await?;
        out.push(ModelEvent::Started);
        let value: Value = serde_json::from_str(&body).map_err(|_| not_json(asked, &body))?;
        return reader.whole(&value, out);
    }
    read_stream(response, asked, timeouts, out, reader).await
}

/// Sends, and turns every answer but a good one into a fault.
async fn answer(
    client: &reqwest::Client,
    request: Request,
    asked: &Asked,
    timeouts: Timeouts,
) -> Result<Response, Fault> {
    let sent = timeout(timeouts.total, client.execute(request)).await;
    let sent = sent.map_err(|_| silent(asked, Silence::Answer(timeouts.total)))?;
    let mut response = sent.map_err(|error| no_connection(asked, &error))?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let text = body(&mut response, asked, timeouts, ERROR_CAP).await.unwrap_or_default();
    let mut said = Said::in_body(&text);
    if let Some(place) = response.headers().get(LOCATION).and_then(|place| place.to_str().ok()) {
        said.message = format!("to {place}");
    }
    let mut fault = judge(asked, Some(status.as_u16()), &said);
    fault.again = fault.again.told_by(response.headers());
    fault.error.request_id = request_id(response.headers());
    Err(fault)
}

async fn read_stream(
    mut response: Response,
    asked: &Asked,
    timeouts: Timeouts,
    out: &Out,
    reader: &mut impl Reader,
) -> Result<(), Fault> {
    let request_id = request_id(response.headers());
    let named = |mut fault: Fault| {
        fault.error.request_id = fault.error.request_id.or_else(|| request_id.clone());
        fault
    };
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    let mut started = false;
    let mut closing = false;
    let mut deadline = Instant::now() + timeouts.total;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let bytes = match timeout(left.min(timeouts.idle), response.chunk()).await {
            Ok(Ok(Some(bytes))) => bytes,
            Ok(Ok(None)) => return reader.end(out).map_err(named),
            Err(_) | Ok(Err(_)) if closing => return reader.end(out).map_err(named),
            Ok(Err(error)) => return Err(named(broken(asked, &error))),
            Err(_) if left < timeouts.idle => {
                return Err(named(silent(asked, Silence::Piece(timeouts.total))));
            }
            Err(_) => return Err(named(silent(asked, Silence::Byte(timeouts.idle)))),
        };
        if !std::mem::replace(&mut started, true) {
            out.push(ModelEvent::Started);
        }
        decoder.push(&bytes, &mut events).map_err(|error| named(garbled(asked, error)))?;
        for event in events.drain(..) {
            match reader.event(event, out).map_err(named)? {
                Progress::Nothing => {}
                Progress::Piece => deadline = Instant::now() + timeouts.total,
                Progress::Closing => {
                    closing = true;
                    deadline = Instant::now() + CLOSING;
                }
                Progress::Finished => {
                    drain(response);
                    return Ok(());
                }
            }
        }
    }
}

/// A connection can be used again only when its answer was read to the end, which is most often here already.
fn drain(mut response: Response) {
    if matches!(response.chunk().now_or_never(), Some(Ok(None) | Err(_))) {
        return;
    }
    tokio::spawn(async move {
        let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
        let _ = timeout(DRAIN, rest).await;
    });
}

async fn body(
    response: &mut Response,
    asked: &Asked,
    timeouts: Timeouts,
    cap: usize,
) -> Result<String, Fault> {
    let mut bytes = Vec::new();
    loop {
        match timeout(timeouts.idle, response.chunk()).await {
            Ok(Ok(Some(piece))) => bytes.extend_from_slice(&piece),
            Ok(Ok(None)) => break,
            Ok(Err(error)) => return Err(broken(asked, &error)),
            Err(_) => return Err(silent(asked, Silence::Byte(timeouts.idle))),
        }
        if bytes.len() > cap {
            bytes.truncate(cap);
            break;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn not_json(asked: &Asked, body: &str) -> Fault {
    let said = Said::in_body(body);
    if said.page {
        return no_sense(
            asked,
            format!(
                "it is a web page ({})",
                if said.message.is_empty() { "no title" } else { &said.message }
            ),
        );
    }
    no_sense(asked, "its JSON is broken")
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    ["request-id", "x-request-id"].iter().find_map(|name| Some(headers.get(*name)?.to_str().ok()?.to_owned()))
}

fn unsendable(error: &reqwest::Error) -> ProviderError {
    ProviderError::new(FailKind::InvalidRequest, format!("the request can't be sent: {error}"))
}

/// A key as a header that no log shows.
pub(crate) fn secret(text: &str) -> Result<HeaderValue, ProviderError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| {
        ProviderError::new(FailKind::Auth, "the key holds characters that can't be sent")
            .hint("Copy it again, without line breaks.")
    })?;
    value.set_sensitive(true);
    Ok(value)
}
