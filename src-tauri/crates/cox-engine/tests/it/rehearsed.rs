//! Whole sessions with the offline model: real tools, real files.

use crate::rig::{Folders, Rig, Setup, count, workers};
use cox_engine::Host;
use cox_protocol::event::{Event, EventKind};
use cox_protocol::inbox::{Action, Answer, Ask};
use cox_protocol::task::{Outcome, SessionMode, TaskKind, TaskStatus};
use std::collections::{BTreeMap, BTreeSet};

/// Every generation of a worker ended once and sent one notification, which was delivered once (invariant 4).
fn assert_one_end_each(log: &[Event]) {
    let mut started: BTreeMap<(String, u32), usize> = BTreeMap::new();
    let mut ended: BTreeMap<(String, u32), usize> = BTreeMap::new();
    let (mut queued, mut delivered) = (BTreeSet::new(), BTreeSet::new());
    for event in log {
        let key = || (event.task_id.as_ref().unwrap().to_string(), event.generation);
        match event.known() {
            Some(EventKind::GenerationStarted { .. }) => *started.entry(key()).or_default() += 1,
            Some(EventKind::GenerationEnded { .. }) => *ended.entry(key()).or_default() += 1,
            Some(EventKind::NotificationQueued { notification_id, envelope }) => {
                assert!(queued.insert(notification_id.clone()), "{notification_id} is queued twice");
                let key = (envelope.task_id.to_string(), envelope.generation);
                assert_eq!(ended.get(&key), Some(&1), "B95: the result is stored before the notification");
            }
            Some(EventKind::NotificationDelivered { notification_id }) => {
                assert!(delivered.insert(notification_id.clone()), "{notification_id} is delivered twice");
            }
            _ => {}
        }
    }
    assert_eq!(started, ended, "each generation that began has ended once");
    assert!(started.values().all(|times| *times == 1), "{started:?}");
    assert_eq!(queued, delivered, "N7: each notification arrives");
}

// W42, B48, B51, B95, B120, B124, W15: the whole flow, with the permission granted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_from_prompt_to_report() {
    let mut rig = Rig::new().await;
    let (session, lead) = rig.session(SessionMode::Coordinator).await;
    rig.say(&lead, "What is in here?").await;
    let item = rig.until_asked().await;
    assert_eq!(item.asker, "coordinator > check", "N28: the asker is named");
    let Ask::Permission { action, always, .. } = &item.ask else { panic!("{item:?}") };
    let Action::Command { command, cwd, background } = action else { panic!("{action:?}") };
    assert_eq!(command, "cargo metadata --no-deps --offline --format-version 1");
    assert_eq!((cwd.as_str(), *background), (".", false));
    assert_eq!(always.as_ref().map(|rule| rule.pattern.as_str()), None, "verify asks every time");
    rig.answer(&item, Answer::Deny { reason: "not today".into() }).await;
    let idle = rig.engine.wait_idle(&session).await.unwrap();
    let report = idle.report.unwrap();
    assert!(report.contains("Rehearsal: I follow fixed rules"), "{report}");
    assert!(report.contains("not today"), "the reason of the denial reaches the model: {report}");
    assert!(report.contains("TODO: oars"), "{report}");

    let log = rig.engine_log(&session).await;
    assert_one_end_each(&log);
    let view = idle.view;
    assert_eq!(view.title, "What is in here?");
    assert!(workers(&view).len() >= 3, "explore, at least one part, verify");
    for task in &view.tasks {
        assert_eq!(task.status, TaskStatus::Completed, "{}", task.name);
        assert_eq!(task.asks, 0, "{}", task.name);
    }
    // B14, R64: the coordinator has no tool that reads, writes or runs.
    let lead_tools: BTreeSet<&str> = log
        .iter()
        .filter(|event| event.task_id.as_ref() == Some(&lead))
        .filter_map(
            |event| if let Some(EventKind::Entry { entry }) = event.known() { Some(entry) } else { None },
        )
        .flat_map(|entry| entry.calls())
        .map(|call| call.name.as_str())
        .collect();
    assert!(lead_tools.is_subset(&BTreeSet::from(["Agent", "SendMessage"])), "{lead_tools:?}");
    // Two generations of the continued worker, each with its own notification (R93).
    let again = log.iter().filter(|event| {
        event.generation == 2 && matches!(event.known(), Some(EventKind::GenerationEnded { .. }))
    });
    assert!(
        again.filter(|event| event.task_id.as_ref() != Some(&lead)).count() >= 1,
        "one worker was continued"
    );
}

// W26, R77, W43: without a person a request is denied as no_ui, the report says so, and nothing hangs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_can_be_asked() {
    let setup = Setup { host: Host::Headless, ..Setup::default() };
    let rig = Rig::with(Folders::new(), setup).await;
    let (session, lead) = rig.session(SessionMode::Coordinator).await;
    rig.say(&lead, "What is in here?").await;
    let idle = rig.engine.wait_idle(&session).await.unwrap();
    let report = idle.report.unwrap();
    assert!(report.contains("no_ui"), "{report}");
    assert!(!report.contains("declined by the user"), "{report}");
    let log = rig.engine_log(&session).await;
    let closed = |kind: &EventKind| matches!(kind, EventKind::InboxClosed { answer: Answer::NoUi, .. });
    assert_eq!(count(&log, closed), 1, "the record says who could not be asked");
    assert_one_end_each(&log);
}

// D1, W22: a solo agent does the work itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_solo_session() {
    let setup = Setup { host: Host::Headless, ..Setup::default() };
    let rig = Rig::with(Folders::new(), setup).await;
    let (session, lead) = rig.session(SessionMode::Solo).await;
    rig.say(&lead, "What is in here?").await;
    let idle = rig.engine.wait_idle(&session).await.unwrap();
    assert!(idle.report.unwrap().contains("fixed rules"));
    assert!(idle.view.lead().unwrap().totals.tool_uses > 0);
    assert_eq!(idle.view.tasks.iter().filter(|task| task.kind == TaskKind::Worker).count(), 0);
}

// B164, W34: a question waits for the user's choice, and its answer reaches the model.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_card() {
    let mut rig = Rig::new().await;
    let (session, lead) = rig.session(SessionMode::Coordinator).await;
    rig.say(&lead, "Please ask me a question first").await;
    let item = rig.until_asked().await;
    let Ask::Question { questions } = &item.ask else { panic!("{item:?}") };
    // R76: a message is no answer.
    rig.say(&lead, "I am still thinking").await;
    let view = rig.view(&session).await;
    assert_eq!(view.inbox.len(), 1, "the question stays open");
    assert_eq!(workers(&view).len(), 0, "R64: nobody is dispatched before the answer");
    let answers = questions.iter().map(|question| question.options[0].label.clone()).collect();
    rig.answer(&item, Answer::Chosen { answers }).await;
    let item = rig.until_asked().await;
    rig.answer(&item, Answer::Deny { reason: String::new() }).await;
    let view = rig.idle(&session).await;
    assert!(view.queued.is_empty(), "the message was delivered");
    assert_eq!(view.lead().unwrap().outcome, Some(Outcome::Completed));
}
