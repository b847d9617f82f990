//! What the project's files look like from outside, to see whether a command of a role that changes nothing
//! changed something (W35).

use crate::context::ToolCx;
use crate::text::{head, path};
use cox_exec::{Kind, WalkOptions};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Violations that are named; more are counted.
const NAMED: usize = 20;

/// Size and time of every file that .gitignore does not hide: build output is no violation. Null when the
/// folder could not be walked to its end: half a picture would show files as gone that are there.
pub(super) struct Footprint(Option<BTreeMap<String, (u64, i64)>>);

impl Footprint {
    /// As it is now.
    pub(super) async fn of(cx: &ToolCx) -> Self {
        let cancel = cx.cancel.clone();
        cx.roots
            .blocking(move |roots| {
                let mut files = BTreeMap::new();
                let options = WalkOptions { cancel: Some(cancel), ..WalkOptions::default() };
                let walked = roots.resolve(".").and_then(|base| {
                    roots.walk(&base, &options, |found| {
                        if found.kind == Kind::File {
                            files.insert(found.path, (found.size, found.modified_at));
                        }
                        ControlFlow::Continue(())
                    })
                });
                Self(walked.is_ok_and(|end| end.cut.is_none()).then_some(files))
            })
            .await
    }

    /// What is different, in words.
    pub(super) fn changes(&self, after: &Self, command: &str) -> Vec<String> {
        let (Some(before), Some(after)) = (&self.0, &after.0) else { return Vec::new() };
        let mut changed: Vec<(&str, &str)> = Vec::new();
        for (name, facts) in after {
            match before.get(name) {
                None => changed.push((name, "was made")),
                Some(old) if old != facts => changed.push((name, "was changed")),
                Some(_) => {}
            }
        }
        let gone = before.keys().filter(|name| !after.contains_key(*name));
        changed.extend(gone.map(|name| (name.as_str(), "was deleted")));
        let command = head(command, 80);
        let mut lines: Vec<String> = changed
            .iter()
            .take(NAMED)
            .map(|(name, what)| format!("{} {what} while `{command}` ran", path(name)))
            .collect();
        if changed.len() > NAMED {
            lines.push(format!("and {} more files while `{command}` ran", changed.len() - NAMED));
        }
        lines
    }
}
