//! Long transcripts (R41) and the specs of tasks.

use crate::support::*;
use cox_protocol::{EventKind, NewEvent};
use std::time::Instant;

// R41: what is read does not grow with the transcript.
#[tokio::test]
async fn a_long_transcript_opens_at_its_end() {
    const ENTRIES: u64 = 20_000;
    let f = fixture();
    let (s, lead) = (session(1), task(1));
    f.store.append(begin(&s, &lead, "p_1", 1)).await.unwrap();
    let entries: Vec<NewEvent> =
        (0..ENTRIES).map(|n| of_task(&s, &lead, 2, says(&format!("entry {n}")))).collect();
    for piece in entries.chunks(2_000) {
        f.store.append(piece.to_vec()).await.unwrap();
    }
    let begun = Instant::now();
    let panel = f.store.panel_view(&lead, 100).await.unwrap().unwrap();
    println!("a panel over {ENTRIES} entries in {:?}", begun.elapsed());
    let seqs: Vec<u64> = panel.entries.iter().map(|row| row.seq).collect();
    assert_eq!(seqs, (ENTRIES - 97..=ENTRIES + 2).collect::<Vec<u64>>());
    assert!(panel.has_earlier);
    let (page, earlier) = f.store.transcript_page(&lead, 103, 100).await.unwrap();
    assert_eq!(page.iter().map(|row| row.seq).collect::<Vec<_>>(), (3..103).collect::<Vec<u64>>());
    assert!(!earlier, "that was the beginning");
    let begun = Instant::now();
    let all = f.store.transcript(&lead).await.unwrap();
    println!("all of it in {:?}", begun.elapsed());
    assert!(all.iter().map(|row| row.seq).eq(3..ENTRIES + 3), "the whole, in order, across all pieces");
}

#[tokio::test]
async fn a_spec_is_what_the_task_was_made_from() {
    let f = fixture();
    let (s, lead) = (session(1), task(1));
    f.store.append(begin(&s, &lead, "p_1", 1)).await.unwrap();
    f.store.append(vec![of_task(&s, &lead, 2, runs()), of_task(&s, &lead, 3, ends())]).await.unwrap();
    let EventKind::TaskStarted { spec } = started(&s, &lead, cox_protocol::task::TaskKind::Lead) else {
        unreachable!()
    };
    assert_eq!(f.store.task_spec(&lead).await.unwrap(), Some(spec));
    assert_eq!(f.store.task(&lead).await.unwrap().unwrap().0, s);
    assert_eq!(f.store.task_spec(&task(9)).await.unwrap(), None);
    assert_eq!(f.store.panel_view(&task(9), 10).await.unwrap(), None);
    assert_eq!(f.store.session_view(&session(9)).await.unwrap(), None);
}
