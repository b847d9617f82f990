use cox_exec::{Expect, FileHash, Freshness, ReadStamps, Roots};
use std::fs;

#[test]
fn a_stamp_is_fresh_until_the_content_differs() {
    let temp = tempfile::tempdir().unwrap();
    let roots = Roots::open(temp.path()).unwrap();
    fs::write(temp.path().join("a.txt"), "one").unwrap();
    let at = roots.resolve("a.txt").unwrap();
    let stamps = ReadStamps::default();
    assert_eq!(stamps.check(&at, &FileHash::of(b"one")), Freshness::NeverRead);
    stamps.record(&at, roots.read(&at, 10).unwrap().hash);
    assert_eq!(stamps.check(&at, &roots.hash(&at).unwrap()), Freshness::Fresh);
    fs::write(temp.path().join("a.txt"), "two").unwrap();
    assert_eq!(stamps.check(&at, &roots.hash(&at).unwrap()), Freshness::Stale);
    stamps.forget(&at);
    assert_eq!(stamps.check(&at, &roots.hash(&at).unwrap()), Freshness::NeverRead);
}

#[test]
fn a_copy_goes_its_own_way() {
    // W30: stamps are cloneable.
    let temp = tempfile::tempdir().unwrap();
    let roots = Roots::open(temp.path()).unwrap();
    let at = roots.resolve("a.txt").unwrap();
    let stamps = ReadStamps::default();
    stamps.record(&at, FileHash::of(b"one"));
    let copy = stamps.clone();
    copy.record(&at, FileHash::of(b"two"));
    assert_eq!(stamps.get("a.txt"), Some(FileHash::of(b"one")));
    assert_eq!(copy.get("a.txt"), Some(FileHash::of(b"two")));
    copy.clear();
    assert_eq!((stamps.len(), copy.is_empty()), (1, true));
}

#[test]
fn a_change_by_others_is_told_once_and_an_own_one_never() {
    let temp = tempfile::tempdir().unwrap();
    let roots = Roots::open(temp.path()).unwrap();
    let stamps = ReadStamps::default();
    for name in ["mine.txt", "theirs.txt", "gone.txt"] {
        fs::write(temp.path().join(name), "old").unwrap();
        let at = roots.resolve(name).unwrap();
        stamps.record(&at, roots.hash(&at).unwrap());
    }
    fs::write(temp.path().join("unread.txt"), "old").unwrap();
    let mine = roots.resolve("mine.txt").unwrap();
    let written = roots.write(&mine, b"new", Expect::Hash(FileHash::of(b"old"))).unwrap();
    stamps.record(&mine, written.after);
    fs::write(temp.path().join("theirs.txt"), "new").unwrap();
    fs::remove_file(temp.path().join("gone.txt")).unwrap();

    let changed: Vec<String> =
        ["mine.txt", "theirs.txt", "gone.txt", "unread.txt"].map(str::to_owned).to_vec();
    assert_eq!(stamps.note_changes(&roots, &changed), ["theirs.txt", "gone.txt"]);
    assert_eq!(stamps.note_changes(&roots, &changed), Vec::<String>::new());
    let theirs = roots.resolve("theirs.txt").unwrap();
    stamps.record(&theirs, roots.hash(&theirs).unwrap());
    fs::write(temp.path().join("theirs.txt"), "newer").unwrap();
    assert_eq!(stamps.note_changes(&roots, &changed), ["theirs.txt"]);
}
