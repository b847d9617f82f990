//! Tests with real files and real processes.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of tests fail like tests"
)]

mod folder;
mod names;
mod roots;
#[cfg(unix)]
mod shell;
mod stamps;
#[cfg(target_os = "linux")]
mod trees;
mod walk;
mod watch;
mod write;

/// Root may do everything, so a test of missing permissions proves nothing.
#[cfg(unix)]
fn is_root(test: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if root {
        eprintln!("skipped: {test} needs a user other than root, for whom permissions hold");
    }
    root
}
