//! All the recorded traffic of a real server, byte for byte, in pieces of any size (see its README).

use crate::server::{Reply, Server};
use crate::support::{Events, events, provider, request, tell};
use cox_protocol::settings::ProviderKind;
use cox_protocol::task::ToolDef;
use cox_provider::{ModelEvent, ModelRequest};
use serde_json::Value;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../cox-testkit/wire")
}

fn cases() -> Vec<String> {
    let names =
        std::fs::read_dir(folder()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut cases: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".response.http")?.to_owned())).collect();
    cases.sort();
    cases
}

/// A request that has the recorded one's model, tools and limit.
fn recorded(case: &str) -> ModelRequest {
    let text = std::fs::read_to_string(folder().join(format!("{case}.request.json"))).unwrap_or_default();
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let tool = |tool: &Value| ToolDef {
        name: tool["function"]["name"].as_str().unwrap().to_owned(),
        description: tool["function"]["description"].as_str().unwrap().to_owned(),
        input_schema: tool["function"]["parameters"].clone(),
    };
    ModelRequest {
        tools: tools.iter().map(tool).collect(),
        max_tokens: body["max_tokens"].as_u64().map(|max| u32::try_from(max).unwrap()),
        ..request(body["model"].as_str().unwrap_or("qwen-0.5b"))
    }
}

/// The port of the server is in messages, and differs.
fn hidden(server: &Server, mut events: Events) -> Events {
    for event in &mut events {
        match event {
            Ok(ModelEvent::Retrying { message, .. }) => *message = server.hide(message),
            Err(error) => error.message = server.hide(&error.message),
            Ok(_) => {}
        }
    }
    events
}

#[tokio::test]
async fn every_recorded_answer() {
    let cases = cases();
    assert!(cases.len() >= 29, "the recorded traffic is missing in {}", folder().display());
    for case in cases.iter().filter(|case| *case != "models") {
        let bytes = std::fs::read(folder().join(format!("{case}.response.http"))).unwrap();
        let mut whole: Option<Events> = None;
        // Single bytes only where there are few: each is a write of its own.
        let pieces: &[usize] =
            if bytes.len() < 3000 { &[usize::MAX, 1000, 61, 7, 1] } else { &[usize::MAX, 1000, 61] };
        for &piece in pieces {
            let server = Server::start([Reply::raw(bytes.clone()).pieces(piece)]).await;
            let events = hidden(
                &server,
                events(provider(ProviderKind::Openai, &server).as_ref(), recorded(case)).await,
            );
            let whole = whole.get_or_insert_with(|| events.clone());
            assert_eq!(&events, whole, "{case} in pieces of {piece}");
        }
        insta::assert_snapshot!(case.as_str(), tell(&whole.unwrap()));
    }
}

#[tokio::test]
async fn the_recorded_list_of_models() {
    let bytes = std::fs::read(folder().join("models.response.http")).unwrap();
    let server = Server::start([Reply::raw(bytes).pieces(7)]).await;
    let models = provider(ProviderKind::Openai, &server).models().await;
    assert_eq!(models, Ok(vec!["qwen-0.5b".to_owned()]));
    assert!(server.asked()[0].head.starts_with("GET /v1/models HTTP/1.1\r\n"));
}
