//! Tables of files and what is decided about them.

use crate::common::{ask, parse, read, rule, rules, word, write};
use cox_policy::{Access, Decision, Question, ResolvedPath, RuleSet, decide, reads_unasked};
use cox_protocol::inbox::Rule;
use cox_protocol::task::PermissionMode::{self, AcceptEdits, BypassPermissions, Default, Plan};

fn check(
    tool: &str,
    access: fn(&str) -> Access,
    mode: PermissionMode,
    list: &[&str],
    expect: &str,
    paths: &[&str],
) {
    let rules = rules(list);
    for path in paths {
        let decision = ask(tool, &access(path), mode, &rules);
        assert_eq!(
            word(&decision),
            expect.replace("THIS", path),
            "{tool} {path:?} in {mode:?} with {list:?}: {decision:?}"
        );
    }
}

fn link(asked: &str, real: &str) -> ResolvedPath {
    ResolvedPath { asked: asked.into(), real: real.into(), outside: false, read_only_root: false }
}

#[test]
fn edits_ask_by_default_and_pass_when_accepted() {
    // W25
    check("Edit", write, Default, &[], "ask Edit(/THIS)", &["src/a.rs", "x", "ü/日 本.txt"]);
    check("Write", write, Default, &[], "ask Write(/THIS)", &["src/a.rs"]);
    for mode in [AcceptEdits, BypassPermissions] {
        check("Edit", write, mode, &[], "allow", &["src/a.rs", "x"]);
    }
    check("Edit", write, Plan, &["+Edit"], "deny", &["src/a.rs"]);
    let Decision::Ask { offer_accept_edits, .. } = ask("Edit", &write("a"), Default, &RuleSet::default())
    else {
        panic!("it asks")
    };
    assert!(offer_accept_edits);
}

#[test]
fn edit_rules_are_like_gitignore() {
    let list = ["+Edit(src/**)", "+Edit(*.md)", "-Write(src/gen/)", "-Edit(LICENSE.md)"];
    check("Edit", write, Default, &list, "allow", &["src/a.rs", "src/x/y.rs", "README.md", "docs/a.md"]);
    check("Write", write, Default, &list, "allow", &["src/a.rs"]);
    check("Edit", write, Default, &list, "ask Edit(/THIS)", &["Cargo.toml", "other/src/a.rs"]);
    for mode in [Default, AcceptEdits, BypassPermissions] {
        check("Edit", write, mode, &list, "deny", &["src/gen/a.rs", "LICENSE.md", "docs/LICENSE.md"]);
    }
    check("Edit", write, Default, &["+Edit", "-Edit(/a)"], "allow", &["b", "x/a"]);
    check("Write", write, AcceptEdits, &["-Edit"], "deny", &["a"]);
}

#[test]
fn the_order_of_rules_does_not_matter() {
    for list in [["+Edit(a/**)", "-Edit(a/b)"], ["-Edit(a/b)", "+Edit(a/**)"]] {
        check("Edit", write, Default, &list, "deny", &["a/b"]);
        check("Edit", write, Default, &list, "allow", &["a/c"]);
    }
}

#[test]
fn protected_paths_always_ask_to_be_changed() {
    // W29
    let paths = [
        ".git/config",
        ".envrc",
        ".bashrc",
        ".vscode/tasks.json",
        ".idea/x",
        ".claude/settings.json",
        ".coxswain/x",
        ".agents/x",
        ".env",
        "certs/a.pem",
        "sub/.git/hooks/pre-commit",
        ".GIT/config",
    ];
    for mode in [Default, AcceptEdits, BypassPermissions] {
        check("Write", write, mode, &["+Edit", "+Write(**)", "+Edit(.git/**)"], "ask", &paths);
    }
}

#[test]
fn a_link_needs_both_to_allow_and_either_to_deny() {
    // WIRE 4.5
    let decide = |list: &[&str], path: ResolvedPath| {
        word(&ask("Edit", &Access::Write { path }, Default, &rules(list)))
    };
    assert_eq!(decide(&["+Edit(a/**)"], link("a/x", "a/y")), "allow");
    assert_eq!(decide(&["+Edit(a/**)"], link("a/x", "b/y")), "ask");
    assert_eq!(decide(&["+Edit(b/**)"], link("a/x", "b/y")), "ask");
    assert_eq!(decide(&["+Edit(a/**)", "+Edit(b/**)"], link("a/x", "b/y")), "ask");
    assert_eq!(decide(&["+Edit", "-Edit(a/**)"], link("a/x", "b/y")), "deny");
    assert_eq!(decide(&["+Edit", "-Edit(b/**)"], link("a/x", "b/y")), "deny");
    // A plain name for a protected file.
    assert_eq!(decide(&["+Edit"], link("notes", ".git/config")), "ask");
    assert_eq!(decide(&["+Edit"], link(".envrc", "notes")), "ask");
}

#[test]
fn nothing_outside_the_roots_is_touched() {
    let outside =
        ResolvedPath { asked: "/etc/x".into(), real: "/etc/x".into(), outside: true, read_only_root: false };
    let scratch = ResolvedPath { outside: false, read_only_root: true, ..outside.clone() };
    for mode in [Plan, Default, AcceptEdits, BypassPermissions] {
        let rules = rules(&["+Read", "+Edit"]);
        let decision = ask("Read", &Access::Read { path: outside.clone() }, mode, &rules);
        let Decision::Deny { because } = decision else { panic!("{decision:?}") };
        assert_eq!(because, "`/etc/x` is outside the project folder; use paths relative to it");
        assert!(ask("Write", &Access::Write { path: outside.clone() }, mode, &rules).is_deny());
        assert!(ask("Write", &Access::Write { path: scratch.clone() }, mode, &rules).is_deny());
        assert!(ask("Read", &Access::Read { path: scratch.clone() }, mode, &rules).is_allow());
    }
}

#[test]
fn reads_pass_but_for_keys_and_denied_files() {
    for mode in [Plan, Default, AcceptEdits, BypassPermissions] {
        check("Read", read, mode, &[], "allow", &["a", "src/b.rs", ".", ".git/HEAD", ".env.example"]);
        check(
            "Read",
            read,
            mode,
            &["+Read", "+Read(.env)"],
            "ask",
            &[".env", "x/.ssh/config", "a.key", "id_rsa"],
        );
        for tool in ["Read", "Glob", "Grep"] {
            check(tool, read, mode, &["-Read(private/**)"], "deny", &["private/a"]);
            check(tool, read, mode, &["-Read"], "deny", &["a"]);
        }
        check("Grep", read, mode, &["-Grep"], "deny", &["a"]);
        check("Read", read, mode, &["-Grep"], "allow", &["a"]);
    }
    let decision = ask("Read", &Access::Read { path: link("notes", ".env") }, Default, &RuleSet::default());
    assert_eq!(
        decision,
        Decision::Ask {
            because: "`.env` may hold a key or a credential".into(),
            always: None,
            offer_accept_edits: false
        }
    );
}

#[test]
fn a_search_passes_over_what_a_read_would_ask_about() {
    let rules = rules(&["-Read(private/**)"]);
    for path in ["a", "private/x", ".env", "x/a.pem", ".git/HEAD"] {
        let same = ask("Grep", &read(path), Default, &rules).is_allow();
        assert_eq!(reads_unasked("Grep", &ResolvedPath::inside(path), &rules), same, "{path}");
    }
}

#[test]
fn what_stays_inside_is_only_refused_by_a_rule() {
    for mode in [Plan, Default, AcceptEdits, BypassPermissions] {
        for tool in ["Agent", "SendMessage", "TaskStop", "TaskOutput", "AskUserQuestion", "SyntheticOutput"] {
            let access = Access::Internal;
            let free = rules(&[]);
            let question = Question { tool, access: &access, mode, rules: &free, ask_every_command: true };
            assert!(decide(&question).is_allow(), "{tool}");
            let denied = rules(&[&format!("-{tool}")]);
            assert!(ask(tool, &access, mode, &denied).is_deny(), "{tool}");
        }
    }
}

#[test]
fn rules_that_cant_be_read_are_told() {
    let list = [
        "+Bash(ls)",
        "+Bash(",
        "-Edit([)",
        "+Fetch(x)",
        "-Agent(explore)",
        "+Edit()",
        "+",
        "-Read(~/.ssh/**)",
        "+Edit(!a)",
        "-Read(//etc/passwd)",
        "+Edit(a)b",
    ];
    let (set, problems) = parse(&list);
    assert_eq!(set.rules().cloned().collect::<Vec<Rule>>(), [rule("+Bash(ls)")]);
    let told: Vec<(usize, &str)> =
        problems.iter().map(|problem| (problem.index, problem.message.as_str())).collect();
    let reach = "rules name files from the project's folder on; `~/` and `//` reach out of it";
    assert_eq!(
        told,
        [
            (1, "the closing bracket is missing"),
            (2, "unclosed character class; missing ']'"),
            (3, "there is no tool `Fetch`"),
            (4, "`Agent` takes nothing in brackets"),
            (5, "`Edit()` names nothing; write `Edit` for all"),
            (6, "the rule is empty"),
            (7, reach),
            (8, "a pattern can't begin with `!`; write a rule of the other effect"),
            (9, reach),
            (10, "the closing bracket is missing"),
        ]
    );
}

#[test]
fn a_deny_rule_that_cant_be_read_makes_its_tool_ask() {
    for (broken, tool, access) in [
        ("-Edit([)", "Write", write("a")),
        ("-Read(~/x)", "Read", read("a")),
        ("-Bash(rm", "Bash", crate::common::command("ls")),
    ] {
        let (set, problems) = parse(&["+Edit", "+Read", "+Bash", broken]);
        assert_eq!(problems.len(), 1);
        for mode in [Default, AcceptEdits, BypassPermissions] {
            assert_eq!(word(&ask(tool, &access, mode, &set)), "ask", "{broken} in {mode:?}");
        }
    }
}
