//! `cox-bench`: the numbers of the engine, in a release build. `cargo xtask bench` builds and starts it.
//!
//! The engine that is measured is a process of its own (`cox-bench engine …`), and so is the scripted model server:
//! CPU and memory are the engine's alone, and what the measuring costs is in neither. Processes are looked at
//! through `/proc`, so that it measures on Linux only.

#[cfg(target_os = "linux")]
mod linux;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::print_stderr, reason = "all that it does here")]
fn main() -> ExitCode {
    eprintln!("cox-bench measures on Linux only");
    ExitCode::from(2)
}
