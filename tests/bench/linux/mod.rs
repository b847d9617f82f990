//! In reading order:
//!
//! - [`args`]: what is asked for
//! - [`figure`], [`report`]: a number with its target; the table and the JSON
//! - [`gap`], [`cpu`], [`memory`], [`crowd`], [`stop`], [`window`]: the scenarios
//! - [`crew`]: the scripts of a lead and its workers, and the project that they read
//! - [`script_server`]: the scripted model server, a process of its own
//! - [`step`]: what the engine process is told, and what it says
//! - [`run`]: what scenarios share
//! - [`engine`]: that process from inside
//! - [`measured`]: that process from outside
//! - [`process`]: processes as `/proc` shows them
//! - [`failure`]: why something could not be measured
//!
//! Exit codes: 0 measured, also when a target is missed; 1 something failed; 2 it was called wrongly.

mod args;
mod cpu;
mod crew;
mod crowd;
mod engine;
mod failure;
mod figure;
mod gap;
mod measured;
mod memory;
mod process;
mod report;
mod run;
mod script_server;
mod step;
mod stop;
mod window;

use args::{Ask, Scenario};
use failure::Outcome;
use figure::Figure;
use std::process::ExitCode;

pub(crate) fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("engine") => return exit(engine::main(&words[1..])),
        Some("window-ready") => return exit(window::inside(&words[1..])),
        Some(_) | None => {}
    }
    match Ask::parse(&words) {
        Ok(ask) => exit(measure(&ask)),
        Err(problem) => {
            report::complain(&problem);
            ExitCode::from(2)
        }
    }
}

/// Measures what is asked for, one scenario after another. What fails is said, and the others go on.
fn measure(ask: &Ask) -> Outcome<()> {
    let mut figures = Vec::new();
    let mut failed = Vec::new();
    for scenario in &ask.scenarios {
        report::say(&format!("{}: {}", scenario.name(), scenario.purpose()));
        match perform(*scenario, ask) {
            Ok(more) => {
                more.iter().for_each(|figure| report::say(&format!("  {}", figure.line())));
                figures.extend(more);
            }
            Err(failure) => {
                report::complain(&format!("{} failed: {failure}", scenario.name()));
                failed.push(scenario.name());
            }
        }
    }
    report::table(&figures);
    let path = report::write(ask, &figures, &failed)?;
    report::say(&format!("written to {}", path.display()));
    match failed.is_empty() {
        true => Ok(()),
        false => Err(failure::failure(format!("not measured: {}", failed.join(", ")))),
    }
}

fn perform(scenario: Scenario, ask: &Ask) -> Outcome<Vec<Figure>> {
    match scenario {
        Scenario::Gap => gap::measure(ask),
        Scenario::Cpu => cpu::measure(ask),
        Scenario::Memory => memory::measure(ask),
        Scenario::Crowd => crowd::measure(ask),
        Scenario::Stop => stop::measure(ask),
        Scenario::Window => window::measure(ask),
    }
}

fn exit(done: Outcome<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report::complain(&failure.to_string());
            ExitCode::FAILURE
        }
    }
}
