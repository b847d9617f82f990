//! What rehearsal and the prompts have to agree on, and the example session in the coordinator's prompt.

use super::super::answer;
use super::called;
use super::runtime::from_lead;
use cox_protocol::entry::{CommandRun, FileChange};
use cox_protocol::envelope::{Envelope, EnvelopeUsage};
use cox_protocol::id::TaskId;
use cox_protocol::task::{Evidence, Outcome};
use std::sync::Arc;

const COORDINATOR: &str = include_str!("../../../../../../prompts/coordinator.md");
const SOLO: &str = include_str!("../../../../../../prompts/solo.md");
const WORKER: &str = include_str!("../../../../../../prompts/worker.md");
const ROLES: [(&str, &str); 4] = [
    ("explore", include_str!("../../../../../../prompts/agents/explore.md")),
    ("plan", include_str!("../../../../../../prompts/agents/plan.md")),
    ("verify", include_str!("../../../../../../prompts/agents/verify.md")),
    ("worker", include_str!("../../../../../../prompts/agents/worker.md")),
];

#[test]
fn each_role_names_itself_first() {
    for (name, text) in ROLES {
        assert!(text.starts_with(&format!("# Role: {name}\n")), "{name}");
        let system = format!("{WORKER}\n\n{text}");
        let first = system.lines().find(|line| line.starts_with("# Role: "));
        assert_eq!(first, Some(format!("# Role: {name}").as_str()), "the common part names no role");
        let answer = answer(&system, &super::tools(&["Glob", "Grep"]), &[Arc::new(from_lead("x"))]);
        let expect: &[&str] = match name {
            "worker" => &["Glob", "Grep"],
            "verify" => &["Glob", "Glob", "Glob"],
            _ => &["Glob"],
        };
        assert_eq!(called(&answer), expect, "{name}");
    }
}

// B20, B34: six parts, and one line for the context of the session.
#[test]
fn the_prompts_have_their_parts_and_one_placeholder() {
    let headings: Vec<&str> = COORDINATOR.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    let parts = [
        "1. Your role",
        "2. Your tools",
        "3. Workers",
        "4. The flow of a task",
        "5. Writing prompts for workers",
        "6. A whole session",
        "Context",
    ];
    assert_eq!(headings, parts);
    for text in [COORDINATOR, SOLO] {
        assert!(text.ends_with("\n\n{{context}}\n"));
        assert_eq!(text.matches("{{").count(), 1);
    }
    for (name, text) in ROLES.into_iter().chain([("common", WORKER)]) {
        assert!(!text.contains("{{"), "{name}");
    }
}

/// The example of a change that was verified, as the runtime would write it.
fn example() -> Envelope {
    let change = |path: &str, added, removed, after: &str| FileChange {
        path: path.into(),
        before: Some("0".repeat(64)),
        after: Some(after.into()),
        added,
        removed,
    };
    let result = "Changed lifetime() and the call in refresh(), added two tests. All tests pass.\n\nNeeds a decision\nSessions that exist already were stored without the flag. A: they keep the short lifetime until the next login (default). B: treat them all as remembered; that would also keep logins alive that nobody asked to keep.";
    let run = CommandRun {
        command: "npm test -- session".into(),
        exit_code: Some(0),
        signal: None,
        timed_out: false,
        killed: 0,
        output_bytes: 0,
        duration_ms: 0,
    };
    Envelope {
        task_id: TaskId::new("t01kbx3v8q2m4d7a"),
        name: "session-code".into(),
        generation: 2,
        tool_use_id: Some("call_b1".into()),
        output_file: "output/s01kbx3v7zq9r2p0/t01kbx3v8q2m4d7a.jsonl".into(),
        outcome: Outcome::Completed,
        summary: "session-code completed".into(),
        result: Some(result.into()),
        evidence: Some(Evidence {
            tool_uses: 11,
            commands: vec![run],
            files: vec![
                change("src/auth/session.ts", 3, 1, "6b1f0c92ad4e"),
                change("src/auth/refresh.ts", 1, 1, "90c7d2e8115b"),
                change("src/auth/session.test.ts", 24, 0, "f3a85e07c6d1"),
            ],
            ..Evidence::default()
        }),
        usage: Some(EnvelopeUsage { total_tokens: 21_340, tool_uses: 11, duration_ms: 58_420 }),
        still_open: Vec::new(),
    }
}

// B115, D3: the coordinator learns envelopes in the very form in which they come.
#[test]
fn the_example_session_has_the_runtimes_own_envelopes() {
    let xml = example().to_xml();
    assert!(COORDINATOR.contains(&xml), "prompts/coordinator.md should hold:\n{xml}");
    let open = COORDINATOR.matches("\n<task-notification>\n").count();
    let closed = COORDINATOR.matches("\n</task-notification>\n").count();
    assert_eq!((open, closed), (5, 5), "the form, and four of the session");
}
