//! What a host may ask the engine to tell (W10). Each query is answered by one [`Page`] or a [`crate::CoxError`].

use crate::id::{ProjectId, SessionId, TaskId};
use crate::settings::ProviderSettings;
use crate::view::{
    BlobPage, EntryRow, Environment, PanelView, ProjectRow, RuleRow, SearchHit, SessionRow, SessionView,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum Query {
    /// All projects.
    Projects,
    /// Sessions, the one that changed last first.
    Sessions {
        /// Of this project; null: of all.
        project_id: Option<ProjectId>,
        /// Only sessions that changed before this time, or at it with a smaller id.
        before: Option<SessionCursor>,
        /// At most 500.
        limit: u32,
    },
    /// One session.
    Session {
        /// Which.
        session_id: SessionId,
    },
    /// One panel: the last entries, and what is under way.
    Panel {
        /// Whose.
        task_id: TaskId,
    },
    /// Earlier entries.
    Transcript {
        /// Whose.
        task_id: TaskId,
        /// Only entries before this event.
        before: u64,
        /// At most 500.
        limit: u32,
    },
    /// A piece of a blob.
    Blob {
        /// Its hash.
        hash: String,
        /// From this byte on.
        offset: u64,
    },
    /// Words in transcripts.
    Search {
        /// The words; each must occur.
        text: String,
        /// In this session; null: in all.
        session_id: Option<SessionId>,
    },
    /// A project's rules.
    Rules {
        /// Which.
        project_id: ProjectId,
    },
    /// What the settings page shows about this machine.
    Environment,
    /// Asks a server for its models, to check address and key.
    CheckProvider {
        /// Which.
        provider: ProviderSettings,
    },
}

/// Where a page of the session list goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct SessionCursor {
    /// The last row's `updated_at`.
    pub updated_at: i64,
    /// The last row's id.
    pub id: SessionId,
}

/// What a query is answered with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum Page {
    /// Projects.
    Projects {
        /// The rows.
        rows: Vec<ProjectRow>,
    },
    /// Sessions.
    Sessions {
        /// The rows.
        rows: Vec<SessionRow>,
        /// More follow.
        more: bool,
    },
    /// A session.
    Session {
        /// The view.
        view: SessionView,
        /// Its mode right now: the stored one, or bypass.
        live_mode: crate::task::PermissionMode,
        /// Who owns it, when that is another process; then it can't be changed here.
        owner: Option<String>,
    },
    /// A panel.
    Panel {
        /// The view.
        view: PanelView,
        /// Its messages had to be loaded from disk.
        from_disk: bool,
    },
    /// Entries.
    Transcript {
        /// In order.
        rows: Vec<EntryRow>,
        /// There are earlier ones.
        has_earlier: bool,
    },
    /// A piece of a blob.
    Blob {
        /// The piece.
        page: BlobPage,
    },
    /// Hits.
    Search {
        /// At most 100, the newest first.
        hits: Vec<SearchHit>,
    },
    /// Rules.
    Rules {
        /// The rows.
        rows: Vec<RuleRow>,
    },
    /// The machine.
    Environment {
        /// The facts.
        environment: Environment,
    },
    /// A provider answered.
    Provider {
        /// The models it names.
        models: Vec<String>,
    },
}
