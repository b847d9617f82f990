//! The scripted model server in a process of its own, and the door by which a test steers it.

use crate::place;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

/// A running server. It ends with the test.
pub struct Models {
    child: Child,
    address: String,
    /// The base URL for OpenAI's format.
    pub openai: String,
    /// The base URL for Anthropic's format.
    pub anthropic: String,
}

impl Models {
    /// Starts a server with this script, which is written into the folder.
    pub fn start(folder: &Path, script: &Value) -> Self {
        let path = folder.join("script.json");
        std::fs::write(&path, script.to_string()).expect("the script is written");
        let mut child = place::program(place::model_server())
            .arg(&path)
            .arg("--until-stdin-ends")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the model server starts");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("its output"));
        out.read_line(&mut line).expect("its address");
        let said: Value = serde_json::from_str(&line).expect("its address as JSON");
        let text = |key: &str| said[key].as_str().expect("an address").to_owned();
        let address = text("address");
        let address = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, address, openai: text("openai"), anthropic: text("anthropic") }
    }

    /// Opens a gate.
    pub fn open(&self, gate: &str) {
        self.ask("POST", &format!("/control/open/{gate}"));
    }

    /// Waits until an answer has come to this gate.
    pub fn reached(&self, gate: &str) {
        self.ask("GET", &format!("/control/reached/{gate}"));
    }

    /// What the server found wrong with the requests.
    pub fn problems(&self) -> String {
        self.ask("GET", "/control/problems")
    }

    fn ask(&self, method: &str, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("the model server answers");
        let host = &self.address;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
        .expect("it takes requests");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("its answer");
        assert!(answer.starts_with("HTTP/1.1 2"), "{method} {path}: {answer}");
        answer.split_once("\r\n\r\n").map_or(answer.clone(), |(_, body)| body.to_owned())
    }
}

impl Drop for Models {
    fn drop(&mut self) {
        // It ends with its standard input; what is left is killed.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
