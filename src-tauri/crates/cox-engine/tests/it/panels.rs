//! How long a panel stays (W12, B166), by a clock that the test moves.

use crate::rig::{Folders, Rig, Setup, workers};
use cox_engine::clock::TestClock;
use cox_engine::{Host, PANEL_GRACE_MS};
use cox_protocol::command::Command;
use cox_protocol::push::Retention;
use cox_protocol::query::{Page, Query};
use cox_protocol::task::SessionMode;
use cox_protocol::{SessionId, TaskId};
use std::sync::Arc;
use std::time::Duration;

async fn finished() -> (Rig, TestClock, SessionId, TaskId) {
    let clock = TestClock::at(1_790_000_000_000);
    let setup = Setup { host: Host::Window, clock: Arc::new(clock.clone()) };
    let mut rig = Rig::with(Folders::new(), setup).await;
    let (session, lead) = rig.session(SessionMode::Coordinator).await;
    rig.say(&lead, "What is in here?").await;
    let item = rig.until_asked().await;
    rig.answer(&item, cox_protocol::inbox::Answer::Deny { reason: String::new() }).await;
    let view = rig.idle(&session).await;
    let worker = workers(&view)[0].id.clone();
    (rig, clock, session, worker)
}

async fn from_disk(rig: &Rig, task: &TaskId) -> bool {
    let page = rig.engine.query(Query::Panel { task_id: task.clone() }).await.unwrap();
    let Page::Panel { view, from_disk } = page else { panic!("{page:?}") };
    assert!(!view.entries.is_empty(), "the transcript is there, from memory or from disk");
    from_disk
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panel_leaves_thirty_seconds_after_it_was_left() {
    let (mut rig, clock, _, worker) = finished().await;
    rig.engine.submit(Command::ViewPanel { task_id: worker.clone() }).await.unwrap();
    assert!(!from_disk(&rig, &worker).await, "a viewed panel is in memory");
    clock.advance(Duration::from_secs(3_600));
    assert!(!from_disk(&rig, &worker).await, "as long as it is viewed");
    rig.engine.submit(Command::LeavePanel { task_id: worker.clone() }).await.unwrap();
    rig.until_retention(&worker, |retention| matches!(retention, Retention::Leaving { .. })).await;
    clock.advance(Duration::from_millis(u64::try_from(PANEL_GRACE_MS).unwrap() - 1));
    assert!(!from_disk(&rig, &worker).await, "coming back inside the grace finds it in memory");
    clock.advance(Duration::from_millis(1));
    rig.until_retention(&worker, |retention| retention == Retention::Evicted).await;
    assert!(from_disk(&rig, &worker).await, "after that it is loaded from disk");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kept_panel_stays() {
    let (mut rig, clock, _, worker) = finished().await;
    rig.engine.submit(Command::ViewPanel { task_id: worker.clone() }).await.unwrap();
    rig.engine.submit(Command::KeepPanel { task_id: worker.clone(), keep: true }).await.unwrap();
    rig.engine.submit(Command::LeavePanel { task_id: worker.clone() }).await.unwrap();
    clock.advance(Duration::from_secs(3_600));
    assert!(!from_disk(&rig, &worker).await);
    rig.engine.submit(Command::KeepPanel { task_id: worker.clone(), keep: false }).await.unwrap();
    rig.until_retention(&worker, |retention| matches!(retention, Retention::Leaving { .. })).await;
    clock.advance(Duration::from_secs(31));
    rig.until_retention(&worker, |retention| retention == Retention::Evicted).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panel_of_a_running_task_stays() {
    let clock = TestClock::at(1_790_000_000_000);
    let setup = Setup { host: Host::Window, clock: Arc::new(clock.clone()) };
    let mut rig = Rig::with(Folders::new(), setup).await;
    let (_, lead) = rig.session(SessionMode::Coordinator).await;
    rig.say(&lead, "What is in here?").await;
    let item = rig.until_asked().await;
    rig.engine.submit(Command::ViewPanel { task_id: item.task_id.clone() }).await.unwrap();
    rig.engine.submit(Command::LeavePanel { task_id: item.task_id.clone() }).await.unwrap();
    rig.until_retention(&item.task_id, |retention| retention == Retention::Left).await;
    clock.advance(Duration::from_secs(3_600));
    assert!(!from_disk(&rig, &item.task_id).await, "never while its task is not terminal");
}
