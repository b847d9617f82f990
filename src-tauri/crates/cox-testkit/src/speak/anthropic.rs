//! The stream of Anthropic Messages: named events, blocks with an index, counts at the start and the end.

use super::{Frame, Kind, Piece, error_body, pieces, tokens};
use crate::answer::Answer;
use crate::captured::{CapturedRequest, Wire};
use crate::step::{Step, Stop};
use serde_json::{Value, json};

/// The frames of an answer.
pub(super) fn frames(answer: &Answer, request: &CapturedRequest) -> Vec<Frame> {
    let counts = tokens(answer, request);
    let usage = |output: u64| {
        json!({
            "input_tokens": counts.input,
            "cache_creation_input_tokens": counts.cache_write,
            "cache_read_input_tokens": counts.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": counts.cache_write, "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": output,
            "service_tier": "standard",
        })
    };
    let start = json!({"type": "message_start", "message": {
        "id": format!("msg_{}", request.index), "type": "message", "role": "assistant", "model": request.model(),
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage(1),
    }});
    let mut frames = Vec::new();
    // The first events wait with the first piece behind a gate.
    let mut start = Some(event(&start));
    let mut index = 0;
    let mut ended = false;
    for piece in pieces(answer, request, "toolu") {
        if !matches!(piece, Piece::Other(Step::Gate(_) | Step::Hang | Step::Cut | Step::Raw(_))) {
            frames.extend(start.take().map(Frame::event));
        }
        match piece {
            Piece::Open(kind) => frames.push(Frame::event(event(&json!({
                "type": "content_block_start", "index": index, "content_block": opening(&kind),
            })))),
            Piece::Fragment(kind, text) => {
                let delta = fragment(&kind, &text);
                let block = json!({"type": "content_block_delta", "index": index, "delta": delta});
                frames.push(Frame::token(event(&block)));
            }
            Piece::Close(kind) => {
                if let Kind::Thinking { signature } = kind {
                    let delta = json!({"type": "signature_delta", "signature": signature});
                    let block = json!({"type": "content_block_delta", "index": index, "delta": delta});
                    frames.push(Frame::event(event(&block)));
                }
                frames.push(Frame::event(event(&json!({"type": "content_block_stop", "index": index}))));
                index += 1;
            }
            Piece::Other(Step::Error(error)) => {
                let body = error_body(Wire::Anthropic, &error.kind, &error.message, 200);
                frames.push(Frame::event(event(&body)));
                ended = true;
                break;
            }
            Piece::Other(Step::Ping) => frames.push(Frame::event(event(&json!({"type": "ping"})))),
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
        frames.push(Frame::event(event(&json!({
            "type": "message_delta",
            "delta": {"stop_reason": reason(answer.stop_reason()), "stop_sequence": null},
            "usage": usage(counts.output),
        }))));
        frames.push(Frame::event(event(&json!({"type": "message_stop"}))));
    }
    frames
}

fn event(data: &Value) -> Vec<u8> {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n").into_bytes()
}

fn opening(kind: &Kind) -> Value {
    match kind {
        Kind::Text => json!({"type": "text", "text": ""}),
        Kind::Thinking { .. } => json!({"type": "thinking", "thinking": "", "signature": ""}),
        Kind::Redacted { data } => json!({"type": "redacted_thinking", "data": data}),
        Kind::Tool { id, name } => json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
    }
}

fn fragment(kind: &Kind, text: &str) -> Value {
    match kind {
        Kind::Text | Kind::Redacted { .. } => json!({"type": "text_delta", "text": text}),
        Kind::Thinking { .. } => json!({"type": "thinking_delta", "thinking": text}),
        Kind::Tool { .. } => json!({"type": "input_json_delta", "partial_json": text}),
    }
}

fn reason(stop: Stop) -> Value {
    match stop {
        Stop::EndTurn => "end_turn".into(),
        Stop::ToolUse => "tool_use".into(),
        Stop::MaxTokens => "max_tokens".into(),
        Stop::StopSequence => "stop_sequence".into(),
        Stop::PauseTurn => "pause_turn".into(),
        Stop::Refusal => "refusal".into(),
        Stop::ContextFull => "model_context_window_exceeded".into(),
        Stop::None => Value::Null,
    }
}
