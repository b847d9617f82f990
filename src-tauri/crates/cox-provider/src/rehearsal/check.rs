//! Runs the project's own cheapest check: one command, offline, that leaves nothing behind.

use super::answer::{Work, bash, glob};
use super::desk::{Desk, Reply};
use super::facts::{Check, End, short};
use super::found::{Listing, Ran};
use super::languages::{folder_of, name_of};
use super::markdown::code;
use cox_protocol::entry::ResultStatus;
use serde_json::Value;

/// What tells how a project is built.
const MANIFESTS: &str = "**/{Cargo.toml,package.json,pyproject.toml,setup.py,go.mod}";
/// Files that a checker could be given.
const SCRIPTS: &str = "**/*.{py,js,mjs,cjs}";
/// Files that are listed of each kind.
const LISTED: u64 = 500;
/// Byte-code goes to a folder that is gone when Python ends.
const COMPILE: &str = r#"python3 -c 'import compileall, re, sys, tempfile; t = tempfile.TemporaryDirectory(); sys.pycache_prefix = t.name; sys.exit(not compileall.compile_dir(".", quiet=1, rx=re.compile("/([.][^/]+|node_modules|venv)/")))'"#;

/// A command and the reason for it.
struct Choice {
    command: String,
    because: String,
    /// Its output is JSON, and this reads it.
    is_metadata: bool,
}

/// The check.
pub(super) fn check(desk: &Desk<'_>) -> Result<Check, Work> {
    let say = || "I look how the project is built, to choose a check.".to_owned();
    // The top folder has a list of its own: it must not fall behind the cut of a long one.
    let globs = ["*", MANIFESTS, SCRIPTS].map(|pattern| glob(".", pattern, LISTED));
    let listings =
        desk.replies(globs.to_vec(), say)?.into_iter().filter_map(Reply::ok).filter_map(Listing::parse);
    let paths: Vec<String> = listings.flat_map(|listing| listing.files).map(|file| file.path).collect();
    let choice = choose(&paths);
    let because = choice.because.clone();
    let say = || format!("{} The command works offline and leaves nothing behind.", choice.because);
    let reply = desk.one(bash(&choice.command, "The project's own quick check"), say)?;
    let mut check = Check { command: Some(choice.command.clone()), because, ..Check::default() };
    match reply {
        Reply::NotOffered(_) => {
            check.command = None;
            check.says = vec!["this agent has no tool to run commands with".to_owned()];
        }
        Reply::Result(result) => match result.status {
            ResultStatus::Ok | ResultStatus::Error => {
                ran(&mut check, &Ran::parse(&result.content), choice.is_metadata)
            }
            ResultStatus::Denied => not_run(&mut check, End::Denied, &result.content),
            ResultStatus::NoUi => not_run(&mut check, End::NoUi, &result.content),
            ResultStatus::Interrupted | ResultStatus::OutcomeUnknown => {
                not_run(&mut check, End::Stopped, &result.content);
            }
            ResultStatus::InvalidCall => not_run(&mut check, End::NotRun, &result.content),
        },
    }
    Ok(check)
}

fn not_run(check: &mut Check, end: End, content: &str) {
    check.end = end;
    check.says =
        content.lines().map(|line| short(line, 300)).filter(|line| !line.is_empty()).take(3).collect();
}

fn ran(check: &mut Check, ran: &Ran, is_metadata: bool) {
    check.exit_code = ran.exit_code;
    check.end = match ran.exit_code {
        Some(0) => End::Passed,
        Some(127) => End::Missing,
        Some(_) | None => End::Failed,
    };
    let packages = if is_metadata { packages(&ran.output) } else { Vec::new() };
    if check.end == End::Passed && is_metadata {
        check.says = packages;
        return;
    }
    // The end of an output tells most.
    let lines: Vec<&str> =
        ran.output.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('{')).collect();
    let from = lines.len().saturating_sub(8);
    check.says = lines[from..].iter().map(|line| short(line, 200)).collect();
    if ran.exit_code.is_none() {
        check.says.push(short(&ran.end, 100));
    }
}

/// The packages that `cargo metadata` names, with their versions and numbers of targets.
fn packages(output: &str) -> Vec<String> {
    let json =
        output.lines().find(|line| line.starts_with('{')).and_then(|line| serde_json::from_str(line).ok());
    let json: Value = json.unwrap_or_default();
    let packages = json["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |package: &Value| {
        let targets = package["targets"].as_array().map_or(0, Vec::len);
        let unit = if targets == 1 { "target" } else { "targets" };
        Some(format!(
            "package {} {}: {targets} {unit}",
            package["name"].as_str()?,
            package["version"].as_str()?
        ))
    };
    let mut lines: Vec<String> = packages.iter().filter_map(line).take(12).collect();
    if packages.len() > lines.len() {
        lines.push(format!("and {} more packages", packages.len() - lines.len()));
    }
    lines
}

fn choose(paths: &[String]) -> Choice {
    let plain = |command: String, because: String| Choice { command, because, is_metadata: false };
    let shallowest = |names: &[&str]| {
        let found = paths.iter().filter(|path| names.contains(&name_of(path)));
        found.min_by_key(|path| (path.matches('/').count(), path.as_str()))
    };
    let script = script(paths);
    if let Some(manifest) = shallowest(&["Cargo.toml"]) {
        let at = if manifest == "Cargo.toml" {
            String::new()
        } else {
            format!(" --manifest-path {}", quoted(manifest))
        };
        let command = format!("cargo metadata --no-deps --offline --format-version 1{at}");
        let because = format!(
            "{} makes this a Rust project: I ask cargo whether its manifests are sound.",
            code(manifest)
        );
        return Choice { command, because, is_metadata: true };
    }
    if let (Some(manifest), Some(script)) = (shallowest(&["package.json"]), script) {
        let because = format!(
            "{} makes this a script package: I let node check the syntax of {}.",
            code(manifest),
            code(script)
        );
        return plain(format!("node --check {}", quoted(script)), because);
    }
    if shallowest(&["pyproject.toml", "setup.py"]).is_some() || paths.iter().any(|path| path.ends_with(".py"))
    {
        return plain(
            COMPILE.to_owned(),
            "There is Python here: I let it compile every file, with the byte-code in a temporary folder."
                .to_owned(),
        );
    }
    if let Some(manifest) = shallowest(&["go.mod"]) {
        let because = format!(
            "{manifest} makes this a Go project: I ask gofmt which files it would change, without changing them."
        );
        return plain(format!("gofmt -l {}", quoted(folder_of(manifest))), because);
    }
    if let Some(script) = script {
        return plain(
            format!("node --check {}", quoted(script)),
            format!("I let node check the syntax of {}.", code(script)),
        );
    }
    plain(
        "ls".to_owned(),
        "I know no check for this kind of project, so I only let the shell list the folder.".to_owned(),
    )
}

/// The script that most likely starts the package.
fn script(paths: &[String]) -> Option<&str> {
    let scripts = paths
        .iter()
        .map(String::as_str)
        .filter(|path| [".js", ".mjs", ".cjs"].iter().any(|end| path.ends_with(end)));
    scripts.min_by_key(|path| {
        let stem = name_of(path).split('.').next().unwrap_or_default();
        (path.matches('/').count(), !["index", "main", "server", "app", "cli"].contains(&stem), *path)
    })
}

/// A path for bash, safe whatever it holds.
fn quoted(path: &str) -> String {
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    if path.chars().all(|ch| ch.is_ascii_alphanumeric() || "/._-".contains(ch)) {
        return path;
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(paths: &[&str]) -> String {
        choose(&paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>()).command
    }

    #[test]
    fn chooses_by_what_is_there() {
        let cargo = "cargo metadata --no-deps --offline --format-version 1";
        assert_eq!(command(&["Cargo.toml", "x/Cargo.toml", "a.py"]), cargo);
        assert_eq!(command(&["a b/Cargo.toml"]), format!("{cargo} --manifest-path 'a b/Cargo.toml'"));
        assert_eq!(command(&["package.json", "lib/z.js", "b.js", "index.mjs"]), "node --check index.mjs");
        assert_eq!(command(&["-it's.js"]), r"node --check './-it'\''s.js'");
        assert_eq!(command(&["package.json", "a/b.py"]), COMPILE);
        assert_eq!(command(&["go.mod"]), "gofmt -l .");
        assert_eq!(command(&[]), "ls");
    }

    #[test]
    fn reads_what_cargo_says() {
        let output = r#"{"packages":[{"name":"a","version":"1.2.3","targets":[{}]},{"name":"b","version":"0.1.0","targets":[{},{}]}]}"#;
        assert_eq!(packages(output), ["package a 1.2.3: 1 target", "package b 0.1.0: 2 targets"]);
        assert_eq!(packages("{\"packages\": [\n… 5 characters cut …"), Vec::<String>::new());
    }
}
