//! Recorded traffic of a real server, byte for byte; what each case shows stands in `wire/README.md`.

use serde_json::Value;
use std::path::{Path, PathBuf};

/// One recorded exchange.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The body of the request, as sent; null for a GET.
    pub request: Option<Vec<u8>>,
    /// The response as received: status line, headers, chunked framing.
    pub response: Vec<u8>,
    /// The body of the response without the framing.
    pub body: Vec<u8>,
}

impl Case {
    /// The status of the response.
    pub fn status(&self) -> u16 {
        let line = self.response.split(|byte| *byte == b'\r').next().expect("a response has a first line");
        let line = std::str::from_utf8(line).expect("a status line is ASCII");
        line.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status line has a status")
    }

    /// The request as JSON; null for a GET, and for the case that is about malformed JSON.
    pub fn request_json(&self) -> Option<Value> {
        serde_json::from_slice(self.request.as_deref()?).ok()
    }
}

/// The folder with the recordings.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("wire")
}

/// A case by its name. Panics if there is none.
pub fn case(name: &str) -> Case {
    let read = |ending: &str| std::fs::read(folder().join(format!("{name}.{ending}"))).ok();
    let response = read("response.http").unwrap_or_else(|| panic!("there is no recorded case `{name}`"));
    let body = read("response.sse").or_else(|| read("response.json"));
    Case {
        name: name.into(),
        request: read("request.json"),
        response,
        body: body.unwrap_or_else(|| panic!("the recorded case `{name}` has no body")),
    }
}

/// The names of all cases, sorted.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("the recordings are there")
        .map(|entry| entry.expect("the folder can be read").file_name().to_string_lossy().into_owned())
        .filter_map(|name| name.strip_suffix(".response.http").map(str::to_owned))
        .collect();
    names.sort();
    names
}
