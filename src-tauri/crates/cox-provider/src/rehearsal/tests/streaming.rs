//! The stream.

use super::super::{Pace, Rehearsal};
use super::runtime::user;
use super::{COORDINATOR, tools};
use crate::door::{ModelEvent, ModelRequest, Provider};
use cox_protocol::entry::{Block, StopReason};
use cox_protocol::view::PartialKind;
use futures::StreamExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn request() -> ModelRequest {
    ModelRequest {
        model: "rehearsal".into(),
        system: "You are the lead.".into(),
        tools: tools(&COORDINATOR).into(),
        entries: vec![Arc::new(user("go"))],
        max_tokens: None,
        last: None,
    }
}

async fn events(pace: Pace, request: ModelRequest) -> Vec<ModelEvent> {
    Rehearsal { pace }.stream(request).map(Result::unwrap).collect().await
}

#[tokio::test]
async fn the_pieces_are_the_blocks() {
    let events = events(Pace::Instant, request()).await;
    assert!(matches!(events[..2], [ModelEvent::Sent { moved: None, .. }, ModelEvent::Started]));
    let mut pieces = [String::new(), String::new()];
    let mut blocks = Vec::new();
    for event in &events {
        match event {
            ModelEvent::Delta { block, text, kind, tool } => {
                assert_eq!(
                    (*kind, tool.as_str()),
                    [(PartialKind::Text, ""), (PartialKind::Call, "Agent")][*block as usize]
                );
                assert!(text.chars().count() <= 90);
                pieces[*block as usize].push_str(text);
            }
            ModelEvent::Block { block, content } => {
                assert_eq!(*block as usize, blocks.len(), "ascending, without gaps");
                blocks.push(content.clone());
            }
            ModelEvent::Sent { .. }
            | ModelEvent::Started
            | ModelEvent::Retrying { .. }
            | ModelEvent::Done { .. } => {}
        }
    }
    let whole: Vec<String> = blocks
        .iter()
        .map(|block| match block {
            Block::Text { text } => text.clone(),
            Block::ToolCall { call } => call.input.to_string(),
            Block::Thinking { .. } | Block::Opaque { .. } => panic!("{block:?}"),
        })
        .collect();
    assert_eq!(pieces.as_slice(), whole);
    let Some(ModelEvent::Done { stop: StopReason::ToolUse, usage, model }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!((model.as_str(), usage.estimated), ("rehearsal", true));
    assert_eq!(usage.output, (whole.concat().len() as u64).div_ceil(4));
    assert!(usage.input > 0 && usage.cache_read == 0);
}

#[tokio::test]
async fn the_human_pace_takes_time_and_says_the_same() {
    let began = Instant::now();
    let human = events(Pace::Human, request()).await;
    let pieces = human.iter().filter(|event| matches!(event, ModelEvent::Delta { .. })).count() as u32;
    assert!(began.elapsed() >= Duration::from_millis(16) * pieces, "{pieces} pieces");
    assert_eq!(human, events(Pace::Instant, request()).await);
}

// N38: the mark tells what moved.
#[tokio::test]
async fn the_mark_follows_the_history() {
    let first = events(Pace::Instant, request()).await;
    let Some(ModelEvent::Sent { mark, .. }) = first.first() else { panic!("{first:?}") };
    let mut next = request();
    next.last = Some(mark.clone());
    next.entries.push(Arc::new(user("more")));
    let grown = events(Pace::Instant, next.clone()).await;
    assert!(matches!(grown[0], ModelEvent::Sent { moved: None, .. }));
    next.system = "another".into();
    let moved = events(Pace::Instant, next).await;
    assert!(matches!(moved[0], ModelEvent::Sent { moved: Some(_), .. }));
}
