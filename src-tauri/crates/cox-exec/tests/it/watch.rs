use cox_exec::{Expect, ProjectWatch, Roots, WatchEvent, WatchOptions};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Only a failing test waits so long.
const PATIENCE: Duration = Duration::from_secs(20);

fn start(project: &Path, options: WatchOptions) -> (ProjectWatch, Receiver<WatchEvent>) {
    let (tell, told) = channel();
    let watch = ProjectWatch::start(project, options, move |event| {
        let _ = tell.send(event);
    })
    .unwrap();
    (watch, told)
}

fn quick() -> WatchOptions {
    WatchOptions { settle: Duration::from_millis(20), ..WatchOptions::default() }
}

/// All that is reported up to a path.
fn until(told: &Receiver<WatchEvent>, path: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    while !seen.contains(path) {
        match told
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|_| panic!("{path} was not reported; seen: {seen:?}"))
        {
            WatchEvent::Changed { paths } => seen.extend(paths),
            other => panic!("unexpected {other:?}"),
        }
    }
    seen
}

#[test]
fn changes_are_seen_and_ignored_files_are_not() {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir_all(temp.path().join("src/deep")).unwrap();
    fs::create_dir_all(temp.path().join("target/debug")).unwrap();
    fs::create_dir_all(temp.path().join(".git/objects")).unwrap();
    fs::write(temp.path().join(".gitignore"), "target\n*.log\n").unwrap();
    fs::write(temp.path().join("src/deep/a.rs"), "old").unwrap();
    let (_watch, told) = start(temp.path(), quick());
    if cfg!(target_os = "linux") {
        let ready = told.recv_timeout(PATIENCE).unwrap();
        assert_eq!(ready, WatchEvent::Ready { folders: 3, capped: false }, "the project, src and src/deep");
    }
    fs::write(temp.path().join("target/debug/x"), "x").unwrap();
    fs::write(temp.path().join(".git/objects/x"), "x").unwrap();
    fs::write(temp.path().join("noise.log"), "x").unwrap();
    fs::write(temp.path().join("src/deep/a.rs"), "new").unwrap();
    fs::write(temp.path().join("last.txt"), "x").unwrap();
    let seen = until(&told, "last.txt");
    assert!(
        seen.iter().all(|path| ["src/deep/a.rs", "src/deep", "last.txt"].contains(&path.as_str())),
        "{seen:?}"
    );
    assert!(seen.contains("src/deep/a.rs"));
}

#[test]
fn an_own_write_is_seen_by_its_name_only() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("a.txt"), "old").unwrap();
    let roots = Roots::open(temp.path()).unwrap();
    let (_watch, told) = start(temp.path(), quick());
    assert!(matches!(told.recv_timeout(PATIENCE), Ok(WatchEvent::Ready { .. })));
    let at = roots.resolve("a.txt").unwrap();
    let hash = roots.hash(&at).unwrap();
    roots.write(&at, b"new", Expect::Hash(hash)).unwrap();
    assert_eq!(until(&told, "a.txt"), BTreeSet::from(["a.txt".to_owned()]));
}

#[test]
fn new_and_renamed_folders_come_under_watch() {
    let temp = tempfile::tempdir().unwrap();
    let (_watch, told) = start(temp.path(), quick());
    assert!(matches!(told.recv_timeout(PATIENCE), Ok(WatchEvent::Ready { .. })));
    fs::create_dir_all(temp.path().join("one/two")).unwrap();
    fs::write(temp.path().join("one/two/first.txt"), "x").unwrap();
    until(&told, "one/two/first.txt");
    fs::write(temp.path().join("one/two/second.txt"), "x").unwrap();
    until(&told, "one/two/second.txt");
    fs::rename(temp.path().join("one"), temp.path().join("uno")).unwrap();
    until(&told, "uno/two/second.txt");
    fs::write(temp.path().join("uno/two/third.txt"), "x").unwrap();
    until(&told, "uno/two/third.txt");
    fs::remove_file(temp.path().join("uno/two/third.txt")).unwrap();
    until(&told, "uno/two/third.txt");
}

#[test]
fn folders_that_are_no_longer_ignored_come_under_watch() {
    let temp = tempfile::tempdir().unwrap();
    fs::create_dir(temp.path().join("out")).unwrap();
    fs::write(temp.path().join(".gitignore"), "out\n").unwrap();
    let (_watch, told) = start(temp.path(), quick());
    assert!(matches!(told.recv_timeout(PATIENCE), Ok(WatchEvent::Ready { .. })));
    fs::write(temp.path().join(".gitignore"), "").unwrap();
    until(&told, ".gitignore");
    fs::write(temp.path().join("out/x"), "x").unwrap();
    until(&told, "out/x");
}

#[cfg(target_os = "linux")]
#[test]
fn a_cap_is_said() {
    let temp = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c", "d"] {
        fs::create_dir(temp.path().join(name)).unwrap();
    }
    let (_watch, told) = start(temp.path(), WatchOptions { max_folders: 3, ..quick() });
    assert_eq!(told.recv_timeout(PATIENCE), Ok(WatchEvent::Ready { folders: 3, capped: true }));
}

#[test]
fn a_dropped_watch_ends_its_thread() {
    let temp = tempfile::tempdir().unwrap();
    let (watch, told) = start(temp.path(), quick());
    assert!(matches!(told.recv_timeout(PATIENCE), Ok(WatchEvent::Ready { .. })));
    drop(watch);
    // The thread owns the sender, so its end is the end of the channel.
    assert_eq!(told.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected));
}

#[test]
fn a_vanished_project_is_said() {
    let temp = tempfile::tempdir().unwrap();
    let project = temp.path().join("project");
    fs::create_dir(&project).unwrap();
    let (_watch, told) = start(&project, quick());
    assert!(matches!(told.recv_timeout(PATIENCE), Ok(WatchEvent::Ready { .. })));
    fs::remove_dir(&project).unwrap();
    loop {
        match told.recv_timeout(PATIENCE).unwrap() {
            WatchEvent::Failed { message } if message.ends_with("is gone") => break,
            _ => {}
        }
    }
}

#[test]
fn only_folders_are_watched() {
    let temp = tempfile::tempdir().unwrap();
    assert!(ProjectWatch::start(&temp.path().join("none"), quick(), |_| {}).is_err());
}
