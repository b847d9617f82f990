//! `test`: everything that has to pass, in the order in which a failure is cheapest to find. `check`: its quick part.
//!
//! One selection of packages and features for every step (`--workspace`), so that nothing is built twice (W41).
//! A failed step does not hide the ones after it; only without a build there is nothing to test.

use crate::counts::Counts;
use crate::display::VirtualDisplay;
use crate::stop::Stop;
use crate::system::{self, Need};
use crate::{step, types, ui};
use std::process::Command;

/// A module's header may point at its private parts: private items are documented too.
const DOC_LINTS: &str = "-D warnings -A rustdoc::private_intra_doc_links";

/// What failed so far, and what was counted.
#[derive(Default)]
struct Tally {
    failures: Vec<String>,
    counts: Counts,
}

impl Tally {
    fn note(&mut self, done: Result<(), Stop>) {
        if let Err(stop) = done {
            println!("\nFAILED: {}", stop.message);
            self.failures.push(stop.message);
        }
    }

    /// Runs tests, and counts them.
    fn tests(&mut self, name: &str, command: &mut Command) {
        let mut counts = Counts::default();
        let done = step::watch(command, |line| {
            if let Some(more) = Counts::of_line(line) {
                counts += more;
            }
        });
        let passed = match done {
            Ok(true) => Ok(()),
            Ok(false) => Err(Stop::failed(format!("{name} failed"))),
            Err(stop) => Err(stop),
        };
        if passed.is_err() && counts.failed == 0 {
            // It failed before it could count: that is one failure, not none.
            counts.failed = 1;
        }
        self.counts += counts;
        self.note(passed);
    }

    fn end(self) -> Result<(), Stop> {
        match self.failures.as_slice() {
            [] => Ok(()),
            failures => Err(Stop::failed(failures.join("\n       "))),
        }
    }
}

fn lints(tally: &mut Tally) {
    tally.note(step::show(&mut step::cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])));
}

/// The quick part.
pub(crate) fn check() -> Result<(), Stop> {
    system::ensure(&[Need::Build])?;
    ui::install()?;
    let mut tally = Tally::default();
    tally.note(step::show(&mut step::cargo(&["fmt", "--all", "--check"])));
    tally.note(types::generate().and_then(|()| types::compare()));
    tally.note(ui::check());
    // The window's package holds the built page.
    ui::build()?;
    lints(&mut tally);
    licences(&mut tally);
    tally.end()
}

/// Everything.
pub(crate) fn test() -> Result<(), Stop> {
    system::ensure(&[Need::Build, Need::VirtualDisplay, Need::WindowTests])?;
    ui::install()?;
    let mut tally = Tally::default();
    tally.note(step::show(&mut step::cargo(&["fmt", "--all", "--check"])));
    tally.note(ui::check());
    tally.tests("the UI's tests", &mut ui::tests());
    ui::build()?;
    lints(&mut tally);
    match step::show(&mut step::cargo(&["build", "--workspace", "--all-targets"])) {
        Ok(()) => rust_tests(&mut tally)?,
        failed => tally.note(failed),
    }
    tally.note(step::show(
        step::cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"])
            .env("RUSTDOCFLAGS", DOC_LINTS),
    ));
    licences(&mut tally);
    for failure in &tally.failures {
        println!("\nFAILED: {failure}");
    }
    println!("\n{}", tally.counts);
    tally.end()
}

fn rust_tests(tally: &mut Tally) -> Result<(), Stop> {
    let mut command = if step::read(&mut step::cargo(&["nextest", "--version"])).is_some() {
        step::cargo(&["nextest", "run", "--workspace", "--no-fail-fast"])
    } else {
        println!("\ncargo-nextest is not installed; cargo test does the same, more slowly.");
        step::cargo(&["test", "--workspace", "--all-targets", "--no-fail-fast"])
    };
    types::into_fresh(&mut command)?;
    if cfg!(target_os = "linux") {
        let display = VirtualDisplay::start()?;
        display.apply(&mut command);
        tally.tests("the tests", &mut command);
    } else {
        println!(
            "\nNOT RUN: the tests of the real window. They need Linux: WebKitWebDriver and a virtual display."
        );
        tally.tests("the tests", &mut command);
    }
    tally.note(types::compare());
    tally.tests("the examples in the documentation", &mut step::cargo(&["test", "--workspace", "--doc"]));
    Ok(())
}

/// Licences and sources of the dependencies, where cargo-deny is installed.
fn licences(tally: &mut Tally) {
    if step::read(&mut step::cargo(&["deny", "--version"])).is_none() {
        println!("\nNOT RUN: cargo-deny is not installed (licences and sources of the dependencies).");
        return;
    }
    tally.note(step::show(&mut step::cargo(&["deny", "--offline", "check", "licenses", "bans", "sources"])));
}
