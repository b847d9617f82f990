use cox_exec::{FolderConcern, FolderProblem, FolderReport, KnownFolders, check_folder};
use std::fs;
use std::path::{Path, PathBuf};

struct Place {
    _temp: tempfile::TempDir,
    home: PathBuf,
    known: KnownFolders,
}

fn home() -> Place {
    let temp = tempfile::tempdir().unwrap();
    let home = temp.path().canonicalize().unwrap().join("home");
    fs::create_dir_all(home.join("code/app/.git")).unwrap();
    fs::create_dir_all(home.join("data/coxswain/blobs")).unwrap();
    fs::write(home.join("code/app/a.txt"), "x").unwrap();
    let known = KnownFolders { home: Some(home.clone()), data: home.join("data/coxswain") };
    Place { _temp: temp, home, known }
}

#[track_caller]
fn check(known: &KnownFolders, path: &Path, concerns: &[FolderConcern]) -> FolderReport {
    let report = check_folder(path, known);
    assert_eq!(report.concerns, concerns, "{path:?}");
    assert_eq!(report.question().is_some(), !concerns.is_empty());
    report
}

#[test]
fn great_folders_ask_first() {
    // W33
    use FolderConcern::{FilesystemRoot, HoldsData, HoldsHome, Home, InsideData};
    let Place { home, known, _temp } = home();
    check(&known, Path::new("/"), &[FilesystemRoot, HoldsHome, HoldsData]);
    check(&known, home.parent().unwrap(), &[HoldsHome, HoldsData]);
    let report = check(&known, &home, &[Home, HoldsData]);
    let question = report.question().unwrap();
    assert!(
        question.contains("is your home folder, and holds Coxswain's own data. It has 2 entries"),
        "{question}"
    );
    check(&known, &home.join("data"), &[HoldsData]);
    check(&known, &home.join("data/coxswain"), &[HoldsData]);
    check(&known, &home.join("data/coxswain/blobs"), &[InsideData]);
    let report = check(&known, &home.join("code/app"), &[]);
    assert_eq!((report.usable, report.git, report.entries, report.read_only), (true, true, 2, false));
    assert_eq!((report.message(), report.question()), (None, None));
    let report = check(&known, &home.join("code"), &[]);
    assert_eq!((report.usable, report.git, report.entries), (true, false, 1));
}

#[test]
fn a_data_folder_that_is_not_made_yet_counts_too() {
    let Place { home, _temp, .. } = home();
    let known = KnownFolders { home: None, data: home.join("code/later/coxswain") };
    check(&known, &home.join("code"), &[FolderConcern::HoldsData]);
}

#[cfg(unix)]
#[test]
fn a_link_to_home_is_home() {
    let Place { home, known, _temp } = home();
    let link = home.join("code/link");
    std::os::unix::fs::symlink(&home, &link).unwrap();
    let report = check(&known, &link, &[FolderConcern::Home, FolderConcern::HoldsData]);
    assert_eq!(report.path, home);
}

#[test]
fn what_is_no_folder_says_what_it_is() {
    let Place { home, known, _temp } = home();
    let report = check_folder(&home.join("nothing"), &known);
    assert_eq!((report.usable, &report.problem), (false, &Some(FolderProblem::Missing)));
    assert!(report.message().unwrap().contains("doesn't exist"));
    let report = check_folder(&home.join("code/app/a.txt"), &known);
    assert_eq!((report.usable, &report.problem), (false, &Some(FolderProblem::NotAFolder)));
    assert!(
        report.message().unwrap().ends_with(home.join("code/app").to_str().unwrap()),
        "it names the folder"
    );
}

#[test]
fn many_entries_are_not_counted_to_the_end() {
    let temp = tempfile::tempdir().unwrap();
    for number in 0..10_001 {
        fs::File::create(temp.path().join(number.to_string())).unwrap();
    }
    let report =
        check_folder(temp.path(), &KnownFolders { home: Some(temp.path().to_owned()), data: "/none".into() });
    assert_eq!((report.entries, report.entries_capped), (10_000, true));
    assert!(report.question().unwrap().contains("more than 10000 entries"));
}

#[cfg(unix)]
#[test]
fn unreadable_and_read_only_folders_say_so() {
    use std::os::unix::fs::PermissionsExt;
    if crate::is_root("unreadable_and_read_only_folders_say_so") {
        return;
    }
    let Place { home, known, _temp } = home();
    let app = home.join("code/app");
    fs::set_permissions(&app, fs::Permissions::from_mode(0o555)).unwrap();
    let report = check_folder(&app, &known);
    assert_eq!((report.usable, report.read_only), (true, true));
    fs::set_permissions(&app, fs::Permissions::from_mode(0o000)).unwrap();
    let report = check_folder(&app, &known);
    assert!(matches!(report.problem, Some(FolderProblem::Unreadable { .. })) && !report.usable);
    fs::set_permissions(&app, fs::Permissions::from_mode(0o755)).unwrap();
}
