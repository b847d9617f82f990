//! Read: a text file, with line numbers.

use crate::context::ToolCx;
use crate::pipeline::Approved;
use crate::place::{locate, on_disk};
use crate::text;
use crate::tool::{Output, Plan, Tool, ToolError};
use async_trait::async_trait;
use cox_exec::FileContent;
use cox_protocol::ToolDetail;
use schemars::JsonSchema;
use serde::Deserialize;

/// The largest file that is read at all, in bytes.
const FILE_CAP: u64 = 50 * 1024 * 1024;
/// Lines given when no limit is.
const LINES: u64 = 2_000;
/// Characters of a line.
const LINE_CHARS: usize = 2_000;
/// Bytes given in all.
const BYTES: usize = 100 * 1024;

/// Reads a file.
pub struct Read;

/// Which, and which part.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file, relative to the project folder.
    path: String,
    /// The first line wanted, from 1. Left out: 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// How many lines. Left out: 2000.
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

#[async_trait]
impl Tool for Read {
    const NAME: &'static str = "Read";
    type Input = Input;

    fn description() -> &'static str {
        include_str!("../../../../../prompts/tools/Read.md")
    }

    fn read_only(&self) -> bool {
        true
    }

    async fn plan(&self, input: &Input, cx: &ToolCx) -> Result<Plan, ToolError> {
        Ok(Plan::reading(locate(&input.path, cx).await?))
    }

    async fn run(
        &self,
        input: Input,
        plan: Plan,
        _approved: Approved,
        cx: &ToolCx,
    ) -> Result<Output, ToolError> {
        let at = plan.place()?;
        let place = at.clone();
        let content = on_disk(cx, move |roots| roots.read(&place, FILE_CAP)).await?;
        let shown = text::path(&at.asked);
        if content.is_binary() {
            return Err(ToolError::tell(format!(
                "{shown} is a binary file ({} bytes); Read shows text only",
                content.bytes.len()
            )));
        }
        let page = page(&content, input.offset.unwrap_or(1), input.limit.unwrap_or(LINES))
            .map_err(|problem| ToolError::tell(format!("{shown}: {problem}")))?;
        cx.stamps.record(&at, content.hash);
        Ok(Output::new(
            page.text,
            ToolDetail::Read { path: at.real, lines: page.lines, total_lines: page.total },
        ))
    }
}

struct Page {
    text: String,
    lines: u64,
    total: u64,
}

/// The wanted lines, numbered, and what part of the whole they are.
fn page(content: &FileContent, offset: u64, limit: u64) -> Result<Page, String> {
    let whole = String::from_utf8_lossy(&content.bytes);
    let damaged = matches!(whole, std::borrow::Cow::Owned(_));
    let total = whole.lines().count() as u64;
    if offset > total.max(1) {
        return Err(format!("it has {}; there is no line {offset}", text::counted(total, "line", "lines")));
    }
    let mut text = String::new();
    let (mut lines, mut full) = (0_u64, false);
    let skipped = usize::try_from(offset - 1).unwrap_or(usize::MAX);
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    for (number, line) in (offset..).zip(whole.lines().skip(skipped).take(wanted)) {
        let line = cut(line);
        if lines > 0 && text.len() + line.len() > BYTES {
            full = true;
            break;
        }
        text.push_str(&format!("{number}\t{line}\n"));
        lines += 1;
    }
    if damaged {
        text.push_str("(bytes that are not UTF-8 are shown as \u{fffd}; Edit can't change this file)\n");
    }
    if full {
        text.push_str(&format!("(stopped at {} KB)\n", BYTES / 1024));
    }
    let (first, last) = if lines == 0 { (0, 0) } else { (offset, offset + lines - 1) };
    text.push_str(&format!("(lines {first}–{last} of {total})"));
    Ok(Page { text, lines, total })
}

fn cut(line: &str) -> String {
    let count = line.chars().count();
    if count <= LINE_CHARS {
        return line.to_owned();
    }
    format!("{} ({} characters cut)", text::head(line, LINE_CHARS), count - LINE_CHARS)
}
