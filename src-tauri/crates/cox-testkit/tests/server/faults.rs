//! All the ways in which an answer goes wrong.

use crate::client::{ask, connect, exchange, hello, path_of, post};
use cox_testkit::{Answer, ModelServer, ProblemKind, When, Wire};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

const BOTH: [Wire; 2] = [Wire::Anthropic, Wire::Openai];

async fn answered(wire: Wire, answer: Answer) -> crate::client::Response {
    let server = ModelServer::start().await;
    server.agent("a", When::Any).answer(answer);
    ask(&server, wire, &hello(wire)).await
}

#[tokio::test]
async fn an_error_has_a_status_headers_and_the_formats_own_body() {
    let error = || Answer::error(429, "rate_limit_error", "slow down").header("retry-after", "7");
    let response = answered(Wire::Anthropic, error()).await;
    assert_eq!((response.status(), response.header("retry-after")), (429, Some("7")));
    let body: Value = serde_json::from_str(&response.body().0).unwrap();
    assert_eq!(body["error"], json!({"type": "rate_limit_error", "message": "slow down"}));

    let response = answered(Wire::Openai, error()).await;
    assert_eq!((response.status(), response.header("retry-after")), (429, Some("7")));
    let body: Value = serde_json::from_str(&response.body().0).unwrap();
    assert_eq!(body, json!({"error": {"message": "slow down", "type": "rate_limit_error", "code": 429}}));

    let response = answered(Wire::Openai, Answer::status(502, "<html>bad gateway</html>")).await;
    assert_eq!((response.status(), response.body().0.as_str()), (502, "<html>bad gateway</html>"));
}

#[tokio::test]
async fn an_error_inside_the_stream_is_the_last_event() {
    for wire in BOTH {
        let response =
            answered(wire, Answer::says("half").fails("overloaded_error", "too much").text("never")).await;
        assert_eq!(response.status(), 200);
        let events = response.events();
        assert_eq!(events.last().unwrap()["error"]["type"], "overloaded_error");
        let (body, whole) = response.body();
        assert!(whole && body.contains("half") && !body.contains("never") && !body.contains("[DONE]"));
    }
}

#[tokio::test]
async fn a_cut_connection_ends_at_the_byte() {
    for wire in BOTH {
        let whole = answered(wire, Answer::says("one two three")).await.body().0;
        for bytes in [0, 1, 17, whole.len() / 2, whole.len() - 1] {
            let (body, ended) = answered(wire, Answer::says("one two three").cut_after(bytes)).await.body();
            assert_eq!((body.as_str(), ended), (&whole[..bytes], false), "cut after {bytes} of {wire:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_can_be_cut_by_a_step_or_before_its_first_byte() {
    for wire in BOTH {
        let (body, ended) = answered(wire, Answer::says("one").then_cuts()).await.body();
        assert!(!ended && body.contains("one"));
        assert_eq!(answered(wire, Answer::cuts()).await.raw, b"");
        // Without the last events, but properly ended as HTTP goes.
        let (body, ended) = answered(wire, Answer::says("one").without_end()).await.body();
        assert!(ended && body.contains("one") && !body.contains("message_stop") && !body.contains("[DONE]"));
    }
}

#[tokio::test]
async fn broken_events_come_as_they_are() {
    for wire in BOTH {
        let answer = Answer::says("one").raw("data: {not json\n\n").raw("\u{1}garbage").without_end();
        let (body, ended) = answered(wire, answer).await.body();
        assert!(ended && body.contains("data: {not json\n\n\u{1}garbage"), "{body}");
    }
}

#[tokio::test]
async fn a_hanging_answer_waits_for_the_client_to_go() {
    for wire in BOTH {
        for answer in [Answer::hangs(), Answer::says("one").then_hangs(), Answer::says("one").gate("never")] {
            let server = ModelServer::start().await;
            server.agent("a", When::Any).answer(answer);
            let (path, headers) = path_of(wire);
            let mut stream = connect(&server.address()).await;
            stream.write_all(&post(path, headers, &hello(wire).to_string())).await.unwrap();
            server.received(1).await;
            drop(stream);
            server.closed_by_client(0).await;
            assert_eq!(server.finished(1).await[0].last_byte_at, None);
        }
    }
}

#[tokio::test]
async fn dropping_the_server_closes_its_connections() {
    let server = ModelServer::start().await;
    server.agent("a", When::Any).answer(Answer::hangs());
    let (path, headers) = path_of(Wire::Openai);
    let request = post(path, headers, &hello(Wire::Openai).to_string());
    let address = server.address();
    let client = tokio::spawn(async move { exchange(&address, &request).await });
    server.received(1).await;
    drop(server);
    assert_eq!(client.await.unwrap().raw, b"");
}

#[tokio::test]
async fn a_request_without_an_answer_is_a_problem() {
    let server = ModelServer::start().await;
    server.agent("a", When::Any).answer(Answer::says("once"));
    for status in [200, 400] {
        assert_eq!(ask(&server, Wire::Openai, &hello(Wire::Openai)).await.status(), status);
    }
    let problems = server.problems();
    assert_eq!(problems.len(), 1);
    assert_eq!((problems[0].request, problems[0].kind), (1, ProblemKind::Script));
}
