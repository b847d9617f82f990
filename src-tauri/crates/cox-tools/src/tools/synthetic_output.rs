//! SyntheticOutput: hands in a value that meets the agent's schema, and ends the run (W39).

use crate::context::ToolCx;
use crate::pipeline::Approved;
use crate::tool::{Output, Plan, Tool, ToolError};
use async_trait::async_trait;
use cox_protocol::ToolDetail;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Hands in the result.
pub struct SyntheticOutput;

#[async_trait]
impl Tool for SyntheticOutput {
    const NAME: &'static str = "SyntheticOutput";
    /// Described by the agent's own schema, which the pipeline checks.
    type Input = Map<String, Value>;

    fn description() -> &'static str {
        include_str!("../../../../../prompts/tools/SyntheticOutput.md")
    }

    fn read_only(&self) -> bool {
        true
    }

    fn agent_schema(&self, cx: &ToolCx) -> Option<Arc<Value>> {
        cx.output_schema.clone()
    }

    async fn plan(&self, _input: &Self::Input, cx: &ToolCx) -> Result<Plan, ToolError> {
        if cx.output_schema.is_some() {
            Ok(Plan::internal())
        } else {
            Err(super::invalid("no result of this form was asked for; answer with text"))
        }
    }

    async fn run(
        &self,
        input: Self::Input,
        _plan: Plan,
        _approved: Approved,
        _cx: &ToolCx,
    ) -> Result<Output, ToolError> {
        let value = Value::Object(input);
        let mut output = Output::new("the result was accepted", ToolDetail::Value { value: value.clone() });
        output.end = Some(value);
        Ok(output)
    }
}
