//! What the engine sends a host unasked: one batch a frame, over one channel.

use crate::event::Event;
use crate::id::{SessionId, TaskId};
use crate::task::PermissionMode;
use crate::view::{Environment, PartialKind, ProjectRow, SessionRow};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The batch's name on the wire.
pub const BATCH: &str = "task-progress";

/// Everything since the last batch, in order; at most one a frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(export)]
pub struct Batch {
    /// [`BATCH`].
    pub name: String,
    /// Committed events, by `seq`. Entries of a session that is not open are left out.
    pub events: Vec<Event>,
    /// Pieces of answers in progress, of panels on screen only.
    pub deltas: Vec<Delta>,
    /// Panels whose retention changed.
    pub panels: Vec<PanelState>,
    /// Session rows that changed.
    pub sessions: Vec<SessionRow>,
    /// Live facts of sessions that changed.
    pub live: Vec<SessionLive>,
    /// The project list, when it changed.
    pub projects: Option<Vec<ProjectRow>>,
    /// The machine's facts, when they changed.
    pub environment: Option<Environment>,
    /// Things went by too fast, and items are missing: ask for snapshots.
    pub gap: bool,
}

impl Batch {
    /// Is there nothing to send?
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
            && self.deltas.is_empty()
            && self.panels.is_empty()
            && self.sessions.is_empty()
            && self.live.is_empty()
            && self.projects.is_none()
            && self.environment.is_none()
            && !self.gap
    }
}

/// A piece of an answer in progress (W11).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct Delta {
    /// Whose answer.
    pub task_id: TaskId,
    /// The generation.
    pub generation: u32,
    /// The turn.
    pub turn: u32,
    /// The block's index.
    pub block: u32,
    /// What the block is.
    pub kind: PartialKind,
    /// A call's tool; empty for the others.
    pub tool: String,
    /// UTF-16 units of this block before this piece, as JavaScript counts them; another number is a gap.
    pub offset: u32,
    /// The piece.
    pub text: String,
}

/// How long a panel stays (W12). Live state, not an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct PanelState {
    /// Whose.
    pub task_id: TaskId,
    /// What it is.
    pub retention: Retention,
}

/// How long a panel stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[ts(export)]
pub enum Retention {
    /// Opened or focused.
    Viewed,
    /// Kept by the user.
    Kept,
    /// Left; stays while its task is not terminal.
    Left,
    /// Left and ended: gone at this time, in milliseconds since 1970.
    Leaving {
        /// When.
        evict_at: i64,
    },
    /// Gone. Its panel state can be freed.
    Evicted,
}

/// Facts of a session that are not stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(export)]
pub struct SessionLive {
    /// Which.
    pub session_id: SessionId,
    /// The mode that holds right now, `bypassPermissions` included.
    pub permission_mode: PermissionMode,
}
