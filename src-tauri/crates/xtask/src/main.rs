//! Automation: `cargo xtask run | test | check | bench | codegen`.
//!
//! In reading order:
//!
//! - [`run`]: the window, or, without a display, a rehearsal on a virtual one
//! - [`mod@test`]: everything that has to pass, and its quick part, `check`
//! - [`mod@bench`]: the numbers, in a release build
//! - [`types`]: the window's TypeScript, made from `cox-protocol`
//! - [`ui`]: Node, packages, the built page
//! - [`system`]: packages of the operating system, installed where they are missing
//! - [`display`]: the virtual display
//! - [`picture`]: a picture of it
//! - [`counts`]: how many tests passed, read from what the runners print
//! - [`step`]: starting programs
//! - [`stop`]: why it ended early, and the exit code
//!
//! Exit codes: 0 done; 1 a check failed; 2 it was called wrongly; 3 something is missing that it can't install.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what a command line tool is for")]

mod bench;
mod counts;
mod display;
mod picture;
mod run;
mod step;
mod stop;
mod system;
mod test;
mod types;
mod ui;

use std::process::ExitCode;
use stop::Stop;

const USAGE: &str = "\
cargo xtask COMMAND

  run [FOLDER]   opens the window, on FOLDER if one is given; without a display it
                 rehearses a session over FOLDER (default: this repository) on a
                 virtual one, and prints the report and where the screenshot is
  test           everything that has to pass; ends with `N passed, N failed`
  check          its quick part: formatting, lints, generated types, the UI's types
  bench [ARGS]   the numbers, in a release build
  codegen        writes the window's TypeScript types anew

What is missing is installed first: system packages (Debian and Ubuntu; as root at once,
else with sudo after asking) and the UI's packages (npm ci).

Exit codes: 0 done; 1 a check failed; 2 called wrongly; 3 something is missing";

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let command = if args.is_empty() { String::from("help") } else { args.remove(0) };
    let done = match command.as_str() {
        "run" => run::run(&args),
        "test" => no_more(&args).and_then(|()| test::test()),
        "check" => no_more(&args).and_then(|()| test::check()),
        "bench" => bench::bench(&args),
        "codegen" => no_more(&args).and_then(|()| types::write()),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        other => Err(Stop::usage(format!("there is no command `{other}`"))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            eprintln!("\nxtask: {}", stop.message);
            if stop.code == Stop::USAGE {
                eprintln!("\n{USAGE}");
            }
            ExitCode::from(stop.code)
        }
    }
}

fn no_more(args: &[String]) -> Result<(), Stop> {
    match args.first() {
        None => Ok(()),
        Some(arg) => Err(Stop::usage(format!("`{arg}` is one argument too many"))),
    }
}
