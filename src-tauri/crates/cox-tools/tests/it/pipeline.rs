//! The pipeline: what never runs, who is asked, what is recorded, and that each call has one result.

use crate::support::{Asked, room, rules};
use async_trait::async_trait;
use cox_protocol::ToolDetail;
use cox_protocol::entry::ResultStatus;
use cox_protocol::inbox::{Action, Answer, Effect, Rule};
use cox_protocol::task::{FailKind, PermissionMode};
use cox_tools::{Approved, Output, Plan, Tool, ToolCx, ToolError};
use serde_json::{Value, json};
use std::sync::Arc;

// W19
#[tokio::test]
async fn a_call_with_broken_arguments_is_not_run() {
    let room = room(&[]);
    let mut cut = room.a_call("Write", json!({}));
    cut.invalid = Some(r#"{"path": "a", "content": "abc"#.to_owned());
    let done = room.run(cut).await;
    assert_eq!(done.result.status, ResultStatus::InvalidCall);
    insta::assert_snapshot!(done.result.content, @"the arguments of this call are not valid JSON: they end too early, as if they had been cut. The call was not run. Send it again with complete, valid JSON; if it was cut because it is long, do it in smaller pieces.");
    let mut odd = room.a_call("Write", json!({}));
    odd.invalid = Some("{path: a}".to_owned());
    insta::assert_snapshot!(room.run(odd).await.result.content, @"the arguments of this call are not valid JSON: key must be a string at line 1 column 2. The call was not run. Send it again with complete, valid JSON; if it was cut because it is long, do it in smaller pieces.");
    assert_eq!(room.journal.log(), Vec::<String>::new());
}

// B14: a coordinator's pool has no Read, so there is none.
#[tokio::test]
async fn a_tool_that_is_unknown_or_not_in_the_pool_does_not_exist() {
    let room = room(&[("a.txt", "secret\n")]);
    let pool = ["Agent".to_owned(), "SendMessage".to_owned()];
    for name in ["Read", "Browse"] {
        let call = room.a_call(name, json!({ "path": "a.txt" }));
        let cx = room.cx(&call);
        let prepared = room.toolbox.prepare(&call, &pool, &cx).await;
        assert!(prepared.rejected() && !prepared.is_ready() && prepared.read_only());
        let done = room.toolbox.execute(prepared, &cx).await;
        assert_eq!(
            (done.result.status, done.result.content),
            (
                ResultStatus::InvalidCall,
                format!("there is no tool {name:?} here. You have: Agent, SendMessage")
            )
        );
    }
}

#[tokio::test]
async fn everything_that_is_wrong_with_the_input_is_listed() {
    let room = room(&[]);
    let (status, content) =
        room.says("Read", json!({ "file": "a", "offset": 0, "limit": "many", "more": 1 })).await;
    assert_eq!(status, ResultStatus::InvalidCall);
    insta::assert_snapshot!(content);
    let (_, content) = room
        .says(
            "AskUserQuestion",
            json!({ "questions": [{ "question": "Which?", "header": "", "options": [{ "label": "one" }] }] }),
        )
        .await;
    insta::assert_snapshot!(content);
}

#[tokio::test]
async fn a_rule_says_no_without_asking() {
    let room = room(&[("keep.txt", "as it was\n")]).rules(&[(Effect::Deny, "Edit(keep.txt)")]);
    room.ok("Read", json!({ "path": "keep.txt" })).await;
    let done =
        room.call("Edit", json!({ "path": "keep.txt", "old_string": "was", "new_string": "is" })).await;
    assert_eq!(done.result.status, ResultStatus::Denied, "{}", done.result.content);
    assert!(done.result.content.starts_with("not allowed: "), "{}", done.result.content);
    assert_eq!((room.text("keep.txt").as_str(), done.change), ("as it was\n", None));
    assert_eq!(*room.ask.asked.lock().unwrap(), Vec::<Asked>::new());
}

#[tokio::test]
async fn the_reason_of_a_refusal_reaches_the_model() {
    let room = room(&[]).answers([
        Answer::Deny { reason: "use the other script".to_owned() },
        Answer::Deny { reason: String::new() },
    ]);
    let input = json!({ "command": "touch made" });
    assert_eq!(
        room.says("Bash", input.clone()).await,
        (
            ResultStatus::Denied,
            "the user declined this call: use the other script\nIt was not run.".to_owned()
        )
    );
    assert_eq!(
        room.says("Bash", input).await,
        (
            ResultStatus::Denied,
            "the user declined this call and gave no reason. It was not run. Don't send it again as it is."
                .to_owned()
        )
    );
    assert!(!room.path("made").exists() && room.journal.log().is_empty());
}

// W26
#[tokio::test]
async fn where_nobody_can_be_asked_the_reason_is_no_ui() {
    let room = room(&[]).answers([Answer::NoUi]);
    let (status, content) = room.says("Bash", json!({ "command": "touch made" })).await;
    assert_eq!(status, ResultStatus::NoUi);
    assert!(content.starts_with("no_ui: this needs a person's permission ("), "{content}");
    assert!(!content.contains("declined this call"), "{content}");
    assert!(!room.path("made").exists());
}

#[tokio::test]
async fn a_person_sees_exactly_what_will_change() {
    let room = room(&[("a.txt", "one\ntwo\n")]).mode(PermissionMode::Default).answers([Answer::AllowOnce]);
    room.ok("Read", json!({ "path": "a.txt" })).await;
    let call = room.a_call("Edit", json!({ "path": "a.txt", "old_string": "two", "new_string": "2" }));
    let prepared = room.toolbox.prepare(&call, &room.pool(), &room.cx(&call)).await;
    assert!(prepared.asks() && !prepared.is_ready() && !prepared.parallel() && !prepared.rejected());
    let done = room.run(call).await;
    assert_eq!(done.result.status, ResultStatus::Ok);
    let asked = room.ask.asked.lock().unwrap();
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2".to_owned();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].action, Action::Edit { path: "a.txt".to_owned(), diff: diff.clone() });
    assert!(asked[0].offer_accept_edits, "the first edit request offers it (W25)");
    let ToolDetail::Change { diff: shown, .. } = &done.result.detail else { panic!("a change") };
    assert_eq!(*shown, diff);
    assert_eq!(room.journal.log(), ["started c1 read", "started c2 change"]);
}

#[tokio::test]
async fn nobody_is_asked_about_what_cannot_be_done() {
    let room = room(&[("a.txt", "one\n")]).mode(PermissionMode::Default);
    let (status, content) =
        room.says("Edit", json!({ "path": "a.txt", "old_string": "one", "new_string": "1" })).await;
    assert_eq!(
        (status, content.as_str()),
        (ResultStatus::Error, "you have not read a.txt; nothing was written. Read it first, then change it.")
    );
    assert!(room.ask.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_was_forbidden_while_a_person_thought_stays_forbidden() {
    let room = room(&[]).answers([Answer::AllowOnce]);
    *room.ask.meanwhile.lock().unwrap() = Some(Box::new(|cx| cx.rights.set_mode(PermissionMode::Plan)));
    let (status, content) = room.says("Bash", json!({ "command": "touch made" })).await;
    assert_eq!(status, ResultStatus::Denied, "{content}");
    assert!(!room.path("made").exists());
}

#[tokio::test]
async fn what_changed_while_a_person_thought_is_not_overwritten() {
    let room = room(&[("a.txt", "one\n")]).mode(PermissionMode::Default).answers([Answer::AllowOnce]);
    room.ok("Read", json!({ "path": "a.txt" })).await;
    let path = room.path("a.txt");
    *room.ask.meanwhile.lock().unwrap() =
        Some(Box::new(move |_| std::fs::write(&path, "by hand\n").unwrap()));
    let (status, content) =
        room.says("Edit", json!({ "path": "a.txt", "old_string": "one", "new_string": "1" })).await;
    assert_eq!(
        (status, content.as_str(), room.text("a.txt").as_str()),
        (
            ResultStatus::Error,
            "a.txt changed on disk while this change was waiting; nothing was written. Read it again, then change it.",
            "by hand\n"
        )
    );
}

#[tokio::test]
async fn always_answers_the_requests_behind_it() {
    let room = room(&[]).answers([Answer::AllowAlways]);
    *room.ask.meanwhile.lock().unwrap() = Some(Box::new(|cx| {
        cx.rights.set_rules(Arc::new(rules(&[(Effect::Allow, "Bash(touch made)")])));
    }));
    let calls = [
        room.a_call("Bash", json!({ "command": "touch made" })),
        room.a_call("Bash", json!({ "command": "touch made" })),
    ];
    let mut prepared = Vec::new();
    for call in &calls {
        prepared.push(room.toolbox.prepare(call, &room.pool(), &room.cx(call)).await);
    }
    assert!(prepared.iter().all(cox_tools::Prepared::asks));
    for (prepared, call) in prepared.into_iter().zip(&calls) {
        assert_eq!(room.toolbox.execute(prepared, &room.cx(call)).await.result.status, ResultStatus::Ok);
    }
    let asked = room.ask.asked.lock().unwrap();
    assert_eq!(asked.len(), 1, "the second was allowed by what the first answer stored");
    // W34: "always" proposes the exact command.
    assert_eq!(asked[0].always, Some(Rule { effect: Effect::Allow, pattern: "Bash(touch made)".to_owned() }));
}

#[tokio::test]
async fn a_stop_while_waiting_for_a_person_gives_a_result() {
    let room = Arc::new(room(&[]));
    let waiting = Arc::clone(&room);
    let call = tokio::spawn(async move { waiting.call("Bash", json!({ "command": "touch made" })).await });
    room.ask.waiting.notified().await;
    room.cx.cancel.cancel();
    let done = call.await.unwrap();
    assert_eq!(
        (done.result.status, done.result.content.as_str()),
        (ResultStatus::Interrupted, "interrupted: this call was not started")
    );
    // And a call after the stop is not even planned.
    assert_eq!(
        room.call("Bash", json!({ "command": "touch made" })).await.result.status,
        ResultStatus::Interrupted
    );
    assert!(!room.path("made").exists() && room.journal.log().is_empty());
}

#[tokio::test]
async fn writes_of_one_answer_run_in_order_and_see_each_other() {
    let room = room(&[("a.txt", "one\n")]);
    room.ok("Read", json!({ "path": "a.txt" })).await;
    let calls = [
        room.a_call("Edit", json!({ "path": "a.txt", "old_string": "one", "new_string": "two" })),
        room.a_call("Edit", json!({ "path": "a.txt", "old_string": "two", "new_string": "three" })),
    ];
    let mut prepared = Vec::new();
    for call in &calls {
        prepared.push(room.toolbox.prepare(call, &room.pool(), &room.cx(call)).await);
    }
    assert!(prepared.iter().all(|prepared| !prepared.parallel() && !prepared.rejected()));
    for (prepared, call) in prepared.into_iter().zip(&calls) {
        let done = room.toolbox.execute(prepared, &room.cx(call)).await;
        assert_eq!(done.result.status, ResultStatus::Ok, "{}", done.result.content);
    }
    assert_eq!(room.text("a.txt"), "three\n");
}

#[tokio::test]
async fn reads_and_commands_may_run_beside_each_other() {
    let room = room(&[("a.txt", "one\n")]).mode(PermissionMode::BypassPermissions);
    for (tool, input, read_only) in
        [("Read", json!({ "path": "a.txt" }), true), ("Bash", json!({ "command": "true" }), false)]
    {
        let call = room.a_call(tool, input);
        let prepared = room.toolbox.prepare(&call, &room.pool(), &room.cx(&call)).await;
        assert!(prepared.is_ready() && prepared.parallel(), "{tool}");
        assert_eq!(prepared.read_only(), read_only, "{tool}");
    }
}

#[tokio::test]
async fn plan_mode_changes_and_runs_nothing() {
    let room = room(&[("a.txt", "one\n")]).mode(PermissionMode::Plan);
    room.ok("Read", json!({ "path": "a.txt" })).await;
    for (tool, input) in [
        ("Write", json!({ "path": "new", "content": "" })),
        ("Edit", json!({ "path": "a.txt", "old_string": "one", "new_string": "1" })),
        ("Bash", json!({ "command": "touch new" })),
    ] {
        let (status, content) = room.says(tool, input).await;
        assert_eq!(status, ResultStatus::Denied, "{tool}: {content}");
    }
    assert!(!room.path("new").exists());
}

/// A tool with a defect.
struct Broken;

#[async_trait]
impl Tool for Broken {
    const NAME: &'static str = "Broken";
    type Input = Value;

    fn description() -> &'static str {
        "fails"
    }

    fn read_only(&self) -> bool {
        true
    }

    async fn plan(&self, input: &Value, _cx: &ToolCx) -> Result<Plan, ToolError> {
        assert!(input["early"].is_null(), "a defect in the plan");
        Ok(Plan::internal())
    }

    async fn run(&self, input: Value, _: Plan, _: Approved, _: &ToolCx) -> Result<Output, ToolError> {
        match input["end"].as_str() {
            Some(message) => Err(ToolError::EndTurn { kind: FailKind::Storage, message: message.to_owned() }),
            None => panic!("a defect in the {}", "run"),
        }
    }
}

#[tokio::test]
async fn a_panic_is_an_error_result_and_an_end_of_the_turn_is_carried_out() {
    let mut room = room(&[]);
    room.toolbox = room.toolbox.clone().with(Broken);
    for (input, what) in [(json!({}), "a defect in the run"), (json!({ "early": 1 }), "a defect in the plan")]
    {
        assert_eq!(
            room.says("Broken", input).await,
            (
                ResultStatus::Error,
                format!("Broken failed by a defect in Coxswain: {what}. Whether it took effect is unknown.")
            )
        );
    }
    let done = room.call("Broken", json!({ "end": "the disk is full" })).await;
    assert_eq!(done.fail, Some((FailKind::Storage, "the disk is full".to_owned())));
    assert_eq!((done.result.status, done.result.content.as_str()), (ResultStatus::Error, "the disk is full"));
}
