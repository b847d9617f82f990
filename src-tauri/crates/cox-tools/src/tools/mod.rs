//! The tools, one file each.

mod agent;
mod ask_user_question;
mod bash;
mod edit;
mod glob;
mod grep;
mod read;
mod send_message;
mod synthetic_output;
mod task_output;
mod task_stop;
mod write;

pub use agent::Agent;
pub use ask_user_question::AskUserQuestion;
pub use bash::Bash;
pub use edit::Edit;
pub use glob::Glob;
pub use grep::Grep;
pub use read::Read;
pub use send_message::SendMessage;
pub use synthetic_output::SyntheticOutput;
pub use task_output::TaskOutput;
pub use task_stop::TaskStop;
pub use write::Write;

use crate::ports::TaskError;
use crate::tool::ToolError;
use serde_json::json;

/// A refusal of the engine, as the model gets to read it.
fn refused(error: TaskError) -> ToolError {
    ToolError::tell(json!({ "error": error.kind.name(), "message": error.message }).to_string())
}

/// Arguments of a task tool that can't be used.
fn invalid(message: &str) -> ToolError {
    ToolError::invalid(json!({ "error": "invalid_input", "message": message }).to_string())
}
