//! What the engine finds after a crash (W19, N24, N28).

use crate::support::*;
use cox_protocol::envelope::Envelope;
use cox_protocol::event::{EventBody, QueuedMessage};
use cox_protocol::inbox::Answer;
use cox_protocol::task::{Outcome, TaskKind};
use cox_protocol::view::OpenCall;
use cox_protocol::{EventKind, InboxId, MessageId, NotificationId};
use cox_store::{InboxRecord, OpenProcess, OpenWork, UnfinishedCall, WaitingMessage, WaitingNotification};

#[tokio::test]
async fn everything_that_is_open_is_found() {
    let f = fixture();
    let (s, lead, worker) = (session(1), task("lead"), task("w"));
    f.store.append(begin(&s, &lead, "p_1", 1)).await.unwrap();
    assert_eq!(
        f.store.live_sessions().await.unwrap(),
        [],
        "a lead that was never spoken to is nothing to recover"
    );
    let envelope = Envelope {
        task_id: worker.clone(),
        name: "w".into(),
        generation: 1,
        tool_use_id: None,
        output_file: String::new(),
        outcome: Outcome::Completed,
        summary: "done".into(),
        result: None,
        evidence: None,
        usage: None,
        still_open: Vec::new(),
    };
    let w = |kind| of_task(&s, &worker, 3, kind);
    f.store
        .append(vec![
            w(started(&s, &worker, TaskKind::Worker)),
            w(runs()),
            w(calls(&["done", "never", "asks", "reads", "writes"])),
            w(EventKind::ToolStarted { call_id: "done".into(), read_only: true }),
            w(results(&["done"])),
            w(EventKind::ToolStarted { call_id: "reads".into(), read_only: true }),
            w(EventKind::ToolStarted { call_id: "writes".into(), read_only: false }),
            w(EventKind::ProcessStarted { pgid: 41, start_ticks: 7 }),
            w(EventKind::ProcessStarted { pgid: 42, start_ticks: 8 }),
            w(EventKind::ProcessEnded { pgid: 41 }),
            w(EventKind::InboxOpened { item: item(&s, &worker, "i_1", "asks") }),
            w(EventKind::InboxOpened { item: item(&s, &worker, "i_2", "writes") }),
            w(EventKind::InboxClosed {
                id: InboxId::new("i_2"),
                answer: Answer::Deny { reason: "no".into() },
            }),
            of_task(&s, &lead, 4, queued("m_1", &lead)),
            of_task(&s, &lead, 4, queued("m_2", &lead)),
            of_task(&s, &lead, 4, queued("m_3", &lead)),
            of_task(&s, &lead, 5, EventKind::MessageDelivered { message_id: MessageId::new("m_1") }),
            of_task(&s, &lead, 5, EventKind::MessageWithdrawn { message_id: MessageId::new("m_3") }),
            of_task(
                &s,
                &lead,
                6,
                EventKind::NotificationQueued {
                    notification_id: NotificationId::new("n_1"),
                    envelope: envelope.clone(),
                },
            ),
        ])
        .await
        .unwrap();

    let f = f.reopen();
    let open = |id: &str, state, started, read_only| UnfinishedCall {
        task_id: worker.clone(),
        call: call(id),
        seq: 5,
        state,
        started,
        read_only,
    };
    let EventBody::Known(EventKind::MessageQueued { message }) = EventBody::from(queued("m_2", &lead)) else {
        unreachable!()
    };
    let message: QueuedMessage = message;
    let expected = OpenWork {
        messages: vec![WaitingMessage { task_id: Some(lead.clone()), seq: 17, message: message.clone() }],
        notifications: vec![WaitingNotification {
            id: NotificationId::new("n_1"),
            task_id: Some(lead.clone()),
            seq: 21,
            envelope,
        }],
        calls: vec![
            open("never", OpenCall::Queued, false, false),
            open("asks", OpenCall::Asking, false, false),
            open("reads", OpenCall::Running, true, true),
            open("writes", OpenCall::Asking, true, false),
        ],
        processes: vec![OpenProcess { task_id: Some(worker.clone()), pgid: 42, start_ticks: 8 }],
    };
    assert_eq!(f.store.open_work(&s).await.unwrap(), expected);
    assert_eq!(f.store.live_sessions().await.unwrap(), std::slice::from_ref(&s));
    let view = f.store.session_view(&s).await.unwrap().unwrap();
    assert_eq!(view.queued, [message]);

    // N28: requests survive a restart, and an answered one can still be looked up.
    assert_eq!(f.store.open_inbox().await.unwrap(), [item(&s, &worker, "i_1", "asks")]);
    let answered = f.store.inbox_item(&InboxId::new("i_2")).await.unwrap().unwrap();
    let answer = Some(Answer::Deny { reason: "no".into() });
    assert_eq!(answered, InboxRecord { item: item(&s, &worker, "i_2", "writes"), answer });
    assert_eq!(f.store.inbox_item(&InboxId::new("i_9")).await.unwrap(), None);
}

#[tokio::test]
async fn a_session_is_live_until_nothing_waits() {
    let f = fixture();
    let (s, lead) = (session(1), task("lead"));
    f.store.append(begin(&s, &lead, "p_1", 1)).await.unwrap();
    let live = async || !f.store.live_sessions().await.unwrap().is_empty();
    f.store.append(vec![of_task(&s, &lead, 2, queued("m_1", &lead))]).await.unwrap();
    assert!(live().await, "a message waits for a lead that does not run yet");
    let delivered = EventKind::MessageDelivered { message_id: MessageId::new("m_1") };
    f.store.append(vec![of_task(&s, &lead, 3, runs()), of_task(&s, &lead, 3, delivered)]).await.unwrap();
    assert!(live().await, "it runs");
    let interrupted = EventKind::TaskInterrupted { reason: "the process ended".into() };
    f.store.append(vec![of_task(&s, &lead, 4, interrupted)]).await.unwrap();
    assert!(live().await, "it is suspended (W14)");
    f.store.append(vec![of_task(&s, &lead, 5, ends())]).await.unwrap();
    assert!(!live().await, "it is over");
}
