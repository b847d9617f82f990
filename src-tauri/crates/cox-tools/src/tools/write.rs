//! Write: makes a file, or replaces its whole content.

use crate::context::ToolCx;
use crate::draft::{self, Draft, FILE_CAP, Target};
use crate::pipeline::Approved;
use crate::place::locate;
use crate::tool::{Output, Plan, Tool, ToolError};
use async_trait::async_trait;
use cox_protocol::inbox::Action;
use schemars::JsonSchema;
use serde::Deserialize;

/// Writes a file.
pub struct Write;

/// Which, and what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file, relative to the project folder. Missing folders are made.
    path: String,
    /// The whole content.
    content: String,
}

#[async_trait]
impl Tool for Write {
    const NAME: &'static str = "Write";
    type Input = Input;

    fn description() -> &'static str {
        include_str!("../../../../../prompts/tools/Write.md")
    }

    fn read_only(&self) -> bool {
        false
    }

    async fn plan(&self, input: &Input, cx: &ToolCx) -> Result<Plan, ToolError> {
        let at = locate(&input.path, cx).await?;
        let nothing_yet = Action::Edit { path: at.real.clone(), diff: String::new() };
        let plan = Plan::new(draft::write_access(&at), Some(nothing_yet));
        if input.content.len() as u64 > FILE_CAP {
            return Ok(plan.but(ToolError::tell(format!(
                "the content has {} bytes; Write takes at most {FILE_CAP}",
                input.content.len()
            ))));
        }
        let before = match draft::target(&at, cx).await {
            Target::Beyond => return Ok(plan),
            Target::Barred(problem) => return Ok(plan.but(problem)),
            Target::New => None,
            Target::Known(content) => Some(content),
        };
        let after = input.content.clone().into_bytes();
        let draft = cx.roots.blocking(move |_| Draft::new(at, before, after)).await;
        Ok(plan.drafted(draft))
    }

    async fn run(
        &self,
        _input: Input,
        plan: Plan,
        _approved: Approved,
        cx: &ToolCx,
    ) -> Result<Output, ToolError> {
        draft::write_planned(plan, cx, "wrote").await
    }
}
