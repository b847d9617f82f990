//! SendMessage: a message to an agent; an ended one is continued (B130–B136, B186).

use crate::context::ToolCx;
use crate::pipeline::Approved;
use crate::text::head;
use crate::tool::{Output, Plan, Tool, ToolError};
use async_trait::async_trait;
use cox_protocol::ToolDetail;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Characters of a summary (B186).
const SUMMARY: usize = 200;

/// Sends a message to an agent.
pub struct SendMessage;

/// The message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The recipient: the name or the id of a worker.
    to: String,
    /// One line for the user. Left out: the first line of the message.
    #[serde(default)]
    summary: Option<String>,
    /// The message. The worker keeps its own context, and sees nothing of yours but this.
    message: String,
}

#[async_trait]
impl Tool for SendMessage {
    const NAME: &'static str = "SendMessage";
    type Input = Input;

    fn description() -> &'static str {
        include_str!("../../../../../prompts/tools/SendMessage.md")
    }

    fn read_only(&self) -> bool {
        false
    }

    async fn plan(&self, input: &Input, _cx: &ToolCx) -> Result<Plan, ToolError> {
        if input.message.trim().is_empty() {
            return Err(super::invalid("message is empty"));
        }
        match input.to.trim() {
            "" => Err(super::invalid("to is empty: name a worker, or give its id")),
            "*" => Err(super::invalid("a message goes to one worker; there is no team to send it to all of")),
            _ => Ok(Plan::internal()),
        }
    }

    async fn run(
        &self,
        input: Input,
        _plan: Plan,
        _approved: Approved,
        cx: &ToolCx,
    ) -> Result<Output, ToolError> {
        let summary = summary(input.summary.as_deref().unwrap_or_default(), &input.message);
        let to = input.to.trim().to_owned();
        let sent = cx.tasks.send(cx, to, Some(summary), input.message).await.map_err(super::refused)?;
        let (status, message) = if sent.queued {
            ("queued", "delivered at its next turn")
        } else {
            (
                "resumed",
                "it had ended; it goes on in the background with its context, and a notification follows",
            )
        };
        Ok(Output::new(
            json!({
                "success": true,
                "status": status,
                "agentId": sent.task_id,
                "name": sent.name,
                "messageId": sent.message_id,
                "message": message,
            })
            .to_string(),
            ToolDetail::Task { task_id: sent.task_id, name: sent.name },
        ))
    }
}

/// What was given, else the first line that says something; one line, capped.
fn summary(given: &str, message: &str) -> String {
    let line = [given, message].into_iter().flat_map(str::lines).map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_default();
    if line.chars().count() > SUMMARY { head(line, SUMMARY - 1) } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B186
    #[test]
    fn the_first_line_is_the_summary_and_is_cut() {
        assert_eq!(summary(" short \nmore", "text"), "short");
        assert_eq!(summary("", "\n  first\nsecond"), "first");
        let long = summary("", &"x".repeat(500));
        assert_eq!((long.chars().count(), long.ends_with('…')), (SUMMARY, true));
    }
}
