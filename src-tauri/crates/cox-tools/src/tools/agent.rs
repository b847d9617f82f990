//! Agent: starts a worker (B41–B55).

use crate::context::ToolCx;
use crate::pipeline::Approved;
use crate::ports::{Dispatch, Receipt};
use crate::schema::check_output_schema;
use crate::tool::{Output, Plan, Tool, ToolError};
use async_trait::async_trait;
use cox_protocol::entry::ResultStatus;
use cox_protocol::envelope::evidence_text;
use cox_protocol::task::Outcome;
use cox_protocol::{TaskId, ToolDetail};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Starts a worker.
pub struct Agent;

/// What to start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Three to five words that tell the user what this worker does. It is a label; the worker never sees it.
    description: String,
    /// The whole instruction. The worker sees nothing else of this conversation: name the files, the facts you
    /// already have, what is wanted, what is out of bounds, and what to report back.
    prompt: String,
    /// What kind of worker. `explore`: reads and searches, changes nothing. `plan`: the same, to work out a plan.
    /// `verify`: checks what others did, and may run commands, each of which the user is asked about. `worker`:
    /// all work tools. Left out: `worker`.
    #[serde(default)]
    subagent_type: Option<String>,
    /// Which model: `fast`, `standard`, `strong`, `inherit`, or a model's exact id. Left out: the same as yours.
    #[serde(default)]
    model: Option<String>,
    /// A short name to message and stop it by, unique in this session. Left out: made from the description.
    #[serde(default)]
    name: Option<String>,
    /// Don't wait for its end: you get a receipt now and a notification later. A coordinator's workers always run
    /// in the background.
    #[serde(default)]
    run_in_background: Option<bool>,
    /// A JSON Schema (`type: object`) that the worker's result must meet. The worker hands in a value instead of a text.
    #[serde(default)]
    output_schema: Option<Map<String, Value>>,
}

#[async_trait]
impl Tool for Agent {
    const NAME: &'static str = "Agent";
    type Input = Input;

    fn description() -> &'static str {
        include_str!("../../../../../prompts/tools/Agent.md")
    }

    fn read_only(&self) -> bool {
        false
    }

    async fn plan(&self, input: &Input, _cx: &ToolCx) -> Result<Plan, ToolError> {
        // R95: an empty task would make a worker that guesses, and spawns more.
        if input.prompt.trim().is_empty() {
            return Err(super::invalid("prompt is empty: a worker needs its whole instruction"));
        }
        if input.description.trim().is_empty() {
            return Err(super::invalid("description is empty: give three to five words for the user"));
        }
        if let Some(schema) = &input.output_schema {
            check_output_schema(&Value::Object(schema.clone()))
                .map_err(|problem| super::invalid(&problem))?;
        }
        Ok(Plan::internal())
    }

    async fn run(
        &self,
        input: Input,
        _plan: Plan,
        _approved: Approved,
        cx: &ToolCx,
    ) -> Result<Output, ToolError> {
        let dispatch = Dispatch {
            description: input.description.trim().to_owned(),
            prompt: input.prompt,
            role: given(input.subagent_type),
            model: given(input.model),
            name: given(input.name),
            background: input.run_in_background.unwrap_or(false),
            output_schema: input.output_schema.map(Value::Object),
        };
        match cx.tasks.dispatch(cx, dispatch).await.map_err(super::refused)? {
            Receipt::Async { task_id, name, description, prompt, output_file } => Ok(Output::new(
                json!({
                    "status": "async_launched",
                    "agentId": task_id,
                    "name": name,
                    "description": description,
                    "prompt": prompt,
                    "outputFile": output_file,
                    "canReadOutputFile": false,
                })
                .to_string(),
                ToolDetail::Task { task_id, name },
            )),
            Receipt::Finished { task_id, name, outcome, result, evidence } => {
                finished(task_id, name, &outcome, result, &evidence_text(&evidence))
            }
        }
    }
}

/// What a worker that was waited for gives back: its final text, not its noise (B52).
fn finished(
    task_id: TaskId,
    name: String,
    outcome: &Outcome,
    result: Option<String>,
    evidence: &str,
) -> Result<Output, ToolError> {
    let (status, problem) = match outcome {
        Outcome::Completed => ("completed", None),
        Outcome::Failed { message, .. } => ("failed", Some(message.clone())),
        Outcome::Killed { .. } => ("killed", None),
    };
    let mut value = json!({ "status": status, "agentId": task_id, "name": name });
    if let (Some(problem), Some(map)) = (problem, value.as_object_mut()) {
        map.insert("message".to_owned(), Value::from(problem));
    }
    value["result"] = Value::from(result);
    value["evidence"] = Value::from(evidence);
    let detail = ToolDetail::Task { task_id, name };
    match outcome {
        Outcome::Completed => Ok(Output::new(value.to_string(), detail)),
        Outcome::Failed { .. } | Outcome::Killed { .. } => {
            Err(ToolError::shown(ResultStatus::Error, value.to_string(), detail))
        }
    }
}

/// An optional text; blank is the same as left out.
fn given(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
