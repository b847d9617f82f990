//! What every part of Coxswain says to every other: ids, entries, events, commands, views, the fold.
//!
//! In reading order:
//!
//! - [`id`]: the types of ids
//! - [`entry`]: one entry of a transcript, and what it is made of
//! - [`task`]: what a task is, how it ends, what it may use
//! - [`envelope`]: the runtime's own notification, and how it is written as text
//! - [`inbox`]: permission requests and questions
//! - [`event`]: one lasting change, as stored and as streamed
//! - [`settings`]: what the user chose
//! - [`view`]: what the window shows
//! - [`fold`]: events in, view out
//! - [`command`]: what a host may ask the engine to do
//! - [`query`]: what a host may ask the engine to tell
//! - [`push`]: what the engine sends a host unasked
//! - [`error`]: error codes across the border
//!
//! Absent on purpose: tokio, I/O, clocks, randomness. Everything here is data, or a pure function of data.

pub mod command;
pub mod entry;
pub mod envelope;
pub mod error;
pub mod event;
pub mod fold;
pub mod id;
pub mod inbox;
pub mod push;
pub mod query;
pub mod settings;
pub mod task;
pub mod view;

pub use command::{Command, Reply};
pub use entry::{Block, Entry, ToolCall, ToolDetail, ToolResult};
pub use error::{CoxError, ErrorCode};
pub use event::{Event, EventKind, NewEvent};
pub use id::{InboxId, MessageId, NotificationId, ProjectId, RequestId, RuleId, SessionId, TaskId};
pub use query::{Page, Query};
pub use task::{Outcome, TaskSpec, TaskStatus};
