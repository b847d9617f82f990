//! The write-ahead log stays small (R54), and readers are not held up (R46).

use crate::support::*;
use cox_protocol::NewEvent;
use rusqlite::Connection;
use std::path::Path;
use std::time::Instant;

fn wal_bytes(folder: &Path) -> u64 {
    folder.join("coxswain.db-wal").metadata().map_or(0, |data| data.len())
}

fn large(at: i64) -> NewEvent {
    of_task(&session(1), &task(1), at, answers(&format!("{at}x").repeat(5_000)))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_stays_small_under_readers_and_writers() {
    let f = fixture();
    f.store.append(begin(&session(1), &task(1), "p_1", 1)).await.unwrap();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let readers = (0..3).map(|_| {
        let (store, stopped) = (f.store.clone(), stopped.clone());
        tokio::spawn(async move {
            let mut times = Vec::new();
            while !*stopped.borrow() {
                let begun = Instant::now();
                store.panel_view(&task(1), 20).await.unwrap();
                store.session_view(&session(1)).await.unwrap();
                times.push(begun.elapsed());
            }
            times
        })
    });
    let readers: Vec<_> = readers.collect();
    let mut longest = 0;
    for round in 0..50 {
        let writers = (0..8).map(|n| {
            let store = f.store.clone();
            tokio::spawn(async move {
                for at in 0..5 {
                    store.append(vec![large(round * 100 + n * 10 + at)]).await.unwrap();
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        longest = longest.max(wal_bytes(f.folder.path()));
    }
    stop.send(true).unwrap();
    let mut times = Vec::new();
    for reader in readers {
        times.extend(reader.await.unwrap());
    }
    times.sort();
    let p95 = times[times.len() * 95 / 100];
    let mib = |bytes: u64| bytes / 1024 / 1024;
    println!("{} reads, p95 {p95:?}; the log was at most {} MiB", times.len(), mib(longest));
    assert!(longest < 40 << 20, "{} MiB", mib(longest));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_shrinks_again_after_a_long_foreign_reader() {
    let f = fixture();
    f.store.append(begin(&session(1), &task(1), "p_1", 1)).await.unwrap();
    let foreign = Connection::open(f.folder.path().join("coxswain.db")).unwrap();
    foreign.execute_batch("BEGIN; SELECT count(*) FROM events;").unwrap();
    for at in 0..1_500 {
        f.store.append_later(vec![large(at)]);
    }
    f.store.flush().await.unwrap();
    assert!(wal_bytes(f.folder.path()) > 12 << 20, "the reader holds it back");
    foreign.execute_batch("ROLLBACK").unwrap();
    for at in 0..2 {
        f.store.append(vec![large(at)]).await.unwrap();
        f.store.flush().await.unwrap();
    }
    f.store.append(vec![large(3)]).await.unwrap();
    assert!(wal_bytes(f.folder.path()) <= 9 << 20, "{}", wal_bytes(f.folder.path()));
}
