//! What servers do in their own ways (WIRE.md 3), as whole streams. Single fragments are tested beside the slots.

use crate::server::Reply;
use crate::support::{assistant, call, request, result, results, talk, user};
use cox_protocol::settings::ProviderKind;
use cox_provider::ModelRequest;
use serde_json::{Value, json};

fn delta(delta: Value) -> Value {
    json!({"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn usage() -> Value {
    json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10}}})
}

fn calls(list: Value) -> Value {
    delta(json!({"tool_calls": list}))
}

async fn check(name: &str, reply: Reply, request: ModelRequest) -> String {
    let (story, asked) = talk(ProviderKind::Openai, vec![reply], request).await;
    assert_eq!(asked.len(), 1, "{story}");
    insta::assert_snapshot!(name, story);
    story
}

async fn chunks(name: &str, chunks: &[Value]) -> String {
    check(name, Reply::chunks(chunks), request("m")).await
}

#[tokio::test]
async fn ollama_parallel_calls_in_one_chunk_and_stop() {
    let one = |path: &str| json!({"index": 0, "id": "", "type": "function", "function": {"name": "Read", "arguments": {"path": path}}});
    chunks(
        "ollama",
        &[
            delta(json!({"role": "assistant", "content": ""})),
            calls(json!([one("a"), one("b")])),
            finish("stop"),
            usage(),
        ],
    )
    .await;
}

#[tokio::test]
async fn reasoning_under_either_name_and_text_in_the_finish_chunk() {
    // vllm-project/vllm#35705, #51641
    let last = json!({"choices": [{"index": 0, "delta": {"content": " you"}, "finish_reason": "stop"}]});
    let story = |name: &str| {
        [
            delta(json!({name: "Let me"})),
            delta(json!({name: " see."})),
            delta(json!({"content": "Hello"})),
            last.clone(),
            usage(),
        ]
    };
    let first = chunks("reasoning", &story("reasoning_content")).await;
    assert_eq!(chunks("reasoning", &story("reasoning")).await, first);
}

#[tokio::test]
async fn usage_comes_first_in_every_chunk_or_after_the_end() {
    // vllm-project/semantic-router#2215
    let told = chunks("usage", &[usage(), delta(json!({"content": "Hi"})), finish("stop")]).await;
    let mut every = [delta(json!({"content": "Hi"})), finish("stop"), usage()];
    every[0]["usage"] = json!({"prompt_tokens": 1, "completion_tokens": 1});
    assert_eq!(chunks("usage", &every).await, told);
    let late = format!(
        "data: {}\n\ndata: {}\n\ndata: [DONE]\n\ndata: {}\n\n",
        delta(json!({"content": "Hi"})),
        finish("stop"),
        usage()
    );
    assert_eq!(check("usage", Reply::sse(&late), request("m")).await, told);
    assert_eq!(
        check("usage", Reply::sse(&late).hang(), request("m")).await,
        told,
        "a connection that stays open"
    );
}

#[tokio::test]
async fn no_usage_at_all() {
    let body = format!(
        "data: {}\n\ndata: {}\n\ndata: [DONE]\n\n",
        delta(json!({"content": "Hello you"})),
        finish("stop")
    );
    check("no_usage", Reply::sse(&body).hang(), request("m")).await;
}

#[tokio::test]
async fn an_empty_finish_reason_is_none() {
    // adolfousier/opencrabs PR 1499, mudler/LocalAI#1744
    chunks(
        "empty_finish",
        &[
            json!({"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": ""}]}),
            json!({"choices": [{"delta": {"content": "!"}}]}),
            finish("stop"),
            usage(),
        ],
    )
    .await;
}

#[tokio::test]
async fn the_end_without_a_finish_reason() {
    // waybarrios/vllm-mlx#628
    chunks("no_finish", &[delta(json!({"content": "Hi"})), usage()]).await;
    chunks(
        "no_finish_after_a_call",
        &[calls(json!([{"index": 0, "id": "c", "function": {"name": "Read", "arguments": "{}"}}])), usage()],
    )
    .await;
}

#[tokio::test]
async fn an_error_in_band() {
    // OpenRouter: status 200, then the error beside empty or finished choices
    let error = json!({"error": {"code": 502, "message": "Provider disconnected"}, "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]});
    chunks("error_in_band", &[delta(json!({"content": "Hi"})), error]).await;
    chunks("finish_reason_error", &[delta(json!({"content": "Hi"})), finish("error")]).await;
}

#[tokio::test]
async fn content_filter_and_refusal() {
    chunks("content_filter", &[delta(json!({"content": "I"})), finish("content_filter"), usage()]).await;
    chunks("refusal", &[delta(json!({"refusal": "I can't."})), finish("stop"), usage()]).await;
}

#[tokio::test]
async fn arguments_that_are_no_json() {
    let call = |id: &str, text: &str| json!({"index": null, "id": id, "function": {"name": "Read", "arguments": text}});
    chunks(
        "bad_arguments",
        &[
            calls(json!([call("a", "{\"path\": nope}"), call("b", ""), call("c", "{\"path\":\"x\"}")])),
            finish("tool_calls"),
            usage(),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_cut_call_without_arguments_is_not_a_call_without_arguments() {
    chunks(
        "cut_before_arguments",
        &[
            calls(json!([{"index": 0, "id": "c", "function": {"name": "Write", "arguments": ""}}])),
            finish("length"),
            usage(),
        ],
    )
    .await;
}

#[tokio::test]
async fn text_after_a_call_keeps_its_place() {
    let one = calls(json!([{"index": 0, "id": "c", "function": {"name": "Read", "arguments": "{}"}}]));
    chunks(
        "text_after_a_call",
        &[
            delta(json!({"content": "First"})),
            one,
            delta(json!({"content": "then"})),
            finish("tool_calls"),
            usage(),
        ],
    )
    .await;
}

#[tokio::test]
async fn the_form_of_before_there_were_several_calls() {
    let part = |name: &str, text: &str| delta(json!({"function_call": {"name": name, "arguments": text}}));
    let story = chunks(
        "function_call",
        &[part("Read", "{\"path\""), part("", ":1}"), finish("function_call"), usage()],
    )
    .await;
    assert!(story.contains("ToolUse"));
}

#[tokio::test]
async fn ids_that_were_used_before_are_made_new() {
    let entries = vec![
        user("x"),
        assistant(vec![call("call_0", "Read", json!({}))]),
        results(vec![result("call_0", "A")]),
    ];
    let again = calls(json!([{"index": 0, "id": "call_0", "function": {"name": "Read", "arguments": "{}"}}]));
    let reply = Reply::chunks(&[again, finish("tool_calls"), usage()]);
    let story = check("used_id", reply, ModelRequest { entries, ..request("m") }).await;
    assert!(!story.contains(r#""id":"call_0""#));
}

#[tokio::test]
async fn unknown_keys_of_a_call_and_lists_of_reasoning_come_back() {
    let details = |text: &str| {
        delta(json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": text}]}))
    };
    let one = calls(
        json!([{"index": 0, "id": "c", "function": {"name": "Read", "arguments": "{}"}, "extra_content": {"google": {"thought_signature": "x"}}}]),
    );
    chunks("extras", &[details("Let me"), details(" see."), one, finish("stop"), usage()]).await;
}

#[tokio::test]
async fn a_prompt_that_was_cut_without_a_word() {
    // R111
    let entries = vec![user(&"word ".repeat(12_560))];
    let short = json!({"choices": [], "usage": {"prompt_tokens": 2051, "completion_tokens": 7}});
    let reply = Reply::chunks(&[delta(json!({"content": "What?"})), finish("stop"), short]);
    check("silent_truncation", reply, ModelRequest { entries, ..request("m") }).await;
}

#[tokio::test]
async fn an_answer_in_one_piece() {
    let error = Reply::status(
        200,
        "content-type: application/json\r\n",
        r#"{"error":{"code":401,"message":"No auth credentials found"}}"#,
    );
    check("error_in_one_piece", error, request("m")).await;
    let nothing = Reply::status(200, "content-type: application/json\r\n", r#"{"status":"ok"}"#);
    check("nothing_in_one_piece", nothing, request("m")).await;
}
