//! Large contents (W3).

use crate::support::*;
use cox_store::BlobPiece;
use rusqlite::Connection;

#[tokio::test]
async fn bodies_over_32_kb_go_to_the_blobs_and_come_back_whole() {
    let f = fixture();
    let (s, lead) = (session(1), task(1));
    f.store.append(begin(&s, &lead, "p_1", 1)).await.unwrap();
    let sizes = [10, 32 * 1024 - 200, 33 * 1024, 3_000_000];
    let events = sizes.map(|size| of_task(&s, &lead, 2, answers(&"ä".repeat(size / 2))));
    let stored = f.store.append(events.to_vec()).await.unwrap();
    f.store.append(vec![events[2].clone()]).await.unwrap();
    let conn = Connection::open(f.folder.path().join("coxswain.db")).unwrap();
    let kept: Vec<bool> = conn
        .prepare("SELECT blob IS NOT NULL FROM events WHERE kind = 'entry' ORDER BY seq")
        .unwrap()
        .query_map((), |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(kept, [false, false, true, true, true]);
    let blobs: i64 = conn.query_row("SELECT count(*) FROM blobs", (), |row| row.get(0)).unwrap();
    assert_eq!(blobs, 2, "equal bodies are kept once");
    let read = f.reopen().store.events(&s, 2, 4).await.unwrap();
    assert!(read.iter().eq(stored.iter().map(|event| &**event)), "what is read is what was stored");
}

#[tokio::test]
async fn a_blob_is_read_in_pieces() {
    let f = fixture();
    let bytes: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
    let blob = f.store.put_blob(bytes.clone()).await.unwrap();
    assert_eq!(f.store.put_blob(bytes.clone()).await.unwrap(), blob, "kept once");
    assert_eq!(blob.size, 400_000);
    let piece = f.store.read_blob(&blob.hash, 399_990, 100).await.unwrap().unwrap();
    assert_eq!(piece, BlobPiece { blob: blob.clone(), bytes: bytes[399_990..].to_vec() });
    let past = f.store.read_blob(&blob.hash, 400_001, 100).await.unwrap().unwrap();
    assert!(past.bytes.is_empty());
    assert_eq!(f.store.read_blob("nothing", 0, 1).await.unwrap(), None);
    assert_eq!(f.store.read_blob(&"0".repeat(64), 0, 1).await.unwrap(), None);
    let empty = f.store.put_blob(Vec::new()).await.unwrap();
    assert!(f.store.read_blob(&empty.hash, 0, 10).await.unwrap().unwrap().bytes.is_empty());
}
