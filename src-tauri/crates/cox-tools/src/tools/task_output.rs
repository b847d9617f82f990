//! TaskOutput: reads a task, and may wait for its end (B145–B149, B185).

use crate::context::ToolCx;
use crate::pipeline::Approved;
use crate::ports::{OutputReport, Retrieval};
use crate::text::middle;
use crate::tool::{Output, Plan, Tool, ToolError};
use async_trait::async_trait;
use cox_protocol::ToolDetail;
use cox_protocol::envelope::{RESULT_CAP, evidence_text};
use cox_protocol::task::Outcome;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The wait when none is given, in milliseconds.
const WAIT_MS: u64 = 30_000;
/// The longest wait, in milliseconds.
const MAX_WAIT_MS: u64 = 600_000;

/// Reads a task.
pub struct TaskOutput;

/// Which, and how long to wait.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The id or the name of a worker, or the id of a background command.
    task_id: String,
    /// Wait for its end. Left out: true.
    #[serde(default)]
    block: Option<bool>,
    /// How long to wait at most, in milliseconds. Left out: 30000. At most 600000.
    #[serde(default)]
    #[schemars(range(min = 0, max = 600_000))]
    timeout: Option<u64>,
}

#[async_trait]
impl Tool for TaskOutput {
    const NAME: &'static str = "TaskOutput";
    type Input = Input;

    fn description() -> &'static str {
        include_str!("../../../../../prompts/tools/TaskOutput.md")
    }

    fn read_only(&self) -> bool {
        true
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
        let id = input.task_id.trim().to_owned();
        let timeout = input.timeout.unwrap_or(WAIT_MS).min(MAX_WAIT_MS);
        let read = cx.tasks.output(cx, id, input.block.unwrap_or(true), timeout);
        let report = tokio::select! {
            biased;
            report = read => report.map_err(super::refused)?,
            () = cx.cancel.cancelled() => {
                return Err(ToolError::interrupted("interrupted while waiting; the task goes on"));
            }
        };
        Ok(output(report))
    }
}

/// The report as JSON; the three contents stay apart (B149).
fn output(report: OutputReport) -> Output {
    let retrieval = match report.retrieval {
        Retrieval::Success => "success",
        Retrieval::NotReady => "not_ready",
        Retrieval::Timeout => "timeout",
    };
    let mut task = json!({
        "taskId": report.task_id,
        "name": report.name,
        "kind": report.kind,
        "status": report.status,
    });
    match &report.outcome {
        Some(Outcome::Failed { kind, message }) => {
            task["failure"] = json!({ "kind": kind, "message": message });
        }
        Some(Outcome::Killed { by }) => task["killedBy"] = json!(by),
        Some(Outcome::Completed) | None => {}
    }
    if let Some(result) = &report.result {
        task["result"] = capped(result);
    }
    if let Some(evidence) = &report.evidence {
        task["evidence"] = Value::from(evidence_text(evidence));
    }
    task["outputFile"] = Value::from(report.output_file);
    if let Some(transcript) = &report.transcript {
        task["transcript"] = capped(transcript);
    }
    Output::new(
        json!({ "retrieval_status": retrieval, "task": task }).to_string(),
        ToolDetail::Task { task_id: report.task_id, name: report.name },
    )
}

fn capped(text: &str) -> Value {
    let (text, _) =
        middle(text, RESULT_CAP, |cut| format!("… {cut} characters cut; the whole is in the output file …"));
    Value::from(text)
}
