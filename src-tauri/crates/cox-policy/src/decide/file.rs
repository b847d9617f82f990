//! Decisions about files.

use super::{allow, allowed_by, ask, by_mode, denied_by, deny, doubtful, outside, spares};
use crate::access::{Decision, ResolvedPath};
use crate::path_pattern::exactly;
use crate::protected::{Protection, protection};
use crate::rules::RuleSet;
use cox_protocol::inbox::{Effect, Rule};
use cox_protocol::task::PermissionMode;

/// May this file be read without asking? The same as [`crate::decide()`] on a read, without building the words: for
/// searches, which look at many files.
pub fn reads_unasked(tool: &str, path: &ResolvedPath, rules: &RuleSet) -> bool {
    !path.outside
        && rules.denies_file(tool, path).is_none()
        && rules.doubtful(tool).is_none()
        && secret(path).is_none()
}

pub(super) fn read(tool: &str, path: &ResolvedPath, rules: &RuleSet) -> Decision {
    if let Some(rule) = rules.denies_file(tool, path) {
        return denied_by(rule);
    }
    if path.outside {
        return deny(outside(path));
    }
    if let Some(pattern) = rules.doubtful(tool) {
        return ask(doubtful(pattern), None);
    }
    if let Some(name) = secret(path) {
        return ask(format!("`{name}` {}", Protection::Secret.words()), None);
    }
    allow("reading in the project is allowed")
}

pub(super) fn write(tool: &str, path: &ResolvedPath, mode: PermissionMode, rules: &RuleSet) -> Decision {
    if let Some(rule) = rules.denies_file(tool, path) {
        return denied_by(rule);
    }
    if path.outside {
        return deny(outside(path));
    }
    if path.read_only_root {
        return deny(format!("`{}` is in a folder that may only be read", path.asked));
    }
    if mode == PermissionMode::Plan {
        return deny("this agent may only plan: it changes no files. Say what should be changed instead");
    }
    if let Some(pattern) = rules.doubtful(tool) {
        return ask(doubtful(pattern), None);
    }
    for name in [&path.asked, &path.real] {
        if let Some(kind) = protection(name) {
            return ask(format!("`{name}` {}", kind.words()), None);
        }
    }
    match mode {
        PermissionMode::AcceptEdits | PermissionMode::BypassPermissions => return allow(by_mode(mode)),
        PermissionMode::Plan | PermissionMode::Default => {}
    }
    if let Some(rule) = rules.allows_file(tool, path) {
        return allowed_by(rule);
    }
    let rule = Rule { effect: Effect::Allow, pattern: format!("{tool}({})", exactly(&path.asked)) };
    Decision::Ask {
        because: format!("`{}` would be changed", path.asked),
        always: spares(&rule, |rules| rules.allows_file(tool, path).is_some()),
        offer_accept_edits: true,
    }
}

fn secret(path: &ResolvedPath) -> Option<&str> {
    [&path.asked, &path.real]
        .into_iter()
        .find(|name| protection(name) == Some(Protection::Secret))
        .map(String::as_str)
}
