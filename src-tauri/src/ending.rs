//! How the process ends: the window is closed, or a signal asks for it. The engine is put down first, so that
//! no process stays behind and what ran is marked as interrupted.

use crate::house::House;
use crate::pump::Pump;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tauri::{AppHandle, Manager, RunEvent};

/// How long the engine may take to put its work down.
const SHUTDOWN_MOST: Duration = Duration::from_secs(8);

/// The last window is closed, and the engine is being put down.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Holds the end up until the engine is down.
pub(crate) fn on_event(app: &AppHandle, event: RunEvent) {
    let RunEvent::ExitRequested { api, code, .. } = event else { return };
    // A code: somebody who knows has asked; it is over now.
    if code.is_some() {
        return;
    }
    api.prevent_exit();
    end(app);
}

/// Puts the engine down, then ends the process.
pub(crate) fn end(app: &AppHandle) {
    if IS_ENDING.swap(true, Ordering::SeqCst) {
        return;
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        app.state::<Pump>().detach();
        let house = app.state::<Arc<House>>().inner().clone();
        if tokio::time::timeout(SHUTDOWN_MOST, house.close()).await.is_err() {
            tracing::error!("the work did not end in time; the next start cleans up after it");
        }
        app.exit(0);
    });
}

/// SIGTERM and SIGINT end it like closing the window does.
pub(crate) fn on_signals(app: &AppHandle) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
            let app = app.clone();
            tauri::async_runtime::spawn(async move {
                match signal(kind) {
                    Ok(mut arrivals) => {
                        arrivals.recv().await;
                        end(&app);
                    }
                    Err(error) => tracing::warn!(%error, "a signal can't be received"),
                }
            });
        }
    }
    #[cfg(not(unix))]
    let _ = app;
}
