//! What a person gets to read when something is wrong.

use crate::server::{Reply, Server};
use crate::support::{events, net, net_with, provider, provider_on, request, settings, talk, tell};
use cox_protocol::settings::{ProviderKind, ProviderSettings};
use cox_protocol::task::FailKind;
use cox_provider::address::needs_confirmation;
use cox_provider::{Key, Timeouts, connect};
use std::time::Duration;
use tokio::net::TcpListener;

const ANTHROPIC: ProviderKind = ProviderKind::Anthropic;
const OPENAI: ProviderKind = ProviderKind::Openai;

/// The last line of the story: the error, and how many requests it took.
async fn refused(kind: ProviderKind, status: u16, headers: &str, body: &str) -> String {
    let (story, asked) = talk(kind, vec![Reply::status(status, headers, body)], request("big-model")).await;
    let error = story.lines().skip_while(|line| !line.starts_with("error")).collect::<Vec<_>>().join("\n");
    format!("{status} {body}\n{error}\n  requests: {}\n", asked.len())
}

#[tokio::test]
async fn answers_that_are_errors() {
    let cases = [
        (
            ANTHROPIC,
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
        ),
        (
            ANTHROPIC,
            403,
            r#"{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."}}"#,
        ),
        (
            ANTHROPIC,
            404,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: big-model"}}"#,
        ),
        (
            ANTHROPIC,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#,
        ),
        (
            ANTHROPIC,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again"}}"#,
        ),
        (
            ANTHROPIC,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
        ),
        (
            ANTHROPIC,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0.thinking.signature: Field required"}}"#,
        ),
        (
            ANTHROPIC,
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        ),
        (
            ANTHROPIC,
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit"}}"#,
        ),
        (
            ANTHROPIC,
            500,
            r#"{"type":"error","error":{"type":"api_error","message":"Internal server error"}}"#,
        ),
        (ANTHROPIC, 529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
        (
            OPENAI,
            401,
            r#"{"error":{"message":"Incorrect API key provided: sk-secret.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
        ),
        (
            OPENAI,
            404,
            r#"{"error":{"message":"The model `big-model` does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
        ),
        (OPENAI, 404, r#"{"error":"model \"big-model\" not found, try pulling it first"}"#),
        (OPENAI, 404, "404 page not found"),
        (
            OPENAI,
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9,000 tokens (8,000 in the messages, 1,000 in the completion).","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        ),
        (
            OPENAI,
            429,
            r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
        ),
        (
            OPENAI,
            429,
            r#"{"error":{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#,
        ),
        (OPENAI, 402, r#"{"error":{"message":"Insufficient Balance","type":"unknown_error"}}"#),
        (
            OPENAI,
            500,
            r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#,
        ),
        (OPENAI, 500, r#"{"error":{"message":"No user query found in messages.","type":"api_error"}}"#),
        (OPENAI, 400, r#"{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}"#),
        (
            OPENAI,
            400,
            r#"{"error":"Trying to keep the first 9,500 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}"#,
        ),
        (OPENAI, 502, "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"),
        (OPENAI, 422, r#"{"detail":[{"loc":["body","tools"],"msg":"field required"}]}"#),
        (
            OPENAI,
            429,
            r#"[{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED"}}]"#,
        ),
        (OPENAI, 500, ""),
    ];
    let mut told = Vec::new();
    for (kind, status, body) in cases {
        told.push(refused(kind, status, "", body).await);
    }
    insta::assert_snapshot!("answers_that_are_errors", told.join("\n"));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    // W31
    let moved = refused(OPENAI, 308, "location: https://elsewhere.example/v1/chat/completions\r\n", "").await;
    insta::assert_snapshot!("redirect", moved);
}

#[tokio::test]
async fn a_web_page_is_no_answer() {
    let page = Reply::status(
        200,
        "content-type: text/html\r\n",
        "<!doctype html><html><head><title>Sign in</title></head></html>",
    );
    let (story, _) = talk(OPENAI, vec![page], request("m")).await;
    insta::assert_snapshot!("web_page", story);
}

#[tokio::test]
async fn broken_json_in_one_piece() {
    let (story, _) = talk(
        OPENAI,
        vec![Reply::status(200, "content-type: application/json\r\n", "{\"choices\": [")],
        request("m"),
    )
    .await;
    insta::assert_snapshot!("broken_json_in_one_piece", story);
}

#[tokio::test]
async fn broken_json_in_a_stream() {
    let body =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: {\"choices\":[{\n\n";
    let (story, asked) = talk(OPENAI, vec![Reply::sse(body)], request("m")).await;
    assert_eq!(asked.len(), 1);
    insta::assert_snapshot!("broken_json_in_a_stream", story);
}

#[tokio::test]
async fn not_http_at_all() {
    let (story, asked) = talk(OPENAI, vec![Reply::raw("SSH-2.0-OpenSSH_9.6\r\n")], request("m")).await;
    assert_eq!(asked.len(), 3);
    assert!(
        story.contains("error Unreachable")
            && story.contains("the connection to SERVER broke before an answer"),
        "{story}"
    );
}

#[tokio::test]
async fn a_dead_server() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let provider = connect(&settings(OPENAI, &format!("http://127.0.0.1:{port}/v1")), None, &net()).unwrap();
    let told = tell(&events(provider.as_ref(), request("m")).await).replace(&port.to_string(), "PORT");
    insta::assert_snapshot!("dead_server", told);
    let error = provider.models().await.unwrap_err();
    assert_eq!(
        (error.kind, error.hint.as_deref()),
        (FailKind::Unreachable, Some("Is the model server running, and on this port?"))
    );
}

fn impatient() -> Timeouts {
    let short = Duration::from_millis(50);
    Timeouts {
        idle: short,
        total: Duration::from_millis(120),
        back_off: Duration::from_millis(1),
        ..Timeouts::default()
    }
}

async fn silence(reply: Reply) -> (String, usize) {
    let server = Server::start([reply.hang()]).await;
    let provider = provider_on(OPENAI, &server, &net_with(impatient()));
    let told = server.hide(&tell(&events(provider.as_ref(), request("m")).await));
    (told, server.asked().len())
}

#[tokio::test]
async fn a_server_that_never_answers() {
    let (told, asked) = silence(Reply::raw("")).await;
    assert_eq!(asked, 3);
    assert!(told.ends_with("SERVER did not answer in 0.12 s\n  hint: The server may be overloaded or hang; its own log may say more."), "{told}");
}

#[tokio::test]
async fn a_server_that_goes_silent() {
    let (told, asked) =
        silence(Reply::sse("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n")).await;
    assert_eq!(asked, 1, "something was delivered");
    assert!(told.contains("SERVER went silent in the middle of an answer for 0.05 s"), "{told}");
}

#[tokio::test]
async fn comments_reset_the_idle_timer_but_are_no_answer() {
    // Comments come every 20 ms for 240 ms: longer than the idle time-out, and than the wait for an answer.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                assert!(socket.read(&mut [0; 16 * 1024]).await.unwrap() > 0);
                socket
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
                    .await
                    .unwrap();
                let mut tick = tokio::time::interval(Duration::from_millis(20));
                while socket.write_all(b": ping\n").await.is_ok() {
                    tick.tick().await;
                }
            });
        }
    });
    let provider =
        connect(&settings(OPENAI, &format!("http://127.0.0.1:{port}/v1")), None, &net_with(impatient()))
            .unwrap();
    let told = tell(&events(provider.as_ref(), request("m")).await);
    assert!(told.contains("kept the line open without a word of an answer for 0.12 s"), "{told}");
}

#[tokio::test]
async fn a_line_without_end() {
    let server = Server::start([Reply::sse(&format!("data: {}", "x".repeat(9 * 1024 * 1024)))]).await;
    let told = server.hide(&tell(&events(provider(OPENAI, &server).as_ref(), request("m")).await));
    assert!(
        told.contains("the answer of SERVER can't be understood: a line of the stream is longer than 8 MB"),
        "{told}"
    );
}

#[test]
fn addresses_that_are_refused() {
    // W31
    let refusal = |url: &str| match connect(&settings(OPENAI, url), None, &net()) {
        Ok(_) => "fine".to_owned(),
        Err(error) => error.full_text(),
    };
    let urls = [
        "http://localhost:8080/v1",
        "http://[::1]:8080/v1/",
        "http://127.3.4.5/v1",
        "https://example.org/v1",
        "http://192.168.1.5:8080/v1",
        "http://localhost.example.org/v1",
        "ftp://example.org",
        "example.org/v1",
        "https://user:secret@example.org/v1",
        "https://example.org/v1?key=1",
        "",
    ];
    let told: Vec<String> = urls.iter().map(|url| format!("{url}\n  {}", refusal(url))).collect();
    insta::assert_snapshot!("addresses", told.join("\n"));
    let lan = settings(OPENAI, "http://192.168.1.5:8080/v1");
    assert!(needs_confirmation(&lan));
    let lan = ProviderSettings { plain_http_confirmed: true, ..lan };
    assert!(!needs_confirmation(&lan));
    assert!(connect(&lan, None, &net()).is_ok());
}

#[tokio::test]
async fn a_key_that_cannot_be_sent() {
    let server = Server::start([Reply::sse("")]).await;
    let provider = connect(&settings(ANTHROPIC, &server.origin()), Key::new("sk-\nsecret"), &net()).unwrap();
    let told = tell(&events(provider.as_ref(), request("m")).await);
    assert!(
        told.contains("error Auth") && told.contains("the key holds characters that can't be sent"),
        "{told}"
    );
    assert!(server.asked().is_empty());
}
