//! The shell: a window around the engine. It converts, calls and converts back; it decides nothing.
//!
//! In reading order:
//!
//! - [`args`]: the command line
//! - [`house`]: the engine behind the window, opened once, or the reason why it can't be
//! - [`commands`]: what the page may call
//! - [`pump`]: what the engine says unasked, one batch a frame
//! - [`window`]: the window, which goes nowhere else
//! - [`rehearse`]: a session that plays itself, for a screenshot without a person
//! - [`ending`]: how the process ends
//! - [`log`]: what is written down, without keys
//!
//! Absent on purpose: rules, state of sessions, files, processes. The window may die; the engine does not notice.

mod args;
mod commands;
mod ending;
mod house;
mod log;
mod pump;
mod rehearse;
mod window;

use args::Args;
use clap::Parser;
use house::House;
use std::process::ExitCode;
use std::sync::Arc;

/// Runs the window until it is closed. 0: closed; 2: the command line can't be used; 1: there is no display,
/// or the window's library failed.
pub fn run() -> ExitCode {
    let args = Args::parse();
    let house = match House::new(&args) {
        Ok(house) => Arc::new(house),
        Err(error) => {
            log::to_stderr(&format!("coxswain: {error}"));
            return ExitCode::from(2);
        }
    };
    if !has_display() {
        log::to_stderr("coxswain: there is no display here. `cox` does the same without a window.");
        return ExitCode::FAILURE;
    }
    let guard = log::start(house.data_folder());
    let rehearsed = if args.rehearse { args.folder() } else { None };
    let opening = Arc::clone(&house);
    let app = tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .manage(Arc::clone(&house))
        .manage(pump::Pump::default())
        .manage(commands::InitialFolder::new(args.folder()))
        .invoke_handler(tauri::generate_handler![
            commands::attach,
            commands::submit,
            commands::query,
            commands::initial_folder
        ])
        .setup(move |app| {
            // The engine opens while the page loads.
            tauri::async_runtime::spawn(async move { opening.engine().await.map(|_| ()) });
            ending::on_signals(app.handle());
            match rehearsed {
                Some(folder) => rehearse::begin(app.handle(), house, folder),
                None => window::open_or_end(app.handle()),
            }
            Ok(())
        })
        .build(tauri::generate_context!());
    match app {
        Ok(app) => {
            let code = app.run_return(ending::on_event);
            // The last lines of the log are written when it is dropped.
            drop(guard);
            u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => {
            tracing::error!(%error, "the window could not be opened");
            log::to_stderr(&format!("coxswain: the window could not be opened: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The window's library does not return without one.
fn has_display() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}
