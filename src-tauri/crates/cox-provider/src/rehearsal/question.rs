//! The question card: asked when the user's prompt speaks of a question, and obeyed.

use super::answer::{Call, Work};
use super::desk::{Desk, Reply};
use super::facts::short;
use cox_protocol::entry::ResultStatus;
use serde_json::{Value, json};

const RUN: &str = "Run the check";
const READ: &str = "Only read";

/// What a round should do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// A worker may run the project's own check.
    pub(super) run_check: bool,
    /// Where it came from, when a card was shown or wanted.
    pub(super) because: Option<String>,
}

/// The user's choice, or the card that has to be shown first. Whoever asks for no card gets the whole round.
pub(super) fn choice(desk: &Desk<'_>, prompt: &str) -> Result<Choice, Work> {
    let prompt = prompt.to_lowercase();
    if !["question", "ask me"].iter().any(|word| prompt.contains(word)) {
        return Ok(Choice { run_check: true, because: None });
    }
    let only_read = |why: String| Choice { run_check: false, because: Some(why) };
    let say = || "Your prompt speaks of a question, so I ask one before anything starts.".to_owned();
    Ok(match desk.one(card(), say)? {
        Reply::NotOffered(_) => only_read("no question could be asked here, so I only read".to_owned()),
        Reply::Result(result) => match (result.status, answer(&result.content).as_deref()) {
            (ResultStatus::Ok, Some(RUN)) => {
                Choice { run_check: true, because: Some(format!("you chose \"{RUN}\"")) }
            }
            (ResultStatus::Ok, Some(READ)) => only_read(format!("you chose \"{READ}\"")),
            (ResultStatus::Ok, words) => only_read(format!(
                "you answered in your own words (\"{}\"), which rules can't understand, so I only read",
                short(words.unwrap_or_default(), 60)
            )),
            (ResultStatus::NoUi, _) => only_read("nobody could be asked (no_ui), so I only read".to_owned()),
            (_, _) => only_read("the question was not answered, so I only read".to_owned()),
        },
    })
}

fn card() -> Call {
    let option = |label: &str, description: &str| json!({ "label": label, "description": description });
    Call {
        tool: "AskUserQuestion",
        input: json!({ "questions": [{
            "header": "Check",
            "question": "Should the project's own quick check run at the end?",
            "options": [
                option(RUN, "One offline command that leaves nothing behind. You are asked again before it runs."),
                option(READ, "Files are listed, searched and read. No command is run."),
            ],
        }] }),
    }
}

fn answer(content: &str) -> Option<String> {
    let value: Value = serde_json::from_str(content).ok()?;
    Some(value["answers"][0]["answer"].as_str()?.to_owned())
}
