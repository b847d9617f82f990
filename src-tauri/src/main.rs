//! The window's process. Everything is in the library beside it.
// No console window on Windows in release.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    coxswain_lib::run()
}
