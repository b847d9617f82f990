//! A client that is as plain as can be: what it gets is what the server sent.

use cox_testkit::{ModelServer, Wire};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A response as it came.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) raw: Vec<u8>,
}

impl Response {
    pub(crate) fn status(&self) -> u16 {
        self.head().split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub(crate) fn head(&self) -> &str {
        let end = self.raw.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        std::str::from_utf8(&self.raw[..end]).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head().lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The body without framing, and whether it came to its end.
    pub(crate) fn body(&self) -> (String, bool) {
        let mut rest = &self.raw[self.head().len() + 4..];
        if self.header("transfer-encoding").is_none() {
            return (String::from_utf8_lossy(rest).into_owned(), true);
        }
        let mut body = Vec::new();
        while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
            let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
            rest = &rest[end + 2..];
            if size == 0 {
                return (String::from_utf8_lossy(&body).into_owned(), true);
            }
            body.extend(&rest[..size.min(rest.len())]);
            if rest.len() < size + 2 {
                break;
            }
            rest = &rest[size + 2..];
        }
        (String::from_utf8_lossy(&body).into_owned(), false)
    }

    /// The data of all events that are JSON.
    pub(crate) fn events(&self) -> Vec<Value> {
        let (body, _) = self.body();
        body.lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter_map(|data| serde_json::from_str(data).ok())
            .collect()
    }
}

/// The bytes of a POST.
pub(crate) fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Sends bytes and reads until the server closes.
pub(crate) async fn exchange(address: &str, request: &[u8]) -> Response {
    let mut stream = connect(address).await;
    stream.write_all(request).await.unwrap();
    let mut raw = Vec::new();
    // A cut connection may end in an error; what came is what counts.
    let _ = stream.read_to_end(&mut raw).await;
    Response { raw }
}

pub(crate) async fn connect(address: &str) -> TcpStream {
    TcpStream::connect(address.trim_start_matches("http://")).await.unwrap()
}

pub(crate) fn path_of(wire: Wire) -> (&'static str, &'static str) {
    match wire {
        Wire::Anthropic => ("/v1/messages", "anthropic-version: 2023-06-01\r\nx-api-key: k\r\n"),
        Wire::Openai => ("/v1/chat/completions", "authorization: Bearer k\r\n"),
    }
}

/// Asks for an answer.
pub(crate) async fn ask(server: &ModelServer, wire: Wire, body: &Value) -> Response {
    ask_at(&server.address(), wire, body).await
}

/// Asks the server at an address for an answer.
pub(crate) async fn ask_at(address: &str, wire: Wire, body: &Value) -> Response {
    let (path, headers) = path_of(wire);
    exchange(address, &post(path, headers, &body.to_string())).await
}

/// A request that is valid: a system prompt and these messages.
pub(crate) fn request(wire: Wire, system: &str, messages: &Value) -> Value {
    match wire {
        Wire::Anthropic => json!({
            "model": "m", "max_tokens": 100, "stream": true, "system": system, "messages": messages,
        }),
        Wire::Openai => {
            let mut all = vec![json!({"role": "system", "content": system})];
            all.extend(messages.as_array().unwrap().iter().cloned());
            json!({"model": "m", "stream": true, "stream_options": {"include_usage": true}, "messages": all})
        }
    }
}

/// One user text.
pub(crate) fn hello(wire: Wire) -> Value {
    request(wire, "You are a worker.", &json!([{"role": "user", "content": "hello"}]))
}
