//! Edit: replaces a piece of text in a file.

use crate::context::ToolCx;
use crate::draft::{self, Draft, Target};
use crate::pipeline::Approved;
use crate::place::locate;
use crate::text;
use crate::tool::{Output, Plan, Tool, ToolError};
use async_trait::async_trait;
use cox_protocol::inbox::Action;
use schemars::JsonSchema;
use serde::Deserialize;

/// Edits a file.
pub struct Edit;

/// Where, and what for what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file, relative to the project folder.
    path: String,
    /// The text to replace, exactly as it is in the file, indentation included, without line numbers.
    old_string: String,
    /// The text to put in its place.
    new_string: String,
    /// Replace every place where old_string stands. Left out: false, and it must stand in one place only.
    #[serde(default)]
    replace_all: Option<bool>,
}

#[async_trait]
impl Tool for Edit {
    const NAME: &'static str = "Edit";
    type Input = Input;

    fn description() -> &'static str {
        include_str!("../../../../../prompts/tools/Edit.md")
    }

    fn read_only(&self) -> bool {
        false
    }

    async fn plan(&self, input: &Input, cx: &ToolCx) -> Result<Plan, ToolError> {
        let at = locate(&input.path, cx).await?;
        let shown = text::path(&at.asked);
        let nothing_yet = Action::Edit { path: at.real.clone(), diff: String::new() };
        let plan = Plan::new(draft::write_access(&at), Some(nothing_yet));
        let content = match draft::target(&at, cx).await {
            Target::Beyond => return Ok(plan),
            Target::Barred(problem) => return Ok(plan.but(problem)),
            Target::New => {
                let problem = format!("there is no file {shown}; Write makes a new one");
                return Ok(plan.but(ToolError::tell(problem)));
            }
            Target::Known(content) => content,
        };
        let whole = match std::str::from_utf8(&content.bytes) {
            Ok(whole) if !content.is_binary() => whole,
            Ok(_) | Err(_) => {
                let problem = format!("{shown} is not UTF-8 text; Edit can't change it");
                return Ok(plan.but(ToolError::tell(problem)));
            }
        };
        match replaced(whole, &input.old_string, &input.new_string, input.replace_all.unwrap_or(false)) {
            Err(problem) => Ok(plan.but(ToolError::tell(format!("{shown}: {problem}")))),
            Ok(after) => {
                let draft =
                    cx.roots.blocking(move |_| Draft::new(at, Some(content), after.into_bytes())).await;
                Ok(plan.drafted(draft))
            }
        }
    }

    async fn run(
        &self,
        _input: Input,
        plan: Plan,
        _approved: Approved,
        cx: &ToolCx,
    ) -> Result<Output, ToolError> {
        draft::write_planned(plan, cx, "edited").await
    }
}

/// The text with the replacement, or why it can't be made.
fn replaced(whole: &str, old: &str, new: &str, all: bool) -> Result<String, String> {
    if old.is_empty() {
        return Err("old_string is empty; give the text to replace, or use Write for a whole file".to_owned());
    }
    if old == new {
        return Err("old_string and new_string are the same".to_owned());
    }
    // Read shows lines without their \r, so a model can't know that it has to give one.
    let (old, new) = if !whole.contains(old) && whole.contains("\r\n") && !old.contains('\r') {
        (old.replace('\n', "\r\n"), new.replace('\n', "\r\n"))
    } else {
        (old.to_owned(), new.to_owned())
    };
    let places: Vec<usize> = whole.match_indices(&old).map(|(at, _)| at).collect();
    match places.len() {
        0 => Err(format!(
            "old_string is not in the file; it must match exactly, indentation and line breaks included{}",
            nearest(whole, &old)
        )),
        1 => Ok(whole.replacen(&old, &new, 1)),
        _ if all => Ok(whole.replace(&old, &new)),
        count => {
            let lines: Vec<String> =
                places.iter().take(10).map(|at| line_of(whole, *at).to_string()).collect();
            let more = if count > 10 { ", …" } else { "" };
            Err(format!(
                "old_string stands in {count} places (lines {}{more}); give more of the text around it, or set replace_all",
                lines.join(", ")
            ))
        }
    }
}

/// Where a line stands that differs from the first wanted one in blanks only.
fn nearest(whole: &str, old: &str) -> String {
    let wanted = old.lines().map(str::trim).find(|line| !line.is_empty());
    let near = wanted.and_then(|wanted| whole.lines().position(|line| line.trim() == wanted));
    near.map(|index| format!(". A line like its first one is line {}", index + 1)).unwrap_or_default()
}

fn line_of(whole: &str, at: usize) -> usize {
    whole[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(whole: &str, old: &str, new: &str, all: bool, expect: Result<&str, &str>) {
        let got = replaced(whole, old, new, all);
        assert_eq!(got.as_deref().map_err(String::as_str), expect);
    }

    #[test]
    fn one_place_is_replaced_and_two_only_when_asked() {
        check("a b c", "b", "x", false, Ok("a x c"));
        check("b\nb\n", "b", "x", true, Ok("x\nx\n"));
        check(
            "b\nb\n",
            "b",
            "x",
            false,
            Err(
                "old_string stands in 2 places (lines 1, 2); give more of the text around it, or set replace_all",
            ),
        );
    }

    #[test]
    fn line_ends_of_the_file_are_kept() {
        check("a\r\nb\r\nc\r\n", "a\nb", "x\ny", false, Ok("x\r\ny\r\nc\r\n"));
    }

    #[test]
    fn what_is_not_there_is_said_with_the_nearest_line() {
        check(
            "fn a() {\n\tlet x = 1;\n}\n",
            "    let x = 1;",
            "",
            false,
            Err(
                "old_string is not in the file; it must match exactly, indentation and line breaks included. A line like its first one is line 2",
            ),
        );
        check(
            "a",
            "",
            "b",
            false,
            Err("old_string is empty; give the text to replace, or use Write for a whole file"),
        );
        check("a", "a", "a", false, Err("old_string and new_string are the same"));
    }
}
