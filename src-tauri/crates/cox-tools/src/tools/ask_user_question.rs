//! AskUserQuestion: puts a choice to the user (B164). Not "may I", but "which".

use crate::context::ToolCx;
use crate::pipeline::Approved;
use crate::tool::{Output, Plan, Tool, ToolError};
use async_trait::async_trait;
use cox_protocol::entry::ResultStatus;
use cox_protocol::inbox::{Answer, Question, QuestionOption};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Asks the user.
pub struct AskUserQuestion;

/// The questions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// One to four questions, shown together.
    #[schemars(length(min = 1, max = 4))]
    questions: Vec<Asked>,
}

/// One question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The question, complete and ending in a question mark.
    #[schemars(length(min = 1))]
    question: String,
    /// One or two words above it.
    header: String,
    /// Two to four options that exclude each other, unless several may be chosen. The user can always answer in
    /// own words instead; don't add an option for that.
    #[schemars(length(min = 2, max = 4))]
    options: Vec<Offered>,
    /// More than one may be chosen. Left out: false.
    #[serde(default)]
    multi_select: Option<bool>,
}

/// One option.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Offered {
    /// What is chosen, in one to five words.
    #[schemars(length(min = 1))]
    label: String,
    /// What it means and what follows from it.
    #[serde(default)]
    description: String,
}

#[async_trait]
impl Tool for AskUserQuestion {
    const NAME: &'static str = "AskUserQuestion";
    type Input = Input;

    fn description() -> &'static str {
        include_str!("../../../../../prompts/tools/AskUserQuestion.md")
    }

    fn read_only(&self) -> bool {
        true
    }

    async fn plan(&self, input: &Input, _cx: &ToolCx) -> Result<Plan, ToolError> {
        for asked in &input.questions {
            let labels: std::collections::BTreeSet<&str> =
                asked.options.iter().map(|option| option.label.trim()).collect();
            if asked.question.trim().is_empty() || labels.contains("") || labels.len() < asked.options.len() {
                return Err(super::invalid(
                    "a question or a label is blank, or two options have the same label",
                ));
            }
        }
        Ok(Plan::internal())
    }

    async fn run(
        &self,
        input: Input,
        _plan: Plan,
        _approved: Approved,
        cx: &ToolCx,
    ) -> Result<Output, ToolError> {
        let questions: Vec<Question> = input.questions.into_iter().map(Question::from).collect();
        let texts: Vec<String> = questions.iter().map(|question| question.question.clone()).collect();
        match cx.ask.questions(cx, questions).await {
            Answer::Chosen { answers } => {
                let pairs: Vec<_> = texts
                    .iter()
                    .zip(answers)
                    .map(|(question, answer)| json!({ "question": question, "answer": answer }))
                    .collect();
                Ok(Output::json(&json!({ "answers": pairs })))
            }
            Answer::NoUi => Err(ToolError::with(
                ResultStatus::NoUi,
                json!({
                    "error": "no_ui",
                    "message": "nobody can be asked here; decide yourself where that is safe, take the choice that can be undone, and say in your answer what you assumed",
                })
                .to_string(),
            )),
            Answer::Deny { reason } => {
                let reason = reason.trim();
                let message = if reason.is_empty() { "the user did not want to answer" } else { reason };
                Err(ToolError::with(
                    ResultStatus::Denied,
                    json!({ "error": "declined", "message": message }).to_string(),
                ))
            }
            Answer::Withdrawn | Answer::AllowOnce | Answer::AllowAlways | Answer::AllowEdits => {
                Err(ToolError::interrupted("interrupted: the question was taken back before it was answered"))
            }
        }
    }
}

impl From<Asked> for Question {
    fn from(asked: Asked) -> Self {
        Self {
            header: asked.header,
            question: asked.question,
            options: asked
                .options
                .into_iter()
                .map(|option| QuestionOption { label: option.label, description: option.description })
                .collect(),
            multi_select: asked.multi_select.unwrap_or(false),
        }
    }
}
