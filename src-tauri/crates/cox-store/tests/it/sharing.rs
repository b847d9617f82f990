//! Several processes on one folder (W7). Two stores in one process are as strange to each other as two processes.

use crate::support::*;
use cox_protocol::EventKind;
use cox_store::LockedBy;

#[tokio::test(flavor = "multi_thread")]
async fn two_stores_write_one_log() {
    let a = fixture();
    let (b, b_seen) = open(a.folder.path());
    a.store.append(begin(&session("a"), &task("a"), "p_1", 1)).await.unwrap();
    b.append(begin(&session("b"), &task("b"), "p_1", 1)).await.unwrap();
    let write = |store: cox_store::Store, name: &'static str| {
        tokio::spawn(async move {
            for at in 0..50 {
                store.append(vec![of_task(&session(name), &task(name), at, says("hello"))]).await.unwrap();
            }
        })
    };
    let both = (write(a.store.clone(), "a"), write(b.clone(), "b"));
    both.0.await.unwrap();
    both.1.await.unwrap();
    a.store.flush().await.unwrap();
    b.flush().await.unwrap();
    let mut seqs: Vec<u64> = a.seen.lock().unwrap().iter().map(|event| event.seq).collect();
    assert!(seqs.is_sorted(), "each sink gets its own events in order");
    seqs.extend(b_seen.lock().unwrap().iter().map(|event| event.seq));
    seqs.sort_unstable();
    assert_eq!(
        seqs,
        (1..=104).collect::<Vec<u64>>(),
        "every number is given once, and each sink gets its own"
    );
    for name in ["a", "b"] {
        assert_eq!(b.transcript(&task(name)).await.unwrap().len(), 50);
        assert_eq!(a.store.search("hello", Some(session(name))).await.unwrap().len(), 50, "indexed once");
    }
    assert_eq!(a.store.rebuild().await.unwrap().changed, Vec::<String>::new());
}

#[tokio::test]
async fn what_another_store_wrote_is_not_overwritten() {
    let a = fixture();
    let (b, _) = open(a.folder.path());
    let (s, lead) = (session(1), task(1));
    a.store.append(begin(&s, &lead, "p_1", 1)).await.unwrap();
    b.append(vec![of_session(&s, 2, EventKind::SessionTitled { title: "by b".into() })]).await.unwrap();
    a.store.append(vec![of_task(&s, &lead, 3, runs())]).await.unwrap();
    b.append(vec![of_task(&s, &lead, 4, queued("m_1", &lead))]).await.unwrap();
    a.store.append(vec![of_task(&s, &lead, 5, ends())]).await.unwrap();
    let view = b.session_view(&s).await.unwrap().unwrap();
    assert_eq!((view.title.as_str(), view.queued.len(), view.seq), ("by b", 1, 6));
    assert_eq!(b.rebuild().await.unwrap().changed, Vec::<String>::new());
}

// W7: a session has one owner, who is named to the others and is rid of it when the lock goes.
#[tokio::test]
async fn a_session_has_one_owner() {
    let a = fixture();
    let (b, _) = open(a.folder.path());
    let lock = a.store.lock_session(&session(1), "the window (process 12)").unwrap();
    let refused = b.lock_session(&session(1), "cox (process 13)").unwrap_err();
    assert_eq!(refused, LockedBy { owner: "the window (process 12)".into() });
    b.lock_session(&session(2), "cox (process 13)").unwrap();
    drop(lock);
    let _now_b = b.lock_session(&session(1), "cox").unwrap();
    let refused = a.store.lock_session(&session(1), "the window").unwrap_err();
    assert_eq!(refused.owner, "cox", "a shorter name leaves nothing of the longer one");
}

#[tokio::test]
async fn an_id_can_not_leave_the_folder() {
    let f = fixture();
    let odd = cox_protocol::SessionId::new("../../outside");
    let _lock = f.store.lock_session(&odd, "x").unwrap();
    assert!(
        f.folder
            .path()
            .parent()
            .unwrap()
            .read_dir()
            .unwrap()
            .flatten()
            .all(|entry| { !entry.file_name().to_string_lossy().starts_with("outside") })
    );
    assert!(!cox_store::output_file(&odd, &task(1)).contains(".."));
}
