//! Decisions about commands.

use super::{allow, ask, by_mode, denied_by, deny, doubtful, outside, reads_unasked, spares};
use crate::access::{Decision, Question, ResolvedPath};
use crate::command::script::{Script, Simple};
use crate::command::{delete, harmless, touch, wrapper};
use crate::command_pattern::CommandPattern;
use crate::protected::{Protection, protection};
use crate::rules::RuleSet;
use cox_protocol::inbox::{Effect, Rule};
use cox_protocol::task::PermissionMode;

pub(super) fn run(
    question: &Question<'_>,
    command: &str,
    cwd: &ResolvedPath,
    named: &[ResolvedPath],
) -> Decision {
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
    forms.extend(script.redirected.iter().cloned());
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
