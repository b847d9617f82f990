//! Glob and Grep on real folders.

use crate::support::{Room, room};
use cox_protocol::ToolDetail;
use cox_protocol::entry::ResultStatus;
use serde_json::json;

fn project() -> Room {
    let room = room(&[
        (".gitignore", "target/\n"),
        ("Cargo.toml", "[package]\n"),
        ("src/lib.rs", "fn one() {}\n// TODO: two\n"),
        ("src/deep/b.rs", "// TODO: b\r\n"),
        ("src/a.ts", "todo()\n"),
        ("target/out.rs", "// TODO: generated\n"),
        ("new\nline.rs", "// TODO: odd\n"),
    ]);
    room.put("bin.rs", b"TODO\0\0\0");
    room
}

#[tokio::test]
async fn files_are_listed_with_their_sizes_in_order() {
    let room = project();
    insta::assert_snapshot!(room.ok("Glob", json!({ "pattern": "**/*.rs" })).await);
    insta::assert_snapshot!(room.ok("Glob", json!({ "pattern": "*", "path": "src" })).await);
    insta::assert_snapshot!(
        room.ok("Glob", json!({ "pattern": "**/*.{rs,ts}", "limit": 2, "ignored": true })).await
    );
    assert_eq!(room.ok("Glob", json!({ "pattern": "*.none" })).await, "0 files");
    let done = room.call("Glob", json!({ "pattern": "**", "limit": 1 })).await;
    assert_eq!(done.result.detail, ToolDetail::Found { count: 7, truncated: true });
}

#[tokio::test]
async fn a_pattern_that_cannot_be_used_is_said() {
    let room = project();
    for (tool, pattern, expect) in [
        ("Glob", "../*", "the pattern is relative to `path`"),
        ("Glob", "a[", "the pattern can't be used: "),
        ("Glob", "", "the pattern is empty"),
        ("Grep", "a(", "the pattern is not a regular expression: "),
        ("Grep", "", "the pattern is empty"),
    ] {
        let (status, content) = room.says(tool, json!({ "pattern": pattern })).await;
        assert_eq!(status, ResultStatus::InvalidCall, "{tool} {pattern}");
        assert!(content.starts_with(expect), "{content}");
    }
    let (status, content) = room.says("Grep", json!({ "pattern": "a", "path": "nowhere" })).await;
    assert_eq!(status, ResultStatus::Error);
    assert!(content.contains("nowhere"), "{content}");
}

#[tokio::test]
async fn lines_counts_and_files_are_found() {
    let room = project();
    insta::assert_snapshot!(room.ok("Grep", json!({ "pattern": "TODO" })).await);
    insta::assert_snapshot!(
        room.ok("Grep", json!({ "pattern": "todo", "ignore_case": true, "mode": "count" })).await
    );
    insta::assert_snapshot!(
        room.ok("Grep", json!({ "pattern": "TODO", "mode": "files", "glob": "src/**/*.rs" })).await
    );
    insta::assert_snapshot!(room.ok("Grep", json!({ "pattern": "TODO", "path": "src/lib.rs" })).await);
    assert_eq!(room.ok("Grep", json!({ "pattern": "nothing like it" })).await, "0 matches in 0 files");
    // `$` is the end of a line that ends in \r\n too.
    assert_eq!(
        room.ok("Grep", json!({ "pattern": "b$" })).await,
        "1 matches in 1 files\nsrc/deep/b.rs:1: // TODO: b"
    );
}

#[tokio::test]
async fn a_big_search_counts_all_and_shows_the_first() {
    let room = room(&[]);
    for file in 0..300 {
        room.put(&format!("f{file:03}.txt"), format!("hit {}\n", "x".repeat(1_000)).repeat(20));
    }
    room.put("wide.txt", format!("hit{}", "y".repeat(5_000_000)));
    let text = room.ok("Grep", json!({ "pattern": "^hit" })).await;
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("6001 matches in 301 files, cut at 200"));
    assert_eq!(lines.next(), Some(format!("f000.txt:1: hit {}…", "x".repeat(296)).as_str()));
    assert_eq!(lines.count(), 199);
    let text = room.ok("Grep", json!({ "pattern": "^hit", "mode": "count", "limit": 3 })).await;
    assert_eq!(text, "6001 matches in 301 files, cut at 3\nf000.txt\t20\nf001.txt\t20\nf002.txt\t20");
    let done = room.call("Grep", json!({ "pattern": "^hity", "path": "wide.txt" })).await;
    assert_eq!(done.result.content, format!("1 matches in 1 files\nwide.txt:1: hit{}…", "y".repeat(297)));
    assert_eq!(done.result.detail, ToolDetail::Found { count: 1, truncated: false });
}

// W29: a search of a folder does not show what a Read of the one file would be asked about.
#[tokio::test]
async fn protected_files_are_not_searched() {
    let room = room(&[(".env", "KEY=abc\n"), ("a.txt", "KEY=none\n")]);
    assert_eq!(
        room.ok("Grep", json!({ "pattern": "KEY" })).await,
        "1 matches in 1 files\na.txt:1: KEY=none\n(1 file that matches is protected and not searched; Read asks for permission)"
    );
    assert!(room.ask.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_search_that_is_stopped_keeps_what_it_has() {
    let room = project();
    let call = room.a_call("Grep", json!({ "pattern": "TODO" }));
    let cx = room.cx(&call);
    let prepared = room.toolbox.prepare(&call, &room.pool(), &cx).await;
    // Stopped between the record of its start and its end.
    *room.journal.on_start.lock().unwrap() = Some(cx.cancel.clone());
    let done = room.toolbox.execute(prepared, &cx).await;
    assert_eq!(done.result.status, ResultStatus::Interrupted);
    assert_eq!(done.result.content, "0 matches in 0 files\n(interrupted: this is what was found so far)");
}
