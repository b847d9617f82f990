//! What the engine says unasked, one batch a frame.
//!
//! 1. The page attaches with a channel. A pump that is there already belongs to a page that is gone: it ends
//!    first, and with it that page's hold on its panels (W12).
//! 2. The pump takes everything that waits, sends it as one message, and lets a frame pass. What comes up
//!    meanwhile is merged by the engine, so a slow page gets fewer and larger batches, never more.
//! 3. A page that begins to load, or a window that closes, ends the pump.

use cox_engine::{Engine, Pushes};
use cox_protocol::CoxError;
use cox_protocol::push::Batch;
use cox_protocol::view::Snapshot;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tauri::async_runtime::JoinHandle;
use tauri::ipc::Channel;

/// The shortest time between two batches.
const FRAME: Duration = Duration::from_millis(16);

/// The pump of the page that is loaded now.
#[derive(Default)]
pub(crate) struct Pump(Mutex<Option<JoinHandle<()>>>);

impl Pump {
    /// Begins to send to this page, and to no other.
    pub(crate) async fn attach(
        &self,
        engine: &Engine,
        channel: Channel<Batch>,
    ) -> Result<Snapshot, CoxError> {
        // Waited for: what the old page held on to has to be let go before the new one takes hold.
        ended(self.put(None)).await;
        let (snapshot, pushes) = engine.attach().await?;
        ended(self.put(Some(tauri::async_runtime::spawn(send_all(pushes, channel))))).await;
        Ok(snapshot)
    }

    /// The page is gone.
    pub(crate) fn detach(&self) {
        self.put(None);
    }

    /// Puts this one in the place of the one that was there, which is told to end.
    fn put(&self, next: Option<JoinHandle<()>>) -> Option<JoinHandle<()>> {
        let last = std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), next);
        last.inspect(JoinHandle::abort)
    }
}

/// Waits until a pump that was told to end has let go of what the engine gave it.
async fn ended(pump: Option<JoinHandle<()>>) {
    let Some(pump) = pump else { return };
    match pump.await {
        Ok(()) | Err(tauri::Error::JoinError(_)) => {}
        Err(error) => tracing::error!(%error, "the event pump broke"),
    }
}

async fn send_all(mut pushes: Pushes, channel: Channel<Batch>) {
    loop {
        let batch = pushes.next().await;
        if let Err(error) = channel.send(batch) {
            tracing::info!(%error, "the page no longer listens");
            return;
        }
        tokio::time::sleep(FRAME).await;
    }
}
