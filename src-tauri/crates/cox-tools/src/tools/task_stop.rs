//! TaskStop: stops a worker or a background command (B142–B144).

use crate::context::ToolCx;
use crate::pipeline::Approved;
use crate::tool::{Output, Plan, Tool, ToolError};
use async_trait::async_trait;
use cox_protocol::ToolDetail;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Stops a task.
pub struct TaskStop;

/// Which.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The id or the name of a worker, or the id of a background command.
    task_id: String,
}

#[async_trait]
impl Tool for TaskStop {
    const NAME: &'static str = "TaskStop";
    type Input = Input;

    fn description() -> &'static str {
        include_str!("../../../../../prompts/tools/TaskStop.md")
    }

    fn read_only(&self) -> bool {
        false
    }

    async fn plan(&self, input: &Input, _cx: &ToolCx) -> Result<Plan, ToolError> {
        if input.task_id.trim().is_empty() {
            Err(super::invalid("task_id is empty"))
        } else {
            Ok(Plan::internal())
        }
    }

    async fn run(
        &self,
        input: Input,
        _plan: Plan,
        _approved: Approved,
        cx: &ToolCx,
    ) -> Result<Output, ToolError> {
        let task = cx.tasks.stop(cx, input.task_id.trim().to_owned()).await.map_err(super::refused)?;
        Ok(Output::new(
            json!({
                "success": true,
                "taskId": task.task_id,
                "name": task.name,
                "kind": task.kind,
                "description": task.description,
                "status": task.status,
            })
            .to_string(),
            ToolDetail::Task { task_id: task.task_id, name: task.name },
        ))
    }
}
