//! The tools that direct workers and ask the user.

use crate::support::room;
use cox_protocol::entry::ResultStatus;
use cox_protocol::inbox::{Answer, Question, QuestionOption};
use cox_protocol::task::{Evidence, FailKind, KilledBy, Outcome, TaskKind, TaskStatus};
use cox_protocol::{MessageId, TaskId, ToolDetail};
use cox_tools::{Dispatch, OutputReport, Receipt, Retrieval, Sent, TaskSummary};
use serde_json::{Value, json};
use std::sync::Arc;

// B51
#[tokio::test]
async fn a_dispatch_gives_a_receipt_and_not_an_answer() {
    let room = room(&[]);
    *room.tasks.receipt.lock().unwrap() = Some(Receipt::Async {
        task_id: TaskId::new("t2"),
        name: "find-auth".into(),
        description: "find the login code".into(),
        prompt: "Find \"it\".".into(),
        output_file: "out/t2.jsonl".into(),
    });
    let done = room
        .call(
            "Agent",
            json!({ "description": " find the login code ", "prompt": "Find \"it\".", "subagent_type": "explore", "model": "", "name": null }),
        )
        .await;
    insta::assert_snapshot!(done.result.content, @r#"{"status":"async_launched","agentId":"t2","name":"find-auth","description":"find the login code","prompt":"Find \"it\".","outputFile":"out/t2.jsonl","canReadOutputFile":false}"#);
    assert_eq!(done.result.detail, ToolDetail::Task { task_id: TaskId::new("t2"), name: "find-auth".into() });
    assert_eq!(
        *room.tasks.dispatched.lock().unwrap(),
        [Dispatch {
            description: "find the login code".into(),
            prompt: "Find \"it\".".into(),
            role: Some("explore".into()),
            model: None,
            name: None,
            background: false,
            output_schema: None,
        }]
    );
    assert_eq!(room.journal.log(), ["started c1 change"]);
}

// R95
#[tokio::test]
async fn an_empty_task_is_refused_at_the_tool() {
    let room = room(&[]);
    for input in [
        json!({ "description": "d", "prompt": "  \n" }),
        json!({ "description": "", "prompt": "p" }),
        json!({ "description": "d", "prompt": "p", "output_schema": { "type": "array" } }),
        json!({ "description": "d", "prompt": "p", "output_schema": { "type": "object", "properties": 3 } }),
    ] {
        let (status, content) = room.says("Agent", input).await;
        assert_eq!(status, ResultStatus::InvalidCall);
        assert!(content.starts_with(r#"{"error":"invalid_input","message":""#), "{content}");
    }
    assert!(room.tasks.dispatched.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_refusal_of_the_engine_is_json_with_its_kind() {
    let room = room(&[]);
    assert_eq!(
        room.says("Agent", json!({ "description": "d", "prompt": "p" })).await,
        (
            ResultStatus::Error,
            r#"{"error":"limit_reached","message":"50 workers were started; work with what they gave"}"#
                .into()
        )
    );
    // B142
    for (tool, input) in [
        ("TaskStop", json!({ "task_id": "t7" })),
        ("TaskOutput", json!({ "task_id": "t7" })),
        ("SendMessage", json!({ "to": "t7", "message": "hello" })),
    ] {
        assert_eq!(
            room.says(tool, input).await,
            (ResultStatus::Error, r#"{"error":"not_found","message":"there is no such task"}"#.into())
        );
    }
}

// B52
#[tokio::test]
async fn a_worker_that_was_waited_for_gives_its_final_text() {
    let room = room(&[]);
    let finished = |outcome| Receipt::Finished {
        task_id: TaskId::new("t2"),
        name: "w".into(),
        outcome,
        result: Some("it is <in> a.rs".into()),
        evidence: Evidence { tool_uses: 2, ..Evidence::default() },
    };
    let input = json!({ "description": "d", "prompt": "p" });
    *room.tasks.receipt.lock().unwrap() = Some(finished(Outcome::Completed));
    insta::assert_snapshot!(room.ok("Agent", input.clone()).await, @r#"{"status":"completed","agentId":"t2","name":"w","result":"it is <in> a.rs","evidence":"tool uses: 2"}"#);
    *room.tasks.receipt.lock().unwrap() =
        Some(finished(Outcome::Failed { kind: FailKind::TurnLimit, message: "100 turns".into() }));
    let (status, content) = room.says("Agent", input).await;
    assert_eq!(status, ResultStatus::Error);
    insta::assert_snapshot!(content, @r#"{"status":"failed","agentId":"t2","name":"w","message":"100 turns","result":"it is <in> a.rs","evidence":"tool uses: 2"}"#);
}

// B132, B136, B186
#[tokio::test]
async fn a_message_is_queued_or_continues_its_recipient() {
    let room = room(&[]);
    let sent = |queued| Sent {
        task_id: TaskId::new("t2"),
        name: "w".into(),
        message_id: MessageId::new("m1"),
        queued,
    };
    *room.tasks.sending.lock().unwrap() = Some(sent(true));
    insta::assert_snapshot!(room.ok("SendMessage", json!({ "to": " w ", "message": "first\nsecond" })).await, @r#"{"success":true,"status":"queued","agentId":"t2","name":"w","messageId":"m1","message":"delivered at its next turn"}"#);
    *room.tasks.sending.lock().unwrap() = Some(sent(false));
    insta::assert_snapshot!(room.ok("SendMessage", json!({ "to": "t2", "summary": "go on", "message": "next" })).await, @r#"{"success":true,"status":"resumed","agentId":"t2","name":"w","messageId":"m1","message":"it had ended; it goes on in the background with its context, and a notification follows"}"#);
    assert_eq!(
        *room.tasks.sent.lock().unwrap(),
        [
            ("w".into(), Some("first".into()), "first\nsecond".into()),
            ("t2".into(), Some("go on".into()), "next".into())
        ]
    );
    for input in [
        json!({ "to": "w", "message": " " }),
        json!({ "to": "*", "message": "all" }),
        json!({ "to": "", "message": "x" }),
    ] {
        assert_eq!(room.says("SendMessage", input).await.0, ResultStatus::InvalidCall);
    }
}

#[tokio::test]
async fn a_stopped_task_is_named() {
    let room = room(&[]);
    *room.tasks.stopping.lock().unwrap() = Some(TaskSummary {
        task_id: TaskId::new("t2"),
        name: "w".into(),
        kind: TaskKind::Worker,
        description: "find it".into(),
        status: TaskStatus::Killed,
    });
    insta::assert_snapshot!(room.ok("TaskStop", json!({ "task_id": "t2" })).await, @r#"{"success":true,"taskId":"t2","name":"w","kind":"worker","description":"find it","status":"killed"}"#);
    assert_eq!(room.says("TaskStop", json!({ "task_id": "" })).await.0, ResultStatus::InvalidCall);
}

// B146, B149, W14
#[tokio::test]
async fn result_output_file_and_transcript_stay_apart() {
    let room = room(&[]);
    let report = OutputReport {
        retrieval: Retrieval::Success,
        task_id: TaskId::new("t2"),
        name: "w".into(),
        kind: TaskKind::Worker,
        status: TaskStatus::Killed,
        outcome: Some(Outcome::Killed { by: KilledBy::User }),
        result: Some("x".repeat(40_000)),
        output_file: "out/t2.jsonl".into(),
        transcript: None,
        evidence: Some(Evidence::default()),
    };
    *room.tasks.report.lock().unwrap() = Some(report.clone());
    let value: Value =
        serde_json::from_str(&room.ok("TaskOutput", json!({ "task_id": "t2" })).await).unwrap();
    let task = &value["task"];
    assert_eq!(
        (
            &value["retrieval_status"],
            &task["status"],
            &task["killedBy"],
            &task["outputFile"],
            &task["transcript"]
        ),
        (&json!("success"), &json!("killed"), &json!("user"), &json!("out/t2.jsonl"), &Value::Null)
    );
    let result = task["result"].as_str().unwrap();
    assert!(result.contains("\n… 8000 characters cut; the whole is in the output file …\n"));
    *room.tasks.report.lock().unwrap() = Some(OutputReport {
        retrieval: Retrieval::NotReady,
        status: TaskStatus::Running,
        outcome: None,
        result: None,
        transcript: Some("so far".into()),
        evidence: None,
        ..report
    });
    insta::assert_snapshot!(room.ok("TaskOutput", json!({ "task_id": "t2", "block": false })).await, @r#"{"retrieval_status":"not_ready","task":{"taskId":"t2","name":"w","kind":"worker","status":"running","outputFile":"out/t2.jsonl","transcript":"so far"}}"#);
}

#[tokio::test]
async fn a_stop_ends_the_wait_for_a_task() {
    let room = room(&[]);
    *room.tasks.never_ends.lock().unwrap() = true;
    assert_eq!(
        room.says("TaskOutput", json!({ "task_id": "t2", "timeout": 600_000 })).await,
        (ResultStatus::Interrupted, "interrupted while waiting; the task goes on".into())
    );
    assert_eq!(
        room.says("TaskOutput", json!({ "task_id": "t2", "timeout": 600_001 })).await.0,
        ResultStatus::InvalidCall
    );
}

fn question() -> Value {
    json!({ "questions": [{
        "question": "Which database?",
        "header": "Database",
        "options": [{ "label": "SQLite", "description": "one file" }, { "label": "Postgres" }],
    }] })
}

// B164
#[tokio::test]
async fn the_user_chooses() {
    let room = room(&[]).answers([Answer::Chosen { answers: vec!["neither: files".into()] }]);
    let call = room.a_call("AskUserQuestion", question());
    let prepared = room.toolbox.prepare(&call, &room.pool(), &room.cx(&call)).await;
    assert!(prepared.is_question() && !prepared.is_dispatch());
    insta::assert_snapshot!(room.run(call).await.result.content, @r#"{"answers":[{"question":"Which database?","answer":"neither: files"}]}"#);
    assert_eq!(
        *room.ask.questions.lock().unwrap(),
        [Question {
            header: "Database".into(),
            question: "Which database?".into(),
            options: vec![
                QuestionOption { label: "SQLite".into(), description: "one file".into() },
                QuestionOption { label: "Postgres".into(), description: String::new() }
            ],
            multi_select: false,
        }]
    );
}

#[tokio::test]
async fn a_question_that_nobody_answers() {
    let room = room(&[]).answers([Answer::NoUi, Answer::Deny { reason: String::new() }, Answer::Withdrawn]);
    let (status, content) = room.says("AskUserQuestion", question()).await;
    assert_eq!(status, ResultStatus::NoUi);
    assert!(content.starts_with(r#"{"error":"no_ui","message":""#), "{content}");
    assert_eq!(
        room.says("AskUserQuestion", question()).await,
        (ResultStatus::Denied, r#"{"error":"declined","message":"the user did not want to answer"}"#.into())
    );
    assert_eq!(room.says("AskUserQuestion", question()).await.0, ResultStatus::Interrupted);
    let twice = json!({ "questions": [{
        "question": "Which?", "header": "", "options": [{ "label": "a" }, { "label": "a " }],
    }] });
    assert_eq!(room.says("AskUserQuestion", twice).await.0, ResultStatus::InvalidCall);
}

// W39
#[tokio::test]
async fn a_value_has_to_meet_the_schema_and_ends_the_run() {
    let mut room = room(&[]);
    let (status, content) = room.says("SyntheticOutput", json!({ "count": 1 })).await;
    assert_eq!(status, ResultStatus::InvalidCall, "{content}");
    room.cx.output_schema = Some(Arc::new(json!({
        "type": "object",
        "properties": { "count": { "type": "integer", "minimum": 1 }, "name": { "type": "string" } },
        "required": ["count", "name"],
        "additionalProperties": false,
    })));
    let (status, content) = room.says("SyntheticOutput", json!({ "count": 0, "other": true })).await;
    assert_eq!(status, ResultStatus::InvalidCall);
    insta::assert_snapshot!(content);
    let value = json!({ "count": 2, "name": "two" });
    let done = room.call("SyntheticOutput", value.clone()).await;
    assert_eq!((done.result.content.as_str(), done.end), ("the result was accepted", Some(value.clone())));
    assert_eq!(done.result.detail, ToolDetail::Value { value });
}
