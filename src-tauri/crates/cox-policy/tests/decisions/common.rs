//! What the tests of decisions share.

use cox_policy::{Access, Decision, Question, ResolvedPath, RuleProblem, RuleSet, decide};
use cox_protocol::inbox::{Effect, Rule};
use cox_protocol::task::PermissionMode;

/// Rules as written in the tests: `+Bash(ls)` allows, `-Bash(ls)` denies.
pub(crate) fn rules(text: &[&str]) -> RuleSet {
    let (set, problems) = parse(text);
    assert_eq!(problems, [], "{text:?}");
    set
}

pub(crate) fn parse(text: &[&str]) -> (RuleSet, Vec<RuleProblem>) {
    let list: Vec<Rule> = text.iter().map(|text| rule(text)).collect();
    RuleSet::parse(&list)
}

pub(crate) fn rule(text: &str) -> Rule {
    let (sign, pattern) = text.split_at(1);
    assert!(matches!(sign, "+" | "-"), "a rule begins with + or -: {text:?}");
    let effect = if sign == "+" { Effect::Allow } else { Effect::Deny };
    Rule { effect, pattern: pattern.into() }
}

pub(crate) fn command(command: &str) -> Access {
    Access::Command { command: command.into(), cwd: ResolvedPath::inside("."), background: false }
}

pub(crate) fn write(path: &str) -> Access {
    Access::Write { path: ResolvedPath::inside(path) }
}

pub(crate) fn read(path: &str) -> Access {
    Access::Read { path: ResolvedPath::inside(path) }
}

pub(crate) fn ask(tool: &str, access: &Access, mode: PermissionMode, rules: &RuleSet) -> Decision {
    decide(&Question { tool, access, mode, rules, ask_every_command: false })
}

/// `allow`, `ask` (with what "always" would store), `deny`.
pub(crate) fn word(decision: &Decision) -> String {
    match decision {
        Decision::Allow { .. } => "allow".into(),
        Decision::Ask { always: Some(rule), .. } => format!("ask {}", rule.pattern),
        Decision::Ask { always: None, .. } => "ask".into(),
        Decision::Deny { .. } => "deny".into(),
    }
}
