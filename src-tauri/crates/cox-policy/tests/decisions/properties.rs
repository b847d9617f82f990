//! What holds for every request and every set of rules.

use crate::common::rule;
use cox_policy::command::{Doubt, Script};
use cox_policy::{Access, Decision, Question, ResolvedPath, RuleSet, decide, stricter};
use cox_protocol::inbox::{Effect, Rule};
use cox_protocol::task::PermissionMode;
use proptest::prelude::*;

const MODES: [PermissionMode; 4] = [
    PermissionMode::Plan,
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::BypassPermissions,
];

fn modes() -> impl Strategy<Value = PermissionMode> {
    prop::sample::select(MODES.to_vec())
}

fn paths() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "src", "a", "b.rs", ".git", ".env", "ü 日", "x*y", "[z]", "{a,b}", "!n", "c\\d", "e(f)", " g", "h ",
        ".envrc", ",",
    ]);
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.join("/"))
}

fn simple_commands() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "ls",
        "pwd",
        "cat a",
        "cat .env",
        "cat /etc/x",
        "git status",
        "cargo test",
        "cargo test -q",
        "rm x",
        "rm -rf /",
        "echo 'a  b'",
        "grep \"a*\" x",
        "timeout 5 cargo test",
        "A=1 make",
        "RUST_LOG=x cargo test",
        "xargs rm",
        "echo $X",
        "echo $(ls)",
        "ls > x",
        "ls 2>&1",
        "cd src",
        "sudo ls",
        "echo \"a)b\"",
        "x:y :z",
        "echo ü",
    ]);
    let made = "[a-c]{1,3}( [a-c./'\"$*|;&<>()\\\\-]{0,6}){0,2}";
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => made]
}

fn commands() -> impl Strategy<Value = String> {
    let joint = prop::sample::select(vec![" && ", " || ", "; ", " | ", " |& ", "\n", " & "]);
    (simple_commands(), prop::collection::vec((joint, simple_commands()), 0..3)).prop_map(|(first, rest)| {
        rest.into_iter().fold(first, |text, (joint, next)| format!("{text}{joint}{next}"))
    })
}

fn accesses() -> impl Strategy<Value = (String, Access)> {
    let place = || {
        (paths(), paths(), any::<bool>(), prop::bool::weighted(0.1), prop::bool::weighted(0.1)).prop_map(
            |(asked, other, link, outside, read_only_root)| ResolvedPath {
                real: if link { other } else { asked.clone() },
                asked,
                outside,
                read_only_root,
            },
        )
    };
    prop_oneof![
        (prop::sample::select(vec!["Read", "Glob", "Grep"]), place())
            .prop_map(|(tool, path)| (tool.to_owned(), Access::Read { path })),
        (prop::sample::select(vec!["Edit", "Write"]), place())
            .prop_map(|(tool, path)| (tool.to_owned(), Access::Write { path })),
        commands().prop_map(|text| ("Bash".to_owned(), crate::common::command(&text))),
        Just(("Agent".to_owned(), Access::Internal)),
    ]
}

fn patterns() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "Bash",
            "Read",
            "Edit",
            "Write",
            "Glob",
            "Grep",
            "Agent",
            "Bash(ls *)",
            "Bash(cargo test)",
            "Bash(cargo test *)",
            "Bash(rm:*)",
            "Bash(git *)",
            "Bash(* x)",
            "Bash(echo *)",
            "Edit(src/**)",
            "Edit(*.rs)",
            "Read(.env)",
            "Read(a/)",
            "Edit(/a)",
            "Write(**)",
            "Edit([)",
            "Bash(",
            "Nope(x)",
            "Bash(cat *)",
        ])
        .prop_map(str::to_owned),
        commands().prop_map(|text| format!("Bash({text})")),
        paths().prop_map(|path| format!("Edit({path})")),
    ]
}

fn rule_lists() -> impl Strategy<Value = Vec<Rule>> {
    let rule = (any::<bool>(), patterns()).prop_map(|(allow, pattern)| Rule {
        effect: if allow { Effect::Allow } else { Effect::Deny },
        pattern,
    });
    prop::collection::vec(rule, 0..5)
}

fn set(rules: &[Rule]) -> RuleSet {
    RuleSet::parse(rules).0
}

fn answer(tool: &str, access: &Access, mode: PermissionMode, rules: &RuleSet, each: bool) -> Decision {
    decide(&Question { tool, access, mode, rules, ask_every_command: each })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    // Invariant 9, N30: rights only shrink.
    #[test]
    fn a_stricter_mode_allows_nothing_more(
        (tool, access) in accesses(), rules in rule_lists(), a in modes(), b in modes(), each: bool,
    ) {
        let rules = set(&rules);
        let strict = answer(&tool, &access, stricter(a, b), &rules, each);
        let free = answer(&tool, &access, a, &rules, each);
        prop_assert!(!strict.is_allow() || free.is_allow(), "{strict:?} {free:?}");
        prop_assert!(!free.is_deny() || strict.is_deny(), "{strict:?} {free:?}");
    }

    #[test]
    fn more_deny_rules_allow_nothing_more(
        (tool, access) in accesses(), rules in rule_lists(), denied in patterns(), mode in modes(), each: bool,
    ) {
        let before = answer(&tool, &access, mode, &set(&rules), each);
        let mut more = rules;
        more.insert(more.len() / 2, Rule { effect: Effect::Deny, pattern: denied });
        let after = answer(&tool, &access, mode, &set(&more), each);
        prop_assert!(!after.is_allow() || before.is_allow(), "{before:?} {after:?}");
        prop_assert!(!before.is_deny() || after.is_deny(), "{before:?} {after:?}");
    }

    #[test]
    fn asking_for_each_command_allows_nothing_more(
        (tool, access) in accesses(), rules in rule_lists(), mode in modes(),
    ) {
        let rules = set(&rules);
        let each = answer(&tool, &access, mode, &rules, true);
        prop_assert!(!each.is_allow() || answer(&tool, &access, mode, &rules, false).is_allow());
    }

    #[test]
    fn an_allow_rule_never_lifts_a_deny(
        (tool, access) in accesses(), rules in rule_lists(), allowed in patterns(), mode in modes(),
    ) {
        let before = answer(&tool, &access, mode, &set(&rules), false);
        let mut more = rules;
        more.push(Rule { effect: Effect::Allow, pattern: allowed });
        let after = answer(&tool, &access, mode, &set(&more), false);
        prop_assert_eq!(before.is_deny(), after.is_deny());
    }

    #[test]
    fn what_always_proposes_spares_the_next_asking(
        (tool, access) in accesses(), rules in rule_lists(), mode in modes(),
    ) {
        if let Decision::Ask { always: Some(rule), .. } = answer(&tool, &access, mode, &set(&rules), false) {
            let mut more = rules;
            more.push(rule.clone());
            let (parsed, _) = RuleSet::parse(&more);
            prop_assert!(parsed.rules().any(|known| *known == rule));
            let after = answer(&tool, &access, mode, &parsed, false);
            prop_assert!(after.is_allow(), "{rule:?}: {after:?}");
        }
    }

    #[test]
    fn a_compound_command_is_allowed_only_if_each_part_is(
        parts in prop::collection::vec(simple_commands(), 2..4),
        joint in prop::sample::select(vec![" && ", " || ", "; ", " | ", " |& ", "\n", " & "]),
        rules in rule_lists(), mode in modes(),
    ) {
        // Two halves can make a whole: `a |` and `b`. Only what stands by itself is a part.
        prop_assume!(parts.iter().all(|part| {
            !Script::parse(part).doubt.is_some_and(Doubt::always_asks) && !part.ends_with('\\')
        }));
        let whole = parts.join(joint);
        // A rule may name the whole line; that is its own case.
        prop_assume!(!rules.iter().any(|rule| rule.pattern == format!("Bash({})", whole.trim())));
        let rules = set(&rules);
        if mode != PermissionMode::BypassPermissions
            && answer("Bash", &crate::common::command(&whole), mode, &rules, false).is_allow()
        {
            for part in parts {
                let decision = answer("Bash", &crate::common::command(&part), mode, &rules, false);
                prop_assert!(decision.is_allow(), "`{part}` in `{whole}`: {decision:?}");
            }
        }
    }

    // The parser is C, and the text comes from a model: no text may take the process down.
    #[test]
    fn any_text_gets_an_answer(
        text in prop_oneof![
            "\\PC{0,60}",
            "[a\n\\\\ \t<>|&;(){}\\[\\]$`'\"*?~#!=:@%^0-9\u{0}\u{7f}ü日\u{31860}-]{0,80}",
            "((<<-?['\"]?[ab]{0,3}['\"]?|\\$\\(|\\$\\{|[`(){}\"' \n;ab]|\\$\\(\\(|\\[\\[|=~|if |case |esac|\\\\)){0,40}",
        ],
        mode in modes(),
    ) {
        let rules = set(&[rule("+Bash(a *)"), rule("-Bash(b *)")]);
        let _ = answer("Bash", &crate::common::command(&text), mode, &rules, false);
        let _ = RuleSet::parse(&[Rule { effect: Effect::Deny, pattern: text }]);
    }
}
