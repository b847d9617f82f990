//! What is looked at (W12).

use crate::core::{Core, storage};
use crate::panels::{Opened, PANEL_ENTRIES};
use cox_protocol::command::Reply;
use cox_protocol::error::{CoxError, ErrorCode};
use cox_protocol::id::TaskId;
use cox_protocol::view::PanelView;

impl Core {
    pub(super) async fn view_panel(&self, task: &TaskId) -> Result<Reply, CoxError> {
        self.hold_panel(task).await?;
        self.hub.panels(|panels, _| panels.view(task).into_iter().collect());
        Ok(Reply::Done)
    }

    pub(super) fn leave_panel(&self, task: &TaskId) -> Result<Reply, CoxError> {
        self.hub.panels(|panels, now| panels.leave(task, now).into_iter().collect());
        Ok(Reply::Done)
    }

    pub(super) async fn keep_panel(&self, task: &TaskId, keep: bool) -> Result<Reply, CoxError> {
        self.hold_panel(task).await?;
        self.hub.panels(|panels, now| panels.keep(task, keep, now).into_iter().collect());
        Ok(Reply::Done)
    }

    pub(super) async fn show_panels(&self, tasks: &[TaskId]) -> Result<Reply, CoxError> {
        for task in tasks {
            self.hold_panel(task).await?;
        }
        self.hub.panels(|panels, _| {
            panels.show(tasks);
            tasks.iter().filter_map(|task| panels.state(task)).collect()
        });
        Ok(Reply::Done)
    }

    /// Makes sure that a panel is in memory. True: it had to be loaded from disk.
    pub(crate) async fn hold_panel(&self, task: &TaskId) -> Result<bool, CoxError> {
        let found = self.store.task(task).await.map_err(|error| storage(&error))?;
        let (session, view) =
            found.ok_or_else(|| CoxError::new(ErrorCode::NotFound, format!("there is no task {task}")))?;
        if self.hub.open_panel(task, &session, view.ended_at) == Opened::InMemory {
            return Ok(false);
        }
        let loaded = self.store.panel_view(task, PANEL_ENTRIES).await.map_err(|error| storage(&error))?;
        self.hub.panel_loaded(task, loaded.unwrap_or_else(|| PanelView::empty(task.clone())));
        Ok(true)
    }
}
