//! The log itself: order, acknowledgement, what survives.

use crate::support::*;
use cox_protocol::task::PermissionMode;
use cox_protocol::{Event, EventKind};
use cox_store::StoreError;
use std::sync::Arc;
use std::time::Instant;

// Invariant 2, N24: what was acknowledged is there after the process went away without a word.
#[tokio::test]
async fn acknowledged_events_survive_without_a_close() {
    let first = fixture();
    let (s, lead) = (session(1), task(1));
    let mut stored = first.store.append(begin(&s, &lead, "p_1", 1)).await.unwrap();
    stored.extend(first.store.append(vec![of_task(&s, &lead, 2, says("hello"))]).await.unwrap());
    let again = first.reopen();
    let read = again.store.events(&s, 0, 100).await.unwrap();
    let stored: Vec<Event> = stored.iter().map(|event| (**event).clone()).collect();
    assert_eq!(read, stored, "the log holds exactly what was acknowledged");
    assert_eq!(stored.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(again.store.last_seq().await.unwrap(), 3);
}

// W2: kinds of later versions survive a round trip.
#[tokio::test]
async fn unknown_kinds_survive() {
    let f = fixture();
    let (s, lead) = (session(1), task(1));
    f.store.append(begin(&s, &lead, "p_1", 1)).await.unwrap();
    let stored = f.store.append(vec![from_the_future(&s, &lead)]).await.unwrap();
    let read = f.store.events(&s, 2, 100).await.unwrap();
    assert_eq!(read, [(*stored[0]).clone()]);
    assert_eq!(read[0].known(), None);
    let view = f.store.session_view(&s).await.unwrap().unwrap();
    assert_eq!((view.seq, view.updated_at), (3, 7), "it is folded in as far as it is understood");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sink_gets_everything_once_and_in_order() {
    let f = fixture();
    let s = session(1);
    f.store.append(begin(&s, &task(1), "p_1", 1)).await.unwrap();
    let workers = (0..8).map(|n| {
        let (store, s) = (f.store.clone(), s.clone());
        tokio::spawn(async move {
            for at in 0..25 {
                if at % 5 == 0 {
                    store.append_later(vec![of_task(&s, &task(1), at, says("later"))]);
                }
                let text = format!("{n} says {at}");
                let stored = store.append(vec![of_task(&s, &task(1), at, says(&text))]).await.unwrap();
                assert_eq!(stored.len(), 1);
            }
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await.unwrap();
    }
    f.store.flush().await.unwrap();
    let seen: Vec<u64> = f.seen.lock().unwrap().iter().map(|event| event.seq).collect();
    assert_eq!(seen, (1..=2 + 8 * 30).collect::<Vec<u64>>());
    assert_eq!(f.store.transcript(&task(1)).await.unwrap().len(), 8 * 30);
}

// W25: bypass is never stored, wherever it stands.
#[tokio::test]
async fn bypass_is_never_stored() {
    let f = fixture();
    let s = session(1);
    let bypass = EventKind::SessionModeSet { permission_mode: PermissionMode::BypassPermissions };
    let mut made = created("p_1");
    if let EventKind::SessionCreated { permission_mode, .. } = &mut made {
        *permission_mode = PermissionMode::BypassPermissions;
    }
    for kind in [bypass, made] {
        let refused = f.store.append(vec![of_session(&s, 1, kind.clone())]).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
        f.store.append_later(vec![of_session(&s, 1, kind)]);
    }
    f.store.flush().await.unwrap();
    assert_eq!(f.store.last_seq().await.unwrap(), 0);
}

#[tokio::test]
async fn a_closed_store_says_so() {
    let f = fixture();
    let other = f.store.clone();
    f.store.append(begin(&session(1), &task(1), "p_1", 1)).await.unwrap();
    f.store.append_later(vec![of_task(&session(1), &task(1), 2, says("last words"))]);
    f.store.close().await.unwrap();
    let wal = f.folder.path().join("coxswain.db-wal");
    assert_eq!(wal.metadata().map_or(0, |data| data.len()), 0, "the write-ahead log was taken in");
    let refused = other.append(vec![of_task(&session(1), &task(1), 3, says("too late"))]).await;
    assert!(matches!(refused, Err(StoreError::Closed)), "{refused:?}");
    assert!(matches!(other.last_seq().await, Err(StoreError::Closed)));
    let (store, _) = open(f.folder.path());
    assert_eq!(store.last_seq().await.unwrap(), 3, "what was queued before the close is stored");
}

#[tokio::test]
async fn a_sink_that_panics_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let sink = Box::new(|_: &[Arc<Event>]| panic!("on purpose"));
    let store = cox_store::Store::open(folder.path(), cox_store::OpenOptions::default(), sink).unwrap();
    store.append(begin(&session(1), &task(1), "p_1", 1)).await.unwrap();
    store.append(vec![of_task(&session(1), &task(1), 2, says("still there"))]).await.unwrap();
    assert_eq!(store.last_seq().await.unwrap(), 3);
}

// W8: told, not asserted; machines differ.
#[tokio::test(flavor = "multi_thread")]
async fn timing_of_awaited_appends() {
    let f = fixture();
    let s = session(1);
    f.store.append(begin(&s, &task(0), "p_1", 1)).await.unwrap();
    for workers in [1, 8, 32] {
        let all = (0..workers).map(|n| {
            let (store, s) = (f.store.clone(), s.clone());
            tokio::spawn(async move {
                let mut times = Vec::new();
                for at in 0..100 {
                    let begin = Instant::now();
                    store.append(vec![of_task(&s, &task(n), at, answers("a small answer"))]).await.unwrap();
                    times.push(begin.elapsed());
                }
                times
            })
        });
        let mut times = Vec::new();
        for worker in all.collect::<Vec<_>>() {
            times.extend(worker.await.unwrap());
        }
        times.sort();
        let at = |part: usize| times[times.len() * part / 100];
        println!("{workers:2} workers: append median {:?}, p95 {:?}, p99 {:?}", at(50), at(95), at(99));
    }
}

// What a store costs in memory: told, not asserted.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn memory_of_an_open_store() {
    let pss = || {
        let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("Pss:")).map(str::to_owned);
        line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0)
    };
    let before = pss();
    let f = fixture();
    let opened = pss();
    let s = session(1);
    f.store.append(begin(&s, &task(1), "p_1", 1)).await.unwrap();
    for at in 0..2_000 {
        f.store.append(vec![of_task(&s, &task(1), at, answers("a small answer of a worker"))]).await.unwrap();
        if at % 100 == 0 {
            f.seen.lock().unwrap().clear();
            f.store.panel_view(&task(1), 100).await.unwrap();
            f.store.search("answer", None).await.unwrap();
        }
    }
    f.store.flush().await.unwrap();
    println!("PSS: {before} KiB before, {opened} KiB opened, {} KiB after 2,000 appends", pss());
}
