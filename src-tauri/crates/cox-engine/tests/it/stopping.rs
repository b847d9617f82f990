//! Stops, and what stays stopped (N26).

use crate::rig::{Rig, workers};
use cox_protocol::command::Command;
use cox_protocol::event::EventKind;
use cox_protocol::inbox::Answer;
use cox_protocol::task::{KilledBy, Outcome, SessionMode, TaskStatus};
use cox_protocol::{Entry, ErrorCode};

// N26, R14, R16: stop all ends every task; reports are kept and start no turn until the user writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_all_is_quiet() {
    let mut rig = Rig::new().await;
    let (session, lead) = rig.session(SessionMode::Coordinator).await;
    rig.say(&lead, "What is in here?").await;
    let item = rig.until_asked().await;
    rig.engine.submit(Command::StopAll { session_id: session.clone() }).await.unwrap();
    let view = rig.idle(&session).await;
    let checker = view.task(&item.task_id).unwrap();
    assert_eq!(checker.outcome, Some(Outcome::Killed { by: KilledBy::User }));
    assert!(view.inbox.is_empty(), "its request is withdrawn");
    let turns = view.lead().unwrap().totals.requests;

    // The envelope waits; the lead has not been woken by it.
    let view = rig.idle(&session).await;
    assert_eq!(view.lead().unwrap().totals.requests, turns);
    let refused = rig.engine.submit(Command::AnswerInbox { id: item.id, answer: Answer::AllowOnce }).await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::NotFound);

    // The user writes: now it is delivered, with the user's text before it (B184).
    rig.say(&lead, "Go on without it").await;
    let view = rig.idle(&session).await;
    assert!(view.lead().unwrap().totals.requests > turns);
    let log = rig.engine_log(&session).await;
    let of_lead = || log.iter().filter(|event| event.task_id.as_ref() == Some(&lead));
    let last = |is: &dyn Fn(&EventKind) -> bool| {
        of_lead().filter(|event| event.known().is_some_and(is)).map(|event| event.seq).max()
    };
    let said = last(&|kind| matches!(kind, EventKind::Entry { entry: Entry::User { .. } }));
    let told = last(&|kind| matches!(kind, EventKind::NotificationDelivered { .. }));
    assert!(told > said, "the envelope that waited comes after the user's text: {told:?}, {said:?}");
}

// B142, N26: a worker that the user stops is killed, the others go on, and it can be continued by a message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_worker_is_stopped_and_continued() {
    let mut rig = Rig::new().await;
    let (session, lead) = rig.session(SessionMode::Coordinator).await;
    rig.say(&lead, "What is in here?").await;
    let item = rig.until_asked().await;
    let checker = item.task_id.clone();
    rig.engine.submit(Command::StopTask { task_id: checker.clone() }).await.unwrap();
    let view = rig.idle(&session).await;
    assert_eq!(view.task(&checker).unwrap().status, TaskStatus::Killed);
    assert_eq!(view.lead().unwrap().status, TaskStatus::Completed, "the lead went on and reported");
    let again = rig.engine.submit(Command::StopTask { task_id: checker.clone() }).await;
    assert_eq!(again.unwrap_err().code, ErrorCode::NotRunning);

    // R102: it answers in the same panel, as the same agent with its transcript.
    rig.say(&checker, "Once more, please").await;
    let item = rig.until_asked_or_idle(&session).await;
    if let Some(item) = item {
        assert_eq!(item.task_id, checker);
        rig.answer(&item, Answer::Deny { reason: String::new() }).await;
    }
    let view = rig.idle(&session).await;
    let task = view.task(&checker).unwrap();
    assert_eq!((task.generation, task.status), (2, TaskStatus::Completed));
    assert_eq!(workers(&view).iter().filter(|task| task.id == checker).count(), 1);
}
