//! Answers in progress (W9).

use crate::support::*;
use cox_protocol::NewEvent;
use cox_protocol::view::{Partial, PartialBlock, PartialKind};

fn partial(generation: u32, turn: u32, text: &str) -> Partial {
    let block = PartialBlock { kind: PartialKind::Text, text: text.into(), tool: String::new() };
    Partial { generation, turn, blocks: vec![block] }
}

async fn begun() -> Fixture {
    let f = fixture();
    f.store.append(begin(&session(1), &task(1), "p_1", 1)).await.unwrap();
    f.store.append(vec![of_task(&session(1), &task(1), 2, runs())]).await.unwrap();
    f
}

#[tokio::test]
async fn the_latest_text_is_in_the_panel_also_after_a_crash() {
    let f = begun().await;
    for text in ["The", "The answ", "The answer"] {
        f.store.save_partial(&task(1), &session(1), Some(partial(1, 1, text)));
    }
    f.store.flush().await.unwrap();
    let f = f.reopen();
    let panel = f.store.panel_view(&task(1), 10).await.unwrap().unwrap();
    assert_eq!(panel.partial, Some(partial(1, 1, "The answer")));
    let all = f.store.partials(&session(1)).await.unwrap();
    assert_eq!(all, [(task(1), partial(1, 1, "The answer"))]);
    assert_eq!(f.store.last_seq().await.unwrap(), 3, "it is no event");
    f.store.save_partial(&task(1), &session(1), None);
    f.store.flush().await.unwrap();
    assert_eq!(f.store.partials(&session(1)).await.unwrap(), []);
}

#[tokio::test]
async fn it_goes_with_the_answer_the_end_or_the_interruption() {
    let ended = [
        answers("The answer"),
        ends(),
        cox_protocol::EventKind::TaskInterrupted { reason: "the process ended".into() },
    ];
    for kind in ended {
        let f = begun().await;
        f.store.save_partial(&task(1), &session(1), Some(partial(1, 1, "The answ")));
        f.store.append(vec![of_task(&session(1), &task(1), 3, kind.clone())]).await.unwrap();
        let panel = f.store.panel_view(&task(1), 10).await.unwrap().unwrap();
        assert_eq!(panel.partial, None, "after {kind:?}");
    }
}

#[tokio::test]
async fn the_next_turns_text_is_not_taken_for_the_last_ones() {
    let f = begun().await;
    f.store.save_partial(&task(1), &session(1), Some(partial(1, 2, "And then")));
    f.store.append_later(vec![of_task(&session(1), &task(1), 3, answers("The answer"))]);
    f.store.append(vec![of_task(&session(1), &task(1), 3, results(&["c"]))]).await.unwrap();
    let panel = f.store.panel_view(&task(1), 10).await.unwrap().unwrap();
    assert_eq!(panel.partial, Some(partial(1, 2, "And then")));
    let later = NewEvent { turn: 2, ..of_task(&session(1), &task(1), 4, answers("And then?")) };
    f.store.append(vec![later]).await.unwrap();
    assert_eq!(f.store.partials(&session(1)).await.unwrap(), []);
}
