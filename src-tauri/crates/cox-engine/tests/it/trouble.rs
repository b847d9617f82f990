//! What goes wrong at the other end, and in the middle: servers, streams, limits, stops.

use crate::rig::{Setup, workers};
use crate::wired::{PROMPT, Wired, agent};
use cox_protocol::command::Command;
use cox_protocol::entry::{Block, Entry, ResultStatus};
use cox_protocol::event::EventKind;
use cox_protocol::inbox::Answer as Said;
use cox_protocol::task::{FailKind, KilledBy, Limits, Outcome, SessionMode, TaskStatus};
use cox_testkit::{Answer, Wire};
use serde_json::json;

async fn lead_outcome(on: &Wired, mode: SessionMode) -> Outcome {
    let (session, lead) = on.session(mode).await;
    on.rig.say(&lead, PROMPT).await;
    on.rig.idle(&session).await.lead().unwrap().outcome.clone().unwrap()
}

fn kind(outcome: &Outcome) -> FailKind {
    let Outcome::Failed { kind, message } = outcome else { panic!("{outcome:?}") };
    assert!(message.len() > 15, "it says what happened: {message}");
    *kind
}

// R110: an error is a failure with its own name, never an empty success.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_refuse() {
    for wire in [Wire::Anthropic, Wire::Openai] {
        let cases = [
            (Answer::error(401, "authentication_error", "invalid x-api-key"), FailKind::Auth),
            (Answer::error(404, "not_found_error", "model: scripted"), FailKind::ModelNotFound),
            (Answer::new().text("Half a").then_cuts(), FailKind::StreamBroken),
            (Answer::new().text("Half a").raw("data: {broken\n\n"), FailKind::StreamBroken),
            (Answer::new().text("Half a").fails("overloaded_error", "Overloaded"), FailKind::Overloaded),
        ];
        for (answer, wanted) in cases {
            let on = Wired::new(wire).await;
            on.lead([answer]);
            let outcome = lead_outcome(&on, SessionMode::Coordinator).await;
            assert_eq!(kind(&outcome), wanted, "{wire:?}: {outcome:?}");
        }
    }
}

// Context overflow ends the generation as failed, `context_exceeded`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_that_does_not_fit() {
    let on = Wired::new(Wire::Openai).await;
    on.lead([Answer::replay("error_400_context_overflow_stream")]);
    assert_eq!(kind(&lead_outcome(&on, SessionMode::Coordinator).await), FailKind::ContextExceeded);
}

// R110, B173: a worker that fails is told as failed, with its reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_worker_is_told() {
    let on = Wired::new(Wire::Anthropic).await;
    on.lead([
        Answer::new().tool("Agent", agent("hull", "Look at the hull")),
        Answer::says("Sent."),
        Answer::says("It failed."),
    ]);
    on.worker("Look at the hull", [Answer::error(403, "permission_error", "not for you")]);
    let (session, lead) = on.session(SessionMode::Coordinator).await;
    on.rig.say(&lead, PROMPT).await;
    let view = on.rig.idle(&session).await;
    assert_eq!(workers(&view)[0].status, TaskStatus::Failed);
    let told = on.server.requests().last().unwrap().last_user_text().unwrap();
    assert!(told.contains("<status>failed</status>") && told.contains("hull failed"), "{told}");
    on.server.assert_valid();
}

// Interruption keeps the text so far, and the history stays valid when the user goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_answer_is_kept() {
    for wire in [Wire::Anthropic, Wire::Openai] {
        let mut on = Wired::new(wire).await;
        on.lead([
            Answer::new()
                .text("So far so good ")
                .tool("Read", json!({"path": "README.md"}))
                .gate("cut")
                .text("never said"),
            Answer::says("Where was I?"),
        ]);
        let (session, lead) = on.session(SessionMode::Solo).await;
        on.rig.say(&lead, PROMPT).await;
        on.server.reached("cut").await;
        on.rig.until_partial(&lead, "So far so good").await;
        on.rig.engine.submit(Command::InterruptTurn { session_id: session.clone() }).await.unwrap();
        let view = on.rig.idle(&session).await;
        assert_eq!(view.lead().unwrap().outcome, Some(Outcome::Killed { by: KilledBy::User }));
        let log = on.rig.engine_log(&session).await;
        let kept = log.iter().find_map(|event| match event.known() {
            Some(EventKind::Entry { entry: Entry::Assistant { blocks, interrupted: true, .. } }) => {
                Some(blocks.clone())
            }
            _ => None,
        });
        assert_eq!(kept.unwrap()[0], Block::Text { text: "So far so good ".into() });
        on.rig.say(&lead, "Go on").await;
        let idle = on.rig.engine.wait_idle(&session).await.unwrap();
        assert_eq!(idle.report.as_deref(), Some("Where was I?"));
        on.server.assert_valid();
    }
}

// R1, R20, invariant 6: a stop reaches the whole process tree; the partial output stays, and the call has its result.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_ends_the_processes() {
    let mut on = Wired::new(Wire::Openai).await;
    let command = "echo begun; (sleep 600 & echo $! > child.pid; echo $$ > shell.pid; wait)";
    on.lead([
        Answer::new().tool("Agent", agent("hull", "Look at the hull")),
        Answer::says("Sent."),
        Answer::says("Stopped."),
    ]);
    on.worker("Look at the hull", [Answer::new().tool("Bash", json!({"command": command}))]);
    let (session, lead) = on.session(SessionMode::Coordinator).await;
    on.rig.say(&lead, PROMPT).await;
    let item = on.rig.until_asked().await;
    on.rig.answer(&item, Said::AllowOnce).await;
    let folder = on.rig.folders.project().to_path_buf();
    on.rig.until(|_, kind| matches!(kind, EventKind::ProcessStarted { .. }).then_some(())).await;
    let pids = wait_for_files(&folder, &["child.pid", "shell.pid"]).await;
    on.rig.engine.submit(Command::StopTask { task_id: item.task_id.clone() }).await.unwrap();
    let view = on.rig.idle(&session).await;
    assert_eq!(view.task(&item.task_id).unwrap().outcome, Some(Outcome::Killed { by: KilledBy::User }));
    for pid in pids {
        assert!(!runs(&pid), "process {pid} is gone");
    }
    let log = on.rig.engine_log(&session).await;
    let result = log.iter().find_map(|event| match event.known() {
        Some(EventKind::Entry { entry: Entry::ToolResults { results } })
            if event.task_id.as_ref() == Some(&item.task_id) =>
        {
            Some(results[0].clone())
        }
        _ => None,
    });
    let result = result.unwrap();
    assert_eq!(result.status, ResultStatus::Interrupted);
    assert!(result.content.contains("begun"), "{}", result.content);
}

/// A process that has ended and waits to be collected by its new parent runs no more.
#[cfg(target_os = "linux")]
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// Waits until each of these files holds a line, by watching the folder.
#[cfg(target_os = "linux")]
async fn wait_for_files(folder: &std::path::Path, names: &[&str]) -> Vec<String> {
    let read = || -> Option<Vec<String>> {
        names
            .iter()
            .map(|name| std::fs::read_to_string(folder.join(name)).ok().filter(|text| text.ends_with('\n')))
            .collect()
    };
    loop {
        if let Some(found) = read() {
            return found.iter().map(|text| text.trim().to_owned()).collect();
        }
        tokio::task::yield_now().await;
    }
}

// W17, R62: limits are typed, and say what to do instead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits() {
    let limits = Limits {
        workers_at_once: 1,
        workers_per_session: 2,
        turns_per_generation: 3,
        repeats: 3,
        ..Limits::default()
    };
    let on = Wired::with(Wire::Openai, Setup::default(), limits).await;
    on.lead([
        Answer::new()
            .tool("Agent", agent("a", "Work on a"))
            .tool("Agent", agent("b", "Work on b"))
            .tool("Agent", agent("c", "Work on c"))
            .tool("Agent", json!({"description": "Nothing", "prompt": "  "}))
            .tool("Agent", agent("a", "Work on something else")),
        Answer::says("Sent."),
        Answer::says("One."),
        Answer::says("Two."),
    ]);
    on.worker("Work on a", [Answer::new().gate("a").text("A.")]);
    let read = || Answer::new().tool("Read", json!({"path": "README.md"}));
    on.worker("Work on b", [read(), Answer::new().tool("Glob", json!({"pattern": "*"})), read(), read()]);
    let (session, lead) = on.session(SessionMode::Coordinator).await;
    on.rig.say(&lead, PROMPT).await;
    on.server.reached("a").await;
    let view = on.rig.view(&session).await;
    let status =
        |name: &str| workers(&view).into_iter().find(|task| task.name == name).map(|task| task.status);
    assert_eq!(
        (status("a"), status("b"), status("c")),
        (Some(TaskStatus::Running), Some(TaskStatus::Pending), None)
    );
    on.server.open("a");
    let view = on.rig.idle(&session).await;
    let outcome = workers(&view).into_iter().find(|task| task.name == "b").unwrap().outcome.clone().unwrap();
    assert_eq!(kind(&outcome), FailKind::TurnLimit);
    let requests = on.server.requests();
    let first = requests.iter().find(|request| request.results().len() == 5).unwrap();
    let texts: Vec<String> = first.results().iter().map(|result| result.content.clone()).collect();
    assert!(texts[2].contains("limit_reached") && texts[2].contains("Don't try again"), "{}", texts[2]);
    assert!(texts[3].contains("empty"), "R95: {}", texts[3]);
    assert!(texts[4].contains("name_taken") || texts[4].contains("limit_reached"), "R97: {}", texts[4]);
    on.server.assert_valid();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_call_again_and_again() {
    let limits = Limits { repeats: 3, ..Limits::default() };
    let on = Wired::with(Wire::Anthropic, Setup::default(), limits).await;
    on.lead((0..5).map(|_| Answer::new().tool("Read", json!({"path": "README.md"}))));
    assert_eq!(kind(&lead_outcome(&on, SessionMode::Solo).await), FailKind::RepeatGuard);
    assert_eq!(on.server.requests().len(), 3);
    on.server.assert_valid();
}

// WIRE.md README 5: a call that arrives as text is said to be what it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_without_tools() {
    let on = Wired::new(Wire::Openai).await;
    on.lead([Answer::says("```json\n{\"name\": \"Agent\", \"arguments\": {\"prompt\": \"x\"}}\n```")]);
    let outcome = lead_outcome(&on, SessionMode::Coordinator).await;
    assert_eq!(kind(&outcome), FailKind::StreamBroken);
    let Outcome::Failed { message, .. } = outcome else { unreachable!() };
    assert!(message.contains("tool"), "{message}");
}

// W18, N8: a worker with a background command waits for it, and is told of its end before it ends itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn background_commands() {
    let mut on = Wired::new(Wire::Openai).await;
    on.lead([
        Answer::new().tool("Agent", agent("hull", "Look at the hull")),
        Answer::says("Sent."),
        Answer::says("Over."),
    ]);
    on.worker(
        "Look at the hull",
        [
            Answer::new().tool(
                "Bash",
                json!({"command": "read line < go; echo heard $line", "run_in_background": true}),
            ),
            Answer::says("I wait for it."),
            Answer::says("It is done."),
        ],
    );
    let fifo = on.rig.folders.project().join("go");
    #[expect(clippy::disallowed_methods, reason = "a test makes a pipe")]
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let (session, lead) = on.session(SessionMode::Coordinator).await;
    on.rig.say(&lead, PROMPT).await;
    let item = on.rig.until_asked().await;
    on.rig.answer(&item, Said::AllowOnce).await;
    on.rig.until(|_, kind| matches!(kind, EventKind::TaskWaiting { .. }).then_some(())).await;
    assert_eq!(on.rig.view(&session).await.task(&item.task_id).unwrap().status, TaskStatus::Waiting);
    tokio::task::spawn_blocking(move || std::fs::write(fifo, "it\n")).await.unwrap().unwrap();
    let view = on.rig.idle(&session).await;
    let hull = view.task(&item.task_id).unwrap();
    assert_eq!((hull.status, hull.result.as_deref()), (TaskStatus::Completed, Some("It is done.")));
    let told = on
        .server
        .requests()
        .iter()
        .any(|request| request.last_user_text().is_some_and(|text| text.contains("heard it")));
    assert!(told, "the end of the command reached its owner");
    on.server.assert_valid();
}
