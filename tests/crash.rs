//! The real program killed in mid-run, at ten places: what it had acknowledged is there, and every task is in a
//! definite state (N24, W7, W8).
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a failure here is a failed test")]

use cox_engine::{Engine, EngineConfig, Host};
use cox_protocol::command::Command as Ask;
use cox_protocol::event::{Event, EventKind};
use cox_protocol::query::{Page, Query};
use cox_protocol::task::{SessionMode, TaskKind, TaskStatus};
use cox_protocol::{Entry, SessionId};
use cox_tests::place;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

/// A project that keeps several workers busy for a while.
fn project(folder: &Path) {
    for part in ["src", "lib", "tools"] {
        std::fs::create_dir_all(folder.join(part)).unwrap();
        for file in 0..8 {
            let text = format!("// TODO: number {file}\nfn part_{file}() {{}}\n");
            std::fs::write(folder.join(part).join(format!("file{file}.rs")), text).unwrap();
        }
    }
    std::fs::write(folder.join("README.md"), "# A project\n").unwrap();
}

/// Starts a session and kills the program after so many printed events. Gives what was printed, and so was
/// acknowledged before.
fn run_and_kill(project: &Path, data: &Path, after: usize) -> Vec<Event> {
    let mut child = place::program(place::cli())
        .args(["run", "--output", "stream-json", "--provider", "rehearsal", "--project"])
        .arg(project)
        .arg("--data-dir")
        .arg(data)
        .arg("What is in here?")
        .env("HOME", data)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("cox starts");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut printed = Vec::new();
    for line in lines.by_ref().take(after) {
        printed.push(line.unwrap());
    }
    child.kill().expect("SIGKILL");
    child.wait().unwrap();
    // The last line may be torn by the kill; a torn line was never said.
    printed.extend(lines.map_while(Result::ok));
    printed.iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

async fn open(data: &Path) -> Engine {
    let mut config = EngineConfig::new(data.to_path_buf(), Host::Window);
    config.keychain = false;
    Engine::open(config).await.expect("the database opens again")
}

/// Every call has one result, but for the calls of tasks that can go on.
fn assert_paired(log: &[Event], suspended: &BTreeSet<String>) {
    let (mut called, mut answered) = (BTreeSet::new(), BTreeSet::new());
    for event in log {
        let Some(EventKind::Entry { entry }) = event.known() else { continue };
        let task = event.task_id.as_ref().unwrap().to_string();
        for call in entry.calls() {
            called.insert((task.clone(), call.id.clone()));
        }
        if let Entry::ToolResults { results } = entry {
            for result in results {
                assert!(
                    answered.insert((task.clone(), result.call_id.clone())),
                    "two results for {}",
                    result.call_id
                );
            }
        }
    }
    let open: Vec<_> = called.difference(&answered).filter(|(task, _)| !suspended.contains(task)).collect();
    assert!(open.is_empty(), "calls without a result: {open:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    project(folder.path());
    for round in 0..10 {
        let data = tempfile::tempdir().unwrap();
        let printed = run_and_kill(folder.path(), data.path(), 3 + round * 9);
        assert!(!printed.is_empty(), "something was said before the kill");
        let session: SessionId = printed[0].session_id.clone();
        let engine = open(data.path()).await;
        let log = engine.events(&session, 0).await.unwrap();
        for event in &printed {
            let stored = log.iter().find(|stored| stored.seq == event.seq);
            assert_eq!(stored, Some(event), "round {round}: an acknowledged event is there, as it was");
        }
        let Page::Session { view, .. } =
            engine.query(Query::Session { session_id: session.clone() }).await.unwrap()
        else {
            panic!("no session")
        };
        let suspended: BTreeSet<String> = view
            .tasks
            .iter()
            .filter(|task| task.status == TaskStatus::Interrupted)
            .map(|task| task.id.to_string())
            .collect();
        for task in &view.tasks {
            let untouched = task.kind == TaskKind::Lead && task.generation == 0;
            assert!(untouched || !task.status.is_live(), "round {round}: {} is {:?}", task.name, task.status);
        }
        assert_eq!(view.mode, SessionMode::Coordinator);
        assert_paired(&log, &suspended);

        // One click each, and it goes on to its end; nothing is delivered twice.
        for task in &suspended {
            engine.submit(Ask::ContinueTask { task_id: cox_protocol::TaskId::new(task) }).await.unwrap();
        }
        engine.submit(Ask::StopAll { session_id: session.clone() }).await.unwrap();
        let view = engine.wait_idle(&session).await.unwrap().view;
        assert!(view.tasks.iter().all(|task| !task.status.is_live() || task.generation == 0));
        let log = engine.events(&session, 0).await.unwrap();
        assert_paired(&log, &BTreeSet::new());
        let mut delivered = BTreeSet::new();
        for event in &log {
            if let Some(EventKind::NotificationDelivered { notification_id }) = event.known() {
                assert!(delivered.insert(notification_id.clone()), "{notification_id} came twice (N7)");
            }
        }
        engine.shutdown().await;
    }
}
