//! What agents can do: the `Tool` trait, the one pipeline that every call passes, and one file per tool.
//!
//! In reading order:
//!
//! - [`tool`]: what a tool is, what it plans, what it returns, and the two ways in which it fails
//! - [`context`]: what a tool gets with each call
//! - [`ports`]: what the engine does for tools: asking people, keeping records, directing tasks
//! - [`schema`]: how input is described to models, and checked
//! - [`pipeline`]: schema → policy → asking → run → result; the only place where [`Approved`] is made
//! - [`toolbox`]: the registry
//! - [`tools`]: the tools
//! - `draft`: a planned change of one file, its diff, and how it is written
//! - `place`: paths, from what a model wrote to what the policy and the file system take
//! - `text`: caps on what a model gets to read
//!
//! # How to add a tool
//!
//! 1. `tools/NAME.rs`: the input type (its doc comments are the schema), `plan`, `run`, tests.
//! 2. `prompts/tools/NAME.md`: what it does, when to use it, what it returns, its limits.
//! 3. A line in [`Toolbox::standard`], and its name in the roles that may use it (`cox-policy`).
//!
//! Absent on purpose: `std::fs` and `std::process` (both only through `cox-exec`), the engine, the store.

pub mod context;
mod draft;
pub mod pipeline;
mod place;
pub mod ports;
pub mod schema;
mod text;
pub mod tool;
pub mod toolbox;
pub mod tools;

pub use context::{Rights, ToolCx};
pub use pipeline::{Approved, Done, Prepared};
pub use ports::{
    Ask, Dispatch, Journal, OutputReport, Receipt, Retrieval, Sent, TaskControl, TaskError, TaskErrorKind,
    TaskSummary,
};
pub use tool::{Output, Plan, Tool, ToolError};
pub use toolbox::Toolbox;
