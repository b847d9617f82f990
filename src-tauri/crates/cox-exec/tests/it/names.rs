//! Names with spaces, newlines, emoji and bytes that are not UTF-8.

use cox_exec::{Expect, FileHash, Roots, WalkOptions, path_to_text, text_to_path};
use proptest::prelude::*;
use std::path::Path;

#[test]
fn every_name_can_be_written_found_read_and_changed() {
    let temp = tempfile::tempdir().unwrap();
    let roots = Roots::open(temp.path()).unwrap();
    let names = [
        "with space/a b.txt",
        "line\nbreak.txt",
        "🚣 rudern/größe.md",
        "-rf",
        "a\\x41.txt",
        "quote\"'.txt",
        " ",
    ];
    for name in names {
        let at = roots.resolve(name).unwrap();
        roots.write(&at, name.as_bytes(), Expect::Missing).unwrap();
        let at = roots.resolve(name).unwrap();
        assert_eq!(roots.read(&at, 100).unwrap().bytes, name.as_bytes());
        roots.write(&at, b"changed", Expect::Hash(FileHash::of(name.as_bytes()))).unwrap();
    }
    let listing = roots.files(&roots.resolve(".").unwrap(), &WalkOptions::default()).unwrap();
    let mut expect: Vec<&str> = names.to_vec();
    expect.sort_unstable();
    assert_eq!(listing.found.iter().map(|found| found.path.as_str()).collect::<Vec<_>>(), expect);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_make_the_round_trip() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let temp = tempfile::tempdir().unwrap();
    let roots = Roots::open(temp.path()).unwrap();
    let folder = temp.path().join(OsStr::from_bytes(b"gr\xfcn"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join(OsStr::from_bytes(b"\xff.txt")), "old").unwrap();

    let listing = roots.files(&roots.resolve(".").unwrap(), &WalkOptions::default()).unwrap();
    let found = &listing.found[0];
    assert_eq!(found.path, "gr\\xfcn/\\xff.txt");
    assert_eq!(roots.read(&roots.at(found), 10).unwrap().bytes, b"old");
    let at = roots.resolve(&found.path).unwrap();
    assert_eq!(at.real, found.path);
    roots.write(&at, b"new", Expect::Hash(FileHash::of(b"old"))).unwrap();
    assert_eq!(std::fs::read(folder.join(OsStr::from_bytes(b"\xff.txt"))).unwrap(), b"new");
    // A new file in such a folder.
    let at = roots.resolve("gr\\xfcn/neu.txt").unwrap();
    roots.write(&at, b"neu", Expect::Missing).unwrap();
    assert_eq!(std::fs::read(folder.join("neu.txt")).unwrap(), b"neu");
    // A name that really holds these characters wins.
    std::fs::write(temp.path().join(OsStr::from_bytes(b"\\xff")), "literal").unwrap();
    std::fs::write(temp.path().join(OsStr::from_bytes(b"\xff")), "byte").unwrap();
    assert_eq!(roots.read(&roots.resolve("\\xff").unwrap(), 10).unwrap().bytes, b"literal");
}

proptest! {
    #[test]
    fn utf8_text_is_never_changed(text in "[^\0]{0,40}") {
        prop_assert_eq!(path_to_text(Path::new(&text)), text);
    }

    #[cfg(unix)]
    #[test]
    fn any_bytes_come_back(bytes in proptest::collection::vec(1u8..=255, 0..40)) {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(&bytes));
        // Those four characters in a name are the one case that the file system has to decide.
        prop_assume!(!bytes.windows(2).any(|two| two == b"\\x"));
        prop_assert_eq!(text_to_path(&path_to_text(path)), path);
    }
}
