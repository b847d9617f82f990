//! Bash on real processes.

use crate::support::{Room, room};
use cox_protocol::entry::{CommandRun, ResultStatus};
use cox_protocol::inbox::{Action, Answer};
use cox_protocol::task::PermissionMode;
use cox_protocol::{TaskId, ToolDetail};
use cox_tools::Done;
use serde_json::json;
use std::sync::Arc;

/// A room in which commands pass.
fn free(files: &[(&str, &str)]) -> Room {
    room(files).mode(PermissionMode::BypassPermissions)
}

fn run(done: &Done) -> CommandRun {
    let ToolDetail::Command { run, .. } = &done.result.detail else { panic!("a command: {done:?}") };
    run.clone()
}

#[tokio::test]
async fn output_comes_as_it_was_written_and_the_last_line_is_the_end() {
    let room = free(&[("a.txt", "")]);
    assert_eq!(
        room.ok("Bash", json!({ "command": "ls; echo err >&2; printf end" })).await,
        "a.txt\nerr\nend\nexit code 0"
    );
    let done = room.call("Bash", json!({ "command": "exit 3" })).await;
    assert_eq!((done.result.status, done.result.content.as_str()), (ResultStatus::Error, "exit code 3"));
    let expect = CommandRun {
        command: "exit 3".to_owned(),
        exit_code: Some(3),
        signal: None,
        timed_out: false,
        killed: 0,
        output_bytes: 0,
        duration_ms: run(&done).duration_ms,
    };
    assert_eq!((done.command.as_ref(), run(&done)), (Some(&expect), expect.clone()));
    let done = room.call("Bash", json!({ "command": "kill -9 $$" })).await;
    assert_eq!((done.result.content.as_str(), run(&done).signal), ("killed by signal 9", Some(9)));
    assert_eq!(
        room.journal.log()[..3],
        ["started c1 change", "process c1", "process ended c1"],
        "the group is recorded while it lives"
    );
}

// W28
#[tokio::test]
async fn keys_do_not_reach_a_command_and_nothing_can_be_typed() {
    let room = free(&[]);
    let text = room.ok("Bash", json!({ "command": "env; cat; pwd" })).await;
    assert!(!text.contains("CARGO_MANIFEST_DIR"), "{text}");
    let folder = std::fs::canonicalize(room.folder.path()).unwrap();
    assert!(text.ends_with(&format!("{}\nexit code 0", folder.display())), "{text}");
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_with_its_tree() {
    let room = free(&[]);
    let done = room
        .call("Bash", json!({ "command": "echo begun; sleep 1000 & sleep 1000", "timeout_ms": 300 }))
        .await;
    assert_eq!(
        (done.result.status, done.result.content.as_str()),
        (ResultStatus::Error, "begun\ntimed out after 0.3 s")
    );
    let run = run(&done);
    assert!(run.timed_out && run.exit_code.is_none() && run.killed >= 2, "{run:?}");
}

#[tokio::test]
async fn a_stopped_command_keeps_what_it_said() {
    let room = Arc::new(free(&[]));
    let inside = Arc::clone(&room);
    let call = tokio::spawn(async move {
        inside.call("Bash", json!({ "command": "echo half; sleep 1000; echo whole; touch late" })).await
    });
    room.journal.hear("t1:half").await;
    room.cx.cancel.cancel();
    let done = call.await.unwrap();
    assert_eq!(
        (done.result.status, done.result.content.as_str()),
        (ResultStatus::Interrupted, "half\ninterrupted")
    );
    assert!(run(&done).killed >= 1 && done.command.is_some());
    assert_eq!(room.journal.log().last().map(String::as_str), Some("process ended c1"));
    assert!(!room.path("late").exists());
}

#[tokio::test]
async fn long_output_is_cut_in_the_middle_and_kept_whole() {
    let room = free(&[]);
    let done = room.call("Bash", json!({ "command": "seq 1 100000" })).await;
    assert_eq!(done.result.status, ResultStatus::Ok);
    let content = &done.result.content;
    let whole: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    let cut = whole.chars().count() - 30_000;
    assert!(content.starts_with("1\n2\n3\n"), "{}", &content[..40]);
    assert!(content.contains(&format!("… {cut} characters cut; the whole output is kept …")), "{cut}");
    assert!(content.ends_with("99999\n100000\nexit code 0"));
    let full = done.result.full.clone().unwrap();
    assert_eq!(full.size, whole.len() as u64);
    assert_eq!(room.journal.blobs.lock().unwrap()[&full.hash], whole.as_bytes());
    assert_eq!(run(&done).output_bytes, whole.len() as u64);
}

#[tokio::test]
async fn one_line_of_five_megabytes_and_bytes_that_are_no_text() {
    let room = free(&[]);
    let done = room
        .call("Bash", json!({ "command": "head -c 5000000 /dev/zero | tr '\\0' x; printf '\\xff\\n'" }))
        .await;
    let count = done.result.content.chars().count();
    assert!((30_000..30_200).contains(&count), "{count}");
    assert_eq!(done.result.full.unwrap().size, 5_000_002);
    // A store that is full loses the whole, not the result.
    *room.journal.full.lock().unwrap() = true;
    let done = room.call("Bash", json!({ "command": "seq 1 20000" })).await;
    assert_eq!((done.result.status, done.result.full, done.fail), (ResultStatus::Ok, None, None));
    assert!(done.result.content.contains("characters cut; the whole could not be kept: the disk is full …"));
}

#[tokio::test]
async fn what_a_command_leaves_running_ends_with_it() {
    let room = free(&[]);
    let done = room.call("Bash", json!({ "command": "sleep 1000 & echo done" })).await;
    assert_eq!(
        (done.result.status, done.result.content.as_str()),
        (ResultStatus::Ok, "done\n(1 process was left running and ended)\nexit code 0")
    );
    assert_eq!(run(&done).killed, 1);
}

#[tokio::test]
async fn a_background_command_becomes_a_task_at_once() {
    let room = free(&[]);
    let done =
        room.call("Bash", json!({ "command": "echo up; read line < fifo", "run_in_background": true })).await;
    assert_eq!(
        done.result.content,
        "started in the background as task t9\nA notification follows when it ends."
    );
    let ToolDetail::Command { background, .. } = &done.result.detail else { panic!("a command") };
    assert_eq!((background, &done.command), (&Some(TaskId::new("t9")), &None));
    let (command, running, service) = room.tasks.shells.lock().unwrap().pop().unwrap();
    assert_eq!((command.as_str(), service), ("echo up; read line < fifo", false));
    let ended = running.wait().await;
    assert_eq!(ended.exit_code, Some(1), "there is no fifo");
    assert_eq!(room.journal.log(), ["started c1 change", "process c1"], "its end is the engine's to record");
}

#[tokio::test]
async fn the_output_of_a_background_command_goes_to_its_own_panel() {
    let room = free(&[]);
    let command = "while [ ! -e go ]; do sleep 0.01; done; echo up; sleep 1000";
    room.ok("Bash", json!({ "command": command, "service": true })).await;
    room.put("go", "");
    room.journal.hear("t9:up").await;
    let (_, running, service) = room.tasks.shells.lock().unwrap().pop().unwrap();
    assert!(service);
    assert!(running.stop(cox_exec::STOP_GRACE).await.left.is_empty());
}

#[tokio::test]
async fn a_background_command_that_the_engine_refuses_is_ended() {
    let room = free(&[]);
    *room.tasks.no_shells.lock().unwrap() = true;
    let (status, content) =
        room.says("Bash", json!({ "command": "sleep 1000", "run_in_background": true })).await;
    assert_eq!(
        (status, content.as_str()),
        (ResultStatus::Error, r#"{"error":"limit_reached","message":"no more background commands"}"#)
    );
    assert_eq!(room.journal.log(), ["started c1 change", "process c1", "process ended c1"]);
}

#[tokio::test]
async fn the_request_shows_the_whole_command() {
    let room = room(&[]).answers([Answer::AllowOnce]);
    let command = "echo one &&\n  echo two # and more";
    room.ok("Bash", json!({ "command": command, "description": "says two words" })).await;
    let asked = room.ask.asked.lock().unwrap();
    assert_eq!(
        asked[0].action,
        Action::Command { command: command.to_owned(), cwd: ".".to_owned(), background: false }
    );
}

// W27
#[tokio::test]
async fn a_harmless_command_is_not_asked_about() {
    let room = room(&[("a.txt", "one\n")]);
    assert_eq!(room.ok("Bash", json!({ "command": "cat a.txt" })).await, "one\nexit code 0");
    assert!(room.ask.asked.lock().unwrap().is_empty());
}

// W35
#[tokio::test]
async fn a_verifier_whose_command_changes_a_file_has_a_violation() {
    let mut room = free(&[(".gitignore", "out/\n"), ("a.txt", "one\n"), ("b.txt", "two\n")]);
    let rules = room.cx.rights.rules();
    room.cx.rights = Arc::new(cox_tools::Rights::new(PermissionMode::Default, rules, true, true));
    let room = room.answers([Answer::AllowOnce, Answer::AllowOnce]);
    let done = room
        .call(
            "Bash",
            json!({ "command": "mkdir out && touch out/x && echo more >> a.txt && rm b.txt && touch c.txt" }),
        )
        .await;
    assert_eq!(done.result.status, ResultStatus::Ok, "{}", done.result.content);
    let during = "while `mkdir out && touch out/x && echo more >> a.txt && rm b.txt && touch c.txt` ran";
    assert_eq!(
        done.violations,
        [
            format!("a.txt was changed {during}"),
            format!("c.txt was made {during}"),
            format!("b.txt was deleted {during}"),
        ]
    );
    let done = room.call("Bash", json!({ "command": "cat a.txt" })).await;
    assert_eq!(
        (done.violations.len(), room.ask.asked.lock().unwrap().len()),
        (0, 2),
        "each command is asked"
    );
    let (status, content) = room.says("Bash", json!({ "command": "true", "run_in_background": true })).await;
    assert_eq!(status, ResultStatus::Error);
    assert!(content.starts_with("this role runs commands in the foreground only"), "{content}");
}

#[tokio::test]
async fn an_empty_command_is_not_run() {
    let room = free(&[]);
    assert_eq!(
        room.says("Bash", json!({ "command": "  " })).await,
        (ResultStatus::InvalidCall, "the command is empty".to_owned())
    );
}

// W27
#[tokio::test]
async fn a_link_does_not_make_a_harmless_command_of_one_that_leads_out() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret\n").unwrap();
    let room = room(&[]).answers([Answer::Deny { reason: "no".to_owned() }]);
    std::os::unix::fs::symlink(outside.path(), room.path("way-out")).unwrap();
    assert_eq!(room.says("Bash", json!({ "command": "cat way-out/secret" })).await.0, ResultStatus::Denied);
    assert_eq!(room.ask.asked.lock().unwrap().len(), 1);
}
