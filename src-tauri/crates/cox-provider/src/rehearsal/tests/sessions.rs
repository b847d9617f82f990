//! Whole sessions that go well.

use super::called;
use super::runtime::{Runtime, user};
use cox_protocol::entry::ResultStatus;

pub(super) const BOAT: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"boat\"\n"),
    ("README.md", "# Boat\n\nA small boat.\n"),
    ("src/main.rs", "mod oar;\n\nfn main() {\n    oar::pull(); // TODO: steer | turn\n}\n"),
    (
        "src/oar.rs",
        "pub fn pull() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn pulls() {\n        super::pull(); // FIXME `it` never fails\n    }\n}\n",
    ),
    ("tests/row.rs", "#[test]\nfn rows() {}\n\n#[tokio::test]\nasync fn rows_on() {}\n"),
    ("web/index.html", "<p>boat</p>\n"),
    ("web/app.js", "test('x', () => {});\n"),
    ("docs/how to.md", "TODO: write\n"),
];

// W42: the whole session, as it is stored.
#[test]
fn a_whole_session() {
    let mut runtime = Runtime::coordinator(BOAT);
    runtime.prompt("Tell me about this project.");
    insta::assert_snapshot!("a_whole_session", runtime.transcript());
}

#[test]
fn the_flow_is_explore_parts_follow_up_check() {
    let mut runtime = Runtime::coordinator(BOAT);
    runtime.put(0, user("go"));
    assert_eq!(called(&runtime.step(0)), ["Agent"]);
    assert_eq!(called(&runtime.step(0)), [""; 0], "it waits for the envelope");
    runtime.finish("layout");
    assert_eq!(called(&runtime.step(0)), ["Agent", "Agent", "Agent"], "src, tests, web");
    runtime.step(0);
    runtime.finish("part-tests");
    assert_eq!(called(&runtime.step(0)), [""; 0], "two are still open");
    runtime.finish("part-web");
    runtime.step(0);
    runtime.finish("part-src");
    let step = runtime.step(0);
    assert_eq!(called(&step), ["SendMessage"], "one is continued");
    assert_eq!(step.calls[0].input["to"], "part-src");
    runtime.step(0);
    runtime.finish("part-src");
    let step = runtime.step(0);
    assert_eq!((called(&step), &step.calls[0].input["subagent_type"]), (vec!["Agent"], &"verify".into()));
    runtime.step(0);
    runtime.finish("check");
    let step = runtime.step(0);
    assert!(step.calls.is_empty() && step.text.contains("## Rehearsal report"), "{}", step.text);
}

#[test]
fn a_second_prompt_is_a_short_round() {
    let mut runtime = Runtime::coordinator(BOAT);
    runtime.prompt("First.");
    let workers = runtime.agents.len();
    std::fs::write(runtime.folder.path().join("src/new.rs"), "// more\n").unwrap();
    let report = runtime.prompt("Second.");
    assert_eq!(runtime.agents.len(), workers + 1, "one worker");
    assert!(
        report.contains("9 files and ") && report.contains("8 files and ") && report.contains("| Rust | 3, "),
        "{report}"
    );
    assert!(report.contains("As read in round 1, and not looked at again: 2 entry points, 2 lines with TODO or FIXME in 2 files."), "{report}");
    assert!(runtime.prompt("Third.").contains("it compares with round 1"));
}

#[test]
fn a_question_card_decides_about_the_check() {
    let check = |card: (ResultStatus, &str), expect: &str, has_check: bool| {
        let mut runtime = Runtime::coordinator(BOAT);
        runtime.card = (card.0, card.1.to_owned());
        let report = runtime.prompt("Please ask me a question first.");
        assert!(report.contains(expect), "{expect}: {report}");
        assert_eq!(runtime.agents.iter().any(|agent| agent.name == "check"), has_check);
    };
    check(
        (ResultStatus::Ok, r#"{"answers":[{"question":"?","answer":"Run the check"}]}"#),
        "The check passed",
        true,
    );
    check(
        (ResultStatus::Ok, r#"{"answers":[{"question":"?","answer":"Only read"}]}"#),
        "Check not run: you chose \"Only read\"",
        false,
    );
    check(
        (ResultStatus::Ok, r#"{"answers":[{"question":"?","answer":"whatever"}]}"#),
        "own words (\"whatever\")",
        false,
    );
    check((ResultStatus::NoUi, r#"{"error":"no_ui"}"#), "nobody could be asked (no_ui)", false);
    check((ResultStatus::Denied, r#"{"error":"declined"}"#), "the question was not answered", false);
}

#[test]
fn solo_does_it_with_its_own_tools() {
    let mut runtime = Runtime::solo(BOAT);
    let report = runtime.prompt("Tell me about this project.");
    assert_eq!(runtime.agents.len(), 1, "no worker");
    insta::assert_snapshot!("solo_report", report);
    let report = runtime.prompt("And now?");
    assert!(report.contains("No language has changed"), "{report}");
    let report = runtime.prompt("I have a question.");
    assert!(report.contains("The check passed"), "{report}");
}

#[test]
fn a_flat_folder_gets_two_workers() {
    let mut runtime =
        Runtime::coordinator(&[("a.py", "if __name__ == \"__main__\":\n    pass # TODO\n"), ("b.py", "")]);
    let report = runtime.prompt("go");
    let names: Vec<&str> = runtime.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["lead", "layout", "code", "notes", "check"]);
    assert!(
        report.contains("`a.py:1`") && report.contains("1 line in 1 file") && report.contains("`a.py:2`"),
        "{report}"
    );
}

#[test]
fn an_empty_folder_is_said_and_no_more() {
    let mut runtime = Runtime::coordinator(&[]);
    let report = runtime.prompt("go");
    assert_eq!(runtime.agents.len(), 2, "only the layout was asked for");
    assert!(report.contains("The folder holds no file") && report.contains("Check not run"), "{report}");
    let mut solo = Runtime::solo(&[]);
    assert!(solo.prompt("go").contains("The folder holds no file"));
}

#[test]
fn a_form_is_filled_when_it_only_wants_text() {
    let mut runtime = Runtime::coordinator(BOAT);
    let mut def = super::tools(&["SyntheticOutput"]).remove(0);
    def.input_schema =
        serde_json::json!({ "properties": { "report": { "type": "string" } }, "required": ["report"] });
    runtime.agents[0].tools.push(def);
    runtime.prompt("go");
    let handed_in = runtime.agents[0]
        .entries
        .iter()
        .flat_map(|entry| entry.calls())
        .filter(|call| call.name == "SyntheticOutput");
    let values: Vec<bool> = handed_in
        .map(|call| call.input["report"].as_str().unwrap().contains("## Rehearsal report"))
        .collect();
    assert_eq!(values, [true]);
}
