//! Queries.

use crate::core::{Core, storage};
use crate::engine::Idle;
use crate::panels::PANEL_ENTRIES;
use crate::submit::provider_error;
use cox_protocol::error::{CoxError, ErrorCode};
use cox_protocol::event::{Event, EventKind};
use cox_protocol::id::{SessionId, TaskId};
use cox_protocol::query::{Page, Query};
use cox_protocol::settings::ProviderSettings;
use cox_protocol::view::{BlobPage, PanelView, SessionView};
use std::sync::Arc;

/// Rows that one page may hold.
const PAGE_MOST: u32 = 500;
/// Bytes of a blob in one piece.
const BLOB_PIECE: u64 = 256 * 1024;
/// Events read from the store at once.
const EVENTS_AT_ONCE: u32 = 2_000;

impl Core {
    pub(crate) async fn query(self: &Arc<Self>, query: Query) -> Result<Page, CoxError> {
        let failed = |error| storage(&error);
        match query {
            Query::Projects => Ok(Page::Projects { rows: self.project_rows().await? }),
            Query::Sessions { project_id, before, limit } => {
                let (rows, more) =
                    self.store.sessions(project_id, before, limit.min(PAGE_MOST)).await.map_err(failed)?;
                Ok(Page::Sessions { rows, more })
            }
            Query::Session { session_id } => self.session_page(&session_id).await,
            Query::Panel { task_id } => self.panel_page(&task_id).await,
            Query::Transcript { task_id, before, limit } => {
                let page = self.store.transcript_page(&task_id, before, limit.min(PAGE_MOST)).await;
                let (rows, has_earlier) = page.map_err(failed)?;
                Ok(Page::Transcript { rows, has_earlier })
            }
            Query::Blob { hash, offset } => self.blob_page(&hash, offset).await,
            Query::Search { text, session_id } => {
                Ok(Page::Search { hits: self.store.search(&text, session_id).await.map_err(failed)? })
            }
            Query::Rules { project_id } => {
                Ok(Page::Rules { rows: self.store.rules(&project_id).await.map_err(failed)? })
            }
            Query::Environment => Ok(Page::Environment { environment: self.environment().await }),
            Query::CheckProvider { provider } => self.check_provider(&provider).await,
        }
    }

    async fn session_page(self: &Arc<Self>, id: &SessionId) -> Result<Page, CoxError> {
        // Brought to life here, so that what a dead process left running is suspended before it is shown.
        let (live_mode, owner) = match self.session(id).await {
            Ok(session) => (Some(session.permission_mode()), None),
            Err(error) if error.code == ErrorCode::NotFound => return Err(error),
            // It can be read all the same: another process owns it, or its folder is gone.
            Err(error) => (None, Some(error.message)),
        };
        let view = self.view(id).await?;
        Ok(Page::Session { live_mode: live_mode.unwrap_or(view.permission_mode), view, owner })
    }

    async fn view(&self, id: &SessionId) -> Result<SessionView, CoxError> {
        let view = self.store.session_view(id).await.map_err(|error| storage(&error))?;
        view.ok_or_else(|| CoxError::new(ErrorCode::NotFound, format!("there is no session {id}")))
    }

    async fn panel_page(&self, task: &TaskId) -> Result<Page, CoxError> {
        if let Some(view) = self.hub.panel(task) {
            return Ok(Page::Panel { view, from_disk: false });
        }
        let view = self.store.panel_view(task, PANEL_ENTRIES).await.map_err(|error| storage(&error))?;
        let mut view = view.unwrap_or_else(|| PanelView::empty(task.clone()));
        view.partial = self.hub.partial(task).or(view.partial);
        Ok(Page::Panel { view, from_disk: true })
    }

    async fn blob_page(&self, hash: &str, offset: u64) -> Result<Page, CoxError> {
        let piece = self.store.read_blob(hash, offset, BLOB_PIECE).await.map_err(|error| storage(&error))?;
        let piece =
            piece.ok_or_else(|| CoxError::new(ErrorCode::NotFound, "this output is not stored any more"))?;
        // A piece ends between characters, so that none is torn.
        let whole = whole_characters(&piece.bytes);
        let end = offset + u64::try_from(whole).unwrap_or_default();
        let next = (end < piece.blob.size && whole > 0).then_some(end);
        let text = String::from_utf8_lossy(&piece.bytes[..whole]).into_owned();
        Ok(Page::Blob { page: BlobPage { blob: piece.blob, offset, text, next } })
    }

    async fn check_provider(&self, provider: &ProviderSettings) -> Result<Page, CoxError> {
        let door = self.connect(provider).await.map_err(|error| provider_error(&error))?;
        let models = door.models().await.map_err(|error| provider_error(&error))?;
        Ok(Page::Provider { models })
    }

    /// A session's events after this one, in order.
    pub(crate) async fn all_events(&self, id: &SessionId, after: u64) -> Result<Vec<Event>, CoxError> {
        let (mut all, mut after) = (Vec::new(), after);
        loop {
            let events =
                self.store.events(id, after, EVENTS_AT_ONCE).await.map_err(|error| storage(&error))?;
            let Some(last) = events.last() else { return Ok(all) };
            after = last.seq;
            all.extend(events);
        }
    }

    /// What a session looks like now that nothing in it runs.
    pub(crate) async fn idle(&self, id: &SessionId) -> Result<Idle, CoxError> {
        let view = self.view(id).await?;
        let lead = view.lead().map(|lead| lead.id.clone());
        let (mut report, mut value) = (None, None);
        for event in self.all_events(id, 0).await?.iter().filter(|event| event.task_id == lead) {
            if let Some(EventKind::GenerationEnded { result, value: handed_in, .. }) = event.known() {
                report.clone_from(result);
                value.clone_from(handed_in);
            }
        }
        Ok(Idle { view, report, value })
    }
}

/// The bytes up to the last whole character, or all of them where the end is no character at all.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
        Err(_) => bytes.len(),
    }
}
