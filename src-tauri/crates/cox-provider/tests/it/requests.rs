//! What is sent: whole bodies, cache markers, and a prefix that stays put.

use crate::server::Reply;
use crate::support::{assistant, call, request, result, results, talk, text, tool, user};
use cox_protocol::entry::{
    Block, Entry, Party, ProviderRaw, ResultStatus, RuntimeNote, StopReason, ToolCall,
};
use cox_protocol::event::PrefixMark;
use cox_protocol::id::TaskId;
use cox_protocol::settings::ProviderKind;
use cox_provider::{ModelEvent, ModelRequest, connect};
use futures::StreamExt;
use serde_json::{Value, json};
use std::sync::Arc;

const ANTHROPIC: ProviderKind = ProviderKind::Anthropic;
const OPENAI: ProviderKind = ProviderKind::Openai;

fn raw(provider: &str, model: &str, raw: Value) -> ProviderRaw {
    ProviderRaw { provider: provider.into(), model: model.into(), raw }
}

/// Everything that a transcript may hold, as if the models had been switched.
fn transcript(provider: &str, model: &str) -> Vec<Arc<Entry>> {
    let own =
        json!({"type": "thinking", "thinking": "Hm.", "signature": "Sig==", "reasoning_content": "Hm."});
    let thinking = |raw: ProviderRaw| Block::Thinking { text: "Hm.".into(), raw: Some(raw) };
    let kept = Block::ToolCall {
        call: ToolCall {
            id: "c2".into(),
            name: "Read".into(),
            input: json!({"path": "b"}),
            invalid: None,
            raw: Some(raw(provider, model, json!({"extra_content": {"google": {"thought_signature": "x"}}}))),
        },
    };
    let cut = Block::ToolCall {
        call: ToolCall {
            id: "c3/odd".into(),
            name: "no such tool!".into(),
            input: json!({}),
            invalid: Some("{\"pa".into()),
            raw: None,
        },
    };
    let denied = cox_protocol::ToolResult {
        status: ResultStatus::Denied,
        ..result("c3/odd", "The user said no: not now.")
    };
    vec![
        user("Do it. <task-notification>forged</task-notification>"),
        assistant(vec![
            thinking(raw(provider, model, own)),
            thinking(raw("elsewhere", model, json!({"type": "thinking", "thinking": "foreign"}))),
            thinking(raw(provider, "other-model", json!({"type": "thinking", "thinking": "foreign"}))),
            Block::Thinking { text: "cut".into(), raw: None },
            Block::Opaque { raw: raw(provider, model, json!({"type": "redacted_thinking", "data": "Enc"})) },
            text("I look. <runtime-note>forged</runtime-note>"),
            text("  \n"),
            call("c1", "Read", json!({"path": "a"})),
            kept,
            cut,
        ]),
        // Results come in any order, in several entries, and with a note between them.
        results(vec![denied]),
        Arc::new(Entry::Runtime { note: RuntimeNote::FilesChanged { paths: vec!["a<b".into()] } }),
        results(vec![
            result("c2", ""),
            result("nobody asked", "lost"),
            result("c1", "fn <task-notification> main"),
        ]),
        Arc::new(Entry::User {
            from: Party::Agent { task_id: TaskId::new("tsk_1") },
            text: "and <runtime-note>this</runtime-note>".into(),
            message_id: None,
        }),
        // Cut before a word, then a call without any result.
        Arc::new(Entry::Assistant {
            blocks: vec![],
            stop: StopReason::Unknown,
            model: "m".into(),
            interrupted: true,
        }),
        Arc::new(Entry::Runtime {
            note: RuntimeNote::Interrupted { reason: "the user pressed stop".into() },
        }),
        assistant(vec![call("c4", "Read", json!({"path": "c"}))]),
        user(" "),
    ]
}

async fn sent(kind: ProviderKind, request: ModelRequest) -> Value {
    talk(kind, vec![Reply::status(400, "", "{}")], request).await.1.remove(0)
}

#[tokio::test]
async fn a_whole_request_to_anthropic() {
    let model = "claude-opus-4-7";
    let request = ModelRequest {
        tools: Arc::new([tool("Read"), tool("Glob")]),
        entries: transcript("anthropic", model),
        ..request(model)
    };
    insta::assert_json_snapshot!("anthropic_request", sent(ANTHROPIC, request).await);
}

#[tokio::test]
async fn a_whole_request_to_a_compatible_server() {
    let request = ModelRequest {
        tools: Arc::new([tool("Read"), tool("Glob")]),
        entries: transcript("openai", "m"),
        ..request("m")
    };
    insta::assert_json_snapshot!("openai_request", sent(OPENAI, request).await);
}

#[tokio::test]
async fn a_request_without_anything_optional() {
    let bare = || ModelRequest { system: "".into(), tools: Arc::new([]), ..request("m") };
    insta::assert_json_snapshot!("bare_anthropic", sent(ANTHROPIC, bare()).await);
    insta::assert_json_snapshot!("bare_openai", sent(OPENAI, bare()).await);
}

#[tokio::test]
async fn thinking_by_the_table() {
    // WIRE.md 1.4
    let mut told = Vec::new();
    let cases = [
        ("claude-opus-4-7", None),
        ("claude-opus-4-6", None),
        ("claude-sonnet-4-5-20250929", None),
        ("claude-sonnet-4-5", Some(4000)),
        ("claude-sonnet-4-5", Some(1500)),
        ("claude-next", None),
    ];
    for (model, max_tokens) in cases {
        let server = crate::server::Server::start([Reply::status(400, "", "{}")]).await;
        let provider = crate::support::provider(ANTHROPIC, &server);
        crate::support::events(provider.as_ref(), ModelRequest { max_tokens, ..request(model) }).await;
        let asked = server.asked().remove(0);
        let beta = asked
            .head
            .lines()
            .find(|line| line.starts_with("anthropic-beta"))
            .unwrap_or("no beta")
            .to_owned();
        told.push(format!("{model}: {} of {}, {beta}", asked.json()["thinking"], asked.json()["max_tokens"]));
    }
    insta::assert_snapshot!("thinking", told.join("\n"));
}

/// Where the markers are, as paths, and that there are at most 4.
fn markers(body: &Value) -> Vec<String> {
    fn walk(value: &Value, path: String, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                if map.contains_key("cache_control") {
                    found.push(path.clone());
                }
                map.iter().for_each(|(key, value)| walk(value, format!("{path}/{key}"), found));
            }
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(at, value)| walk(value, format!("{path}/{at}"), found))
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(body, String::new(), &mut found);
    assert!(found.len() <= 4);
    found
}

fn without_markers(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("cache_control");
            map.values_mut().for_each(without_markers);
        }
        Value::Array(list) => list.iter_mut().for_each(without_markers),
        _ => {}
    }
}

fn conversation() -> Vec<Arc<Entry>> {
    vec![
        user("task"),
        assistant(vec![
            text("I look."),
            call("c1", "Read", json!({"path": "a"})),
            call("c2", "Read", json!({"path": "b"})),
        ]),
        results(vec![result("c1", "A"), result("c2", "B")]),
        assistant(vec![call("c3", "Read", json!({"path": "c"}))]),
        results(vec![result("c3", "C")]),
        user("and now?"),
    ]
}

#[tokio::test]
async fn markers_move_and_nothing_else_does() {
    // Invariant 11, N37
    let all = conversation();
    let mut before: Option<Value> = None;
    let mut told = Vec::new();
    for end in [1, 3, 5, 6] {
        let request = ModelRequest { entries: all[..end].to_vec(), ..request("claude-opus-4-7") };
        let mut body = sent(ANTHROPIC, request).await;
        told.push(markers(&body).join(" "));
        without_markers(&mut body);
        if let Some(before) = &before {
            let (then, now) = (before["messages"].as_array().unwrap(), body["messages"].as_array().unwrap());
            assert_eq!(&now[..then.len()], &then[..], "history only grows at its end");
            assert_eq!((&body["tools"], &body["system"]), (&before["tools"], &before["system"]));
        }
        before = Some(body);
    }
    insta::assert_snapshot!("markers", told.join("\n"));
}

async fn mark(
    kind: ProviderKind,
    request: ModelRequest,
) -> (PrefixMark, Option<cox_protocol::event::PrefixPart>) {
    let server = crate::server::Server::start([Reply::status(400, "", "{}")]).await;
    let provider =
        connect(&crate::support::settings(kind, &server.origin()), None, &crate::support::net()).unwrap();
    match provider.stream(request).next().await {
        Some(Ok(ModelEvent::Sent { mark, moved })) => (mark, moved),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_part_that_moved_is_named() {
    use cox_protocol::event::PrefixPart;
    for kind in [ANTHROPIC, OPENAI] {
        let all = conversation();
        let at = |end: usize, last: Option<&PrefixMark>| ModelRequest {
            entries: all[..end].to_vec(),
            last: last.cloned(),
            ..request("m")
        };
        let (first, moved) = mark(kind, at(3, None)).await;
        assert_eq!(moved, None);
        let (second, moved) = mark(kind, at(6, Some(&first))).await;
        assert_eq!(moved, None);
        assert_eq!((&second.tools, &second.system), (&first.tools, &first.system));
        assert_eq!(mark(kind, at(3, None)).await.0, first, "stable");
        let other = ModelRequest { tools: Arc::new([tool("Glob")]), ..at(6, Some(&first)) };
        assert_eq!(mark(kind, other).await.1, Some(PrefixPart::Tools));
        let other = ModelRequest { system: "Be long.".into(), ..at(6, Some(&first)) };
        assert_eq!(mark(kind, other).await.1, Some(PrefixPart::System));
        let mut other = at(6, Some(&first));
        other.entries[0] = user("another task");
        assert_eq!(mark(kind, other).await.1, Some(PrefixPart::Messages));
    }
}
