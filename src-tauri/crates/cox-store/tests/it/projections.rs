//! Rows are what the fold says, and what a rebuild says.

use crate::support::*;
use cox_protocol::envelope::Envelope;
use cox_protocol::event::PrefixMark;
use cox_protocol::inbox::Answer;
use cox_protocol::task::{FailKind, Outcome, TaskKind, Usage};
use cox_protocol::view::{PanelView, SessionView};
use cox_protocol::{EventKind, InboxId, MessageId, NewEvent, NotificationId, RequestId, SessionId, TaskId};
use proptest::prelude::*;

const SESSIONS: u8 = 2;
const TASKS: u8 = 3;

/// Any event, also ones that make no sense where they stand: the fold and the rows must agree all the same.
fn any_event() -> impl Strategy<Value = NewEvent> {
    (0..24u8, 0..SESSIONS, 0..TASKS, 0..4u8, 0..3u32, 0..3u32).prop_map(
        |(kind, s, t, n, generation, turn)| {
            let (s, t) = (session(s), task(format!("{s}-{t}")));
            let id = format!("{n}");
            let (call, inbox) = (format!("c{n}"), format!("i{n}"));
            let kind = match kind {
                0 => created("p_1"),
                1 => EventKind::SessionTitled { title: format!("title {n}") },
                2..=4 => {
                    let kinds = [TaskKind::Lead, TaskKind::Worker, TaskKind::Shell, TaskKind::Worker];
                    started(&s, &t, kinds[usize::from(n)])
                }
                5 | 6 => runs(),
                7 => EventKind::TaskInterrupted { reason: "the process ended".into() },
                8 => EventKind::TaskResumed {},
                9 => says("hello"),
                10 | 11 => calls(&[&call, &format!("d{n}")]),
                12 => results(&[&call]),
                13 => EventKind::ToolStarted { call_id: call, read_only: n % 2 == 0 },
                14 => EventKind::InboxOpened { item: item(&s, &t, &inbox, &call) },
                15 => EventKind::InboxClosed { id: InboxId::new(inbox), answer: Answer::AllowOnce },
                16 => queued(&id, &t),
                17 => EventKind::MessageDelivered { message_id: MessageId::new(id) },
                18 => EventKind::Usage {
                    request_id: RequestId::new(id),
                    model: "m".into(),
                    usage: Usage { input: 10, output: u64::from(n), ..Usage::default() },
                    cost_micro_usd: (n > 1).then_some(7),
                    price_version: "1".into(),
                    prefix: PrefixMark::default(),
                    moved: None,
                },
                19 => ends(),
                20 => EventKind::NotificationQueued {
                    notification_id: NotificationId::new(id),
                    envelope: envelope(&t),
                },
                21 => EventKind::NotificationDelivered { notification_id: NotificationId::new(id) },
                22 => EventKind::ProcessStarted { pgid: i32::from(n), start_ticks: 99 },
                _ => EventKind::ProcessEnded { pgid: i32::from(n) },
            };
            NewEvent { generation, turn, ..of_task(&s, &t, i64::from(n), kind) }
        },
    )
}

fn envelope(task: &TaskId) -> Envelope {
    Envelope {
        task_id: task.clone(),
        name: "worker".into(),
        generation: 1,
        tool_use_id: None,
        output_file: String::new(),
        outcome: Outcome::Failed { kind: FailKind::Auth, message: "no key".into() },
        summary: "failed".into(),
        result: None,
        evidence: None,
        usage: None,
        still_open: Vec::new(),
    }
}

/// The rows against the fold over the log.
async fn check(f: &Fixture) {
    for s in 0..SESSIONS {
        let id: SessionId = session(s);
        let log = f.store.events(&id, 0, 10_000).await.unwrap();
        let mut view = SessionView::empty(id.clone());
        log.iter().for_each(|event| view.apply(event));
        let expected = (!log.is_empty()).then_some(&view);
        assert_eq!(f.store.session_view(&id).await.unwrap().as_ref(), expected, "the session's view");
        let row = f.store.session_row(&id).await.unwrap();
        assert_eq!(
            row.map(|row| (row.state, row.live_workers, row.asks as usize, row.updated_at)),
            view.project_id.is_some().then(|| (
                view.tree_state(),
                view.live_workers(),
                view.inbox.len(),
                view.updated_at
            )),
            "its line in the list"
        );
        for t in 0..TASKS {
            let task = task(format!("{s}-{t}"));
            let mut panel = PanelView::empty(task.clone());
            log.iter().for_each(|event| panel.apply(event));
            let expected = view.task(&task).map(|_| panel);
            assert_eq!(f.store.panel_view(&task, 1_000).await.unwrap(), expected, "the panel's view");
            let task_view = f.store.task(&task).await.unwrap().map(|(_, view)| view);
            assert_eq!(task_view.as_ref(), view.task(&task), "the task's view");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    // W3, W11: rows written one transaction at a time, rows after a restart, and rows made anew are the same.
    #[test]
    fn rows_are_the_fold_and_a_rebuild_changes_none(
        batches in prop::collection::vec(prop::collection::vec(any_event(), 1..6), 1..14),
        restart in 0..14usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut f = fixture();
            for (n, batch) in batches.into_iter().enumerate() {
                if n == restart {
                    f = f.reopen();
                }
                f.store.append(batch).await.unwrap();
            }
            check(&f).await;
            let report = f.store.rebuild().await.unwrap();
            assert_eq!(report.changed, Vec::<String>::new(), "a rebuild finds nothing to change");
            assert_eq!(report.damaged, 0);
            check(&f).await;
        });
    }
}

#[tokio::test]
async fn a_rebuild_repairs_what_was_meddled_with() {
    let f = fixture();
    let (s, lead) = (session(1), task(1));
    f.store.append(begin(&s, &lead, "p_1", 1)).await.unwrap();
    f.store.append(vec![of_task(&s, &lead, 2, queued("m_1", &lead))]).await.unwrap();
    let view = f.store.session_view(&s).await.unwrap();
    let conn = rusqlite::Connection::open(f.folder.path().join("coxswain.db")).unwrap();
    conn.execute_batch("DELETE FROM messages; UPDATE tasks SET live = 5;").unwrap();
    assert_ne!(f.store.session_view(&s).await.unwrap(), view);
    let report = f.store.rebuild().await.unwrap();
    assert_eq!(
        report,
        cox_store::RebuildReport {
            sessions: 1,
            events: 3,
            damaged: 0,
            changed: vec!["tasks".into(), "messages".into()]
        }
    );
    assert_eq!(f.store.session_view(&s).await.unwrap(), view);
}
