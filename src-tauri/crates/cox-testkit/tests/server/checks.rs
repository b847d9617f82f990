//! What the server finds wrong with requests.

use crate::client::{ask, exchange, hello, path_of, post, request};
use cox_testkit::{Answer, ModelServer, ProblemKind, When, Wire};
use serde_json::{Value, json};

async fn server() -> ModelServer {
    let server = ModelServer::start().await;
    server.agent("any", When::Any).forever(Answer::says("ok"));
    server
}

/// What is found wrong with one request.
async fn found(wire: Wire, body: &Value) -> Vec<(ProblemKind, String)> {
    let server = server().await;
    ask(&server, wire, body).await;
    server.problems().into_iter().map(|problem| (problem.kind, problem.message)).collect()
}

async fn check(wire: Wire, messages: Value, expect: &[(ProblemKind, &str)]) {
    let body = request(wire, "sys", &messages);
    let expect: Vec<(ProblemKind, String)> =
        expect.iter().map(|(kind, text)| (*kind, (*text).to_owned())).collect();
    assert_eq!(found(wire, &body).await, expect, "{messages}");
}

fn text(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

#[tokio::test]
async fn an_anthropic_history_has_to_be_in_order() {
    use ProblemKind::{Empty, Order, Pairing, Shape};
    let wire = Wire::Anthropic;
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Read", "input": {}});
    let calls = |ids: &[&str]| json!({"role": "assistant", "content": ids.iter().map(|id| call(id)).collect::<Vec<_>>()});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
    let user = |blocks: Value| json!({"role": "user", "content": blocks});
    let say = json!({"type": "text", "text": "go on"});

    let fine = json!([
        text("user", "a"),
        calls(&["1", "2"]),
        user(json!([result("1"), result("2"), say])),
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "", "signature": "s"},
            {"type": "redacted_thinking", "data": "d"},
            {"type": "server_tool_use", "id": "x"},
            {"type": "text", "text": "b"},
        ]},
        text("user", "c"),
    ]);
    check(wire, fine, &[]).await;
    check(
        wire,
        json!([text("user", "a"), calls(&["1"])]),
        &[(Pairing, "`1` has no result"), (Order, "the last message is the assistant's")],
    )
    .await;
    check(
        wire,
        json!([text("user", "a"), calls(&["1"]), text("user", "b"), user(json!([result("1")]))]),
        &[
            (Pairing, "`1` has no result before a text"),
            (Pairing, "the result of `1` comes twice, or not right after its call"),
        ],
    )
    .await;
    check(
        wire,
        json!([text("user", "a"), calls(&["1"]), user(json!([say, result("1")]))]),
        &[
            (Order, "in message 2 a result stands behind other content"),
            (Pairing, "`1` has no result before a text"),
            (Pairing, "the result of `1` comes twice, or not right after its call"),
        ],
    )
    .await;
    check(
        wire,
        json!([text("user", "a"), calls(&["1", "2"]), user(json!([result("2"), result("1")]))]),
        &[(Order, "the result of `2` comes before the one of `1`")],
    )
    .await;
    check(wire, json!([user(json!([result("9")]))]), &[(Pairing, "the result of `9` has no call")]).await;
    check(
        wire,
        json!([text("assistant", "a"), text("user", "b")]),
        &[(Order, "the first message is not the user's")],
    )
    .await;
    check(wire, json!([text("user", " \n")]), &[(Empty, "message 0 has no content")]).await;
    check(wire, json!([user(json!([]))]), &[(Empty, "message 0 has no content")]).await;
    check(
        wire,
        json!([user(json!([{"type": "text", "text": ""}]))]),
        &[(Empty, "a text in message 0 is empty")],
    )
    .await;
    check(wire, json!([]), &[(Shape, "there are no messages")]).await;
    check(wire, json!([text("system", "a")]), &[(Shape, "message 0 has the role `system`")]).await;
    check(
        wire,
        json!([text("user", "a"), {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "t"}, {"type": "tool_use", "id": "", "name": "a b", "input": "{}"},
        ]}, user(json!([{"type": "tool_result", "tool_use_id": "", "content": ""}]))]),
        &[
            (Shape, "thinking in message 1 has no text or no signature"),
            (Shape, "a call in message 1 has no proper id"),
            (Shape, "a call in message 1 has no proper name"),
            (Shape, "a call in message 1 has no object as input"),
            (Shape, "a result in message 2 names no call"),
            (Empty, "the result of `` is empty"),
        ],
    )
    .await;
}

#[tokio::test]
async fn an_openai_history_has_to_be_in_order() {
    use ProblemKind::{Empty, Order, Pairing, Shape};
    let wire = Wire::Openai;
    let calls = |ids: &[&str]| {
        let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "Read", "arguments": "{}"}});
        json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
    };
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});

    let fine = json!([text("user", "a"), calls(&["1", "2"]), result("1"), result("2"), text("user", "b")]);
    check(wire, fine, &[]).await;
    check(
        wire,
        json!([text("user", "a"), calls(&["1", "2"]), result("1"), text("user", "b")]),
        &[(Pairing, "`2` has no result before a text")],
    )
    .await;
    check(wire, json!([text("user", "a"), result("1")]), &[(Pairing, "the result of `1` has no call")]).await;
    check(
        wire,
        json!([text("user", "a"), calls(&["1"]), result("1"), calls(&["1"]), result("1")]),
        &[(Pairing, "the id `1` is used for two calls")],
    )
    .await;
    check(
        wire,
        json!([text("user", "a"), text("system", "late"), text("user", "b")]),
        &[(Order, "message 2 is the system's and comes late")],
    )
    .await;
    check(
        wire,
        json!([text("user", "a"), text("assistant", "b")]),
        &[(Order, "the last message is the assistant's")],
    )
    .await;
    check(
        wire,
        json!([text("user", "a"), {"role": "assistant", "content": null}, text("user", "b")]),
        &[(Empty, "message 2 has no content")],
    )
    .await;
    check(
        wire,
        json!([text("user", "a"), {"role": "assistant", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "Read", "arguments": "{\"cut"}},
        ]}, result("1")]),
        &[(Shape, "the arguments of a call in message 2 are not the text of a JSON object")],
    )
    .await;
    check(wire, json!([]), &[(Shape, "there is no message of the user")]).await;
}

#[tokio::test]
async fn the_rest_of_a_request_is_looked_at_too() {
    use ProblemKind::Shape;
    let told = |found: Vec<(ProblemKind, String)>| -> Vec<String> {
        found.into_iter().map(|(kind, message)| format!("{kind:?} {message}")).collect()
    };
    let mut body = hello(Wire::Anthropic);
    body["max_tokens"] = json!(0);
    body["stream"] = json!(false);
    body["tools"] = json!([
        {"name": "Read", "description": "d", "input_schema": {"type": "object"}},
        {"name": "Read", "description": "", "input_schema": {}},
    ]);
    assert_eq!(
        told(found(Wire::Anthropic, &body).await),
        [
            "Shape it does not ask for a stream",
            "Shape max_tokens is not a positive number",
            "Shape the tool `Read` has no description",
            "Shape the schema of the tool `Read` is not an object's",
            "Shape the tool `Read` is offered twice",
        ]
    );
    let mut body = hello(Wire::Anthropic);
    let mark = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    body["messages"] = json!([{"role": "user", "content": [mark, mark, mark, mark, mark]}]);
    assert_eq!(
        told(found(Wire::Anthropic, &body).await),
        ["Shape there are 5 cache marks, and 4 are allowed"]
    );

    let mut body = hello(Wire::Openai);
    body["tools"] = json!([]);
    assert_eq!(told(found(Wire::Openai, &body).await), ["Shape the list of tools is empty; leave it out"]);

    let server = server().await;
    exchange(&server.address(), &post(path_of(Wire::Openai).0, "", "{not json")).await;
    assert_eq!(server.problems()[0].kind, Shape);
    assert_eq!(server.requests()[0].raw, b"{not json");
}

#[tokio::test]
async fn what_was_sent_has_to_stay() {
    for wire in [Wire::Anthropic, Wire::Openai] {
        let first = json!([text("user", "a")]);
        let second = json!([text("user", "a"), text("assistant", "ok"), text("user", "b")]);
        let moved = json!([text("user", "A"), text("assistant", "ok"), text("user", "b")]);
        for (system, messages, expect) in [
            ("sys", &second, vec![]),
            ("SYS", &second, vec!["the system prompt has changed"]),
            ("sys", &moved, vec!["message 0 has changed"]),
        ] {
            let server = server().await;
            ask(&server, wire, &request(wire, "sys", &first)).await;
            ask(&server, wire, &request(wire, system, messages)).await;
            let problems = server.problems();
            let told: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
            assert_eq!(told, expect, "{wire:?}");
            assert!(
                problems.iter().all(|problem| problem.kind == ProblemKind::Prefix && problem.request == 1)
            );
            assert_eq!(server.requests()[1].conversation, 0);
        }
        // A history that got shorter, and tools that changed.
        let server = server().await;
        let third = json!([
            text("user", "a"),
            text("assistant", "ok"),
            text("user", "b"),
            text("assistant", "ok"),
            text("user", "c"),
        ]);
        for messages in [&first, &second, &third] {
            ask(&server, wire, &request(wire, "sys", messages)).await;
        }
        server.assert_valid();
        let mut shorter = request(wire, "sys", &second);
        shorter["tools"] = match wire {
            Wire::Anthropic => json!([{"name": "T", "description": "d", "input_schema": {"type": "object"}}]),
            Wire::Openai => json!([
                {"type": "function", "function": {"name": "T", "description": "d", "parameters": {"type": "object"}}},
            ]),
        };
        ask(&server, wire, &shorter).await;
        let problems = server.problems();
        assert_eq!(problems[0].message, "the tools have changed; it ends after 3 messages, and there were 5");
        server.allow(
            ProblemKind::Prefix,
            "it ends after 3 messages",
            "the user edits an earlier message (W21)",
        );
        server.assert_valid();
    }
}

#[tokio::test]
async fn cache_marks_may_move() {
    let server = server().await;
    let block = |text: &str, marked: bool| {
        let mut block = json!({"type": "text", "text": text});
        if marked {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
        json!([block])
    };
    let user = |text: &str, marked: bool| json!({"role": "user", "content": block(text, marked)});
    let body = |messages: Value| {
        let mut body = request(Wire::Anthropic, "x", &messages);
        body["system"] = block("sys", true);
        body
    };
    ask(&server, Wire::Anthropic, &body(json!([user("a", true)]))).await;
    let next = json!([user("a", false), text("assistant", "ok"), user("b", true)]);
    ask(&server, Wire::Anthropic, &body(next)).await;
    server.assert_valid();
    assert_eq!(server.requests()[1].conversation, 0);
}

#[tokio::test]
async fn agents_that_were_told_the_same_are_not_mixed_up() {
    let server = ModelServer::start().await;
    server.agent("w", When::Any).answers([
        Answer::new().tool("Read", json!({})),
        Answer::new().tool("Read", json!({})),
        Answer::error(529, "overloaded_error", "later"),
        Answer::says("done"),
        Answer::says("done"),
    ]);
    let wire = Wire::Anthropic;
    let start = json!([text("user", "look")]);
    let next = |id: &str| {
        json!([
            text("user", "look"),
            {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Read", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "x"}]},
        ])
    };
    let bodies = [start.clone(), start, next("toolu_1_1"), next("toolu_1_1"), next("toolu_0_1")];
    for messages in &bodies {
        ask(&server, wire, &request(wire, "sys", messages)).await;
    }
    server.assert_valid_and_used();
    // The third failed, so that the fourth is the same again.
    let conversations: Vec<usize> = server.requests().iter().map(|request| request.conversation).collect();
    assert_eq!(conversations[2], conversations[3]);
    assert_ne!(conversations[3], conversations[4]);
}

#[tokio::test]
async fn a_paused_answer_may_be_sent_back_as_it_is() {
    let server = ModelServer::start().await;
    server
        .agent("a", When::Any)
        .answers([Answer::says("half").stop(cox_testkit::Stop::PauseTurn), Answer::says("whole")]);
    let wire = Wire::Anthropic;
    ask(&server, wire, &hello(wire)).await;
    let back = json!([text("user", "hello"), text("assistant", "half")]);
    ask(&server, wire, &request(wire, "You are a worker.", &back)).await;
    server.assert_valid_and_used();
}

#[tokio::test]
#[should_panic(expected = "request 0: Empty: message 0 has no content")]
async fn problems_end_the_test() {
    let server = server().await;
    ask(&server, Wire::Anthropic, &request(Wire::Anthropic, "sys", &json!([text("user", "")]))).await;
    server.assert_valid();
}
