//! Records of calls.

use super::CallPorts;
use async_trait::async_trait;
use cox_protocol::entry::BlobRef;
use cox_protocol::event::EventKind;
use cox_tools::{Journal, ToolCx};
use std::sync::atomic::Ordering;

#[async_trait]
impl Journal for CallPorts {
    async fn started(&self, cx: &ToolCx, read_only: bool) {
        if self.start_recorded.swap(true, Ordering::SeqCst) {
            return;
        }
        let event = self.event(EventKind::ToolStarted { call_id: cx.call_id.clone(), read_only });
        if read_only {
            self.session.core.store.append_later(vec![event]);
        } else if let Err(error) = self.session.core.store.append(vec![event]).await {
            tracing::error!(%error, call = %cx.call_id, "the start of a call could not be recorded");
        }
    }

    async fn blob(&self, bytes: Vec<u8>) -> Result<BlobRef, String> {
        self.session.core.store.put_blob(bytes).await.map_err(|error| error.to_string())
    }

    async fn process(&self, _cx: &ToolCx, pgid: i32, start_ticks: u64) {
        let event = self.event(EventKind::ProcessStarted { pgid, start_ticks });
        if let Err(error) = self.session.core.store.append(vec![event]).await {
            tracing::error!(%error, pgid, "a process could not be recorded");
        }
    }

    async fn process_ended(&self, _cx: &ToolCx, pgid: i32) {
        self.session.core.store.append_later(vec![self.event(EventKind::ProcessEnded { pgid })]);
    }

    fn live_output(&self, _cx: &ToolCx, _text: &str) {
        // The panel shows a command's output when it ends; what the model gets is recorded then.
    }
}
