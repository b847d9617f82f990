//! As much of HTTP/1.1 as a model server needs: requests with a length or in chunks, kept-alive connections,
//! responses with a length or in chunks.

use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A request, whole.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// As in `POST`.
    pub method: String,
    /// Without the query.
    pub path: String,
    /// After the `?`; empty if there is none.
    pub query: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The client wants the connection closed after the answer.
    pub fn wants_close(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// A connection of a client.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    /// Read and not yet used.
    ahead: Vec<u8>,
}

impl Connection {
    /// Takes over an accepted connection.
    pub fn new(stream: TcpStream) -> Self {
        // Each event has to leave at once, as from a real server.
        let _ = stream.set_nodelay(true);
        Self { stream, ahead: Vec::new() }
    }

    /// The next request; nothing when the client has closed.
    pub async fn request(&mut self) -> io::Result<Option<HttpRequest>> {
        let head_end = loop {
            if let Some(at) = find(&self.ahead, b"\r\n\r\n") {
                break at;
            }
            if !self.more().await? {
                return Ok(None);
            }
        };
        let head: Vec<u8> = self.ahead.drain(..head_end + 4).collect();
        let head = String::from_utf8_lossy(&head[..head_end]).into_owned();
        let mut lines = head.split("\r\n");
        let mut start = lines.next().unwrap_or_default().split(' ');
        let (method, target) = (start.next().unwrap_or_default(), start.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut request = HttpRequest {
            method: method.into(),
            path: path.into(),
            query: query.into(),
            headers,
            body: Vec::new(),
        };
        request.body = if request.header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            self.chunked_body().await?
        } else {
            let length = request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
            self.exactly(length).await?
        };
        Ok(Some(request))
    }

    /// Sends bytes, and gives them to the system at once.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Ends when the client has closed the connection; what it sends before is kept for later.
    pub async fn closed(&mut self) {
        while let Ok(true) = self.more().await {}
    }

    /// Closes the connection, so that the client sees its end at once.
    pub async fn close(mut self) {
        let _ = self.stream.shutdown().await;
    }

    async fn more(&mut self) -> io::Result<bool> {
        Ok(self.stream.read_buf(&mut self.ahead).await? > 0)
    }

    async fn exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.ahead.len() < length {
            if !self.more().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(self.ahead.drain(..length).collect())
    }

    async fn line(&mut self) -> io::Result<String> {
        let end = loop {
            if let Some(at) = find(&self.ahead, b"\r\n") {
                break at;
            }
            if !self.more().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        };
        let line: Vec<u8> = self.ahead.drain(..end + 2).collect();
        Ok(String::from_utf8_lossy(&line[..end]).into_owned())
    }

    async fn chunked_body(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let size = self.line().await?;
            let size = size.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16)
                .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "a chunk's size is not a number"))?;
            if size == 0 {
                // Trailers, then a blank line.
                while !self.line().await?.is_empty() {}
                return Ok(body);
            }
            body.extend(self.exactly(size).await?);
            self.line().await?;
        }
    }
}

/// The head of a response. `length`: null for a body in chunks.
pub fn head(status: u16, headers: &[(&str, &str)], length: Option<usize>) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    match length {
        Some(length) => head.push_str(&format!("content-length: {length}\r\n\r\n")),
        None => head.push_str("transfer-encoding: chunked\r\n\r\n"),
    }
    head.into_bytes()
}

/// One chunk.
pub fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend(bytes);
    chunk.extend(b"\r\n");
    chunk
}

/// The chunk that ends a body.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        529 => "Overloaded",
        _ => "Unnamed",
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
