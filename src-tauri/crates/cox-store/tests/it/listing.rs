//! The session and project lists (R29, R30, R32, R47).

use crate::support::*;
use cox_protocol::query::SessionCursor;
use cox_protocol::task::TaskKind;
use cox_protocol::view::TreeState;
use cox_protocol::{ProjectId, SessionId};
use std::path::PathBuf;
use std::time::Instant;

// R29, R32, R47: 50 projects, 2,000 sessions; every one is found, in a bounded number of pages.
#[tokio::test]
async fn all_of_two_thousand_sessions_are_found() {
    let f = fixture();
    for n in 0..50 {
        f.store
            .put_project(ProjectId::new(format!("p_{n}")), format!("/home/me/{n}").into(), n)
            .await
            .unwrap();
    }
    let events = (0..2_000).flat_map(|n| {
        begin(&session(format!("{n:04}")), &task(n), &format!("p_{}", n % 50), i64::from(n / 7))
    });
    f.store.append(events.collect()).await.unwrap();

    let started = Instant::now();
    let (mut found, mut cursor, mut pages): (Vec<SessionId>, _, _) = (Vec::new(), None, 0);
    loop {
        let (rows, more) = f.store.sessions(None, cursor, 500).await.unwrap();
        pages += 1;
        cursor = rows.last().map(|row| SessionCursor { updated_at: row.updated_at, id: row.id.clone() });
        found.extend(rows.into_iter().map(|row| row.id));
        if !more {
            break;
        }
    }
    println!("2,000 sessions listed in {:?}", started.elapsed());
    assert_eq!(pages, 4, "four pages of 500, and no fifth to find the end");
    let mut expected: Vec<(i64, SessionId)> =
        (0..2_000).map(|n| (i64::from(n / 7), session(format!("{n:04}")))).collect();
    expected.sort();
    expected.reverse();
    assert_eq!(found, expected.into_iter().map(|(_, id)| id).collect::<Vec<_>>());

    let started = Instant::now();
    let (rows, more) = f.store.sessions(Some(ProjectId::new("p_7")), None, 500).await.unwrap();
    let projects = f.store.projects().await.unwrap();
    println!("one project's sessions and 50 projects in {:?}", started.elapsed());
    assert_eq!((rows.len(), more), (40, false));
    assert_eq!(projects.len(), 50);
    assert!(projects.iter().all(|project| project.sessions == 40));
}

// R30: workers are no sessions, however many there are.
#[tokio::test]
async fn the_list_shows_top_level_runs_only() {
    let f = fixture();
    let (s, lead) = (session(1), task("lead"));
    f.store.append(begin(&s, &lead, "p_1", 1)).await.unwrap();
    let workers = (0..1_000).map(|n| {
        let mut event = of_task(&s, &task(n), 2, started(&s, &task(n), TaskKind::Worker));
        event.parent_task_id = Some(lead.clone());
        event
    });
    f.store.append(workers.collect()).await.unwrap();
    let (rows, more) = f.store.sessions(None, None, 500).await.unwrap();
    assert_eq!(rows.iter().map(|row| (&row.id, row.live_workers)).collect::<Vec<_>>(), [(&s, 1_000)]);
    assert!(!more);
    assert_eq!(rows[0].state, TreeState::Busy);
    let view = f.reopen().store.session_view(&s).await.unwrap().unwrap();
    let parents = view.tasks.iter().filter(|task| task.parent.as_ref() == Some(&lead)).count();
    assert_eq!(
        (view.tasks.len(), parents),
        (1_001, 1_000),
        "and they are under their parent after a restart"
    );
}

#[tokio::test]
async fn projects_keep_their_bytes_and_their_ids() {
    let f = fixture();
    #[cfg(unix)]
    let path: PathBuf = {
        use std::os::unix::ffi::OsStringExt as _;
        std::ffi::OsString::from_vec(b"/home/me/caf\xe9".to_vec()).into()
    };
    #[cfg(not(unix))]
    let path = PathBuf::from("C:/code/cafe");
    let first = f.store.put_project(ProjectId::new("p_1"), path.clone(), 1).await.unwrap();
    assert_eq!((&first.path, first.listed), (&path, true));
    let again = f.store.put_project(ProjectId::new("p_2"), path.clone(), 2).await.unwrap();
    assert_eq!((again.id.as_str(), again.opened_at), ("p_1", 2), "a known folder keeps its id");
    assert!(f.store.forget_project(&first.id).await.unwrap());
    assert!(!f.store.forget_project(&first.id).await.unwrap(), "it is off the list already");
    let f = f.reopen();
    assert_eq!(f.store.projects().await.unwrap(), []);
    let kept = f.store.project(&first.id).await.unwrap().unwrap();
    assert_eq!((kept.path, kept.listed), (path, false), "its sessions still know where it was");
}
