use cox_exec::{ExecError, Expect, FileHash, Roots, Written};
use std::fs;

fn project() -> (tempfile::TempDir, Roots) {
    let temp = tempfile::tempdir().unwrap();
    let roots = Roots::open(temp.path()).unwrap();
    (temp, roots)
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_file_gets_its_folders() {
    let (temp, roots) = project();
    fs::create_dir(temp.path().join("a")).unwrap();
    let at = roots.resolve("a/b/c/new.txt").unwrap();
    let written = roots.write(&at, b"hello", Expect::Missing).unwrap();
    let expect = Written {
        after: FileHash::of(b"hello"),
        before: None,
        folders: vec!["a/b".to_owned(), "a/b/c".to_owned()],
    };
    assert_eq!(written, expect);
    assert_eq!(fs::read(temp.path().join("a/b/c/new.txt")).unwrap(), b"hello");
    assert_eq!(names(&temp.path().join("a/b/c")), ["new.txt"], "no draft is left");
}

#[test]
fn a_file_that_appeared_meanwhile_is_not_overwritten() {
    let (temp, roots) = project();
    let at = roots.resolve("new.txt").unwrap();
    fs::write(temp.path().join("new.txt"), "theirs").unwrap();
    assert!(matches!(roots.write(&at, b"mine", Expect::Missing), Err(ExecError::Exists { .. })));
    assert_eq!(fs::read(temp.path().join("new.txt")).unwrap(), b"theirs");
    assert_eq!(names(temp.path()), ["new.txt"]);
}

#[test]
fn a_stale_write_is_refused() {
    // W30: an edit is refused when the file changed since it was read.
    let (temp, roots) = project();
    fs::write(temp.path().join("file.txt"), "one").unwrap();
    let at = roots.resolve("file.txt").unwrap();
    let read = roots.read(&at, 100).unwrap();
    fs::write(temp.path().join("file.txt"), "two").unwrap();
    assert!(matches!(
        roots.write(&at, b"three", Expect::Hash(read.hash.clone())),
        Err(ExecError::Changed { .. })
    ));
    assert_eq!(fs::read(temp.path().join("file.txt")).unwrap(), b"two");
    assert_eq!(names(temp.path()), ["file.txt"], "no draft is left");

    fs::remove_file(temp.path().join("file.txt")).unwrap();
    assert!(matches!(roots.write(&at, b"three", Expect::Hash(read.hash)), Err(ExecError::Changed { .. })));
    assert_eq!(names(temp.path()), Vec::<String>::new());
}

#[test]
fn of_two_writers_with_the_same_knowledge_one_wins() {
    let (temp, roots) = project();
    fs::write(temp.path().join("file.txt"), "start").unwrap();
    let at = roots.resolve("file.txt").unwrap();
    let start = FileHash::of(b"start");
    roots.write(&at, b"first", Expect::Hash(start.clone())).unwrap();
    assert!(matches!(roots.write(&at, b"second", Expect::Hash(start)), Err(ExecError::Changed { .. })));
    assert_eq!(fs::read(temp.path().join("file.txt")).unwrap(), b"first");
}

#[test]
fn a_folder_is_not_overwritten() {
    let (temp, roots) = project();
    fs::create_dir(temp.path().join("folder")).unwrap();
    let at = roots.resolve("folder").unwrap();
    assert!(matches!(roots.write(&at, b"x", Expect::Missing), Err(ExecError::Exists { .. })));
    let hash = FileHash::of(b"");
    assert!(matches!(roots.write(&at, b"x", Expect::Hash(hash.clone())), Err(ExecError::NotAFile { .. })));
    let top = roots.resolve(".").unwrap();
    assert!(matches!(roots.write(&top, b"x", Expect::Hash(hash)), Err(ExecError::NotAFile { .. })));
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    #[test]
    fn permissions_and_owner_stay() {
        let (temp, roots) = project();
        let path = temp.path().join("run.sh");
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(1234), Some(1234)).unwrap();
        }
        let before = fs::metadata(&path).unwrap();
        let at = roots.resolve("run.sh").unwrap();
        roots.write(&at, b"#!/bin/bash\n", Expect::Hash(FileHash::of(b"#!/bin/sh\n"))).unwrap();
        let after = fs::metadata(&path).unwrap();
        assert_eq!(
            (after.mode(), after.uid(), after.gid()),
            (before.mode(), before.uid(), before.gid()),
            "a script stays a script"
        );
    }

    #[test]
    fn a_read_only_file_is_not_replaced() {
        let (temp, roots) = project();
        let path = temp.path().join("file.txt");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let at = roots.resolve("file.txt").unwrap();
        let error = roots.write(&at, b"new", Expect::Hash(FileHash::of(b"old"))).unwrap_err();
        assert!(error.is_denied(), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn writing_through_a_link_keeps_the_link() {
        let (temp, roots) = project();
        fs::write(temp.path().join("real.txt"), "old").unwrap();
        symlink("real.txt", temp.path().join("link.txt")).unwrap();
        let at = roots.resolve("link.txt").unwrap();
        roots.write(&at, b"new", Expect::Hash(FileHash::of(b"old"))).unwrap();
        assert!(fs::symlink_metadata(temp.path().join("link.txt")).unwrap().is_symlink());
        assert_eq!(fs::read(temp.path().join("real.txt")).unwrap(), b"new");
    }

    #[test]
    fn a_read_only_folder_says_so() {
        if crate::is_root("a_read_only_folder_says_so") {
            return;
        }
        let (temp, roots) = project();
        fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let at = roots.resolve("new.txt").unwrap();
        assert!(roots.write(&at, b"x", Expect::Missing).unwrap_err().is_denied());
        fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_name_that_cannot_be_made_leaves_no_draft() {
        let (temp, roots) = project();
        let name = "n".repeat(256);
        let at = roots.resolve(&name).unwrap();
        let error = roots.write(&at, b"x", Expect::Missing).unwrap_err();
        assert!(matches!(error, ExecError::Io { .. }), "{error}");
        assert_eq!(names(temp.path()), Vec::<String>::new(), "no draft is left");
    }
}
