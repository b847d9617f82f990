use cox_exec::{ExecError, FileHash, Kind, Roots};
use std::fs;

struct Project {
    // Removed on drop.
    _temp: tempfile::TempDir,
    outside: std::path::PathBuf,
    roots: Roots,
}

fn project() -> Project {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path().canonicalize().unwrap();
    let (inside, outside) = (base.join("project"), base.join("elsewhere"));
    fs::create_dir_all(inside.join("src/deep")).unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(inside.join("src/main.rs"), "fn main() {}\n").unwrap();
    fs::write(outside.join("secret.txt"), "secret").unwrap();
    Project { roots: Roots::open(&inside).unwrap(), outside, _temp: temp }
}

#[track_caller]
fn check(project: &Project, asked: &str, expect: (&str, &str, bool, Option<Kind>)) {
    let at = project.roots.resolve(asked).unwrap();
    assert_eq!((at.asked.as_str(), at.real.as_str(), at.outside, at.kind), expect, "{asked}");
}

#[test]
fn paths_are_normalised_and_told_apart_by_where_they_lie() {
    let project = project();
    let root = project.roots.project().to_str().unwrap().to_owned();
    let outside = project.outside.to_str().unwrap();
    check(&project, ".", (".", ".", false, Some(Kind::Folder)));
    check(&project, "./", (".", ".", false, Some(Kind::Folder)));
    check(&project, &root, (".", ".", false, Some(Kind::Folder)));
    check(&project, "src/main.rs", ("src/main.rs", "src/main.rs", false, Some(Kind::File)));
    check(&project, &format!("{root}/src//main.rs"), ("src/main.rs", "src/main.rs", false, Some(Kind::File)));
    check(&project, "src/deep/../main.rs", ("src/main.rs", "src/main.rs", false, Some(Kind::File)));
    check(&project, "new/file.rs", ("new/file.rs", "new/file.rs", false, None));
    check(&project, "src/main.rs/x", ("src/main.rs/x", "src/main.rs/x", false, None));
    let secret = format!("{outside}/secret.txt");
    check(&project, "../elsewhere/secret.txt", (&secret, &secret, true, Some(Kind::File)));
    check(&project, &secret, (&secret, &secret, true, Some(Kind::File)));
    check(&project, "/etc/../etc", ("/etc", "/etc", true, Some(Kind::Folder)));
    // A folder whose name only begins like the project's is another one.
    check(&project, "../project2/x", (&format!("{root}2/x"), &format!("{root}2/x"), true, None));
    for bad in ["", "a\0b"] {
        assert!(matches!(project.roots.resolve(bad), Err(ExecError::BadName { .. })), "{bad:?}");
    }
    let long = "x".repeat(5_000);
    assert_eq!(project.roots.resolve(&long).unwrap().kind, None, "a name that can't exist doesn't");
}

#[test]
fn what_is_outside_is_never_opened() {
    let project = project();
    let at = project.roots.resolve("../elsewhere/secret.txt").unwrap();
    assert!(matches!(project.roots.read(&at, 1_000), Err(ExecError::Outside { .. })));
    assert!(matches!(project.roots.open_file(&at), Err(ExecError::Outside { .. })));
    assert!(matches!(project.roots.facts(&at), Err(ExecError::Outside { .. })));
    let text = project.roots.read(&at, 1_000).unwrap_err().to_string();
    assert!(
        text.contains(project.roots.project().to_str().unwrap()),
        "the message names the project: {text}"
    );
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_resolved_also_to_what_is_missing() {
        let project = project();
        let root = project.roots.project();
        let outside = project.outside.to_str().unwrap();
        symlink("src", root.join("code")).unwrap();
        symlink(&project.outside, root.join("out")).unwrap();
        symlink("nowhere/file", root.join("dangling")).unwrap();
        symlink("../elsewhere/new.txt", root.join("dangling-out")).unwrap();
        check(&project, "code/main.rs", ("code/main.rs", "src/main.rs", false, Some(Kind::File)));
        check(&project, "code/new.rs", ("code/new.rs", "src/new.rs", false, None));
        check(
            &project,
            "out/secret.txt",
            ("out/secret.txt", &format!("{outside}/secret.txt"), true, Some(Kind::File)),
        );
        check(&project, "dangling", ("dangling", "nowhere/file", false, None));
        check(&project, "dangling-out", ("dangling-out", &format!("{outside}/new.txt"), true, None));
        // By the words this is a file in the project; really `..` leaves the link's target.
        check(
            &project,
            "out/../project/src/main.rs",
            ("project/src/main.rs", "src/main.rs", false, Some(Kind::File)),
        );
        let at = project.roots.resolve("dangling-out").unwrap();
        let written = project.roots.write(&at, b"x", cox_exec::Expect::Missing);
        assert!(matches!(written, Err(ExecError::Outside { .. })));
        assert!(!project.outside.join("new.txt").exists());
    }

    #[test]
    fn links_in_a_circle_are_an_error() {
        let project = project();
        let root = project.roots.project();
        symlink("b", root.join("a")).unwrap();
        symlink("a", root.join("b")).unwrap();
        assert!(matches!(project.roots.resolve("a/x"), Err(ExecError::LinkLoop { .. })));
    }

    #[test]
    fn a_link_that_appears_after_the_decision_is_not_followed() {
        let project = project();
        let root = project.roots.project();
        let file = project.roots.resolve("src/main.rs").unwrap();
        let new = project.roots.resolve("src/deep/new.rs").unwrap();
        fs::rename(root.join("src"), root.join("old")).unwrap();
        // Inside the project or out of it: what was decided on is not what would be opened.
        for target in [root.join("old"), project.outside.clone()] {
            symlink(&target, root.join("src")).unwrap();
            assert!(matches!(project.roots.read(&file, 1_000), Err(ExecError::Moved { .. })));
            assert!(matches!(project.roots.facts(&file), Err(ExecError::Moved { .. })));
            let written = project.roots.write(&new, b"x", cox_exec::Expect::Missing);
            assert!(matches!(written, Err(ExecError::Moved { .. })), "{written:?}");
            fs::remove_file(root.join("src")).unwrap();
        }
        fs::create_dir(root.join("src")).unwrap();
        symlink(project.outside.join("secret.txt"), root.join("src/main.rs")).unwrap();
        assert!(matches!(project.roots.read(&file, 1_000), Err(ExecError::Moved { .. })));
        assert!(matches!(project.roots.open_file(&file), Err(ExecError::Moved { .. })));
    }

    #[test]
    fn a_project_opened_through_a_link_knows_both_its_names() {
        let project = project();
        let link = project.outside.join("link");
        symlink(project.roots.project(), &link).unwrap();
        let roots = Roots::open(&link).unwrap();
        assert_eq!(roots.project(), project.roots.project());
        let at = roots.resolve(link.join("src/main.rs").to_str().unwrap()).unwrap();
        assert_eq!((at.asked.as_str(), at.real.as_str(), at.outside), ("src/main.rs", "src/main.rs", false));
    }

    #[test]
    fn pipes_and_devices_are_not_opened() {
        let project = project();
        let pipe = project.roots.project().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let at = project.roots.resolve("pipe").unwrap();
        assert_eq!(at.kind, Some(Kind::Other));
        assert!(matches!(project.roots.read(&at, 1_000), Err(ExecError::Special { .. })));
        assert!(matches!(project.roots.open_file(&at), Err(ExecError::Special { .. })));
    }

    #[test]
    fn a_file_without_permission_says_so() {
        if crate::is_root("a_file_without_permission_says_so") {
            return;
        }
        use std::os::unix::fs::PermissionsExt;
        let project = project();
        let path = project.roots.project().join("src/main.rs");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        let at = project.roots.resolve("src/main.rs").unwrap();
        assert!(project.roots.read(&at, 1_000).unwrap_err().is_denied());
    }
}

#[test]
fn files_are_read_whole_or_not_at_all() {
    let project = project();
    let at = project.roots.resolve("src/main.rs").unwrap();
    let content = project.roots.read(&at, 13).unwrap();
    assert_eq!(content.bytes, b"fn main() {}\n");
    assert_eq!(content.hash, FileHash::of(b"fn main() {}\n"));
    assert_eq!(content.hash, project.roots.hash(&at).unwrap());
    assert_eq!((content.facts.kind, content.facts.size), (Kind::File, 13));
    assert!(content.facts.modified_at > 0);
    assert!(!content.is_binary());
    assert!(matches!(project.roots.read(&at, 12), Err(ExecError::TooLarge { size: 13, cap: 12, .. })));

    let folder = project.roots.resolve("src").unwrap();
    assert!(matches!(project.roots.read(&folder, 10), Err(ExecError::NotAFile { .. })));
    let top = project.roots.resolve(".").unwrap();
    assert!(matches!(project.roots.read(&top, 10), Err(ExecError::NotAFile { .. })));
    assert_eq!(project.roots.facts(&top).unwrap().kind, Kind::Folder);
    let missing = project.roots.resolve("nothing.rs").unwrap();
    assert!(matches!(project.roots.read(&missing, 10), Err(ExecError::Missing { .. })));
    let below_a_file = project.roots.resolve("src/main.rs/x").unwrap();
    assert!(matches!(project.roots.read(&below_a_file, 10), Err(ExecError::NotAFolder { .. })));
}

#[test]
fn binary_is_what_holds_nul() {
    assert!(cox_exec::is_binary(b"\x7fELF\0\0"));
    assert!(!cox_exec::is_binary("grün 🚣\n".as_bytes()));
    assert!(!cox_exec::is_binary(b"latin-1 gr\xfcn"));
    assert!(!cox_exec::is_binary(b""));
}

#[test]
fn further_roots_may_be_read_and_not_written() {
    let project = project();
    let roots = project.roots.with_read_root(&project.outside).unwrap();
    let at = roots.resolve("../elsewhere/secret.txt").unwrap();
    assert_eq!((at.outside, at.read_only_root), (false, true));
    assert_eq!(at.real, project.outside.join("secret.txt").to_str().unwrap());
    assert_eq!(roots.read(&at, 100).unwrap().bytes, b"secret");
    let written = roots.write(&at, b"x", cox_exec::Expect::Hash(FileHash::of(b"secret")));
    assert!(matches!(written, Err(ExecError::ReadOnlyRoot { .. })));
    // The set that it was made from is unchanged.
    assert!(project.roots.resolve("../elsewhere/secret.txt").unwrap().outside);
}

#[test]
fn a_read_root_inside_the_project_stays_read_only() {
    let project = project();
    let roots = project.roots.with_read_root(&project.roots.project().join("src")).unwrap();
    assert!(roots.resolve("src/main.rs").unwrap().read_only_root);
    assert_eq!(roots.resolve("src/main.rs").unwrap().real, "src/main.rs");
    assert!(!roots.resolve("other.rs").unwrap().read_only_root);
}

#[test]
fn a_folder_to_run_in_is_checked() {
    let project = project();
    let at = project.roots.resolve("src/deep").unwrap();
    assert_eq!(project.roots.folder_path(&at).unwrap(), project.roots.project().join("src/deep"));
    let file = project.roots.resolve("src/main.rs").unwrap();
    assert!(matches!(project.roots.folder_path(&file), Err(ExecError::NotAFolder { .. })));
}

#[test]
fn only_folders_are_roots() {
    let project = project();
    let file = project.roots.project().join("src/main.rs");
    assert!(matches!(Roots::open(&file), Err(ExecError::NotAFolder { .. })));
    assert!(matches!(Roots::open(&project.outside.join("none")), Err(ExecError::Missing { .. })));
}

#[tokio::test]
async fn blocking_work_gives_its_value() {
    let project = project();
    let bytes = project
        .roots
        .blocking(|roots| roots.resolve("src/main.rs").and_then(|at| roots.read(&at, 100)))
        .await
        .unwrap()
        .bytes;
    assert_eq!(bytes, b"fn main() {}\n");
}
