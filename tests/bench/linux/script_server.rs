//! The scripted model server, a process of its own, and the door by which it is steered.

use super::failure::{Outcome, failure, tried};
use cox_protocol::settings::{ProviderKind, ProviderSettings};
use cox_testkit::recipe::Recipe;
use cox_tests::place;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// A running server. It ends when this is dropped.
pub(crate) struct ScriptServer {
    child: Child,
    address: String,
    provider: ProviderSettings,
}

/// When a request came and was answered, in nanoseconds since the server started.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Timing {
    agent: Option<String>,
    turn: usize,
    received_ns: u64,
    last_byte_ns: Option<u64>,
}

impl ScriptServer {
    /// Starts one with this script; the folder is for the script's file.
    pub(crate) fn start(recipe: &Recipe, wire: ProviderKind, folder: &Path) -> Outcome<Self> {
        let script = folder.join("script.json");
        std::fs::write(&script, serde_json::to_vec(recipe)?)?;
        let started = place::program(beside("model-server")?)
            .arg(script)
            .arg("--until-stdin-ends")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = tried("starting the model server", started)?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or_else(|| failure("the model server has no output"))?;
        BufReader::new(out).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line)?;
        let text = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
        let base_url = Some(text(wire.name()));
        let provider = ProviderSettings { kind: wire, base_url, plain_http_confirmed: false };
        let address = text("address");
        Ok(Self { child, address: address.trim_start_matches("http://").to_owned(), provider })
    }

    /// Where an engine finds it.
    pub(crate) fn provider(&self) -> ProviderSettings {
        self.provider.clone()
    }

    /// Waits until so many answers have reached a gate.
    pub(crate) fn reached(&self, gate: &str, times: usize) -> Outcome<()> {
        self.call("GET", &format!("reached/{gate}?times={times}")).map(drop)
    }

    /// Opens a gate.
    pub(crate) fn open(&self, gate: &str) -> Outcome<()> {
        self.call("POST", &format!("open/{gate}")).map(drop)
    }

    /// How many requests for an answer have come.
    pub(crate) fn requests(&self) -> Outcome<usize> {
        Ok(self.timings()?.len())
    }

    /// The times from the last byte of an answer to the last byte of the same agent's next request, in milliseconds;
    /// of the agents whose name begins so.
    pub(crate) fn gaps(&self, agents: &str) -> Outcome<Vec<f64>> {
        let mut by_agent: BTreeMap<String, Vec<Timing>> = BTreeMap::new();
        for timing in self.timings()? {
            let agent = timing.agent.clone().unwrap_or_default();
            if agent.starts_with(agents) {
                by_agent.entry(agent).or_default().push(timing);
            }
        }
        let mut gaps = Vec::new();
        for (agent, mut timings) in by_agent {
            timings.sort_by_key(|timing| timing.turn);
            for pair in timings.windows(2) {
                let [one, next] = pair else { continue };
                let answered = one.last_byte_ns.filter(|_| next.turn == one.turn + 1);
                let answered = answered.ok_or_else(|| failure(format!("{agent} did not go turn by turn")))?;
                // The engine may be faster than the server's own note of the time.
                gaps.push(next.received_ns.saturating_sub(answered) as f64 / 1e6);
            }
        }
        Ok(gaps)
    }

    fn timings(&self) -> Outcome<Vec<Timing>> {
        Ok(serde_json::from_value(self.call("GET", "timings")?)?)
    }

    fn call(&self, method: &str, what: &str) -> Outcome<Value> {
        let mut stream = TcpStream::connect(&self.address)?;
        write!(stream, "{method} /control/{what} HTTP/1.1\r\nconnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        if !head.starts_with("HTTP/1.1 200") {
            return Err(failure(format!("the model server said to {what}: {answer}")));
        }
        Ok(serde_json::from_str(body)?)
    }
}

impl Drop for ScriptServer {
    fn drop(&mut self) {
        // Fails when it has ended, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program of the same build.
pub(crate) fn beside(name: &str) -> Outcome<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    match path.is_file() {
        true => Ok(path),
        false => {
            Err(failure(format!("{} is not built: `cargo build --release --workspace`", path.display())))
        }
    }
}
