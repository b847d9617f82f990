//! Requests that are sent again, and requests that must not be (WIRE.md 1.8).

use crate::server::{Reply, Server};
use crate::support::{net, provider, request, talk};
use cox_protocol::settings::ProviderKind;
use cox_provider::ModelEvent;
use futures::StreamExt;
use serde_json::json;

const ANTHROPIC: ProviderKind = ProviderKind::Anthropic;
const OPENAI: ProviderKind = ProviderKind::Openai;

fn good() -> Reply {
    Reply::chunks(&[
        json!({"model": "m", "choices": [{"index": 0, "delta": {"content": "Hi"}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}),
    ])
}

fn overloaded(headers: &str) -> Reply {
    Reply::status(529, headers, r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#)
}

#[tokio::test]
async fn twice_and_then_it_works() {
    // R108
    let (story, asked) =
        talk(OPENAI, vec![overloaded(""), overloaded("retry-after-ms: 3\r\n"), good()], request("m")).await;
    insta::assert_snapshot!("twice_and_then_it_works", story);
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|body| *body == asked[0]), "the same request every time");
}

#[tokio::test]
async fn three_times_is_enough() {
    // R110
    let (story, asked) = talk(OPENAI, vec![overloaded("request-id: req_7\r\n")], request("m")).await;
    insta::assert_snapshot!("three_times_is_enough", story);
    assert_eq!(asked.len(), 3);
}

#[tokio::test]
async fn the_server_says_no() {
    let (story, asked) =
        talk(OPENAI, vec![overloaded("x-should-retry: false\r\n"), good()], request("m")).await;
    assert_eq!(asked.len(), 1, "{story}");
}

#[tokio::test]
async fn the_server_says_yes() {
    let refusal = Reply::status(400, "x-should-retry: true\r\n", r#"{"error":{"message":"try me"}}"#);
    let (story, asked) = talk(OPENAI, vec![refusal, good()], request("m")).await;
    assert_eq!(asked.len(), 2, "{story}");
    assert!(story.ends_with("done EndTurn, input 9 output 1 cache read 0 write 0, model m"), "{story}");
}

#[tokio::test]
async fn a_stream_that_fails_before_its_first_word() {
    let early = |event: &str| {
        let start = r#"{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}"#;
        Reply::sse(&format!("data: {start}\n\n{event}"))
    };
    let error = early(
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
    );
    let whole = early(
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
    );
    let (story, asked) = talk(ANTHROPIC, vec![error, early(""), whole], request("m")).await;
    insta::assert_snapshot!("before_its_first_word", story);
    assert_eq!(asked.len(), 3);
}

#[tokio::test]
async fn never_after_something_was_delivered() {
    let (story, asked) = talk(
        OPENAI,
        vec![Reply::sse("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"H\"}}]}\n\n"), good()],
        request("m"),
    )
    .await;
    assert_eq!(asked.len(), 1, "{story}");
    assert!(story.contains("error StreamBroken"), "{story}");
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server =
        Server::start([
            Reply::sse("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n").hang()
        ])
        .await;
    let mut stream = provider(OPENAI, &server).stream(request("m"));
    while !matches!(stream.next().await, Some(Ok(ModelEvent::Delta { .. }))) {}
    drop(stream);
    server.closed().await;
}

#[tokio::test]
async fn connections_are_used_again() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}/v1", listener.local_addr().unwrap());
    let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}],\"usage\":{}}\n\ndata: [DONE]\n\n";
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let answer = format!("{head}{:x}\r\n{body}\r\n", body.len());
    let connections = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = connections.clone();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut buffer = [0; 16 * 1024];
                while matches!(socket.read(&mut buffer).await, Ok(1..)) {
                    socket.write_all(answer.as_bytes()).await.unwrap();
                    // The body ends after the answer has, as with most servers.
                    tokio::task::yield_now().await;
                    socket.write_all(b"0\r\n\r\n").await.unwrap();
                }
            });
        }
    });
    let provider = cox_provider::connect(&crate::support::settings(OPENAI, &origin), None, &net()).unwrap();
    for _ in 0..20 {
        // The stream is dropped right after its last event, as the engine does.
        let mut stream = provider.stream(request("m"));
        while !matches!(stream.next().await.unwrap().unwrap(), ModelEvent::Done { .. }) {}
        drop(stream);
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }
    let connections = connections.load(std::sync::atomic::Ordering::SeqCst);
    assert!(connections <= 10, "{connections} connections for 20 requests");
}
