//! `cox`: the same engine without a window.
//!
//! In reading order:
//!
//! - [`args`]: the command line
//! - [`host`]: reads the environment once, and opens the engine
//! - [`run`]: `cox run` and `cox resume`: one message, and everything that follows from it
//! - [`follow`]: watches a session until its whole tree is idle
//! - [`progress`]: one line for each thing that happens, on standard error
//! - [`list`]: `cox sessions`
//! - [`show`]: `cox show`
//! - [`doctor`]: `cox doctor`
//! - [`signals`]: SIGINT and SIGTERM
//! - [`mod@print`]: standard output, which may be a pipe that closes
//! - [`exit`]: the exit codes
//!
//! It converts, calls and converts back; what a session does is decided in the engine.

mod args;
mod doctor;
mod exit;
mod follow;
mod host;
mod list;
mod print;
mod progress;
mod run;
mod show;
mod signals;

use args::{Args, Verb};
use clap::Parser;
use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            print::to_stderr(&format!("cox: the runtime did not start: {error}"));
            return Exit::Open.into();
        }
    };
    let exit = match runtime.block_on(perform(args)) {
        Ok(exit) => exit,
        Err(stop) => {
            stop.tell();
            stop.exit
        }
    };
    // Work that a signal left behind must not hold the process.
    runtime.shutdown_background();
    exit.into()
}

async fn perform(args: Args) -> Result<Exit, exit::Stop> {
    match args.verb {
        Verb::Run(run) => run::run(&args.host, run).await,
        Verb::Resume(resume) => run::resume(&args.host, resume).await,
        Verb::Sessions(sessions) => list::sessions(&args.host, &sessions).await,
        Verb::Show(show) => show::show(&args.host, &show).await,
        Verb::Doctor(doctor) => doctor::doctor(&args.host, &doctor).await,
    }
}
