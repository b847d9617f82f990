//! A call that went through the first steps, and where it stands.

use crate::tool::{Tool, ToolError};
use crate::toolbox::AnyTool;
use crate::tools;
use cox_protocol::ToolCall;
use std::sync::Arc;

/// A call that is checked, planned and decided, but not run. What it says is the state when it was prepared;
/// [`crate::Toolbox::execute`] looks again.
pub struct Prepared {
    call: ToolCall,
    standing: Standing,
}

pub(super) enum Standing {
    /// It can never run.
    Rejected(ToolError),
    /// It may run.
    Accepted { tool: Arc<dyn AnyTool>, outlook: Outlook },
}

/// What will happen to it as things stand. `serial`: it writes.
#[derive(Clone, Copy)]
pub(super) enum Outlook {
    Ready {
        serial: bool,
    },
    Asks {
        serial: bool,
    },
    Denied,
    Fails,
    /// It fails now; an earlier write of the same answer may change that.
    SerialFails,
}

impl Prepared {
    pub(super) fn new(call: ToolCall, standing: Standing) -> Self {
        Self { call, standing }
    }

    pub(super) fn into_parts(self) -> (ToolCall, Standing) {
        (self.call, self.standing)
    }

    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// It is allowed and runs at once.
    pub fn is_ready(&self) -> bool {
        match self.outlook() {
            Some(Outlook::Ready { .. }) => true,
            Some(Outlook::Asks { .. } | Outlook::Denied | Outlook::Fails | Outlook::SerialFails) | None => {
                false
            }
        }
    }

    /// A person is asked for permission first.
    pub fn asks(&self) -> bool {
        match self.outlook() {
            Some(Outlook::Asks { .. }) => true,
            Some(Outlook::Ready { .. } | Outlook::Denied | Outlook::Fails | Outlook::SerialFails) | None => {
                false
            }
        }
    }

    /// It will not run: it can't be used, or is denied. Execute it all the same to get its result.
    pub fn rejected(&self) -> bool {
        match self.outlook() {
            Some(Outlook::Denied | Outlook::Fails) | None => true,
            Some(Outlook::Ready { .. } | Outlook::Asks { .. } | Outlook::SerialFails) => false,
        }
    }

    /// It changes nothing, and may be repeated after a crash.
    pub fn read_only(&self) -> bool {
        match &self.standing {
            Standing::Rejected(_) => true,
            Standing::Accepted { tool, .. } => tool.read_only(),
        }
    }

    /// It may run beside the other calls of its answer. Those that may not are the writes: they are executed one
    /// after another, in the order of the calls, so that each sees what the one before it wrote.
    pub fn parallel(&self) -> bool {
        match self.outlook() {
            Some(Outlook::Ready { serial } | Outlook::Asks { serial }) => !serial,
            Some(Outlook::SerialFails) => false,
            Some(Outlook::Denied | Outlook::Fails) | None => true,
        }
    }

    /// It puts a question to the user: Agent calls of the same answer wait until it has its result.
    pub fn is_question(&self) -> bool {
        self.call.name == tools::AskUserQuestion::NAME && !self.rejected()
    }

    /// It starts a worker, and waits for the questions of the same answer.
    pub fn is_dispatch(&self) -> bool {
        self.call.name == tools::Agent::NAME
    }

    fn outlook(&self) -> Option<Outlook> {
        match &self.standing {
            Standing::Rejected(_) => None,
            Standing::Accepted { outlook, .. } => Some(*outlook),
        }
    }
}
