//! Grep: searches the contents of files.

mod search;

use crate::context::ToolCx;
use crate::pipeline::Approved;
use crate::place::{locate, on_disk, resolved};
use crate::text;
use crate::tool::{Output, Plan, Tool, ToolError};
use async_trait::async_trait;
use cox_exec::{WalkCut, WalkOptions};
use cox_policy::reads_unasked;
use cox_protocol::ToolDetail;
use cox_protocol::entry::ResultStatus;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use schemars::JsonSchema;
use search::{Hits, Search};
use serde::Deserialize;

/// Lines or files listed when no limit is given.
const SHOWN: u64 = 200;
/// The most that are listed.
const MAX_SHOWN: u64 = 2_000;

/// Searches files.
pub struct Grep;

/// For what, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A regular expression (Rust's syntax), matched line by line.
    pattern: String,
    /// The folder or file to search, relative to the project folder. Left out: the project folder.
    #[serde(default)]
    path: Option<String>,
    /// Only files that match this: `*.rs` by name in any folder, `src/**/*.rs` by path relative to `path`.
    #[serde(default)]
    glob: Option<String>,
    /// What to list. `lines`: every matching line. `count`: how many lines match in each file. `files`: the files
    /// that match. Left out: `lines`.
    #[serde(default)]
    mode: Option<Mode>,
    /// Upper and lower case are the same. Left out: false.
    #[serde(default)]
    ignore_case: Option<bool>,
    /// How many lines (or files) to list; all are counted. Left out: 200. At most 2000.
    #[serde(default)]
    #[schemars(range(min = 1, max = 2_000))]
    limit: Option<u64>,
    /// Also what .gitignore hides. Left out: false.
    #[serde(default)]
    ignored: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Lines,
    Count,
    Files,
}

#[async_trait]
impl Tool for Grep {
    const NAME: &'static str = "Grep";
    type Input = Input;

    fn description() -> &'static str {
        include_str!("../../../../../prompts/tools/Grep.md")
    }

    fn read_only(&self) -> bool {
        true
    }

    async fn plan(&self, input: &Input, cx: &ToolCx) -> Result<Plan, ToolError> {
        matcher(input)?;
        Ok(Plan::reading(locate(input.path.as_deref().unwrap_or("."), cx).await?))
    }

    async fn run(
        &self,
        input: Input,
        plan: Plan,
        _approved: Approved,
        cx: &ToolCx,
    ) -> Result<Output, ToolError> {
        let base = plan.place()?;
        let mode = input.mode.unwrap_or(Mode::Lines);
        let limit = input.limit.unwrap_or(SHOWN).min(MAX_SHOWN);
        let rights = std::sync::Arc::clone(&cx.rights);
        let search = Search {
            matcher: matcher(&input)?,
            glob: input.glob.as_deref().map(search::NameFilter::new).transpose()?,
            options: WalkOptions {
                ignored: input.ignored.unwrap_or(false),
                cancel: Some(cx.cancel.clone()),
                ..WalkOptions::default()
            },
            keep_lines: if mode == Mode::Lines { limit } else { 0 },
            cancel: cx.cancel.clone(),
            // A search of a whole folder must not show what reading the one file would be asked about or refused.
            may_show: Box::new(move |at| {
                let (path, rules) = (resolved(at), rights.rules());
                [super::Read::NAME, Self::NAME].iter().all(|tool| reads_unasked(tool, &path, &rules))
            }),
        };
        let hits = on_disk(cx, move |roots| search.run(roots, &base)).await?;
        report(&hits, mode, limit)
    }
}

/// `N matches in M files`, then what was asked for.
fn report(hits: &Hits, mode: Mode, limit: u64) -> Result<Output, ToolError> {
    let files = hits.files.len() as u64;
    let items = match mode {
        Mode::Lines => hits.matches,
        Mode::Count | Mode::Files => files,
    };
    let mut content = format!("{} matches in {files} files", hits.matches);
    if items > limit {
        content.push_str(&format!(", cut at {limit}"));
    }
    let shown = hits.files.iter().take(usize::try_from(limit).unwrap_or(usize::MAX));
    match mode {
        Mode::Lines => {
            for line in &hits.lines {
                content.push_str(&format!("\n{}:{}: {}", text::path(&line.path), line.number, line.text));
            }
        }
        Mode::Count => {
            shown.for_each(|(path, count)| content.push_str(&format!("\n{}\t{count}", text::path(path))))
        }
        Mode::Files => shown.for_each(|(path, _)| content.push_str(&format!("\n{}", text::path(path)))),
    }
    if hits.hidden > 0 {
        content.push_str(&format!(
            "\n({} protected and not searched; Read asks for permission)",
            text::counted(hits.hidden, "file that matches is", "files that match are")
        ));
    }
    if hits.out_of_time {
        content.push_str(&format!("\n(stopped after {} s: search in one folder)", search::TIME.as_secs()));
    }
    content.push_str(&super::glob::walk_notes(&hits.end));
    let truncated = items > limit || hits.end.cut.is_some();
    let detail = ToolDetail::Found { count: hits.matches, truncated };
    match hits.end.cut {
        Some(WalkCut::Cancelled) => Err(ToolError::shown(ResultStatus::Interrupted, content, detail)),
        Some(WalkCut::Cap | WalkCut::Caller) | None => Ok(Output::new(content, detail)),
    }
}

fn matcher(input: &Input) -> Result<RegexMatcher, ToolError> {
    if input.pattern.is_empty() {
        return Err(ToolError::invalid("the pattern is empty"));
    }
    RegexMatcherBuilder::new()
        .case_insensitive(input.ignore_case.unwrap_or(false))
        .crlf(true)
        .build(&input.pattern)
        .map_err(|error| ToolError::invalid(format!("the pattern is not a regular expression: {error}")))
}
