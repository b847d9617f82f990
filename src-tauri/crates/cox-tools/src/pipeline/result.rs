//! Step 7: whatever happened becomes exactly one result.

use crate::tool::{Output, ToolError};
use cox_protocol::entry::{CommandRun, FileChange, ResultStatus};
use cox_protocol::task::FailKind;
use cox_protocol::{ToolCall, ToolDetail, ToolResult};
use serde_json::Value;
use std::time::Duration;

/// What a call came to.
#[derive(Debug, PartialEq)]
pub struct Done {
    /// The result; the only one of its call.
    pub result: ToolResult,
    /// The file that was changed, and the blob with its content before.
    pub change: Option<(FileChange, Option<String>)>,
    /// The command that ran to its end.
    pub command: Option<CommandRun>,
    /// What happened although the agent's role does not allow it.
    pub violations: Vec<String>,
    /// It ends the run, with this value.
    pub end: Option<Value>,
    /// It ends the generation, as failed.
    pub fail: Option<(FailKind, String)>,
}

impl Done {
    pub(super) fn of(call: &ToolCall, took: Duration, outcome: Result<Output, ToolError>) -> Self {
        let mut done = Self {
            result: ToolResult {
                call_id: call.id.clone(),
                tool: call.name.clone(),
                status: ResultStatus::Ok,
                content: String::new(),
                full: None,
                detail: ToolDetail::None,
                duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            },
            change: None,
            command: None,
            violations: Vec::new(),
            end: None,
            fail: None,
        };
        let result = &mut done.result;
        match outcome {
            Ok(output) => {
                result.content = output.content;
                result.detail = output.detail;
                result.full = output.full;
                done.change = output.change;
                done.violations = output.violations;
                done.end = output.end;
            }
            Err(ToolError::Tell { status, content, detail, full, violations }) => {
                result.status = status;
                result.content = content;
                result.detail = *detail;
                result.full = full;
                done.violations = violations;
            }
            Err(ToolError::EndTurn { kind, message }) => {
                result.status = ResultStatus::Error;
                result.content.clone_from(&message);
                done.fail = Some((kind, message));
            }
        }
        if let ToolDetail::Command { run, background: None } = &done.result.detail {
            done.command = Some(run.clone());
        }
        done
    }
}
