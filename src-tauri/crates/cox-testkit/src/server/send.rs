//! Sends an answer: frames as chunks, at their pace, waiting at gates; and notes when its first and last bytes left.

use super::state::State;
use crate::answer::Answer;
use crate::captured::CapturedRequest;
use crate::http::{self, Connection};
use crate::speak::{self, Frame};
use crate::step::Step;
use crate::wire;
use std::time::{Duration, Instant};

/// Sends an answer. False when the connection is to be closed.
pub(super) async fn answer(
    connection: &mut Connection,
    state: &State,
    request: &CapturedRequest,
    answer: &Answer,
) -> bool {
    let mut sending = Sending::new(connection, state, request, answer);
    let end = if let Some(case) = &answer.replay {
        sending.replay(&wire::case(case).response, answer.replay_piece).await
    } else if answer.status.is_some() {
        sending.whole().await
    } else {
        sending.stream().await
    };
    match end {
        Ok(End::KeepOpen) => true,
        Ok(End::Close) => false,
        Err(Gone) => {
            state.note(request.index, |request| request.closed_at = Some(Instant::now()));
            false
        }
    }
}

/// What becomes of the connection.
enum End {
    KeepOpen,
    Close,
}

/// The client has closed the connection.
struct Gone;

impl From<std::io::Error> for Gone {
    fn from(_: std::io::Error) -> Self {
        Self
    }
}

struct Sending<'a> {
    connection: &'a mut Connection,
    state: &'a State,
    request: &'a CapturedRequest,
    answer: &'a Answer,
    /// Not yet given to the system: events that belong together leave together.
    waiting: Vec<u8>,
    head_sent: bool,
    /// Something was given to the system.
    begun: bool,
    /// Bytes of the stream so far, for a cut.
    streamed: usize,
    next_token_at: tokio::time::Instant,
}

impl<'a> Sending<'a> {
    fn new(
        connection: &'a mut Connection,
        state: &'a State,
        request: &'a CapturedRequest,
        answer: &'a Answer,
    ) -> Self {
        Self {
            connection,
            state,
            request,
            answer,
            waiting: Vec::new(),
            head_sent: false,
            begun: false,
            streamed: 0,
            next_token_at: tokio::time::Instant::now(),
        }
    }

    async fn stream(&mut self) -> Result<End, Gone> {
        for frame in speak::frames(self.answer, self.request) {
            match frame {
                Frame::Event { bytes, token } => {
                    if token {
                        self.wait_for_turn().await?;
                    }
                    if self.event(&bytes).await? {
                        return self.cut().await;
                    }
                }
                Frame::Gate(name) => self.gate(&name).await?,
                Frame::Hang => return self.hang().await,
                Frame::Cut => return self.cut().await,
            }
        }
        self.head();
        self.waiting.extend(http::LAST_CHUNK);
        self.flush().await?;
        self.done();
        Ok(End::KeepOpen)
    }

    /// A response in one piece; of its steps, gates and hangs hold it back.
    async fn whole(&mut self) -> Result<End, Gone> {
        let status = self.answer.status.unwrap_or(200);
        let mut body = self.answer.body.clone();
        for step in &self.answer.steps {
            match step {
                Step::Gate(name) => self.gate(name).await?,
                Step::Hang => return self.hang().await,
                Step::Cut => return self.cut().await,
                Step::Error(error) => {
                    body =
                        speak::error_body(self.request.wire, &error.kind, &error.message, status).to_string();
                }
                Step::Text(_) | Step::Thinking(_) | Step::RedactedThinking(_) | Step::Tool(_) => {}
                Step::Break | Step::Ping | Step::Raw(_) => {}
            }
        }
        let headers = self.headers("application/json");
        let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        self.waiting.extend(http::head(status, &headers, Some(body.len())));
        self.waiting.extend(body.as_bytes());
        self.flush().await?;
        self.done();
        Ok(End::KeepOpen)
    }

    async fn replay(&mut self, bytes: &[u8], piece: Option<usize>) -> Result<End, Gone> {
        for piece in bytes.chunks(piece.unwrap_or(bytes.len()).max(1)) {
            self.waiting.extend(piece);
            self.flush().await?;
        }
        self.done();
        Ok(End::Close)
    }

    /// One event as a chunk. True when the answer is to be cut here.
    async fn event(&mut self, bytes: &[u8]) -> Result<bool, Gone> {
        self.head();
        let room = self.answer.cut_after.map(|limit| limit.saturating_sub(self.streamed));
        self.streamed += bytes.len();
        if let Some(room) = room.filter(|room| *room < bytes.len()) {
            // The chunk announces more than comes.
            let chunk = http::chunk(bytes);
            let framing = chunk.len() - bytes.len() - 2;
            self.waiting.extend(&chunk[..framing + room]);
            return Ok(true);
        }
        self.waiting.extend(http::chunk(bytes));
        // What a pace spreads out leaves piece by piece.
        if self.answer.tokens_per_second.is_some() || self.waiting.len() > 64 * 1024 {
            self.flush().await?;
        }
        Ok(false)
    }

    async fn wait_for_turn(&mut self) -> Result<(), Gone> {
        let Some(pace) = self.answer.tokens_per_second else { return Ok(()) };
        self.flush().await?;
        self.next_token_at += Duration::from_secs_f64(1.0 / pace);
        let turn = tokio::time::sleep_until(self.next_token_at);
        tokio::select! {
            () = turn => Ok(()),
            () = self.connection.closed() => Err(Gone),
        }
    }

    async fn gate(&mut self, name: &str) -> Result<(), Gone> {
        self.flush().await?;
        let passed = tokio::select! {
            () = self.state.gates.pass(name) => Ok(()),
            () = self.connection.closed() => Err(Gone),
        };
        self.next_token_at = tokio::time::Instant::now();
        passed
    }

    async fn hang(&mut self) -> Result<End, Gone> {
        self.flush().await?;
        self.connection.closed().await;
        Err(Gone)
    }

    async fn cut(&mut self) -> Result<End, Gone> {
        self.flush().await?;
        self.done();
        Ok(End::Close)
    }

    fn head(&mut self) {
        if !self.head_sent {
            self.head_sent = true;
            let headers = self.headers("text/event-stream; charset=utf-8");
            let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            self.waiting.extend(http::head(200, &headers, None));
        }
    }

    fn headers(&self, content_type: &str) -> Vec<(String, String)> {
        let mut headers = vec![
            ("content-type".to_owned(), content_type.to_owned()),
            ("cache-control".into(), "no-cache".into()),
            ("request-id".into(), format!("req_{}", self.request.index)),
        ];
        for (name, value) in &self.answer.headers {
            headers.retain(|(known, _)| known != name);
            headers.push((name.clone(), value.clone()));
        }
        headers
    }

    async fn flush(&mut self) -> Result<(), Gone> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.waiting);
        self.connection.send(&bytes).await?;
        if !self.begun {
            self.begun = true;
            let now = Instant::now();
            self.state.note(self.request.index, |request| request.first_byte_at = Some(now));
        }
        Ok(())
    }

    fn done(&self) {
        let now = Instant::now();
        self.state.note(self.request.index, |request| request.last_byte_at = Some(now));
    }
}
