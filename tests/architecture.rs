//! The walls of the house: who may know whom, and that the documents name what is there.
#![expect(clippy::expect_used, reason = "a failure here is a failed test")]

use cox_tests::place::{program, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which of our crates a crate may know: the layers of ARCHITECTURE.md. A new edge is a change of the design,
/// to be made there first.
const MAY_KNOW: [(&str, &[&str]); 12] = [
    ("cox-protocol", &[]),
    ("cox-policy", &["cox-protocol"]),
    ("cox-store", &["cox-protocol"]),
    ("cox-provider", &["cox-protocol"]),
    ("cox-exec", &["cox-protocol"]),
    ("cox-tools", &["cox-protocol", "cox-policy", "cox-exec"]),
    ("cox-engine", &["cox-protocol", "cox-policy", "cox-store", "cox-provider", "cox-exec", "cox-tools"]),
    ("coxswain", &["cox-protocol", "cox-engine"]),
    ("cox-cli", &["cox-protocol", "cox-engine"]),
    ("cox-testkit", &["cox-protocol"]),
    ("cox-tests", &["cox-protocol", "cox-engine", "cox-testkit"]),
    ("xtask", &[]),
];

/// What tests may know besides.
const TESTS_MAY_KNOW: [&str; 1] = ["cox-testkit"];

fn metadata() -> Value {
    let output = program(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("its JSON")
}

fn members(metadata: &Value) -> Vec<&Value> {
    let ids: BTreeSet<&str> = list(&metadata["workspace_members"]).iter().filter_map(Value::as_str).collect();
    list(&metadata["packages"]).iter().filter(|package| ids.contains(text(&package["id"]))).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn no_crate_knows_more_than_its_layer_allows() {
    let metadata = metadata();
    let members = members(&metadata);
    let ours: BTreeSet<&str> = members.iter().map(|package| text(&package["name"])).collect();
    let table: BTreeMap<&str, &[&str]> = MAY_KNOW.into_iter().collect();
    assert_eq!(ours, table.keys().copied().collect(), "every crate stands in the table, and no other");
    let mut new = Vec::new();
    for package in &members {
        let name = text(&package["name"]);
        for dependency in list(&package["dependencies"]) {
            let known = text(&dependency["name"]);
            let is_for_tests = dependency["kind"] == "dev";
            let allowed = table[name].contains(&known) || (is_for_tests && TESTS_MAY_KNOW.contains(&known));
            if ours.contains(known) && !allowed {
                new.push(format!("{name} -> {known}"));
            }
        }
    }
    assert_eq!(new, Vec::<String>::new(), "new edges between our crates");
}

// W41
#[test]
fn only_the_root_package_names_tauri() {
    let metadata = metadata();
    let offenders: Vec<String> = members(&metadata)
        .iter()
        .filter(|package| text(&package["name"]) != "coxswain")
        .flat_map(|package| {
            let names = list(&package["dependencies"]).iter().map(|dependency| text(&dependency["name"]));
            let tauri = names.filter(|name| name.starts_with("tauri")).map(str::to_owned);
            tauri.map(|name| format!("{} -> {name}", text(&package["name"]))).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(offenders, Vec::<String>::new());
}

#[test]
fn nothing_under_the_window_reaches_a_window_library() {
    let metadata = metadata();
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).iter().map(|node| (text(&node["id"]), node)).collect();
    let names: BTreeMap<&str, &str> = list(&metadata["packages"])
        .iter()
        .map(|package| (text(&package["id"]), text(&package["name"])))
        .collect();
    for package in members(&metadata).iter().filter(|package| text(&package["name"]) != "coxswain") {
        let mut seen = BTreeSet::new();
        let mut open = vec![text(&package["id"])];
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                open.extend(list(&nodes[id]["deps"]).iter().map(|dependency| text(&dependency["pkg"])));
            }
        }
        let windows = ["tauri", "wry", "tao", "gtk", "webkit2gtk"];
        let reached: Vec<&str> =
            seen.iter().map(|id| names[id]).filter(|name| windows.contains(name)).collect();
        assert_eq!(reached, Vec::<&str>::new(), "reached from {}", text(&package["name"]));
    }
}

#[test]
fn every_crate_says_what_it_is_for() {
    let metadata = metadata();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for package in members(&metadata) {
        let name = text(&package["name"]);
        assert!(text(&package["description"]).len() > 20, "{name} has a description");
        assert_eq!(package["publish"], Value::Array(Vec::new()), "{name} is not published");
        let folder = Path::new(text(&package["manifest_path"])).parent().unwrap();
        let folder = folder.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        if !folder.is_empty() {
            let line = manifest.lines().find(|line| line.trim_start().starts_with(&format!("\"{folder}\",")));
            assert!(
                line.is_some_and(|line| line.contains('#')),
                "{folder} has its line of purpose in Cargo.toml"
            );
        }
    }
}

#[test]
fn no_test_file_is_forgotten() {
    let manifest = fs::read_to_string(root().join("tests/Cargo.toml")).unwrap();
    for file in files_below(&root().join("tests"), "rs") {
        let name = file.strip_prefix(root().join("tests")).unwrap().to_string_lossy().replace('\\', "/");
        let is_listed = name.contains('/') || manifest.contains(&format!("path = \"{name}\""));
        assert!(is_listed, "tests/{name} is no [[test]] of tests/Cargo.toml, so it never runs");
    }
}

#[test]
fn the_readme_maps_what_is_there() {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let map = readme
        .split("\n## ")
        .find(|part| part.to_lowercase().lines().next().unwrap_or_default().contains("map"));
    let map = map.expect("a section of README.md with `map` in its heading");
    let paths: Vec<&str> = map.split('`').skip(1).step_by(2).filter(|span| span.contains('/')).collect();
    assert!(paths.len() > 8, "the map names the rooms of the house: {paths:?}");
    let missing: Vec<&&str> = paths.iter().filter(|path| !root().join(path).exists()).collect();
    assert_eq!(missing, Vec::<&&str>::new(), "named in the map of README.md, and not there");
}

#[test]
fn only_the_host_folder_of_the_page_imports_tauri() {
    let source = root().join("ui/src");
    let host = source.join("lib/host");
    let offenders: Vec<PathBuf> = ["ts", "svelte"]
        .into_iter()
        .flat_map(|ending| files_below(&source, ending))
        .filter(|file| !file.starts_with(&host))
        .filter(|file| fs::read_to_string(file).unwrap().contains("@tauri-apps/"))
        .collect();
    assert_eq!(offenders, Vec::<PathBuf>::new(), "only ui/src/lib/host may import Tauri");
}

fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(files_below(&path, ending));
        } else if path.extension().is_some_and(|found| found == ending) {
            files.push(path);
        }
    }
    files
}
