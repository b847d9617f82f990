//! The JSONL exports.

use crate::support::*;
use cox_protocol::{Event, NewEvent};
use cox_store::output_file;
use std::path::Path;

fn lines(path: &Path) -> Vec<Event> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "every line is whole");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn append(f: &Fixture, kinds: Vec<cox_protocol::EventKind>) {
    let events: Vec<NewEvent> =
        kinds.into_iter().map(|kind| of_task(&session(1), &task(1), 2, kind)).collect();
    f.store.append(events).await.unwrap();
    f.store.flush().await.unwrap();
}

#[tokio::test]
async fn every_task_has_a_file_that_follows_the_log() {
    let f = fixture();
    let path = f.folder.path().join(output_file(&session(1), &task(1)));
    assert_eq!(output_file(&session(1), &task(1)), "output/s_1/t_1.jsonl");
    f.store.append(begin(&session(1), &task(1), "p_1", 1)).await.unwrap();
    append(&f, vec![runs(), says("hello"), queued("m_1", &task(1))]).await;
    append(&f, vec![answers(&"long ".repeat(20_000)), ends()]).await;
    let log = f.store.events(&session(1), 0, 100).await.unwrap();
    let expected: Vec<Event> = [2, 3, 4, 6, 7].map(|seq| log[seq - 1].clone()).to_vec();
    assert_eq!(lines(&path), expected, "dispatch, transcript, begin and end of the generation");

    // Whatever happens to the file, it comes back whole with the next line.
    let whole = std::fs::read(&path).unwrap();
    for (what, damage) in [
        ("a torn line", [whole.clone(), b"{\"v\":1,\"se".to_vec()].concat()),
        ("a lost end", whole[..whole.len() / 2].to_vec()),
        ("an empty file", Vec::new()),
    ] {
        std::fs::write(&path, damage).unwrap();
        append(&f, vec![says("again")]).await;
        let log = f.store.events(&session(1), 7, 100).await.unwrap();
        assert_eq!(lines(&path), [expected.clone(), log].concat(), "after {what}");
    }
    std::fs::remove_dir_all(f.folder.path().join("output")).unwrap();
    append(&f, vec![says("again")]).await;
    assert_eq!(lines(&path).len(), 9, "also when the folder is gone");
    std::fs::remove_dir_all(f.folder.path().join("output")).unwrap();
    f.store.rebuild().await.unwrap();
    assert_eq!(lines(&path).len(), 9, "a rebuild writes it anew");

    let asked = f.folder.path().join("elsewhere.jsonl");
    assert_eq!(f.store.export_jsonl(&task(1), asked.clone()).await.unwrap(), 9);
    assert_eq!(lines(&asked), lines(&path));
}

#[tokio::test]
async fn what_was_not_exported_before_a_crash_is_exported_after_it() {
    let f = fixture();
    f.store.append(begin(&session(1), &task(1), "p_1", 1)).await.unwrap();
    let texts = (0..300).map(|n| of_task(&session(1), &task(1), 2, says(&format!("text {n}"))));
    f.store.append(texts.collect()).await.unwrap();
    let f = f.reopen();
    f.store.flush().await.unwrap();
    let seqs: Vec<u64> = lines(&f.folder.path().join(output_file(&session(1), &task(1))))
        .iter()
        .map(|event| event.seq)
        .collect();
    assert_eq!(seqs, (2..=302).collect::<Vec<u64>>(), "each line once");
}

#[tokio::test]
async fn a_file_that_can_not_be_written_holds_up_nothing() {
    let f = fixture();
    std::fs::write(f.folder.path().join("output"), "in the way").unwrap();
    f.store.append(begin(&session(1), &task(1), "p_1", 1)).await.unwrap();
    append(&f, vec![says("lighthouse")]).await;
    assert_eq!(f.store.search("lighthouse", None).await.unwrap().len(), 1);
    std::fs::remove_file(f.folder.path().join("output")).unwrap();
    append(&f, vec![says("again")]).await;
    assert_eq!(lines(&f.folder.path().join(output_file(&session(1), &task(1)))).len(), 3);
}
