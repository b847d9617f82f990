//! Permission rules and modes, command parsing, decisions.
//!
//! In reading order:
//!
//! - [`access`]: what a call wants, and what the answer can be
//! - [`mode`]: modes, and which of two is the stricter
//! - [`role`]: the built-in roles: tools, mode, what is asked
//! - [`rules`]: rules as stored, read into a form that can be matched
//! - [`path_pattern`]: the gitignore-like patterns of file rules
//! - [`command_pattern`]: the patterns of command rules
//! - [`protected`]: paths that always ask
//! - [`command`]: a shell command, taken apart
//! - [`mod@decide`]: the one function that decides
//!
//! Absent on purpose: I/O, clocks, environment (W40). Paths come already resolved, as asked and as real;
//! the same question has the same answer everywhere. What is not understood is never allowed unasked.

pub mod access;
pub mod command;
pub mod command_pattern;
pub mod decide;
pub mod mode;
pub mod path_pattern;
pub mod protected;
pub mod role;
pub mod rules;

pub use access::{Access, Decision, Question, ResolvedPath};
pub use command::named_paths;
pub use decide::{decide, decide_with_paths, reads_unasked};
pub use mode::{stricter, worker_mode};
pub use role::Role;
pub use rules::{RuleProblem, RuleSet};
