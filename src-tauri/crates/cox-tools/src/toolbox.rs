//! The registry. Outside a tool is typed; in here it is erased, with its schema compiled once.

use crate::context::ToolCx;
use crate::pipeline::Approved;
use crate::schema;
use crate::tool::{Output, Plan, Tool, ToolError};
use crate::tools;
use async_trait::async_trait;
use cox_protocol::task::ToolDef;
use jsonschema::Validator;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// The tools that exist. Cheap to clone.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn AnyTool>>,
}

impl Toolbox {
    /// Every tool of Coxswain.
    pub fn standard() -> Self {
        Self::default()
            .with(tools::Read)
            .with(tools::Write)
            .with(tools::Edit)
            .with(tools::Glob)
            .with(tools::Grep)
            .with(tools::Bash)
            .with(tools::Agent)
            .with(tools::SendMessage)
            .with(tools::TaskStop)
            .with(tools::TaskOutput)
            .with(tools::AskUserQuestion)
            .with(tools::SyntheticOutput)
    }

    /// With one more tool.
    #[must_use]
    pub fn with<T: Tool>(mut self, tool: T) -> Self {
        let schema = schema::of::<T::Input>();
        let validator = schema::compile(&schema);
        self.tools.push(Arc::new(Typed { tool, schema: schema::shown(schema), validator }));
        self
    }

    /// The tools as offered to a model, in the order given; the same bytes every time. Unknown names are left
    /// out, and so is SyntheticOutput, which is offered only with a schema: [`Toolbox::synthetic_output`].
    pub fn defs(&self, names: &[&str]) -> Vec<ToolDef> {
        names
            .iter()
            .filter(|name| **name != tools::SyntheticOutput::NAME)
            .filter_map(|name| self.find(name))
            .map(|tool| tool.def())
            .collect()
    }

    /// SyntheticOutput as offered to an agent whose result has to meet this schema.
    pub fn synthetic_output(output_schema: &Value) -> ToolDef {
        ToolDef {
            name: tools::SyntheticOutput::NAME.to_owned(),
            description: tools::SyntheticOutput::description().trim_end().to_owned(),
            input_schema: output_schema.clone(),
        }
    }

    /// The names of all tools.
    pub fn names(&self) -> Vec<&'static str> {
        self.tools.iter().map(|tool| tool.name()).collect()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Arc<dyn AnyTool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }
}

/// A tool without its input type.
#[async_trait]
pub(crate) trait AnyTool: Send + Sync {
    fn name(&self) -> &'static str;
    fn def(&self) -> ToolDef;
    fn read_only(&self) -> bool;
    /// What is wrong with the input; empty when nothing is.
    fn check(&self, input: &Value, cx: &ToolCx) -> Vec<String>;
    async fn plan(&self, input: &Value, cx: &ToolCx) -> Result<Plan, ToolError>;
    async fn run(
        &self,
        input: &Value,
        plan: Plan,
        approved: Approved,
        cx: &ToolCx,
    ) -> Result<Output, ToolError>;
}

struct Typed<T> {
    tool: T,
    /// As shown to models.
    schema: Value,
    validator: Result<Validator, String>,
}

impl<T: Tool> Typed<T> {
    fn typed(input: &Value) -> Result<T::Input, ToolError> {
        T::Input::deserialize(input)
            .map_err(|error| ToolError::invalid(format!("the input of {} can't be used: {error}", T::NAME)))
    }
}

#[async_trait]
impl<T: Tool> AnyTool for Typed<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn def(&self) -> ToolDef {
        ToolDef {
            name: T::NAME.to_owned(),
            description: T::description().trim_end().to_owned(),
            input_schema: self.schema.clone(),
        }
    }

    fn read_only(&self) -> bool {
        self.tool.read_only()
    }

    fn check(&self, input: &Value, cx: &ToolCx) -> Vec<String> {
        let compiled;
        let validator = match self.tool.agent_schema(cx) {
            Some(schema) => {
                compiled = schema::compile(&schema);
                &compiled
            }
            None => &self.validator,
        };
        match validator {
            Ok(validator) => schema::violations(validator, input),
            Err(problem) => vec![format!("the schema of {} can't be used: {problem}", T::NAME)],
        }
    }

    async fn plan(&self, input: &Value, cx: &ToolCx) -> Result<Plan, ToolError> {
        let input = Self::typed(input)?;
        self.tool.plan(&input, cx).await
    }

    async fn run(
        &self,
        input: &Value,
        plan: Plan,
        approved: Approved,
        cx: &ToolCx,
    ) -> Result<Output, ToolError> {
        let input = Self::typed(input)?;
        self.tool.run(input, plan, approved, cx).await
    }
}
