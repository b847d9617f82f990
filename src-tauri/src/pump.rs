//! What the engine says unasked, one batch a frame.
//!
//! 1. The page attaches with a channel. A pump that is there already belongs to a page that is gone: it ends
//!    first, and with it that page's hold on its panels (W12).
//! 2. The pump takes everything that waits, sends it as one message, and lets a frame pass.
//! 3. It goes on when the page has got through with it. Sending never waits, so without this a page that is
//!    slower than the engine would show the past, further back by the second; this way what comes up meanwhile is
//!    merged by the engine, and a slow page gets fewer and larger batches.
//! 4. A page that begins to load, or a window that closes, ends the pump.

use cox_engine::{Engine, Pushes};
use cox_protocol::CoxError;
use cox_protocol::push::Batch;
use cox_protocol::view::Snapshot;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tauri::WebviewWindow;
use tauri::async_runtime::JoinHandle;
use tauri::ipc::Channel;
use tokio::sync::oneshot;

/// The shortest time between two batches.
const FRAME: Duration = Duration::from_millis(16);
/// After this long the page gets more all the same: the answer may be lost, the page is not.
const STUCK: Duration = Duration::from_secs(5);

/// The pump of the page that is loaded now.
#[derive(Default)]
pub(crate) struct Pump(Mutex<Option<JoinHandle<()>>>);

impl Pump {
    /// Begins to send to this page, and to no other.
    pub(crate) async fn attach(
        &self,
        engine: &Engine,
        page: WebviewWindow,
        channel: Channel<Batch>,
    ) -> Result<Snapshot, CoxError> {
        // Waited for: what the old page held on to has to be let go before the new one takes hold.
        ended(self.put(None)).await;
        let (snapshot, pushes) = engine.attach().await?;
        ended(self.put(Some(tauri::async_runtime::spawn(send_all(pushes, page, channel))))).await;
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

async fn send_all(mut pushes: Pushes, page: WebviewWindow, channel: Channel<Batch>) {
    loop {
        let batch = pushes.next().await;
        let sent = match channel.send(batch) {
            Ok(()) => tokio::join!(through(&page), tokio::time::sleep(FRAME)).0,
            Err(error) => Err(error),
        };
        if let Err(error) = sent {
            tracing::info!(%error, "the page no longer listens");
            return;
        }
    }
}

/// Waits until the page has run everything that it was sent: scripts run in order, so this one runs last.
async fn through(page: &WebviewWindow) -> tauri::Result<()> {
    let (done, wait) = oneshot::channel();
    let done = Mutex::new(Some(done));
    page.eval_with_callback("0", move |_| {
        if let Some(done) = done.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // Nobody waits any more when the pump was ended meanwhile.
            let _ = done.send(());
        }
    })?;
    if tokio::time::timeout(STUCK, wait).await.is_err() {
        tracing::warn!("the page has been busy for {} s", STUCK.as_secs());
    }
    Ok(())
}
