//! Glob: finds files by their names.

use crate::context::ToolCx;
use crate::pipeline::Approved;
use crate::place::{locate, on_disk};
use crate::text;
use crate::tool::{Output, Plan, Tool, ToolError};
use async_trait::async_trait;
use cox_exec::{Kind, WalkCut, WalkEnd, WalkOptions};
use cox_protocol::ToolDetail;
use cox_protocol::entry::ResultStatus;
use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::Deserialize;
use std::ops::ControlFlow;

/// Files listed when no limit is given.
const SHOWN: u64 = 1_000;
/// The most that are listed.
const MAX_SHOWN: u64 = 5_000;

/// Finds files.
pub struct Glob;

/// Which.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The pattern, relative to `path`: `*` within a name, `**` over folders, `?`, `[a-z]`, `{rs,toml}`. `**/*.rs` is every Rust file.
    pattern: String,
    /// The folder to look in, relative to the project folder. Left out: the project folder.
    #[serde(default)]
    path: Option<String>,
    /// How many files to list. Left out: 1000. At most 5000.
    #[serde(default)]
    #[schemars(range(min = 1, max = 5_000))]
    limit: Option<u64>,
    /// Also what .gitignore hides. Left out: false.
    #[serde(default)]
    ignored: Option<bool>,
}

#[async_trait]
impl Tool for Glob {
    const NAME: &'static str = "Glob";
    type Input = Input;

    fn description() -> &'static str {
        include_str!("../../../../../prompts/tools/Glob.md")
    }

    fn read_only(&self) -> bool {
        true
    }

    async fn plan(&self, input: &Input, cx: &ToolCx) -> Result<Plan, ToolError> {
        matcher(&input.pattern)?;
        Ok(Plan::reading(locate(input.path.as_deref().unwrap_or("."), cx).await?))
    }

    async fn run(
        &self,
        input: Input,
        plan: Plan,
        _approved: Approved,
        cx: &ToolCx,
    ) -> Result<Output, ToolError> {
        let matcher = matcher(&input.pattern)?;
        let base = plan.place()?;
        let options = WalkOptions {
            ignored: input.ignored.unwrap_or(false),
            cancel: Some(cx.cancel.clone()),
            ..WalkOptions::default()
        };
        let walked = on_disk(cx, move |roots| {
            let mut files: Vec<(String, u64)> = Vec::new();
            let end = roots.walk(&base, &options, |found| {
                if found.kind == Kind::File && matcher.is_match(below(&base.real, &found.path)) {
                    files.push((found.path, found.size));
                }
                ControlFlow::Continue(())
            })?;
            files.sort_unstable();
            Ok((files, end))
        });
        let (files, end) = walked.await?;
        listing(&files, &end, input.limit.unwrap_or(SHOWN).min(MAX_SHOWN))
    }
}

/// `N files`, or `N files, the first M shown`; then a line each.
fn listing(files: &[(String, u64)], end: &WalkEnd, limit: u64) -> Result<Output, ToolError> {
    let count = files.len() as u64;
    let shown = count.min(limit);
    let mut content = format!("{count} files");
    if shown < count {
        content.push_str(&format!(", the first {shown} shown"));
    }
    for (path, size) in files.iter().take(usize::try_from(shown).unwrap_or(usize::MAX)) {
        content.push_str(&format!("\n{}\t{size}", text::path(path)));
    }
    content.push_str(&walk_notes(end));
    let detail = ToolDetail::Found { count, truncated: shown < count || end.cut.is_some() };
    match end.cut {
        Some(WalkCut::Cancelled) => Err(ToolError::shown(ResultStatus::Interrupted, content, detail)),
        Some(WalkCut::Cap | WalkCut::Caller) | None => Ok(Output::new(content, detail)),
    }
}

/// What a walk did not see, a line each.
pub(super) fn walk_notes(end: &WalkEnd) -> String {
    let mut notes = String::new();
    match end.cut {
        Some(WalkCut::Cap) => {
            notes.push_str(&format!(
                "\n(stopped after {} files; there are more: look in one folder)",
                end.emitted
            ));
        }
        Some(WalkCut::Cancelled) => notes.push_str("\n(interrupted: this is what was found so far)"),
        Some(WalkCut::Caller) | None => {}
    }
    for problem in &end.problems {
        notes.push_str(&format!("\n(not read: {})", text::path(problem)));
    }
    if end.more_problems > 0 {
        notes.push_str(&format!("\n(and {} more that can't be read)", end.more_problems));
    }
    notes
}

/// A path relative to the base of a walk; the name, where the base is that file.
pub(super) fn below<'a>(base: &str, path: &'a str) -> &'a str {
    if base == "." {
        return path;
    }
    match path.strip_prefix(base).map(|rest| rest.strip_prefix('/').unwrap_or(rest)) {
        Some(rest) if !rest.is_empty() => rest,
        Some(_) | None => path.rsplit('/').next().unwrap_or(path),
    }
}

fn matcher(pattern: &str) -> Result<GlobMatcher, ToolError> {
    let plain = pattern.strip_prefix("./").unwrap_or(pattern);
    if plain.starts_with('/') || plain.split('/').any(|part| part == "..") {
        return Err(ToolError::invalid(
            "the pattern is relative to `path`: it can't begin with `/` or hold `..`; give another `path` instead",
        ));
    }
    glob(plain)
}

/// Compiles a pattern in which `*` stays within a name.
pub(super) fn glob(pattern: &str) -> Result<GlobMatcher, ToolError> {
    if pattern.is_empty() {
        return Err(ToolError::invalid("the pattern is empty; `**` matches every file"));
    }
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| ToolError::invalid(format!("the pattern can't be used: {error}")))
}
