//! A planned change of one file: the diff that a person is shown, and how it is written.
//!
//! The draft is made when the call is planned. Writing it is refused when the file is not what the draft was
//! made from, so that what was shown is what happens.

use crate::context::ToolCx;
use crate::place::{failed, resolved};
use crate::text;
use crate::tool::{Output, Plan, ToolError};
use cox_exec::{ExecError, Expect, FileContent, Freshness, Kind, Located, is_binary};
use cox_policy::Access;
use cox_protocol::ToolDetail;
use cox_protocol::entry::FileChange;
use cox_protocol::inbox::Action;
use similar::{ChangeTag, TextDiff};
use std::time::Duration;

/// The largest file that Write and Edit change, in bytes.
pub(crate) const FILE_CAP: u64 = 10 * 1024 * 1024;
/// Lines of a diff that are kept.
const DIFF_LINES: usize = 400;
/// Characters of a diff's line that are kept.
const DIFF_LINE_CHARS: usize = 1_000;
/// After this long a diff is finished coarsely.
const DIFF_TIME: Duration = Duration::from_millis(500);

/// What a file is to become.
pub(crate) struct Draft {
    at: Located,
    before: Option<FileContent>,
    after: Vec<u8>,
    diff: String,
    added: u64,
    removed: u64,
}

impl Draft {
    /// A change of what is there now; `before` null: a new file. Takes as long as its diff.
    pub(crate) fn new(at: Located, before: Option<FileContent>, after: Vec<u8>) -> Self {
        let old: &[u8] = before.as_ref().map_or(&[], |content| &content.bytes);
        let (diff, added, removed) = diff(&at.real, before.is_some(), old, &after);
        Self { at, before, after, diff, added, removed }
    }

    /// What a person is shown.
    pub(crate) fn action(&self) -> Action {
        Action::Edit { path: self.at.real.clone(), diff: self.diff.clone() }
    }

    /// Keeps the content before as a blob, writes, and records what the agent knows now. `said` begins the
    /// text for the model.
    pub(crate) async fn write(self, cx: &ToolCx, said: &str) -> Result<Output, ToolError> {
        if cx.cancel.is_cancelled() {
            return Err(ToolError::interrupted("interrupted: nothing was written"));
        }
        let Self { at, before, after, diff, added, removed } = self;
        let (expect, before_hash, before_blob) = match before {
            None => (Expect::Missing, None, None),
            Some(content) => {
                let blob = cx.journal.blob(content.bytes).await.map_err(ToolError::storage)?;
                (Expect::Hash(content.hash.clone()), Some(content.hash), Some(blob.hash))
            }
        };
        let target = at.clone();
        let written = cx
            .roots
            .blocking(move |roots| roots.write(&target, &after, expect))
            .await
            .map_err(|error| unwritten(&error))?;
        cx.stamps.record(&at, written.after.clone());
        let change = FileChange {
            path: at.real.clone(),
            before: before_hash.as_ref().map(ToString::to_string),
            after: Some(written.after.to_string()),
            added,
            removed,
        };
        let mut output = Output::new(
            format!("{said} {}: +{added} -{removed}", text::path(&at.real)),
            ToolDetail::Change { change: change.clone(), diff },
        );
        output.change = Some((change, before_blob));
        Ok(output)
    }
}

/// Writes what was planned.
pub(crate) async fn write_planned(plan: Plan, cx: &ToolCx, said: &str) -> Result<Output, ToolError> {
    match plan.draft {
        Some(draft) => draft.write(cx, said).await,
        None => Err(ToolError::tell("nothing was written: this place can't be written to")),
    }
}

/// What may be changed, and what stands against it.
pub(crate) enum Target {
    /// The policy refuses it by its place; nothing was read.
    Beyond,
    /// No such file.
    New,
    /// A file that this agent has read, and that is unchanged since.
    Known(FileContent),
    /// It can't be changed now.
    Barred(ToolError),
}

/// Looks at a file that is about to be changed, the way every change begins.
pub(crate) async fn target(at: &Located, cx: &ToolCx) -> Target {
    let shown = text::path(&at.asked);
    if at.outside || at.read_only_root {
        return Target::Beyond;
    }
    match at.kind {
        None => return Target::New,
        Some(Kind::File) => {}
        Some(Kind::Folder) => return Target::Barred(ToolError::tell(format!("{shown} is a folder"))),
        Some(Kind::Link | Kind::Other) => {
            return Target::Barred(ToolError::tell(format!("{shown} is not a regular file")));
        }
    }
    let place = at.clone();
    let content = match cx.roots.blocking(move |roots| roots.read(&place, FILE_CAP)).await {
        Ok(content) => content,
        Err(error) => return Target::Barred(failed(&error)),
    };
    match cx.stamps.check(at, &content.hash) {
        Freshness::Fresh => Target::Known(content),
        Freshness::Stale => Target::Barred(ToolError::tell(format!(
            "{shown} has changed on disk since you read it; nothing was written. Read it again, then change it."
        ))),
        Freshness::NeverRead => Target::Barred(ToolError::tell(format!(
            "you have not read {shown}; nothing was written. Read it first, then change it."
        ))),
    }
}

/// The access of a change.
pub(crate) fn write_access(at: &Located) -> Access {
    Access::Write { path: resolved(at) }
}

fn unwritten(error: &ExecError) -> ToolError {
    match error {
        ExecError::Changed { path } | ExecError::Exists { path } | ExecError::Moved { path } => {
            ToolError::tell(format!(
                "{} changed on disk while this change was waiting; nothing was written. Read it again, then change it.",
                text::path(path)
            ))
        }
        other => ToolError::tell(format!("nothing was written: {other}")),
    }
}

/// A capped unified diff, and the lines added and removed.
fn diff(path: &str, existed: bool, old: &[u8], new: &[u8]) -> (String, u64, u64) {
    if is_binary(old) || is_binary(new) {
        return (format!("binary content: {} bytes before, {} bytes after", old.len(), new.len()), 0, 0);
    }
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(old.as_ref(), new.as_ref());
    let (mut added, mut removed) = (0, 0);
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => added += 1,
            ChangeTag::Delete => removed += 1,
            ChangeTag::Equal => {}
        }
    }
    let from = if existed { format!("a/{path}") } else { "/dev/null".to_owned() };
    let whole = diff.unified_diff().context_radius(3).header(&from, &format!("b/{path}")).to_string();
    (capped(&whole), added, removed)
}

fn capped(diff: &str) -> String {
    let lines = diff.lines().count();
    let kept: Vec<String> =
        diff.lines().take(DIFF_LINES).map(|line| text::head(line, DIFF_LINE_CHARS)).collect();
    let mut out = kept.join("\n");
    if lines > DIFF_LINES {
        out.push_str(&format!("\n… {} more lines of this diff are not shown", lines - DIFF_LINES));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_counts_lines_and_is_capped() {
        let old: String = (0..1_000).map(|n| format!("old {n}\n")).collect();
        let new: String = (0..1_000).map(|n| format!("new {n}\n")).collect();
        let (text, added, removed) = diff("f", true, old.as_bytes(), new.as_bytes());
        assert_eq!((added, removed, text.lines().count()), (1_000, 1_000, DIFF_LINES + 1));
        assert!(text.starts_with("--- a/f\n+++ b/f\n@@ -1,1000 +1,1000 @@\n-old 0\n"), "{}", &text[..80]);
        assert!(text.ends_with("… 1603 more lines of this diff are not shown"), "{text}");
    }

    #[test]
    fn a_binary_file_and_a_long_line_stay_short() {
        assert_eq!(
            diff("f", true, b"a\0b", b"text"),
            ("binary content: 3 bytes before, 4 bytes after".into(), 0, 0)
        );
        let (text, added, _) = diff("f", false, b"", "x".repeat(5_000_000).as_bytes());
        assert_eq!(added, 1);
        assert!(text.len() < 1_200, "{}", text.len());
        assert!(text.starts_with("--- /dev/null\n+++ b/f\n"));
    }
}
