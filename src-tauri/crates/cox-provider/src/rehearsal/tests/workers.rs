//! Workers, alone.

use super::super::answer;
use super::super::facts::Facts;
use super::super::job::{About, Job, Look};
use super::runtime::{Runtime, from_lead, result, user};
use super::sessions::BOAT;
use super::{EXPLORE, called, tools};
use cox_protocol::entry::{Entry, ResultStatus, RuntimeNote, StopReason};
use std::sync::Arc;

/// A session with one worker on this task, not yet begun.
fn worker(job: &Job) -> (Runtime, usize) {
    let mut runtime = Runtime::coordinator(BOAT);
    runtime.put(0, user("go"));
    runtime.step(0);
    let at = runtime.at("layout");
    runtime.agents[at].entries = vec![Arc::new(from_lead(&job.prompt(1)))];
    (runtime, at)
}

fn part(folder: &str) -> Job {
    Job::Part { folder: folder.to_owned(), own_files: false, look: Look::All }
}

#[test]
fn a_message_is_answered_in_the_next_turn() {
    let (mut runtime, at) = worker(&part("src"));
    runtime.step(at);
    runtime.put(at, user("Hurry up!"));
    let step = runtime.step(at);
    assert!(
        step.text.contains("Your message `Hurry up!` reached me") && !step.calls.is_empty(),
        "{}",
        step.text
    );
    assert!(!runtime.step(at).text.contains("Hurry"), "once");
}

#[test]
fn an_ended_worker_answers_and_reports_again() {
    let (mut runtime, at) = worker(&part("src"));
    while !runtime.step(at).calls.is_empty() {}
    runtime.put(at, user("Anything else?"));
    let step = runtime.step(at);
    assert!(step.calls.is_empty() && step.text.contains("`Anything else?`"), "{}", step.text);
    let Some(Facts::Part(facts)) = Facts::parse(&step.text) else { panic!("{}", step.text) };
    assert_eq!((facts.files, facts.notes.map(|notes| notes.lines)), (2, Some(2)));
}

#[test]
fn a_follow_up_uses_what_is_known() {
    let (mut runtime, at) = worker(&part("src"));
    while !runtime.step(at).calls.is_empty() {}
    runtime.put(at, from_lead(&Job::FollowUp { about: About::Notes }.prompt(1)));
    assert_eq!(called(&runtime.step(at)), ["Read", "Read"]);
    let step = runtime.step(at);
    let Some(Facts::FollowUp(facts)) = Facts::parse(&step.text) else { panic!("{}", step.text) };
    assert_eq!(facts.details[0].around[1], "   3  fn main() {");
    assert_eq!(
        (facts.details[0].path.as_str(), facts.details[0].line, facts.details[0].file_lines),
        ("src/main.rs", 4, 5)
    );
}

#[test]
fn a_cut_call_is_made_again_and_only_once() {
    let (mut runtime, at) = worker(&Job::Layout);
    for expect in [vec!["Glob"], vec!["Glob"], vec![]] {
        let step = runtime.answer(at);
        assert_eq!(called(&step), expect);
        let blocks = step.into_blocks(&runtime.agents[at].entries);
        let entry = Entry::Assistant {
            blocks,
            stop: StopReason::ToolUse,
            model: "rehearsal".into(),
            interrupted: false,
        };
        let results =
            entry.calls().map(|call| result(call, ResultStatus::Interrupted, "interrupted")).collect();
        runtime.put(at, entry);
        runtime.put(at, Entry::ToolResults { results });
        runtime.put(at, Entry::Runtime { note: RuntimeNote::Interrupted { reason: "stopped".into() } });
    }
    assert!(runtime.last_words(at).contains("Glob: interrupted"));
}

#[test]
fn a_role_tells_what_to_do_when_the_prompt_does_not() {
    let check = |role: &str, names: &[&str], first: &[&str]| {
        let system = format!("You are a worker.\n\n# Role: {role}\n\nYou work.\n\n# Role: verify");
        let answer = answer(&system, &tools(names), &[Arc::new(from_lead("Find the bug."))]);
        assert_eq!(called(&answer), first, "{role}");
        assert!(answer.text.contains("none of rehearsal's own"));
    };
    check("explore", &EXPLORE, &["Glob"]);
    check("plan", &EXPLORE, &["Glob"]);
    check("verify", &super::VERIFY, &["Glob", "Glob", "Glob"]);
    check("worker", &["Read", "Glob", "Grep", "Bash", "Write", "Edit"], &["Glob", "Grep"]);
}

#[test]
fn a_tool_that_is_missing_is_said() {
    let answer = answer("# Role: explore", &tools(&["Read"]), &[Arc::new(from_lead(&Job::Layout.prompt(1)))]);
    assert!(answer.calls.is_empty() && answer.text.contains("Glob is not on offer"), "{}", answer.text);
}

#[test]
fn a_hundred_thousand_files_are_capped_and_it_is_said() {
    let (mut runtime, at) = worker(&Job::Layout);
    let listing: String = (0..5_000).map(|number| format!("\naaa/f{number:05}.rs\t10")).collect();
    let replies = [
        format!("100000 files, the first 5000 shown{listing}"),
        "90000 files, the first 2 shown\naaa/f00000.rs\t10\nbbb/x.py\t4".to_owned(),
        "3 files\nbbb/deep/y.py\t4\nccc/deep/z.go\t1\nccc/deep/z.md\t1".to_owned(),
    ];
    let mut replies = replies.into_iter();
    loop {
        let step = runtime.answer(at);
        let blocks = step.clone().into_blocks(&runtime.agents[at].entries);
        let entry =
            Entry::Assistant { blocks, stop: step.stop(), model: "rehearsal".into(), interrupted: false };
        let results =
            entry.calls().map(|call| result(call, ResultStatus::Ok, replies.next().unwrap())).collect();
        runtime.put(at, entry);
        if step.calls.is_empty() {
            break;
        }
        runtime.put(at, Entry::ToolResults { results });
    }
    let text = runtime.last_words(at);
    let Some(Facts::Layout(facts)) = Facts::parse(&text) else { panic!("{text}") };
    assert_eq!((facts.files, facts.listed, facts.bytes), (100_000, 5_000, 50_000));
    let parts: Vec<&str> = facts.parts.iter().map(|part| part.folder.as_str()).collect();
    assert_eq!(parts, ["aaa", "bbb", "ccc"]);
    assert_eq!(
        facts.problems,
        [
            "only the first 5000 of 100000 files were listed; counts and sizes are of these, and folders behind them may be missing"
        ]
    );
    assert!(text.len() < cox_protocol::envelope::RESULT_CAP / 2, "{}", text.len());
}

#[test]
fn a_part_of_own_files_stays_in_its_folder() {
    let job = Job::Part { folder: "src".to_owned(), own_files: true, look: Look::All };
    let (mut runtime, at) = worker(&job);
    std::fs::create_dir(runtime.folder.path().join("src/deep")).unwrap();
    std::fs::write(runtime.folder.path().join("src/deep/x.rs"), "// TODO\n#[test]\nfn x() {}\n").unwrap();
    while !runtime.step(at).calls.is_empty() {}
    let Some(Facts::Part(facts)) = Facts::parse(&runtime.last_words(at)) else { panic!() };
    let tests: Vec<u64> = facts.code.iter().flat_map(|code| &code.tests).map(|tests| tests.tests).collect();
    assert_eq!((facts.files, facts.notes.map(|notes| notes.lines), tests), (2, Some(2), vec![1]));
}
