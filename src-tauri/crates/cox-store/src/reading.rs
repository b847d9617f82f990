//! What the store tells. Each function is one short read on its own connection, beside the writer.

use crate::aside::{export, words};
use crate::error::StoreError;
use crate::rows::{BlobPiece, InboxRecord, LedgerSum, OpenWork, ProjectRecord};
use crate::store::Store;
use crate::table::{
    blobs, calls, events, inbox, messages, notifications, partials, processes, projects, rules, sessions,
    settings, tasks, usage,
};
use crate::transcript;
use cox_protocol::inbox::InboxItem;
use cox_protocol::query::SessionCursor;
use cox_protocol::settings::Settings;
use cox_protocol::task::TaskSpec;
use cox_protocol::view::{
    EntryRow, PanelView, Partial, RuleRow, SearchHit, SessionRow, SessionView, TaskView,
};
use cox_protocol::{Event, InboxId, ProjectId, SessionId, TaskId};
use std::path::PathBuf;

/// Entries of a whole transcript that are read at once: no read lasts long.
const PIECE: u32 = 1_000;

impl Store {
    /// A session as the fold has it; none when there is no such session.
    pub async fn session_view(&self, session: &SessionId) -> Result<Option<SessionView>, StoreError> {
        let session = session.clone();
        self.pool().read("read a session", move |db| sessions::view(db, &session)).await
    }

    /// A panel with the last entries; none when there is no such task.
    pub async fn panel_view(&self, task: &TaskId, last: u32) -> Result<Option<PanelView>, StoreError> {
        let task = task.clone();
        self.pool().read("read a panel", move |db| transcript::panel(db, &task, last)).await
    }

    /// A whole transcript, for resuming.
    pub async fn transcript(&self, task: &TaskId) -> Result<Vec<EntryRow>, StoreError> {
        let (mut rows, mut after) = (Vec::new(), 0);
        loop {
            let task = task.clone();
            let read = move |db: crate::damage::Db<'_>| transcript::after(db, &task, after, PIECE);
            let (piece, next) = self.pool().read("read a transcript", read).await?;
            rows.extend(piece);
            match next {
                Some(seq) => after = seq,
                None => return Ok(rows),
            }
        }
    }

    /// The last entries before an event, in order, and whether there are earlier ones.
    pub async fn transcript_page(
        &self,
        task: &TaskId,
        before: u64,
        limit: u32,
    ) -> Result<(Vec<EntryRow>, bool), StoreError> {
        let task = task.clone();
        self.pool().read("read a transcript", move |db| transcript::before(db, &task, before, limit)).await
    }

    /// A task and its session.
    pub async fn task(&self, task: &TaskId) -> Result<Option<(SessionId, TaskView)>, StoreError> {
        let task = task.clone();
        self.pool().read("read a task", move |db| tasks::get(db, &task)).await
    }

    /// What a task was made from.
    pub async fn task_spec(&self, task: &TaskId) -> Result<Option<TaskSpec>, StoreError> {
        let task = task.clone();
        self.pool().read("read a task", move |db| tasks::spec(db, &task)).await
    }

    /// A session's events after a number. Damaged ones are left out, so fewer than `limit` is not yet the end:
    /// an empty answer is.
    pub async fn events(
        &self,
        session: &SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let session = session.clone();
        self.pool().read("read events", move |db| events::after(db, &session, after, limit)).await
    }

    /// Everything of a session that waits for the engine.
    pub async fn open_work(&self, session: &SessionId) -> Result<OpenWork, StoreError> {
        let session = session.clone();
        let read = move |db: crate::damage::Db<'_>| {
            Ok(OpenWork {
                messages: messages::waiting(db, &session)?,
                notifications: notifications::waiting(db, &session)?,
                calls: calls::unfinished(db, &session)?,
                processes: processes::open_of(db.conn, &session)?,
            })
        };
        self.pool().read("read what is open", read).await
    }

    /// Answers in progress of a session (W9).
    pub async fn partials(&self, session: &SessionId) -> Result<Vec<(TaskId, Partial)>, StoreError> {
        let session = session.clone();
        self.pool().read("read answers in progress", move |db| partials::of_session(db, &session)).await
    }

    /// A page of the session list, the one that changed last first, and whether more follow.
    pub async fn sessions(
        &self,
        project: Option<ProjectId>,
        before: Option<SessionCursor>,
        limit: u32,
    ) -> Result<(Vec<SessionRow>, bool), StoreError> {
        let read =
            move |db: crate::damage::Db<'_>| sessions::page(db, project.as_ref(), before.as_ref(), limit);
        self.pool().read("list sessions", read).await
    }

    /// One line of the session list.
    pub async fn session_row(&self, session: &SessionId) -> Result<Option<SessionRow>, StoreError> {
        let session = session.clone();
        self.pool().read("read a session", move |db| sessions::row(db, &session)).await
    }

    /// Sessions that recovery has to look at: something is not terminal, waits, or is not cleaned up.
    pub async fn live_sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        self.pool().read("list live sessions", |db| sessions::live(db.conn)).await
    }

    /// The project list, the one opened last first.
    pub async fn projects(&self) -> Result<Vec<ProjectRecord>, StoreError> {
        self.pool().read("list projects", |db| projects::list(db.conn)).await
    }

    /// One project, also when it was taken off the list.
    pub async fn project(&self, id: &ProjectId) -> Result<Option<ProjectRecord>, StoreError> {
        let id = id.clone();
        self.pool().read("read a project", move |db| projects::get(db.conn, &id)).await
    }

    /// The settings; the defaults when none are stored.
    pub async fn settings(&self) -> Result<Settings, StoreError> {
        self.pool().read("read the settings", settings::get).await
    }

    /// A project's rules, oldest first.
    pub async fn rules(&self, project: &ProjectId) -> Result<Vec<RuleRow>, StoreError> {
        let project = project.clone();
        self.pool().read("read rules", move |db| rules::of_project(db, &project)).await
    }

    /// What waits for a person in all sessions, oldest first.
    pub async fn open_inbox(&self) -> Result<Vec<InboxItem>, StoreError> {
        self.pool().read("read the inbox", inbox::open_items).await
    }

    /// An inbox item, open or answered.
    pub async fn inbox_item(&self, id: &InboxId) -> Result<Option<InboxRecord>, StoreError> {
        let id = id.clone();
        self.pool().read("read the inbox", move |db| inbox::get(db, &id)).await
    }

    /// A piece of a blob; none when there is no such blob. Past its end the piece is empty.
    pub async fn read_blob(
        &self,
        hash: &str,
        offset: u64,
        len: u64,
    ) -> Result<Option<BlobPiece>, StoreError> {
        let hash = hash.to_owned();
        self.pool().read("read a blob", move |db| blobs::read(db.conn, &hash, offset, len)).await
    }

    /// The newest entries in which all words occur; at most 100. No text is an error.
    pub async fn search(&self, text: &str, session: Option<SessionId>) -> Result<Vec<SearchHit>, StoreError> {
        let (text, data) = (text.to_owned(), self.folder().to_owned());
        let read = move |db: crate::damage::Db<'_>| words::search(db, &data, &text, session.as_ref());
        self.pool().read("search", read).await
    }

    /// What a session's requests used, for each task and model, in the order of their first requests.
    pub async fn ledger(&self, session: &SessionId) -> Result<Vec<LedgerSum>, StoreError> {
        let session = session.clone();
        self.pool().read("read the ledger", move |db| usage::sums(db.conn, &session)).await
    }

    /// The last event's number; 0 when there is none.
    pub async fn last_seq(&self) -> Result<u64, StoreError> {
        self.pool().read("read the log's end", |db| events::last_seq(db.conn)).await
    }

    /// Writes a task's JSONL export to `path` (relative: in the data folder), and says how many lines.
    pub async fn export_jsonl(&self, task: &TaskId, path: PathBuf) -> Result<u64, StoreError> {
        let (task, path) = (task.clone(), self.folder().join(path));
        self.pool().read("export a transcript", move |db| export::to_file(db, &task, &path)).await
    }
}
