//! The one function that decides.

use crate::access::{Access, Decision, Question, ResolvedPath};
use crate::command::delete;
use crate::command::harmless;
use crate::command::script::{Script, Simple};
use crate::command::touch;
use crate::command::wrapper;
use crate::command_pattern::CommandPattern;
use crate::path_pattern::exactly;
use crate::protected::{Protection, protection};
use crate::rules::RuleSet;
use cox_protocol::inbox::{Effect, Rule, mode_name};
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
/// 9. A command that can't be parsed, is over 10,000 characters, deletes a critical folder, or names a protected
///    path or runs in one.
///
/// **By rules and modes**
/// 10. A read: allowed.
/// 11. `bypassPermissions`: allowed. `acceptEdits`, for a change: allowed.
/// 12. A command with anything in it that is not understood: asked, and nothing pre-approves it.
/// 13. An allow rule about the file (as asked and as real), about the whole command line as it stands, or one
///     (or harmlessness) for each of its commands: allowed.
/// 14. All else: asked. "Always" proposes exactly this file or this command line.
///
/// Only lines 1 to 9 and 12 tighten, and only 5, 10, 11 and 13 allow, so a further deny rule or a stricter mode never
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
        Access::Read { path } => read(tool, path, rules),
        Access::Write { path } => write(tool, path, mode, rules),
        Access::Command { command, cwd, background: _ } => run(question, command, cwd, named),
    }
}

/// May this file be read without asking? The same as [`decide()`] on a read, without building the words: for
/// searches, which look at many files.
pub fn reads_unasked(tool: &str, path: &ResolvedPath, rules: &RuleSet) -> bool {
    !path.outside
        && rules.denies_file(tool, path).is_none()
        && rules.doubtful(tool).is_none()
        && secret(path).is_none()
}

fn read(tool: &str, path: &ResolvedPath, rules: &RuleSet) -> Decision {
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

fn write(tool: &str, path: &ResolvedPath, mode: PermissionMode, rules: &RuleSet) -> Decision {
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

fn run(question: &Question<'_>, command: &str, cwd: &ResolvedPath, named: &[ResolvedPath]) -> Decision {
    let Question { mode, rules, .. } = *question;
    let script = Script::parse(command);
    if let Some(rule) = denied(command, &script, cwd, rules) {
        return denied_by(rule);
    }
    if cwd.outside {
        return deny(outside(cwd));
    }
    let harmless = Harmless::new(&script, cwd, rules, named);
    let all_harmless = script.doubt.is_none() && script.parts.iter().all(|part| harmless.passes(part));
    if mode == PermissionMode::Plan && !all_harmless {
        return deny(
            "this agent may only plan: it runs no commands but pwd, ls, wc, head, tail and cat on files of the project. Say what should be run instead",
        );
    }
    if let Some(pattern) = rules.doubtful(question.tool) {
        return ask(doubtful(pattern), None);
    }
    if question.ask_every_command {
        return ask("this agent asks before each command", None);
    }
    if let Some(doubt) = script.doubt
        && doubt.always_asks()
    {
        return ask(format!("the command {}", doubt.words()), None);
    }
    if delete::is_critical(&script) {
        return ask("the command may delete a whole folder that should not be lost", None);
    }
    if all_harmless {
        return allow("the command only shows what is in the project");
    }
    let named_protected = touch::protected_path(&script).or_else(|| {
        [&cwd.asked, &cwd.real].into_iter().find(|name| protection(name).is_some()).map(String::as_str)
    });
    if let Some(name) = named_protected {
        let kind = protection(name).unwrap_or(Protection::Control);
        return ask(format!("`{name}` {}", kind.words()), None);
    }
    if mode == PermissionMode::BypassPermissions {
        return allow(by_mode(mode));
    }
    if let Some(doubt) = script.doubt {
        return ask(format!("the command {}", doubt.words()), None);
    }
    let passes = |rules: &RuleSet| allowed(command, &script, &harmless, rules);
    if let Some(because) = passes(rules) {
        return allow(because);
    }
    let rule = Rule { effect: Effect::Allow, pattern: format!("Bash({})", command.trim()) };
    Decision::Ask {
        because: "the command is not known to be harmless".into(),
        always: spares(&rule, |rules| passes(rules).is_some()),
        offer_accept_edits: false,
    }
}

/// Which rule forbids the command line, any command in it, or a file that it redirects to or shows?
fn denied<'r>(command: &str, script: &Script, cwd: &ResolvedPath, rules: &'r RuleSet) -> Option<&'r Rule> {
    let mut forms = vec![command.trim().to_owned()];
    forms.extend(script.all().flat_map(wrapper::for_deny));
    let by_command = rules
        .commands(Effect::Deny)
        .find(|(pattern, _)| forms.iter().any(|form| pattern.matches(form)))
        .map(|(_, rule)| rule);
    by_command
        .or_else(|| {
            let targets = script.redirects.iter().filter_map(|word| harmless::in_project(cwd, word.guess()));
            targets.map(ResolvedPath::inside).find_map(|path| rules.denies_file("Edit", &path))
        })
        .or_else(|| {
            let shown = script.all().filter_map(harmless::paths_of).flatten();
            shown
                .filter_map(|path| harmless::in_project(cwd, path))
                .map(ResolvedPath::inside)
                .find_map(|path| rules.denies_file("Read", &path))
        })
}

/// Why the rules allow the command line: as it stands, or each part of it.
fn allowed(command: &str, script: &Script, harmless: &Harmless<'_>, rules: &RuleSet) -> Option<String> {
    let whole = rules.commands(Effect::Allow).find(|(pattern, _)| match pattern {
        CommandPattern::Exact(text) => text == command.trim(),
        CommandPattern::Any => true,
        CommandPattern::Prefix(_) | CommandPattern::Pieces(..) => false,
    });
    if let Some((_, rule)) = whole {
        return Some(format!("the rule `{}` allows it", rule.pattern));
    }
    let mut by = Vec::new();
    for part in &script.parts {
        if let Some(rule) = allows_part(part, rules) {
            by.push(format!("`{}`", rule.pattern));
        } else if !harmless.passes(part) {
            return None;
        }
    }
    by.dedup();
    Some(match by.as_slice() {
        [] => "the command only shows what is in the project".into(),
        [one] => format!("the rule {one} allows it"),
        more => format!("the rules {} allow it", more.join(", ")),
    })
}

fn allows_part<'r>(part: &Simple, rules: &'r RuleSet) -> Option<&'r Rule> {
    let forms = wrapper::for_allow(part);
    rules
        .commands(Effect::Allow)
        .find(|(pattern, _)| {
            forms.iter().any(|form| {
                // With arguments from a pipe it is not the exact command any more.
                !(form.more_arguments && matches!(pattern, CommandPattern::Exact(_)))
                    && pattern.matches(form.text)
            })
        })
        .map(|(_, rule)| rule)
}

/// Which parts of a command line are harmless, here and with these rules.
struct Harmless<'a> {
    cwd: &'a ResolvedPath,
    rules: &'a RuleSet,
    possible: bool,
}

impl<'a> Harmless<'a> {
    fn new(script: &Script, cwd: &'a ResolvedPath, rules: &'a RuleSet, named: &[ResolvedPath]) -> Self {
        let possible =
            harmless::may_pass(script) && named.iter().all(|path| reads_unasked("Read", path, rules));
        Self { cwd, rules, possible }
    }

    fn passes(&self, part: &Simple) -> bool {
        self.possible
            && harmless::paths_of(part).is_some_and(|paths| {
                paths.iter().all(|path| {
                    harmless::in_project(self.cwd, path)
                        .is_some_and(|path| reads_unasked("Read", &ResolvedPath::inside(path), self.rules))
                })
            })
    }
}

/// The rule, if it would really spare the asking.
fn spares(rule: &Rule, passes: impl Fn(&RuleSet) -> bool) -> Option<Rule> {
    let (rules, problems) = RuleSet::parse(std::slice::from_ref(rule));
    (problems.is_empty() && passes(&rules)).then(|| rule.clone())
}

fn secret(path: &ResolvedPath) -> Option<&str> {
    [&path.asked, &path.real]
        .into_iter()
        .find(|name| protection(name) == Some(Protection::Secret))
        .map(String::as_str)
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
