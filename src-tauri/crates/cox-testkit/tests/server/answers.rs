//! What answers look like on the wire, and who gets which.

use crate::client::{ask, connect, hello, path_of, post, request};
use cox_testkit::{Answer, ModelServer, Stop, Tokens, When, Wire};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const BOTH: [Wire; 2] = [Wire::Anthropic, Wire::Openai];

#[tokio::test]
async fn an_anthropic_stream_has_all_its_events() {
    let server = ModelServer::start().await;
    let usage = Tokens { input: 10, cache_read: 20, cache_write: 30, output: 4 };
    server.agent("a", When::Any).answer(Answer::says("Hello world").usage(usage));
    let response = ask(&server, Wire::Anthropic, &hello(Wire::Anthropic)).await;
    let usage = |output: u64| {
        json!({
            "input_tokens": 10, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 20,
            "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 0},
            "output_tokens": output, "service_tier": "standard",
        })
    };
    assert_eq!(response.status(), 200);
    assert_eq!(response.header("content-type"), Some("text/event-stream; charset=utf-8"));
    assert_eq!(
        response.events(),
        [
            json!({"type": "message_start", "message": {
                "id": "msg_0", "type": "message", "role": "assistant", "model": "m", "content": [],
                "stop_reason": null, "stop_sequence": null, "usage": usage(1),
            }}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello "}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "world"}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({
                "type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
                "usage": usage(4),
            }),
            json!({"type": "message_stop"}),
        ]
    );
    let (body, whole) = response.body();
    assert!(whole && body.starts_with("event: message_start\ndata: {"), "{body}");
    server.assert_valid_and_used();
}

#[tokio::test]
async fn an_openai_stream_has_all_its_chunks() {
    let server = ModelServer::start().await;
    let usage = Tokens { input: 10, cache_read: 20, cache_write: 30, output: 4 };
    server
        .agent("a", When::Any)
        .answers([Answer::new().thinking("Hm", "s").text("Hello world").usage(usage), Answer::says("x")]);
    let response = ask(&server, Wire::Openai, &hello(Wire::Openai)).await;
    let chunks: Vec<(Value, Value)> = response
        .events()
        .into_iter()
        .map(|chunk| (chunk["choices"].clone(), chunk["usage"].clone()))
        .collect();
    let choice = |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    assert_eq!(
        chunks,
        [
            (choice(json!({"role": "assistant", "content": null}), Value::Null), Value::Null),
            (choice(json!({"reasoning_content": "Hm"}), Value::Null), Value::Null),
            (choice(json!({"content": "Hello "}), Value::Null), Value::Null),
            (choice(json!({"content": "world"}), Value::Null), Value::Null),
            (choice(json!({}), json!("stop")), Value::Null),
            (
                json!([]),
                json!({
                    "prompt_tokens": 60, "completion_tokens": 4, "total_tokens": 64,
                    "prompt_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 30},
                })
            ),
        ]
    );
    assert!(response.body().0.ends_with("data: [DONE]\n\n"));

    let mut plain = hello(Wire::Openai);
    plain.as_object_mut().unwrap().remove("stream_options");
    let response = ask(&server, Wire::Openai, &plain).await;
    assert!(
        response.events().iter().all(|chunk| chunk["usage"].is_null()),
        "usage comes only where asked for"
    );
}

#[tokio::test]
async fn calls_come_in_fragments() {
    let input = json!({"path": "src/a file.rs", "limit": 10, "text": "ü 日本 \"quoted\""});
    for wire in BOTH {
        let server = ModelServer::start().await;
        server.agent("a", When::Any).answer(
            Answer::new()
                .text("Two.")
                .tool("Read", input.clone())
                .tool_with_id("mine", "Edit", json!({}))
                .tool_with_raw("Bad", "{\"cut"),
        );
        let response = ask(&server, wire, &hello(wire)).await;
        let mut calls: Vec<(String, String, String)> = Vec::new();
        for event in response.events() {
            let block = &event["content_block"];
            if block["type"] == "tool_use" {
                let text = |field: &str| block[field].as_str().unwrap().to_owned();
                calls.push((text("id"), text("name"), String::new()));
            }
            if let Some(part) = event["delta"]["partial_json"].as_str() {
                calls.last_mut().unwrap().2.push_str(part);
            }
            for call in event["choices"][0]["delta"]["tool_calls"].as_array().into_iter().flatten() {
                let function = &call["function"];
                if let Some(id) = call["id"].as_str() {
                    calls.push((id.into(), function["name"].as_str().unwrap().into(), String::new()));
                }
                assert_eq!(call["index"], calls.len() - 1);
                calls.last_mut().unwrap().2.push_str(function["arguments"].as_str().unwrap());
            }
        }
        let prefix = if wire == Wire::Anthropic { "toolu" } else { "call" };
        assert_eq!(
            calls,
            [
                (format!("{prefix}_0_1"), "Read".into(), input.to_string()),
                ("mine".into(), "Edit".into(), "{}".into()),
                (format!("{prefix}_0_3"), "Bad".into(), "{\"cut".into()),
            ]
        );
        let body = response.body().0;
        assert!(body.contains(if wire == Wire::Anthropic { "\"tool_use\"" } else { "\"tool_calls\"" }));
    }
}

#[tokio::test]
async fn thinking_ends_with_its_signature() {
    let server = ModelServer::start().await;
    server.agent("a", When::Any).answer(Answer::new().thinking("a b", "sig").stop(Stop::MaxTokens));
    let deltas: Vec<Value> = ask(&server, Wire::Anthropic, &hello(Wire::Anthropic))
        .await
        .events()
        .into_iter()
        .filter(|event| event["type"] == "content_block_delta" || event["type"] == "message_delta")
        .map(|event| event["delta"].clone())
        .collect();
    assert_eq!(
        deltas,
        [
            json!({"type": "thinking_delta", "thinking": "a "}),
            json!({"type": "thinking_delta", "thinking": "b"}),
            json!({"type": "signature_delta", "signature": "sig"}),
            json!({"stop_reason": "max_tokens", "stop_sequence": null}),
        ]
    );
}

#[tokio::test]
async fn a_gate_holds_an_answer_until_the_test_opens_it() {
    for wire in BOTH {
        let server = ModelServer::start().await;
        server
            .agent("a", When::Any)
            .answer(Answer::new().gate("start").text("one ").gate("middle").text("two"));
        let (path, headers) = path_of(wire);
        let mut stream = connect(&server.address()).await;
        stream.write_all(&post(path, headers, &hello(wire).to_string())).await.unwrap();

        server.reached("start").await;
        assert_eq!(server.requests()[0].first_byte_at, None, "nothing leaves before the first gate");
        server.open("start");
        server.reached("middle").await;
        let mut so_far = vec![0; 64 * 1024];
        let count = stream.read(&mut so_far).await.unwrap();
        let text = String::from_utf8_lossy(&so_far[..count]).into_owned();
        assert!(text.contains("one ") && !text.contains("two"), "{text}");
        server.open("middle");
        let mut rest = String::new();
        stream.read_to_string(&mut rest).await.unwrap();
        assert!(rest.contains("two"), "{rest}");
        // Both texts are one block: a gate splits nothing.
        assert!(!rest.contains("content_block_start"), "{rest}");
        server.finished(1).await;
    }
}

#[tokio::test]
async fn each_agent_gets_its_own_answers() {
    let server = ModelServer::start().await;
    server.agent("lead", When::system("lead")).answers([Answer::says("first"), Answer::says("second")]);
    server
        .agent("worker", When::first_user("task").and(When::model("m")))
        .by_turn([Answer::says("turn {turn}"), Answer::says("later {turn}")]);
    server
        .agent("rest", When::says(|request| request.last_user_text().is_some()))
        .respond(|request| Answer::says(&format!("echo {}", request.last_user_text().unwrap_or_default())));
    let wire = Wire::Openai;
    let user = |text: &str| json!([{"role": "user", "content": text}]);
    let later = json!([
        {"role": "user", "content": "task"}, {"role": "assistant", "content": "turn 0"},
        {"role": "user", "content": "more"},
    ]);
    let mut said = Vec::new();
    for body in [
        request(wire, "You are the lead", &user("x")),
        request(wire, "worker", &user("task")),
        request(wire, "worker", &later),
        request(wire, "You are the lead", &user("y")),
        request(wire, "You are the lead", &user("z")),
    ] {
        let events = ask(&server, wire, &body).await.events();
        said.push(
            events
                .iter()
                .filter_map(|event| event["choices"][0]["delta"]["content"].as_str())
                .collect::<String>(),
        );
    }
    assert_eq!(said, ["first", "turn 0", "later 1", "second", "echo z"]);
    let agents: Vec<Option<String>> = server.requests().into_iter().map(|request| request.agent).collect();
    assert_eq!(agents, ["lead", "worker", "worker", "lead", "rest"].map(|name| Some(name.to_owned())));
    let conversations: Vec<usize> = server.requests().iter().map(|request| request.conversation).collect();
    assert_eq!(conversations, [0, 1, 1, 2, 3]);
    assert_eq!(server.requests_of("worker").len(), 2);
    server.assert_valid_and_used();
}

#[tokio::test]
async fn a_paced_answer_takes_its_time() {
    let server = ModelServer::start().await;
    server.agent("a", When::Any).answer(Answer::says("a b c d e").paced(500.0));
    ask(&server, Wire::Anthropic, &hello(Wire::Anthropic)).await;
    let request = &server.requests()[0];
    let taken = request.last_byte_at.unwrap() - request.received_at;
    // Five tokens, 2 ms each. Only the lower bound is sure on a busy machine.
    assert!(taken.as_millis() >= 10, "{taken:?}");
}

#[tokio::test]
async fn a_connection_is_kept_for_the_next_request() {
    let server = ModelServer::start().await;
    server.agent("a", When::Any).forever(Answer::says("x"));
    let mut stream = connect(&server.address()).await;
    let (path, headers) = path_of(Wire::Openai);
    let body = hello(Wire::Openai).to_string();
    // In chunks, and then with a length.
    let chunked = format!(
        "POST {path} HTTP/1.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    stream.write_all(chunked.as_bytes()).await.unwrap();
    server.finished(1).await;
    stream.write_all(&post(path, headers, &body)).await.unwrap();
    let mut both = String::new();
    stream.read_to_string(&mut both).await.unwrap();
    assert_eq!(both.matches("HTTP/1.1 200 OK").count(), 2);
    assert_eq!(both.matches("[DONE]").count(), 2);
}

#[tokio::test]
async fn models_are_listed_in_both_formats() {
    let server = ModelServer::start().await;
    server.set_models(&["a", "b"]);
    server.require_key("k");
    let get =
        |headers: &str| format!("GET /v1/models HTTP/1.1\r\nconnection: close\r\n{headers}\r\n").into_bytes();
    for (headers, status) in [
        ("anthropic-version: 1\r\nx-api-key: k\r\n", 200),
        ("authorization: Bearer k\r\n", 200),
        ("authorization: Bearer other\r\n", 401),
        ("x-api-key: other\r\n", 401),
    ] {
        let response = crate::client::exchange(&server.address(), &get(headers)).await;
        assert_eq!(response.status(), status, "{headers}");
        let body: Value = serde_json::from_str(&response.body().0).unwrap();
        if status == 200 {
            let ids: Vec<&str> =
                body["data"].as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap()).collect();
            assert_eq!(ids, ["a", "b"]);
        } else {
            assert_eq!(body["error"]["type"], "authentication_error");
        }
    }
}
