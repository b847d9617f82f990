//! Files that change under agents: what an agent has read and somebody else changed is stale, the agent is told
//! with its next turn, and its panel shows it.

use super::Session;
use super::actor::Actor;
use super::mailbox::Msg;
use super::table::Note;
use cox_exec::{ProjectWatch, WatchEvent, WatchOptions};
use cox_protocol::entry::{FileChange, RuntimeNote};
use cox_protocol::event::{EventKind, NewEvent};
use cox_protocol::id::TaskId;
use cox_protocol::task::TaskKind;
use std::sync::{Arc, Weak};
use tokio::sync::mpsc;

/// Batches of changes that may wait to be looked at; when more come, everything that was read is looked at.
const CHANGES: usize = 64;

impl Session {
    /// Begins to watch the project; once is enough. A watcher that can't start is logged: edits still look at the
    /// file itself before they change it.
    pub(crate) fn watch(self: &Arc<Self>) {
        self.watch.get_or_init(|| {
            let (sender, receiver) = mpsc::channel(CHANGES);
            let tell = move |event: WatchEvent| {
                // A full channel loses nothing: the next look covers all that was read.
                let _ = sender.try_send(event);
            };
            match ProjectWatch::start(&self.folder, WatchOptions::default(), tell) {
                Ok(watch) => {
                    tokio::spawn(look_at_changes(Arc::downgrade(self), receiver));
                    Some(watch)
                }
                Err(error) => {
                    tracing::warn!(%error, "the project can't be watched");
                    None
                }
            }
        });
    }
}

async fn look_at_changes(session: Weak<Session>, mut events: mpsc::Receiver<WatchEvent>) {
    while let Some(event) = events.recv().await {
        let Some(session) = session.upgrade() else { return };
        let changed = match event {
            WatchEvent::Changed { paths } => Some(paths),
            WatchEvent::Overflow => None,
            WatchEvent::Ready { folders, capped } => {
                tracing::debug!(folders, capped, "watching the project");
                continue;
            }
            WatchEvent::Failed { message } => {
                tracing::warn!(message, "watching the project failed");
                continue;
            }
        };
        for (task, stamps) in session.all_stamps() {
            let paths = changed.clone().unwrap_or_else(|| stamps.paths());
            let stale = session.roots.blocking(move |roots| stamps.note_changes(roots, &paths)).await;
            if !stale.is_empty() {
                // An error means that the session is closing.
                let _ = session.mailbox().send(Msg::FilesChanged { task, paths: stale }).await;
            }
        }
    }
}

impl Actor {
    pub(super) async fn files_changed(&mut self, task: &TaskId, paths: Vec<String>) {
        let Some(row) = self.table.get_mut(task) else { return };
        if !row.status.is_live() || row.kind == TaskKind::Shell {
            return;
        }
        row.notes.push_back(Note::Runtime(RuntimeNote::FilesChanged { paths: paths.clone() }));
        let events: Vec<NewEvent> = paths
            .into_iter()
            .map(|path| {
                let change = FileChange { path, before: None, after: None, added: 0, removed: 0 };
                self.event(task, 0, EventKind::FileChanged { change, before_blob: None, own: false })
            })
            .collect();
        self.session.core.store.append_later(events);
    }
}
