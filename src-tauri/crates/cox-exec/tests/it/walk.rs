use cox_exec::{ExecError, Kind, Listing, Roots, WalkCut, WalkOptions};
use std::fs;
use std::ops::ControlFlow;

fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Roots) {
    let temp = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let roots = Roots::open(temp.path()).unwrap();
    (temp, roots)
}

fn walk(roots: &Roots, base: &str, options: &WalkOptions) -> Listing {
    roots.files(&roots.resolve(base).unwrap(), options).unwrap()
}

fn paths(listing: &Listing) -> Vec<&str> {
    listing.found.iter().map(|found| found.path.as_str()).collect()
}

const FILES: &[(&str, &str)] = &[
    (".gitignore", "target/\n*.log\n!keep.log\n"),
    (".git/config", "x"),
    (".hidden", "x"),
    ("src/main.rs", "fn main"),
    ("src/.gitignore", "generated.rs\n"),
    ("src/generated.rs", "x"),
    ("target/debug/app", "x"),
    ("a.log", "x"),
    ("keep.log", "x"),
    (".coxswain-draft-1-1", "half"),
];

#[test]
fn gitignore_holds_also_without_git_and_git_itself_is_left_out() {
    let (_temp, roots) = project(FILES);
    let listing = walk(&roots, ".", &WalkOptions::default());
    assert_eq!(paths(&listing), [".gitignore", ".hidden", "keep.log", "src/.gitignore", "src/main.rs"]);
    assert_eq!((listing.end.cut, listing.end.problems.len(), listing.end.emitted), (None, 0, 5));
    let main = &listing.found[4];
    assert_eq!((main.kind, main.size), (Kind::File, 7));

    let all = walk(&roots, ".", &WalkOptions { ignored: true, ..WalkOptions::default() });
    assert!(paths(&all).contains(&"target/debug/app") && paths(&all).contains(&"a.log"));
    assert!(!paths(&all).iter().any(|path| path.starts_with(".git/")));
}

#[test]
fn a_base_can_be_a_folder_a_file_or_ignored() {
    let (_temp, roots) = project(FILES);
    assert_eq!(paths(&walk(&roots, "src", &WalkOptions::default())), ["src/.gitignore", "src/main.rs"]);
    assert_eq!(paths(&walk(&roots, "src/main.rs", &WalkOptions::default())), ["src/main.rs"]);
    assert_eq!(paths(&walk(&roots, "target", &WalkOptions::default())), ["target/debug/app"]);
    let missing = roots.resolve("nothing").unwrap();
    assert!(matches!(roots.files(&missing, &WalkOptions::default()), Err(ExecError::Missing { .. })));
    let outside = roots.resolve("..").unwrap();
    assert!(matches!(roots.files(&outside, &WalkOptions::default()), Err(ExecError::Outside { .. })));
}

#[test]
fn folders_and_depth_are_options() {
    let (_temp, roots) = project(&[("a/b/c.txt", ""), ("top.txt", "")]);
    let options = WalkOptions { folders: true, ..WalkOptions::default() };
    assert_eq!(paths(&walk(&roots, ".", &options)), ["a", "a/b", "a/b/c.txt", "top.txt"]);
    let options = WalkOptions { max_depth: Some(1), ..options };
    assert_eq!(paths(&walk(&roots, ".", &options)), ["a", "top.txt"]);
}

#[test]
fn a_cap_cuts_in_order_and_says_so() {
    let (_temp, roots) = project(&[("c", ""), ("a/1", ""), ("b", ""), ("a/2", "")]);
    let cut = walk(&roots, ".", &WalkOptions { max_files: 3, ..WalkOptions::default() });
    assert_eq!((paths(&cut), cut.end.cut), (vec!["a/1", "a/2", "b"], Some(WalkCut::Cap)));
    let exact = walk(&roots, ".", &WalkOptions { max_files: 4, ..WalkOptions::default() });
    assert_eq!((exact.found.len(), exact.end.cut), (4, None));

    let mut seen = 0;
    let base = roots.resolve(".").unwrap();
    let end = roots.walk(&base, &WalkOptions::default(), |_| {
        seen += 1;
        if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(end.unwrap().cut, Some(WalkCut::Caller));

    let options = WalkOptions { cancel: Some(Default::default()), ..WalkOptions::default() };
    options.cancel.as_ref().unwrap().cancel();
    assert_eq!(walk(&roots, ".", &options).end.cut, Some(WalkCut::Cancelled));
}

#[cfg(unix)]
#[test]
fn links_are_named_and_not_followed() {
    let (temp, roots) = project(&[("real/file", "x")]);
    std::os::unix::fs::symlink("/etc", temp.path().join("out")).unwrap();
    std::os::unix::fs::symlink("..", temp.path().join("real/up")).unwrap();
    let listing = walk(&roots, ".", &WalkOptions::default());
    let kinds: Vec<_> = listing.found.iter().map(|found| (found.path.as_str(), found.kind)).collect();
    assert_eq!(kinds, [("out", Kind::Link), ("real/file", Kind::File), ("real/up", Kind::Link)]);
    assert!(matches!(roots.read(&roots.at(&listing.found[0]), 10), Err(ExecError::Moved { .. })));
}

#[cfg(unix)]
#[test]
fn an_unreadable_folder_is_a_problem_and_not_the_end() {
    use std::os::unix::fs::PermissionsExt;
    if crate::is_root("an_unreadable_folder_is_a_problem_and_not_the_end") {
        return;
    }
    let (temp, roots) = project(&[("closed/x", ""), ("open", "")]);
    let closed = temp.path().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let listing = walk(&roots, ".", &WalkOptions::default());
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!((paths(&listing), listing.end.problems.len()), (vec!["open"], 1));
}
