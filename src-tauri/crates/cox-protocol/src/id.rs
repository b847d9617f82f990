//! The types of ids (W1). An id is a sortable lower-case string with a prefix that says what it names;
//! the engine mints them through an injected source.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
        #[serde(transparent)]
        #[ts(export, type = "string")]
        pub struct $name(String);

        impl $name {
            /// What an id of this type begins with.
            pub const PREFIX: &'static str = $prefix;

            /// Wraps a string as it came from the store, a host or a model. It is not checked here:
            /// an unknown id is found out where it is looked up.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A folder that the user opened.
    ProjectId,
    "p"
);
id!(
    /// One conversation with a coordinator (or a solo agent) over a project.
    SessionId,
    "s"
);
id!(
    /// The one id of every agent, the coordinator too, and of every background shell.
    TaskId,
    "t"
);
id!(
    /// A message between the user and an agent, or between agents.
    MessageId,
    "m"
);
id!(
    /// A permission request or a question.
    InboxId,
    "i"
);
id!(
    /// One request to a provider; the key of a ledger row.
    RequestId,
    "r"
);
id!(
    /// A stored permission rule.
    RuleId,
    "u"
);
id!(
    /// A notification; exactly one for each generation of a task.
    NotificationId,
    "n"
);
