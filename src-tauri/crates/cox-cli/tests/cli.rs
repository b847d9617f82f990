//! The program as scripts see it: what it prints where, and its exit codes.
#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

use cox_protocol::Event;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A data folder, a home, and a small project with a to-do and a test.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("boat");
        fs::create_dir_all(project.join("src")).unwrap();
        fs::create_dir_all(folder.path().join("home")).unwrap();
        fs::write(
            project.join("Cargo.toml"),
            "[package]\nname = \"boat\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        )
        .unwrap();
        let source = "fn main() {}\n\n// TODO: row\n#[test]\nfn floats() {}\n";
        fs::write(project.join("src/main.rs"), source).unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn project(&self) -> String {
        self.path().join("boat").to_string_lossy().into_owned()
    }

    fn cox(&self, args: &[&str]) -> Command {
        let mut command = cox(self.path());
        command.arg("--data-dir").arg(self.path().join("data")).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.cox(args).output().unwrap()
    }
}

/// `cox` with an environment of its own: no keys, no keychain, a home of its own.
#[expect(clippy::disallowed_methods, reason = "the test starts the program from outside")]
fn cox(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cox"));
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder.join("home"))
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
        .stdin(Stdio::null());
    command
}

fn check(output: &Output, code: i32, on_stderr: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(on_stderr), "{on_stderr:?} is not in: {stderr}");
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

// W43
#[test]
fn a_rehearsal_reports_and_says_what_it_could_not_ask() {
    let place = Place::new();
    let output = place.run(&["run", "--project", &place.project(), "What is here?"]);
    check(&output, 0, "rehearsal");
    let report = stdout(&output);
    assert!(report.contains("TODO"), "the to-do is found: {report}");
    assert!(report.contains("Check not run"), "nobody could be asked: {report}");
}

// W2
#[test]
fn stream_json_is_the_events() {
    let place = Place::new();
    let output =
        place.run(&["run", "--project", &place.project(), "--output", "stream-json", "What is here?"]);
    check(&output, 0, "");
    let lines = stdout(&output);
    let events: Vec<Event> = lines.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let kinds: Vec<String> =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].to_string()).collect();
    assert_eq!(kinds.first().map(String::as_str), Some("\"sessionCreated\""));
    assert!(
        kinds.iter().filter(|kind| *kind == "\"generationEnded\"").count() >= 3,
        "the lead and its workers"
    );
    assert!(events.windows(2).all(|pair| pair[0].seq < pair[1].seq), "in order, each once");
}

#[test]
fn json_is_one_object_and_the_session_can_be_listed_shown_and_resumed() {
    let place = Place::new();
    let run = place.run(&["run", "--project", &place.project(), "--output", "json", "What is here?"]);
    check(&run, 0, "");
    let told: Value = serde_json::from_str(&stdout(&run)).unwrap();
    assert_eq!(told["outcome"]["type"], "completed");
    let session = told["sessionId"].as_str().unwrap();
    let generation = told["tasks"][0]["generation"].as_u64();

    let listed = place.run(&["sessions"]);
    check(&listed, 0, "");
    assert!(stdout(&listed).contains(session) && stdout(&listed).contains("boat"), "{}", stdout(&listed));

    let shown = place.run(&["show", session]);
    check(&shown, 0, "");
    assert!(stdout(&shown).contains("You: What is here?"), "{}", stdout(&shown));

    let resumed = place.run(&["resume", session, "And now?", "--output", "json"]);
    check(&resumed, 0, "");
    let told: Value = serde_json::from_str(&stdout(&resumed)).unwrap();
    assert_eq!(told["sessionId"].as_str(), Some(session));
    assert!(told["tasks"][0]["generation"].as_u64() > generation, "the same lead went on");
}

#[test]
fn a_wrong_call_ends_with_2() {
    let place = Place::new();
    let project = place.project();
    check(&place.run(&["row"]), 2, "row");
    check(&place.run(&["run", "--project", &project, " "]), 2, "the prompt is empty");
    check(&place.run(&["show", "s-none"]), 2, "cox: ");
    check(&place.run(&["resume", "s-none", "Go on."]), 2, "cox: ");
    let schema = place.path().join("schema.json");
    fs::write(&schema, "{").unwrap();
    let schema = schema.to_string_lossy();
    check(&place.run(&["run", "--project", &project, "--json-schema", &schema, "x"]), 2, "is not JSON");
}

// W25
#[test]
fn bypass_needs_the_folders_name() {
    let place = Place::new();
    let line = ["run", "--project", &place.project(), "--permission-mode", "bypassPermissions", "x"];
    check(&place.run(&line), 2, "--confirm-folder boat");
    let line = ["run", "--project", &place.project(), "--permission-mode", "bypassPermissions"];
    check(&place.run(&[&line[..], &["--confirm-folder", "canoe", "x"]].concat()), 2, "--confirm-folder boat");
    check(&place.run(&[&line[..], &["--confirm-folder", "boat", "x"]].concat()), 0, "");
}

// W33
#[test]
fn the_home_folder_asks() {
    let place = Place::new();
    let home = place.path().join("home").to_string_lossy().into_owned();
    check(&place.run(&["run", "--project", &home, "x"]), 2, "--confirm-folder home");
}

#[test]
fn what_cannot_be_opened_ends_with_3() {
    let place = Place::new();
    check(&place.run(&["run", "--project", "nowhere/at/all", "x"]), 3, "cox: ");
    let file = place.path().join("boat/Cargo.toml").to_string_lossy().into_owned();
    check(&place.run(&["run", "--project", &file, "x"]), 3, "cox: ");
    // A file where the data folder should be.
    let output = cox(place.path()).args(["--data-dir", &file, "sessions"]).output().unwrap();
    check(&output, 3, "cox: ");
}

#[test]
fn a_provider_that_does_not_answer_ends_with_4() {
    let place = Place::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", server.local_addr().unwrap());
    drop(server);
    let project = place.project();
    let line = ["run", "--project", &project, "--provider", "openai", "--model", "m", "--base-url", &url];
    check(&place.run(&[&line[..], &["--api-key-env", "NO_SUCH_KEY", "x"]].concat()), 4, "NO_SUCH_KEY");
    let output =
        place.cox(&[&line[..], &["--api-key-env", "SOME_KEY", "x"]].concat()).env("SOME_KEY", "k").output();
    check(&output.unwrap(), 4, "cox: ");
}

#[cfg(unix)]
#[test]
fn a_signal_stops_the_work_and_says_so() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let place = Place::new();
        // It takes the request and never answers.
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", server.local_addr().unwrap());
        let project = place.project();
        let line = ["run", "--project", &project, "--provider", "openai", "--model", "m", "--base-url", &url];
        let mut command = place.cox(&[&line[..], &["--api-key-env", "SOME_KEY", "x"]].concat());
        command.env("SOME_KEY", "k").stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let (request, _) = server.accept().unwrap();
        let mut first = String::new();
        BufReader::new(&request).read_line(&mut first).unwrap();
        assert!(first.starts_with("POST "), "{first}");
        send(signal, child.id());
        check(&child.wait_with_output().unwrap(), code, "stopping");
        let shown = place.run(&["sessions"]);
        assert!(stdout(&shown).contains("boat"), "what there was is kept");
    }
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "the test sends the signal from outside")]
fn send(signal: &str, pid: u32) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn a_closed_pipe_ends_the_work_quietly() {
    let place = Place::new();
    let mut command = place.cox(&["run", "--project", &place.project(), "--output", "stream-json", "x"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    drop(reader);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(141), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[test]
fn a_prompt_may_come_from_standard_input() {
    let place = Place::new();
    let mut command = place.cox(&["run", "--project", &place.project(), "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all("Was ist hier? 🚣".as_bytes()).unwrap();
    check(&child.wait_with_output().unwrap(), 0, "");
}

#[test]
fn the_doctor_looks_and_rebuilds() {
    let place = Place::new();
    check(&place.run(&["run", "--project", &place.project(), "x"]), 0, "");
    let output = place.run(&["doctor", "--rebuild"]);
    check(&output, 0, "");
    let told = stdout(&output);
    assert!(told.contains("rebuilt") && told.contains("provider     rehearsal, key not needed"), "{told}");
}
