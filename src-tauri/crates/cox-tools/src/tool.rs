//! What a tool is, what it plans, what it returns, and the two ways in which it fails.

use crate::context::ToolCx;
use crate::draft::Draft;
use crate::pipeline::Approved;
use crate::place::resolved;
use async_trait::async_trait;
use cox_exec::Located;
use cox_policy::{Access, ResolvedPath};
use cox_protocol::ToolDetail;
use cox_protocol::entry::{BlobRef, FileChange, ResultStatus};
use cox_protocol::inbox::Action;
use cox_protocol::task::FailKind;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// A tool. Implemented once per file in [`crate::tools`], called only by [`crate::pipeline`].
///
/// Left out on purpose: permissions and the record of the call. A tool says in [`Tool::plan`] what it is about
/// to touch, and the pipeline decides.
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    /// What models call it.
    const NAME: &'static str;

    /// The arguments. Its doc comments are the descriptions in the schema.
    type Input: DeserializeOwned + JsonSchema + Send + Sync;

    /// What it does, when to use it, what it returns and its limits, for a model.
    fn description() -> &'static str;

    /// It changes nothing, so that it may be repeated after a crash (W19).
    fn read_only(&self) -> bool;

    /// The schema, for a tool whose arguments are described by the agent that calls it and not by its type.
    fn agent_schema(&self, _cx: &ToolCx) -> Option<Arc<Value>> {
        None
    }

    /// What the policy must know, and what a person is shown. Changes nothing. It is called again right before
    /// the call runs, because the world may have moved on while others ran or a person was asked.
    ///
    /// # Errors
    /// The arguments can't be used, whatever the policy says.
    async fn plan(&self, input: &Self::Input, cx: &ToolCx) -> Result<Plan, ToolError>;

    /// Does it. Ends soon after `cx.cancel` is cancelled, with status `interrupted` and what there is so far.
    ///
    /// # Errors
    /// See [`ToolError`].
    async fn run(
        &self,
        input: Self::Input,
        plan: Plan,
        approved: Approved,
        cx: &ToolCx,
    ) -> Result<Output, ToolError>;
}

/// What a call is about to do.
pub struct Plan {
    /// What it touches, for the policy.
    pub access: Access,
    /// What a person is shown when asked. Null where nobody is ever asked.
    pub action: Option<Action>,
    /// Why it can't be done, found while planning. It is told only where the policy does not say no by itself,
    /// and before anybody is asked.
    pub problem: Option<ToolError>,
    /// What the paths that a command names really are, so that a link can't lead a harmless command elsewhere.
    pub named: Vec<ResolvedPath>,
    /// The place that was decided on, so that no other one is opened.
    pub(crate) at: Option<Located>,
    /// The change of a file that was planned, for Write and Edit.
    pub(crate) draft: Option<Draft>,
}

impl Plan {
    /// A plan that touches neither files nor processes, and is never asked about.
    pub fn internal() -> Self {
        Self::new(Access::Internal, None)
    }

    /// A plan for this access.
    pub fn new(access: Access, action: Option<Action>) -> Self {
        Self { access, action, problem: None, named: Vec::new(), at: None, draft: None }
    }

    /// A plan to read this place.
    pub(crate) fn reading(at: Located) -> Self {
        let action = Action::Read { path: at.asked.clone() };
        Self { at: Some(at.clone()), ..Self::new(Access::Read { path: resolved(&at) }, Some(action)) }
    }

    /// The place that was decided on.
    pub(crate) fn place(self) -> Result<Located, ToolError> {
        self.at.ok_or_else(|| ToolError::tell("the call has no place to work on"))
    }

    /// The same plan, which can't be done.
    #[must_use]
    pub fn but(mut self, problem: ToolError) -> Self {
        self.problem = Some(problem);
        self
    }

    /// The same plan with the change that it makes, which is what a person is shown.
    #[must_use]
    pub(crate) fn drafted(mut self, draft: Draft) -> Self {
        self.action = Some(draft.action());
        self.draft = Some(draft);
        self
    }
}

/// What a tool returns when it did what was asked.
#[derive(Debug)]
pub struct Output {
    /// What the model gets to read.
    pub content: String,
    /// What the window shows.
    pub detail: ToolDetail,
    /// The whole output, where `content` is cut.
    pub full: Option<BlobRef>,
    /// It ends the run, and this is the run's value (SyntheticOutput).
    pub end: Option<Value>,
    /// The file that was changed, and the blob with its content before.
    pub change: Option<(FileChange, Option<String>)>,
    /// What happened although the agent's role does not allow it.
    pub violations: Vec<String>,
}

impl Output {
    /// A text and its detail.
    pub fn new(content: impl Into<String>, detail: ToolDetail) -> Self {
        Self { content: content.into(), detail, full: None, end: None, change: None, violations: Vec::new() }
    }

    /// JSON without detail.
    pub fn json(value: &Value) -> Self {
        Self::new(value.to_string(), ToolDetail::None)
    }
}

/// The two ways to fail.
#[derive(Debug)]
pub enum ToolError {
    /// The model is told, and goes on.
    Tell {
        /// How the call ended.
        status: ResultStatus,
        /// What the model gets to read.
        content: String,
        /// What the window shows.
        detail: Box<ToolDetail>,
        /// The whole output, where `content` is cut.
        full: Option<BlobRef>,
        /// What happened although the agent's role does not allow it.
        violations: Vec<String>,
    },
    /// The generation ends.
    EndTurn {
        /// Why.
        kind: FailKind,
        /// What happened, for a person.
        message: String,
    },
}

impl ToolError {
    /// Told with this status, nothing to show beside it.
    pub fn with(status: ResultStatus, content: impl Into<String>) -> Self {
        Self::shown(status, content, ToolDetail::None)
    }

    /// Told with this status and a detail.
    pub fn shown(status: ResultStatus, content: impl Into<String>, detail: ToolDetail) -> Self {
        Self::Tell {
            status,
            content: content.into(),
            detail: Box::new(detail),
            full: None,
            violations: Vec::new(),
        }
    }

    /// The tool failed.
    pub fn tell(content: impl Into<String>) -> Self {
        Self::with(ResultStatus::Error, content)
    }

    /// The arguments can't be used.
    pub fn invalid(content: impl Into<String>) -> Self {
        Self::with(ResultStatus::InvalidCall, content)
    }

    /// It was cut before it had anything to show.
    pub fn interrupted(content: impl Into<String>) -> Self {
        Self::with(ResultStatus::Interrupted, content)
    }

    /// The store refused.
    pub fn storage(message: impl Into<String>) -> Self {
        Self::EndTurn { kind: FailKind::Storage, message: message.into() }
    }
}
