//! The page: Node, its packages, its checks, and building it when its sources are newer.

use crate::step;
use crate::stop::Stop;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// What vite and its Svelte plugin run on: 20.19 or later in 20, 22.12 or later from 22 on.
const NODE: &str = "20.19";

fn folder() -> PathBuf {
    step::root().join("ui")
}

fn npm(args: &[&str]) -> Command {
    let mut command = step::program(if cfg!(windows) { "npm.cmd" } else { "npm" });
    command.current_dir(folder()).args(args).env("CI", "1");
    command
}

/// Checks Node, and installs the page's packages when they are missing or older than the lock file.
pub(crate) fn install() -> Result<(), Stop> {
    let version = step::read(step::program("node").arg("--version"));
    match version.as_deref().map(|version| (version, is_recent(version))) {
        Some((_, true)) => {}
        Some((version, false)) => {
            return Err(Stop::missing(format!(
                "Node {version} is too old; {NODE} or later is needed: https://nodejs.org"
            )));
        }
        None => return Err(Stop::missing(format!("Node {NODE} or later is needed: https://nodejs.org"))),
    }
    // npm writes this file last, so one that was cut short is installed again.
    let installed = changed_at(&folder().join("node_modules/.package-lock.json"));
    let locked = changed_at(&folder().join("package-lock.json"));
    if locked.is_some() && installed >= locked {
        return Ok(());
    }
    step::show(&mut npm(&["ci", "--no-audit", "--no-fund"]))
}

fn is_recent(version: &str) -> bool {
    let mut numbers =
        version.trim_start_matches('v').split('.').map(|part| part.parse::<u32>().unwrap_or_default());
    match (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default()) {
        (20, minor) => minor >= 19,
        (21, _) => false,
        (22, minor) => minor >= 12,
        (major, _) => major > 22,
    }
}

/// Builds the page when its sources are newer than what was built.
pub(crate) fn build() -> Result<(), Stop> {
    let built = changed_at(&folder().join("dist/index.html"));
    if built.is_some() && built >= newest_source() {
        return Ok(());
    }
    step::show(&mut npm(&["run", "build"]))
}

/// Checks the page's types and rules.
pub(crate) fn check() -> Result<(), Stop> {
    step::show(&mut npm(&["run", "check"]))
}

/// The page's tests.
pub(crate) fn tests() -> Command {
    npm(&["test"])
}

fn changed_at(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

/// When a file that goes into the page changed last.
fn newest_source() -> Option<SystemTime> {
    let mut newest = None;
    let mut folders = vec![folder()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name == "node_modules" || name == "dist" {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
            newest = newest.max(changed_at(&entry.path()));
        }
    }
    newest
}

#[cfg(test)]
mod tests {
    use super::is_recent;

    #[test]
    fn which_node_will_do() {
        let good = ["v20.19.0", "v20.20.2", "v22.12.0", "v24.0.1"];
        let bad = ["v18.20.4", "v20.18.1", "v21.7.0", "v22.11.0", ""];
        assert_eq!(good.map(is_recent), [true; 4]);
        assert_eq!(bad.map(is_recent), [false; 5]);
    }
}
