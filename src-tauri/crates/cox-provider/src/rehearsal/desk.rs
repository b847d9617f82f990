//! What lies before an agent: the results of its own calls, looked up by what was called.
//!
//! A step of a task names the calls that it needs. Those that have a result are answered from the transcript,
//! the others become [`Work`]. So a task is written as if every call returned at once, and goes on after a stop or
//! a restart exactly where it was.

use super::answer::{Call, Work};
use cox_protocol::entry::{Entry, ResultStatus, ToolCall, ToolResult};
use cox_protocol::task::ToolDef;
use std::collections::HashMap;
use std::sync::Arc;

/// How often a call is made that was cut each time.
const TRIES: usize = 2;

/// The results of a stretch of a transcript.
pub(super) struct Desk<'a> {
    tools: &'a [ToolDef],
    done: Vec<(&'a ToolCall, &'a ToolResult)>,
}

/// What came of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reply<'a> {
    /// A result.
    Result(&'a ToolResult),
    /// The tool is not on offer.
    NotOffered(&'static str),
}

impl<'a> Reply<'a> {
    /// The text of a result that did what was asked.
    pub(super) fn ok(self) -> Option<&'a str> {
        match self {
            Self::Result(result) if result.status == ResultStatus::Ok => Some(&result.content),
            Self::Result(_) | Self::NotOffered(_) => None,
        }
    }

    /// Why it did not do what was asked, on one line.
    pub(super) fn problem(self) -> Option<String> {
        match self {
            Self::Result(result) if result.status == ResultStatus::Ok => None,
            Self::Result(result) => {
                let line = result
                    .content
                    .lines()
                    .find(|line| !line.trim().is_empty())
                    .unwrap_or("no reason was given");
                Some(format!("{}: {}", result.tool, line.trim()))
            }
            Self::NotOffered(tool) => Some(format!("{tool} is not on offer")),
        }
    }
}

impl<'a> Desk<'a> {
    /// Over these entries.
    pub(super) fn over(tools: &'a [ToolDef], entries: &'a [Arc<Entry>]) -> Self {
        let mut open: HashMap<&str, &ToolCall> = HashMap::new();
        let mut done = Vec::new();
        for entry in entries {
            open.extend(entry.calls().map(|call| (call.id.as_str(), call)));
            if let Entry::ToolResults { results } = entry.as_ref() {
                done.extend(
                    results
                        .iter()
                        .filter_map(|result| open.remove(result.call_id.as_str()).map(|call| (call, result))),
                );
            }
        }
        Self { tools, done }
    }

    /// Is this tool on offer?
    pub(super) fn offers(&self, tool: &str) -> bool {
        self.tools.iter().any(|def| def.name == tool)
    }

    /// Every finished call of a tool, in order.
    pub(super) fn finished(
        &self,
        tool: &'static str,
    ) -> impl Iterator<Item = (&'a ToolCall, &'a ToolResult)> {
        self.done.iter().copied().filter(move |(call, _)| call.name == tool)
    }

    /// A reply for each call, or what has to be called first, said in `say`.
    pub(super) fn replies(
        &self,
        calls: Vec<Call>,
        say: impl FnOnce() -> String,
    ) -> Result<Vec<Reply<'a>>, Work> {
        let found: Vec<Option<Reply<'a>>> = calls.iter().map(|call| self.reply(call)).collect();
        if found.iter().all(Option::is_some) {
            return Ok(found.into_iter().flatten().collect());
        }
        let missing =
            calls.into_iter().zip(&found).filter(|(_, reply)| reply.is_none()).map(|(call, _)| call);
        Err(Work { say: say(), calls: missing.collect() })
    }

    /// The reply to one call.
    pub(super) fn one(&self, call: Call, say: impl FnOnce() -> String) -> Result<Reply<'a>, Work> {
        let tool = call.tool;
        Ok(self.replies(vec![call], say)?.pop().unwrap_or(Reply::NotOffered(tool)))
    }

    fn reply(&self, call: &Call) -> Option<Reply<'a>> {
        if !self.offers(call.tool) {
            return Some(Reply::NotOffered(call.tool));
        }
        let mut same =
            self.done.iter().filter(|(made, _)| made.name == call.tool && made.input == call.input);
        let (_, last) = same.next_back()?;
        let tries = same.count() + 1;
        (last.status != ResultStatus::Interrupted || tries >= TRIES).then_some(Reply::Result(last))
    }
}
