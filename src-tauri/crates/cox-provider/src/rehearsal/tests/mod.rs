//! Rehearsal, driven step by step by a small stand-in for the runtime that answers its calls from a real folder.

mod files;
mod prompts;
mod runtime;
mod sessions;
mod streaming;
mod troubles;
mod wild;
mod workers;

use super::answer::Answer;
use cox_protocol::task::ToolDef;
use serde_json::json;

/// Tools with nothing but names: the rules look at no more.
fn tools(names: &[&str]) -> Vec<ToolDef> {
    let def = |name: &&str| ToolDef {
        name: (*name).to_owned(),
        description: String::new(),
        input_schema: json!({ "type": "object" }),
    };
    names.iter().map(def).collect()
}

const COORDINATOR: [&str; 5] = ["Agent", "SendMessage", "TaskStop", "TaskOutput", "AskUserQuestion"];
const EXPLORE: [&str; 3] = ["Read", "Glob", "Grep"];
const VERIFY: [&str; 4] = ["Read", "Glob", "Grep", "Bash"];
const SOLO: [&str; 11] = [
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "Bash",
    "Agent",
    "SendMessage",
    "TaskStop",
    "TaskOutput",
    "AskUserQuestion",
];

/// Names of the tools that an answer calls.
fn called(answer: &Answer) -> Vec<&'static str> {
    answer.calls.iter().map(|call| call.tool).collect()
}
