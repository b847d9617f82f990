//! The one pipeline (invariant 5). Every call of every agent passes it, in this order:
//!
//! 1. the arguments are JSON, the tool exists and is in the agent's pool, the arguments meet its schema;
//! 2. the tool plans: what will it touch?
//! 3. the policy decides: deny, ask or allow;
//! 4. a person is asked, where the policy says so, and the policy is asked again afterwards;
//! 5. the record that it begins is durable;
//! 6. it runs, with an [`Approved`] that is made here and nowhere else;
//! 7. its output, its failure, its panic or its interruption becomes exactly one result.
//!
//! [`Toolbox::prepare`] does 1 to 3 for all calls of an answer, so that the engine can record where each stands.
//! [`Toolbox::execute`] does 2 and 3 again, since earlier calls of the same answer, an answer of a person, or
//! other hands may have changed what is on disk and what is allowed; and then 4 to 7.

mod prepared;
mod result;
mod words;

pub use prepared::Prepared;
pub use result::Done;

use crate::context::ToolCx;
use crate::tool::{Output, Plan, ToolError};
use crate::toolbox::{AnyTool, Toolbox};
use cox_policy::{Access, Decision, Question, decide_with_paths};
use cox_protocol::ToolCall;
use cox_protocol::entry::ResultStatus;
use cox_protocol::inbox::{Answer, Rule};
use futures::FutureExt;
use prepared::{Outlook, Standing};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a cancelled tool or question may take to end by itself before it is dropped. Tools stop far sooner;
/// this is for a defect in one.
const BACKSTOP: Duration = Duration::from_secs(10);

/// Proof that a call passed the pipeline. It can't be made elsewhere, so that no tool that changes things runs
/// past the policy.
///
/// ```compile_fail
/// let forged = cox_tools::Approved(());
/// ```
#[derive(Debug)]
pub struct Approved(());

impl Toolbox {
    /// Steps 1 to 3. Changes nothing.
    pub async fn prepare(&self, call: &ToolCall, allowed: &[String], cx: &ToolCx) -> Prepared {
        let standing = match self.accept(call, allowed, cx) {
            Err(error) => Standing::Rejected(error),
            Ok(tool) => {
                let outlook = match planned(tool.as_ref(), call, cx).await {
                    Err(_) => Outlook::Fails,
                    Ok(plan) => {
                        let serial = matches!(plan.access, Access::Write { .. });
                        match decision(tool.as_ref(), &plan, cx) {
                            Decision::Deny { .. } => Outlook::Denied,
                            Decision::Ask { .. } | Decision::Allow { .. } if plan.problem.is_some() => {
                                if serial {
                                    Outlook::SerialFails
                                } else {
                                    Outlook::Fails
                                }
                            }
                            Decision::Ask { .. } => Outlook::Asks { serial },
                            Decision::Allow { .. } => Outlook::Ready { serial },
                        }
                    }
                };
                Standing::Accepted { tool: Arc::clone(tool), outlook }
            }
        };
        Prepared::new(call.clone(), standing)
    }

    /// Steps 2 to 7. Always gives exactly one result.
    pub async fn execute(&self, prepared: Prepared, cx: &ToolCx) -> Done {
        let (call, standing) = prepared.into_parts();
        let tool = match standing {
            Standing::Rejected(error) => return Done::of(&call, Duration::ZERO, Err(error)),
            Standing::Accepted { tool, .. } => tool,
        };
        let (plan, approved) = match permitted(tool.as_ref(), &call, cx).await {
            Ok(permitted) => permitted,
            Err(error) => return Done::of(&call, Duration::ZERO, Err(error)),
        };
        cx.journal.started(cx, tool.read_only()).await;
        let begun = Instant::now();
        let outcome = ran(tool.as_ref(), &call, plan, approved, cx).await;
        Done::of(&call, begun.elapsed(), outcome)
    }

    /// Step 1.
    fn accept(
        &self,
        call: &ToolCall,
        allowed: &[String],
        cx: &ToolCx,
    ) -> Result<&Arc<dyn AnyTool>, ToolError> {
        if let Some(raw) = &call.invalid {
            return Err(ToolError::invalid(words::not_json(raw)));
        }
        let known = allowed.contains(&call.name);
        let Some(tool) = self.find(&call.name).filter(|_| known) else {
            return Err(ToolError::invalid(words::no_such_tool(&call.name, allowed)));
        };
        let violations = tool.check(&call.input, cx);
        if violations.is_empty() {
            Ok(tool)
        } else {
            Err(ToolError::invalid(words::violations(tool.name(), &violations)))
        }
    }
}

/// Steps 2 to 4: a plan that may run now, and the proof of it.
async fn permitted(tool: &dyn AnyTool, call: &ToolCall, cx: &ToolCx) -> Result<(Plan, Approved), ToolError> {
    if cx.cancel.is_cancelled() {
        return Err(ToolError::interrupted(words::NOT_STARTED));
    }
    let mut plan = planned(tool, call, cx).await?;
    match decision(tool, &plan, cx) {
        Decision::Deny { because } => Err(ToolError::with(ResultStatus::Denied, words::denied(&because))),
        Decision::Allow { .. } => match plan.problem.take() {
            Some(problem) => Err(problem),
            None => Ok((plan, Approved(()))),
        },
        Decision::Ask { because, always, offer_accept_edits } => {
            // Nobody is asked about what can't be done.
            if let Some(problem) = plan.problem.take() {
                return Err(problem);
            }
            asked(tool, &plan, because, always, offer_accept_edits, cx).await?;
            Ok((plan, Approved(())))
        }
    }
}

/// Step 4.
async fn asked(
    tool: &dyn AnyTool,
    plan: &Plan,
    because: String,
    always: Option<Rule>,
    offer_accept_edits: bool,
    cx: &ToolCx,
) -> Result<(), ToolError> {
    let Some(action) = plan.action.clone() else {
        return Err(ToolError::with(ResultStatus::Denied, words::denied(&because)));
    };
    let wait = cx.ask.permission(cx, action, because.clone(), always, offer_accept_edits);
    let answer = within_backstop(cx, wait).await.unwrap_or(Answer::Withdrawn);
    match answer {
        // The wait may have been long: what was forbidden meanwhile stays forbidden.
        Answer::AllowOnce | Answer::AllowAlways | Answer::AllowEdits => match decision(tool, plan, cx) {
            Decision::Deny { because } => Err(ToolError::with(ResultStatus::Denied, words::denied(&because))),
            Decision::Ask { .. } | Decision::Allow { .. } if cx.cancel.is_cancelled() => {
                Err(ToolError::interrupted(words::NOT_STARTED))
            }
            Decision::Ask { .. } | Decision::Allow { .. } => Ok(()),
        },
        Answer::Deny { reason } => Err(ToolError::with(ResultStatus::Denied, words::declined(&reason))),
        Answer::NoUi => Err(ToolError::with(ResultStatus::NoUi, words::no_ui(&because))),
        Answer::Withdrawn => Err(ToolError::interrupted(words::NOT_STARTED)),
        Answer::Chosen { .. } => Err(ToolError::with(ResultStatus::Denied, words::declined(""))),
    }
}

/// Step 2; a panic in it is a failure of the call.
async fn planned(tool: &dyn AnyTool, call: &ToolCall, cx: &ToolCx) -> Result<Plan, ToolError> {
    AssertUnwindSafe(tool.plan(&call.input, cx))
        .catch_unwind()
        .await
        .unwrap_or_else(|panic| Err(panicked(tool, panic.as_ref())))
}

/// Step 3.
fn decision(tool: &dyn AnyTool, plan: &Plan, cx: &ToolCx) -> Decision {
    let question = Question {
        tool: tool.name(),
        access: &plan.access,
        mode: cx.rights.mode(),
        rules: &cx.rights.rules(),
        ask_every_command: cx.rights.ask_every_command,
    };
    decide_with_paths(&question, &plan.named)
}

/// Step 6.
async fn ran(
    tool: &dyn AnyTool,
    call: &ToolCall,
    plan: Plan,
    approved: Approved,
    cx: &ToolCx,
) -> Result<Output, ToolError> {
    let run = AssertUnwindSafe(tool.run(&call.input, plan, approved, cx)).catch_unwind();
    match within_backstop(cx, run).await {
        Some(Ok(outcome)) => outcome,
        Some(Err(panic)) => Err(panicked(tool, panic.as_ref())),
        None if tool.read_only() => Err(ToolError::interrupted(words::DID_NOT_STOP)),
        None => Err(ToolError::with(ResultStatus::OutcomeUnknown, words::DID_NOT_STOP)),
    }
}

/// Waits for the future; after a cancellation not longer than [`BACKSTOP`].
async fn within_backstop<T>(cx: &ToolCx, future: impl Future<Output = T>) -> Option<T> {
    tokio::pin!(future);
    tokio::select! {
        biased;
        done = &mut future => return Some(done),
        () = cx.cancel.cancelled() => {}
    }
    tokio::time::timeout(BACKSTOP, future).await.ok()
}

fn panicked(tool: &dyn AnyTool, panic: &(dyn std::any::Any + Send)) -> ToolError {
    let what = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    tracing::error!(tool = tool.name(), panic = %what, "a tool panicked");
    ToolError::tell(words::panicked(tool.name(), &what))
}
