//! The one function that decides.

mod command;
mod file;

pub use file::reads_unasked;

use crate::access::{Access, Decision, Question, ResolvedPath};
use crate::rules::RuleSet;
use cox_protocol::inbox::{Rule, mode_name};
use cox_protocol::task::PermissionMode;

/// Decides whether a call may run. The first line that fits wins:
///
/// **Denied**
/// 1. A deny rule about the tool.
/// 2. A deny rule about the file (as asked or as real), or about any command in the command line.
/// 3. A path outside every root; a change in a root that is only for reading.
/// 4. `plan` mode: a change, or a command that is not harmless.
///
/// **Allowed, having no way to harm**
/// 5. What stays inside the runtime.
///
/// **Always asked; nothing pre-approves it**
/// 6. A deny rule about the tool that can't be read.
/// 7. A change of a protected path; a read of a key or credential file.
/// 8. A command of a role that asks for each one.
/// 9. A command that can't be parsed or is over 10,000 characters, or that may delete a critical folder.
///
/// **By nature, rules and modes**
/// 10. A read, or a harmless command: allowed.
/// 11. A command that names a protected path or runs in one: asked, and nothing pre-approves it.
/// 12. `bypassPermissions`: allowed. `acceptEdits`, for a change: allowed.
/// 13. A command with anything in it that is not understood: asked, and nothing pre-approves it.
/// 14. An allow rule about the file (as asked and as real), about the whole command line as it stands, or one
///     (or harmlessness) for each of its commands: allowed.
/// 15. All else: asked. "Always" proposes exactly this file or this command line.
///
/// A further deny rule only adds to 1, 2 and 6, and a stricter mode only to 4 or takes from 12, so neither ever
/// turns an ask or a deny into an allow.
pub fn decide(question: &Question<'_>) -> Decision {
    decide_with_paths(question, &[])
}

/// [`decide()`], with what the paths in a command really are: [`crate::named_paths`], resolved by the caller.
/// A harmless command passes only if each of them could be read unasked, so that a link in the project can't
/// lead it elsewhere. For anything but a command the paths are not looked at.
pub fn decide_with_paths(question: &Question<'_>, named: &[ResolvedPath]) -> Decision {
    let Question { tool, mode, rules, .. } = *question;
    if let Some(rule) = rules.denies_tool(tool) {
        return denied_by(rule);
    }
    match question.access {
        Access::Internal => allow("it stays inside the runtime"),
        Access::Read { path } => file::read(tool, path, rules),
        Access::Write { path } => file::write(tool, path, mode, rules),
        Access::Command { command, cwd, background: _ } => command::run(question, command, cwd, named),
    }
}

/// The rule, if it would really spare the asking.
fn spares(rule: &Rule, passes: impl Fn(&RuleSet) -> bool) -> Option<Rule> {
    let (rules, problems) = RuleSet::parse(std::slice::from_ref(rule));
    (problems.is_empty() && passes(&rules)).then(|| rule.clone())
}

fn allow(because: impl Into<String>) -> Decision {
    Decision::Allow { because: because.into() }
}

fn allowed_by(rule: &Rule) -> Decision {
    allow(format!("the rule `{}` allows it", rule.pattern))
}

fn by_mode(mode: PermissionMode) -> String {
    format!("the mode is \"{}\"", mode_name(mode))
}

fn ask(because: impl Into<String>, always: Option<Rule>) -> Decision {
    Decision::Ask { because: because.into(), always, offer_accept_edits: false }
}

fn deny(because: impl Into<String>) -> Decision {
    Decision::Deny { because: because.into() }
}

fn denied_by(rule: &Rule) -> Decision {
    deny(format!("the rule `{}` of this project denies it", rule.pattern))
}

fn doubtful(pattern: &str) -> String {
    format!("the deny rule `{pattern}` can't be read, so it is not known what it should keep out")
}

fn outside(path: &ResolvedPath) -> String {
    format!("`{}` is outside the project folder; use paths relative to it", path.asked)
}
