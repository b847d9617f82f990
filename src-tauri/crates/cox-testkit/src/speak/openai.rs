//! The stream of OpenAI Chat Completions: unnamed chunks with deltas, then usage where asked for, then `[DONE]`.

use super::{Frame, Kind, Piece, error_body, pieces, tokens};
use crate::answer::Answer;
use crate::captured::{CapturedRequest, Wire};
use crate::step::{Step, Stop};
use serde_json::{Value, json};

/// The frames of an answer.
pub(super) fn frames(answer: &Answer, request: &CapturedRequest) -> Vec<Frame> {
    let chunk = |choices: Value, usage: Option<Value>| {
        let mut chunk = json!({
            "id": format!("chatcmpl-{}", request.index), "object": "chat.completion.chunk",
            "created": 1_767_225_600, "model": request.model(), "choices": choices,
        });
        if let Some(usage) = usage {
            chunk["usage"] = usage;
        }
        data(&chunk.to_string())
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]), None);
    let mut start = Some(delta(json!({"role": "assistant", "content": null})));
    let mut frames = Vec::new();
    let mut calls = 0;
    let mut ended = false;
    for piece in pieces(answer, request, "call") {
        if !matches!(piece, Piece::Other(Step::Gate(_) | Step::Hang | Step::Cut | Step::Raw(_))) {
            frames.extend(start.take().map(Frame::event));
        }
        match piece {
            Piece::Open(Kind::Tool { id, name }) => {
                let call = json!({
                    "index": calls, "id": id, "type": "function", "function": {"name": name, "arguments": ""},
                });
                frames.push(Frame::event(delta(json!({"tool_calls": [call]}))));
                calls += 1;
            }
            Piece::Open(Kind::Text | Kind::Thinking { .. } | Kind::Redacted { .. }) | Piece::Close(_) => {}
            Piece::Fragment(kind, text) => frames.push(Frame::token(delta(match kind {
                Kind::Text | Kind::Redacted { .. } => json!({"content": text}),
                Kind::Thinking { .. } => json!({"reasoning_content": text}),
                Kind::Tool { .. } => {
                    json!({"tool_calls": [{"index": calls - 1, "function": {"arguments": text}}]})
                }
            }))),
            Piece::Other(Step::Error(error)) => {
                let body = error_body(Wire::Openai, &error.kind, &error.message, 500);
                frames.push(Frame::event(data(&body.to_string())));
                ended = true;
                break;
            }
            Piece::Other(Step::Ping) => frames.push(Frame::event(b": keep-alive\n\n".to_vec())),
            Piece::Other(Step::Gate(name)) => frames.push(Frame::Gate(name)),
            Piece::Other(Step::Raw(text)) => frames.push(Frame::event(text.into_bytes())),
            Piece::Other(Step::Hang) => frames.push(Frame::Hang),
            Piece::Other(Step::Cut) => frames.push(Frame::Cut),
            Piece::Other(
                Step::Text(_) | Step::Thinking(_) | Step::RedactedThinking(_) | Step::Tool(_) | Step::Break,
            ) => {}
        }
    }
    if !ended && !answer.no_end {
        frames.extend(start.take().map(Frame::event));
        if let Some(reason) = reason(answer.stop_reason()) {
            let finish = json!([{"index": 0, "delta": {}, "finish_reason": reason}]);
            frames.push(Frame::event(chunk(finish, None)));
        }
        if request.body["stream_options"]["include_usage"] == true {
            let counts = tokens(answer, request);
            let prompt = counts.input + counts.cache_read + counts.cache_write;
            let usage = json!({
                "prompt_tokens": prompt, "completion_tokens": counts.output,
                "total_tokens": prompt + counts.output,
                "prompt_tokens_details": {
                    "cached_tokens": counts.cache_read, "cache_write_tokens": counts.cache_write,
                },
            });
            frames.push(Frame::event(chunk(json!([]), Some(usage))));
        }
        frames.push(Frame::event(data("[DONE]")));
    }
    frames
}

fn data(text: &str) -> Vec<u8> {
    format!("data: {text}\n\n").into_bytes()
}

fn reason(stop: Stop) -> Option<&'static str> {
    match stop {
        Stop::EndTurn | Stop::StopSequence | Stop::PauseTurn => Some("stop"),
        Stop::ToolUse => Some("tool_calls"),
        Stop::MaxTokens | Stop::ContextFull => Some("length"),
        Stop::Refusal => Some("content_filter"),
        Stop::None => None,
    }
}
