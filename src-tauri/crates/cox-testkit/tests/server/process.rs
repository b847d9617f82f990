//! The server in a process of its own, steered by HTTP.
#![expect(clippy::disallowed_methods, reason = "the test kit starts its own program, without cox-exec")]

use crate::client::{ask_at, exchange, hello};
use cox_testkit::recipe::Recipe;
use cox_testkit::{TempProject, Wire};
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

async fn get(address: &str, method: &str, path: &str) -> Value {
    let request = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n\r\n");
    let response = exchange(address, request.as_bytes()).await;
    assert_eq!(response.status(), 200, "{path}");
    serde_json::from_str(&response.body().0).unwrap()
}

#[tokio::test]
async fn a_server_of_its_own_is_steered_by_http() {
    let recipe = json!({
        "models": ["m"],
        "agents": [{
            "name": "worker",
            "when": {"system": "worker"},
            "answers": [{"steps": [{"gate": "go on"}, {"text": "turn {turn}"}]}],
        }],
    });
    let folder = TempProject::with([("script.json", recipe.to_string().as_str())]);
    let mut server = Command::new(env!("CARGO_BIN_EXE_model-server"))
        .arg(folder.at("script.json"))
        .arg("--until-stdin-ends")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let printed: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    let address = printed["address"].as_str().unwrap().to_owned();
    assert_eq!(printed["anthropic"], json!(address));
    assert_eq!(printed["openai"], json!(format!("{address}/v1")));

    let asked = tokio::spawn({
        let address = address.clone();
        async move { ask_at(&address, Wire::Anthropic, &hello(Wire::Anthropic)).await }
    });
    assert_eq!(get(&address, "GET", "/control/reached/go%20on").await, json!({"reached": "go on"}));
    assert_eq!(get(&address, "GET", "/control/received?count=1").await, json!({"received": 1}));
    assert_eq!(get(&address, "POST", "/control/open/go%20on").await, json!({"opened": "go on"}));
    assert!(asked.await.unwrap().body().0.contains("0"), "the turn is filled in");

    let requests = get(&address, "GET", "/control/requests").await;
    assert_eq!(requests[0]["body"], hello(Wire::Anthropic));
    assert_eq!((&requests[0]["agent"], &requests[0]["wire"]), (&json!("worker"), &json!("anthropic")));
    assert_eq!(get(&address, "GET", "/control/problems").await, json!([]));
    let timings = get(&address, "GET", "/control/timings").await;
    let time = |name: &str| timings[0][name].as_u64().unwrap();
    assert!(time("receivedNs") <= time("firstByteNs") && time("firstByteNs") <= time("lastByteNs"));

    drop(server.stdin.take());
    assert!(server.wait().await.unwrap().success());
}

#[test]
fn a_recipe_that_is_wrong_says_where() {
    let error =
        Recipe::parse("{\"agents\": [{\"name\": \"a\", \"answers\": [{\"step\": []}]}]}").unwrap_err();
    assert!(error.to_string().starts_with("unknown field `step`, expected one of `steps`"), "{error}");
}

#[test]
fn the_recipe_in_the_documentation_is_one() {
    let source = include_str!("../../src/recipe.rs");
    let documentation: String = source
        .lines()
        .skip_while(|line| *line != "//! ```json")
        .skip(1)
        .take_while(|line| *line != "//! ```")
        .map(|line| line.trim_start_matches("//! ").trim_start_matches("//!"))
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(Recipe::parse(&documentation).unwrap().agents.len(), 2);
}
