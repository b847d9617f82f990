//! A server that says what it is told to, byte for byte, and keeps what it was asked.

use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// One answer.
#[derive(Clone)]
pub(crate) struct Reply {
    bytes: Vec<u8>,
    piece: usize,
    then: Then,
}

/// What follows the bytes.
#[derive(Clone)]
enum Then {
    Close,
    Hang,
}

impl Reply {
    /// Exact bytes, then the end of the connection.
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), piece: usize::MAX, then: Then::Close }
    }

    /// A status with headers and a body.
    pub(crate) fn status(status: u16, headers: &str, body: &str) -> Self {
        let end = format!("content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
        Self::raw(format!("HTTP/1.1 {status} Some Words\r\n{headers}{end}"))
    }

    /// A stream, ended by the end of the connection.
    pub(crate) fn sse(body: &str) -> Self {
        Self::raw(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_1\r\nconnection: close\r\n\r\n{body}"
        ))
    }

    /// Data lines of a stream.
    pub(crate) fn chunks(chunks: &[Value]) -> Self {
        let lines: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        Self::sse(&format!("{}data: [DONE]\n\n", lines.concat()))
    }

    /// In pieces of so many bytes.
    pub(crate) fn pieces(mut self, piece: usize) -> Self {
        self.piece = piece;
        self
    }

    /// The connection stays open after the bytes.
    pub(crate) fn hang(mut self) -> Self {
        self.then = Then::Hang;
        self
    }
}

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Request line and headers.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: String,
}

impl Asked {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

#[derive(Default)]
struct State {
    replies: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<Asked>>,
    closed: Notify,
}

/// The server. The last reply is given again and again.
pub(crate) struct Server {
    port: u16,
    state: Arc<State>,
}

impl Server {
    /// Starts with these replies.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state =
            Arc::new(State { replies: Mutex::new(replies.into_iter().collect()), ..State::default() });
        let own = state.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, own.clone()));
            }
        });
        Self { port, state }
    }

    /// Its address.
    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.state.asked.lock().unwrap().clone()
    }

    /// Waits until a client has closed a connection that hangs.
    pub(crate) async fn closed(&self) {
        self.state.closed.notified().await;
    }

    /// The text without what differs from run to run.
    pub(crate) fn hide(&self, text: &str) -> String {
        text.replace(&self.origin(), "SERVER").replace(&format!("127.0.0.1:{}", self.port), "SERVER")
    }
}

async fn serve(mut socket: TcpStream, state: Arc<State>) {
    let Some(asked) = read(&mut socket).await else { return };
    state.asked.lock().unwrap().push(asked);
    let reply = {
        let mut replies = state.replies.lock().unwrap();
        if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() }
    };
    let Some(reply) = reply else { return };
    socket.set_nodelay(true).unwrap();
    for piece in reply.bytes.chunks(reply.piece) {
        if socket.write_all(piece).await.is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    match reply.then {
        Then::Close => drop(socket.shutdown().await),
        Then::Hang => {
            while matches!(socket.read(&mut [0; 64]).await, Ok(1..)) {}
            state.closed.notify_one();
        }
    }
}

async fn read(socket: &mut TcpStream) -> Option<Asked> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 16 * 1024]);
    loop {
        let count = socket.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
        if bytes.len() >= end + 4 + length.unwrap_or(0) {
            return Some(Asked { head, body: String::from_utf8_lossy(&bytes[end + 4..]).into_owned() });
        }
    }
}
