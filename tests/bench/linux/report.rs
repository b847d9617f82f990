//! What is printed and written.

use super::args::Ask;
use super::failure::Outcome;
use super::figure::{Figure, Verdict};
use cox_tests::place;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// A line on standard output. A reader that is gone does not matter.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// A line on standard error.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "cox-bench: {line}");
}

/// All figures.
pub(crate) fn table(figures: &[Figure]) {
    let rows: Vec<[String; 4]> = figures
        .iter()
        .map(|figure| {
            [figure.name.clone(), figure.value_text(), figure.target_text(), figure.verdict.text().to_owned()]
        })
        .collect();
    let head = ["", "measured", "target", ""].map(str::to_owned);
    let width =
        |at: usize| rows.iter().chain([&head]).map(|row| row[at].chars().count()).max().unwrap_or_default();
    let widths = [width(0), width(1), width(2), width(3)];
    say("");
    for row in [&head].into_iter().chain(&rows) {
        let [name, value, target, verdict] = row;
        say(format!("{name:<0$}  {value:>1$}  {target:>2$}  {verdict}", widths[0], widths[1], widths[2])
            .trim_end());
    }
    for figure in figures.iter().filter(|figure| figure.verdict == Verdict::NotMeasured) {
        say(&format!("{}: not measured, because {}", figure.name, figure.note));
    }
}

/// Writes them as JSON, and says where.
pub(crate) fn write(ask: &Ask, figures: &[Figure], failed: &[&str]) -> Outcome<PathBuf> {
    let path = place::root().join("target/bench.json");
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let value = json!({
        "quick": ask.quick,
        "wire": ask.wire,
        "cores": cores,
        "loadAtEnd": load.split(' ').next(),
        "failed": failed,
        "figures": figures,
    });
    std::fs::write(&path, serde_json::to_string_pretty(&value)? + "\n")?;
    Ok(path)
}
