//! What a model gets to read when a call does not run.

use crate::text::head;

/// The turn was cut before the call began.
pub(super) const NOT_STARTED: &str = "interrupted: this call was not started";

/// The backstop.
pub(super) const DID_NOT_STOP: &str =
    "interrupted: the tool did not stop in time; whether it took effect is unknown";

/// The arguments are cut or broken (W19).
pub(super) fn not_json(raw: &str) -> String {
    let problem = match serde_json::from_str::<serde_json::Value>(raw) {
        Err(error) if error.is_eof() => "they end too early, as if they had been cut".to_owned(),
        Err(error) => error.to_string(),
        // An object is asked for; anything else that is valid JSON can't be arguments.
        Ok(_) => "they are not a JSON object".to_owned(),
    };
    format!(
        "the arguments of this call are not valid JSON: {problem}. The call was not run. Send it again with complete, valid JSON; if it was cut because it is long, do it in smaller pieces."
    )
}

/// Unknown, or not for this agent.
pub(super) fn no_such_tool(name: &str, allowed: &[String]) -> String {
    let name = head(name, 100);
    if allowed.is_empty() {
        format!("there is no tool {name:?} here: you have no tools")
    } else {
        format!("there is no tool {name:?} here. You have: {}", allowed.join(", "))
    }
}

/// The arguments don't meet the schema.
pub(super) fn violations(tool: &str, violations: &[String]) -> String {
    format!(
        "the input of {tool} does not fit its schema; the call was not run:\n- {}",
        violations.join("\n- ")
    )
}

/// By a rule or a mode.
pub(super) fn denied(because: &str) -> String {
    format!("not allowed: {because}. The call was not run. Don't try to reach the same by another way.")
}

/// By a person.
pub(super) fn declined(reason: &str) -> String {
    let reason = reason.trim();
    if reason.is_empty() {
        "the user declined this call and gave no reason. It was not run. Don't send it again as it is."
            .to_owned()
    } else {
        format!("the user declined this call: {reason}\nIt was not run.")
    }
}

/// Nobody can be asked (W26).
pub(super) fn no_ui(because: &str) -> String {
    format!(
        "no_ui: this needs a person's permission ({because}), and nobody can be asked here. It was not run, and the user has not declined it. Go on without it, and say in your result what was not done."
    )
}

/// A defect.
pub(super) fn panicked(tool: &str, what: &str) -> String {
    format!("{tool} failed by a defect in Coxswain: {}. Whether it took effect is unknown.", head(what, 300))
}
