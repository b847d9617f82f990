//! Read, Write and Edit on real files.

use crate::support::{Room, room};
use cox_exec::FileHash;
use cox_protocol::ToolDetail;
use cox_protocol::entry::{FileChange, ResultStatus};
use cox_protocol::inbox::Answer;
use cox_protocol::task::FailKind;
use serde_json::json;

#[tokio::test]
async fn lines_are_numbered_and_the_last_line_says_which_they_are() {
    let room = room(&[("src/a.rs", "fn a() {\r\n}\r\n\nlast"), ("empty", "")]);
    let done = room.call("Read", json!({ "path": "src/a.rs" })).await;
    assert_eq!(done.result.content, "1\tfn a() {\n2\t}\n3\t\n4\tlast\n(lines 1–4 of 4)");
    assert_eq!(done.result.detail, ToolDetail::Read { path: "src/a.rs".into(), lines: 4, total_lines: 4 });
    assert_eq!(
        room.ok("Read", json!({ "path": "./src/../src/a.rs", "offset": 2, "limit": 2 })).await,
        "2\t}\n3\t\n(lines 2–3 of 4)"
    );
    assert_eq!(room.ok("Read", json!({ "path": "empty" })).await, "(lines 0–0 of 0)");
    assert_eq!(
        room.says("Read", json!({ "path": "src/a.rs", "offset": 9 })).await,
        (ResultStatus::Error, "src/a.rs: it has 4 lines; there is no line 9".to_owned())
    );
}

#[tokio::test]
async fn a_read_is_capped_in_lines_characters_and_bytes() {
    let many: String = (1..=5_000).map(|n| format!("{n}\n")).collect();
    let wide = "ü".repeat(5_000);
    let heavy: String = (0..1_000).map(|_| "x".repeat(1_000) + "\n").collect();
    let room = room(&[("many", &many), ("wide", &wide), ("heavy", &heavy)]);
    let text = room.ok("Read", json!({ "path": "many" })).await;
    assert!(text.ends_with("\n2000\t2000\n(lines 1–2000 of 5000)"), "{}", &text[text.len() - 60..]);
    let text = room.ok("Read", json!({ "path": "wide" })).await;
    assert_eq!(text, format!("1\t{}… (3000 characters cut)\n(lines 1–1 of 1)", "ü".repeat(2_000)));
    let text = room.ok("Read", json!({ "path": "heavy" })).await;
    assert!(text.len() < 110 * 1024 && text.contains("\n(stopped at 100 KB)\n(lines 1–10"), "{}", text.len());
}

#[tokio::test]
async fn what_is_no_text_file_is_said() {
    let room = room(&[("src/a.rs", "")]);
    room.put("binary", b"\x7fELF\0\0\0");
    room.put("latin", b"caf\xe9\n");
    insta::assert_snapshot!(told(&room, "binary").await, @"binary is a binary file (7 bytes); Read shows text only");
    insta::assert_snapshot!(told(&room, "src").await);
    insta::assert_snapshot!(told(&room, "missing.txt").await);
    let latin = room.ok("Read", json!({ "path": "latin" })).await;
    assert_eq!(
        latin,
        "1\tcaf\u{fffd}\n(bytes that are not UTF-8 are shown as \u{fffd}; Edit can't change this file)\n(lines 1–1 of 1)"
    );
    assert_eq!(
        room.says("Edit", json!({ "path": "latin", "old_string": "caf", "new_string": "x" })).await,
        (ResultStatus::Error, "latin is not UTF-8 text; Edit can't change it".to_owned())
    );
}

async fn told(room: &Room, path: &str) -> String {
    let (status, content) = room.says("Read", json!({ "path": path })).await;
    assert_eq!(status, ResultStatus::Error, "{content}");
    content
}

// W30
#[tokio::test]
async fn nothing_outside_the_project_is_read_or_written() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "secret\n").unwrap();
    let room = room(&[]);
    std::os::unix::fs::symlink(outside.path(), room.path("way-out")).unwrap();
    for path in [secret.to_str().unwrap(), "way-out/secret", "../secret"] {
        for (tool, input) in [
            ("Read", json!({ "path": path })),
            ("Write", json!({ "path": path, "content": "gone" })),
            ("Edit", json!({ "path": path, "old_string": "secret", "new_string": "gone" })),
            ("Grep", json!({ "path": path, "pattern": "secret" })),
            ("Glob", json!({ "path": path, "pattern": "**" })),
        ] {
            let (status, content) = room.says(tool, input).await;
            assert_eq!(status, ResultStatus::Denied, "{tool} {path}: {content}");
        }
    }
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret\n");
}

#[tokio::test]
async fn an_edit_gives_diff_hashes_counts_and_the_content_before() {
    let room = room(&[("a.txt", "one\ntwo\nthree\n")]);
    room.ok("Read", json!({ "path": "a.txt" })).await;
    let done =
        room.call("Edit", json!({ "path": "a.txt", "old_string": "two\n", "new_string": "2\n2a\n" })).await;
    assert_eq!(room.text("a.txt"), "one\n2\n2a\nthree\n");
    let before = FileHash::of(b"one\ntwo\nthree\n").to_string();
    let change = FileChange {
        path: "a.txt".to_owned(),
        before: Some(before.clone()),
        after: Some(FileHash::of(b"one\n2\n2a\nthree\n").to_string()),
        added: 2,
        removed: 1,
    };
    assert_eq!(done.change, Some((change.clone(), Some(before.clone()))));
    assert_eq!(done.result.content, "edited a.txt: +2 -1");
    assert_eq!(
        done.result.detail,
        ToolDetail::Change {
            change,
            diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2a\n three".to_owned()
        }
    );
    assert_eq!(room.journal.blobs.lock().unwrap()[&before], b"one\ntwo\nthree\n");
    // What it wrote itself it knows.
    room.ok("Edit", json!({ "path": "a.txt", "old_string": "2a\n", "new_string": "" })).await;
}

#[tokio::test]
async fn an_edit_of_what_was_not_read_or_has_changed_is_refused() {
    let room = room(&[("a.txt", "one\n")]);
    let edit = json!({ "path": "a.txt", "old_string": "one", "new_string": "1" });
    let write = json!({ "path": "a.txt", "content": "1\n" });
    for (tool, input) in [("Edit", &edit), ("Write", &write)] {
        assert_eq!(
            room.says(tool, input.clone()).await,
            (
                ResultStatus::Error,
                "you have not read a.txt; nothing was written. Read it first, then change it.".to_owned()
            )
        );
    }
    room.ok("Read", json!({ "path": "a.txt" })).await;
    room.put("a.txt", "one\nby hand\n");
    for (tool, input) in [("Edit", &edit), ("Write", &write)] {
        assert_eq!(
            room.says(tool, input.clone()).await,
            (
                ResultStatus::Error,
                "a.txt has changed on disk since you read it; nothing was written. Read it again, then change it."
                    .to_owned()
            )
        );
    }
    assert_eq!(room.text("a.txt"), "one\nby hand\n");
    room.ok("Read", json!({ "path": "a.txt" })).await;
    room.ok("Edit", edit).await;
    assert_eq!(room.text("a.txt"), "1\nby hand\n");
}

#[tokio::test]
async fn an_edit_that_does_not_fit_says_why() {
    let room = room(&[("a.txt", "x = 1\nx = 1\n")]);
    room.ok("Read", json!({ "path": "a.txt" })).await;
    let told = async |old: &str, new: &str| {
        room.says("Edit", json!({ "path": "a.txt", "old_string": old, "new_string": new })).await.1
    };
    insta::assert_snapshot!(told("x = 1", "x = 2").await, @"a.txt: old_string stands in 2 places (lines 1, 2); give more of the text around it, or set replace_all");
    insta::assert_snapshot!(told("  x = 1\n  y", "").await, @"a.txt: old_string is not in the file; it must match exactly, indentation and line breaks included. A line like its first one is line 1");
    insta::assert_snapshot!(room.says("Edit", json!({ "path": "b.txt", "old_string": "a", "new_string": "b" })).await.1, @"there is no file b.txt; Write makes a new one");
    room.ok("Edit", json!({ "path": "a.txt", "old_string": "x", "new_string": "y", "replace_all": true }))
        .await;
    assert_eq!(room.text("a.txt"), "y = 1\ny = 1\n");
}

#[tokio::test]
async fn a_new_file_is_written_with_its_folders() {
    let room = room(&[]);
    let done = room.call("Write", json!({ "path": "new folder/é\n.txt", "content": "one\ntwo" })).await;
    assert_eq!(done.result.content, r#"wrote "new folder/é\n.txt": +2 -0"#);
    assert_eq!(room.text("new folder/é\n.txt"), "one\ntwo");
    let (change, before) = done.change.unwrap();
    assert_eq!(
        (change.before, change.after, change.added, change.removed, before),
        (None, Some(FileHash::of(b"one\ntwo").to_string()), 2, 0, None)
    );
    assert_eq!(
        room.says("Write", json!({ "path": "new folder", "content": "" })).await,
        (ResultStatus::Error, "new folder is a folder".to_owned())
    );
}

// W29
#[tokio::test]
async fn protected_places_always_ask() {
    let room = room(&[(".env", "KEY=1\n")]).answers([
        Answer::Deny { reason: "no".into() },
        Answer::Deny { reason: "no".into() },
        Answer::AllowOnce,
    ]);
    for (tool, input) in
        [("Write", json!({ "path": ".git/hooks/x", "content": "" })), ("Read", json!({ "path": ".env" }))]
    {
        assert_eq!(room.says(tool, input).await.0, ResultStatus::Denied);
    }
    assert_eq!(room.ok("Read", json!({ "path": ".env" })).await, "1\tKEY=1\n(lines 1–1 of 1)");
    assert_eq!(room.ask.asked.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn nothing_is_written_when_the_content_before_cannot_be_kept() {
    let room = room(&[("a.txt", "one\n")]);
    room.ok("Read", json!({ "path": "a.txt" })).await;
    *room.journal.full.lock().unwrap() = true;
    let done = room.call("Write", json!({ "path": "a.txt", "content": "two\n" })).await;
    assert_eq!(done.fail, Some((FailKind::Storage, "the disk is full".to_owned())));
    assert_eq!(room.text("a.txt"), "one\n");
}
