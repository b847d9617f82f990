//! Suspension, restart, several processes on one database.

use crate::rig::{Folders, Rig, Setup, open, workers};
use cox_protocol::ErrorCode;
use cox_protocol::command::Command;
use cox_protocol::event::EventKind;
use cox_protocol::inbox::Answer;
use cox_protocol::query::{Page, Query};
use cox_protocol::task::{SessionMode, TaskStatus};
use cox_protocol::view::TreeState;

/// A session whose verifying worker waits for permission, with its engine closed.
async fn suspended() -> (Folders, cox_protocol::SessionId, cox_protocol::TaskId) {
    let mut rig = Rig::new().await;
    let (session, lead) = rig.session(SessionMode::Coordinator).await;
    rig.say(&lead, "What is in here?").await;
    let item = rig.until_asked().await;
    (rig.close().await, session, item.task_id)
}

// W14, W19, N10, N24, R10: after a restart nothing says it works; Continue asks again and finishes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_in_the_middle() {
    let (folders, session, checker) = suspended().await;
    let mut rig = Rig::with(folders, Setup::default()).await;
    let view = rig.view(&session).await;
    assert!(view.tasks.iter().all(|task| !task.status.is_live()), "no row is working");
    assert_eq!(view.task(&checker).unwrap().status, TaskStatus::Interrupted);
    assert_eq!(view.tree_state(), TreeState::Interrupted);
    let before = view.task(&checker).unwrap().generation;
    rig.engine.submit(Command::ViewPanel { task_id: checker.clone() }).await.unwrap();
    rig.engine.submit(Command::ContinueTask { task_id: checker.clone() }).await.unwrap();
    let item = rig.until_asked().await;
    assert_eq!(item.task_id, checker, "the call that waited is asked again");
    rig.answer(&item, Answer::Deny { reason: "no".into() }).await;
    let view = rig.idle(&session).await;
    let task = view.task(&checker).unwrap();
    assert_eq!(
        (task.status, task.generation),
        (TaskStatus::Completed, before),
        "the same generation went on"
    );
    assert_eq!(view.lead().unwrap().status, TaskStatus::Completed, "its report woke the lead");
    let log = rig.engine_log(&session).await;
    let ends = log.iter().filter(|event| {
        event.task_id.as_ref() == Some(&checker)
            && matches!(event.known(), Some(EventKind::GenerationEnded { .. }))
    });
    assert_eq!(ends.count(), 1, "one end (W15)");
}

// W14, R4: a suspended task that is stopped stays stopped, also over another restart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_is_stopped_after_a_restart() {
    let (folders, session, checker) = suspended().await;
    let rig = Rig::with(folders, Setup::default()).await;
    rig.engine.submit(Command::StopTask { task_id: checker.clone() }).await.unwrap();
    assert_eq!(rig.view(&session).await.task(&checker).unwrap().status, TaskStatus::Killed);
    let rig = Rig::with(rig.close().await, Setup::default()).await;
    let view = rig.view(&session).await;
    assert_eq!(view.task(&checker).unwrap().status, TaskStatus::Killed);
    assert!(workers(&view).iter().all(|task| !task.status.is_live()));
}

// W7: a second process reads the session, is told who owns it, and changes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_on_one_database() {
    let rig = Rig::new().await;
    let (session, lead) = rig.session(SessionMode::Coordinator).await;
    let other = open(rig.folders.data.path().to_path_buf(), Setup::default()).await.unwrap();
    let page = other.query(Query::Session { session_id: session.clone() }).await.unwrap();
    let Page::Session { owner, .. } = page else { panic!("{page:?}") };
    assert!(owner.unwrap().contains("the Coxswain window"));
    let refused =
        other.submit(Command::SendMessage { task_id: lead, text: "hello".into() }).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ReadOnly);
    assert!(refused.hint.is_some());
    other.shutdown().await;
}
