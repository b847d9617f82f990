//! A shell command, taken apart: which programs it starts with which words, and what of it is not understood.
//!
//! 1. [`script`] holds its simple commands, and the worst [`doubt`]; `parser` and `walk` make it.
//! 2. [`word`] takes the quotes off words; a word whose value only the shell knows is no literal.
//! 3. [`wrapper`] finds the command inside `timeout 5 …`, `sudo …`, `A=b …`.
//! 4. [`harmless`], [`delete`] and [`touch`] say what a simple command may do.

pub mod delete;
pub mod doubt;
pub mod harmless;
mod parser;
pub mod script;
pub mod touch;
mod walk;
pub mod word;
pub mod wrapper;

pub use doubt::Doubt;
pub use harmless::named_paths;
pub use script::{Script, Simple};
pub use word::Word;

/// Longer commands are not looked into; they always ask (W27).
pub const MAX_CHARS: usize = 10_000;
