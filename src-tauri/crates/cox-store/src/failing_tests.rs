//! What a full disk does, by SQLite's own limit on pages.

use crate::{OpenOptions, Store, StoreError};
use cox_protocol::entry::Party;
use cox_protocol::{Entry, Event, EventKind, NewEvent, SessionId, TaskId};
use rusqlite::Connection;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

type Seen = Arc<Mutex<Vec<String>>>;

fn open() -> (Store, Seen, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let seen = Seen::default();
    let sink = Arc::clone(&seen);
    let note = move |events: &[Arc<Event>]| {
        sink.lock().unwrap().extend(events.iter().map(|event| text(event)[..1].to_owned()));
    };
    let store = Store::open(folder.path(), OpenOptions::default(), Box::new(note)).unwrap();
    (store, seen, folder)
}

fn text(event: &Event) -> String {
    match event.known() {
        Some(EventKind::Entry { entry: Entry::User { text, .. } }) => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn says(text: &str) -> Vec<NewEvent> {
    let entry = Entry::User { from: Party::User, text: text.into(), message_id: None };
    let mut event = NewEvent::session(SessionId::new("s_1"), 1, EventKind::Entry { entry });
    event.task_id = Some(TaskId::new("t_1"));
    vec![event]
}

/// No page more than there are.
async fn fill_up(store: &Store) {
    let set = |db: crate::damage::Db<'_>| {
        let pages: i64 = db.conn.pragma_query_value(None, "page_count", |row| row.get(0))?;
        db.conn.query_row(&format!("PRAGMA max_page_count = {pages}"), (), |_| Ok(()))
    };
    store.change(set).await.unwrap();
}

/// Somebody deletes something: there is room again.
fn make_room(folder: &TempDir) {
    let conn = Connection::open(folder.path().join("coxswain.db")).unwrap();
    assert_eq!(conn.execute("DELETE FROM blobs", ()).unwrap(), 1);
}

fn log(folder: &TempDir) -> Vec<String> {
    let conn = Connection::open(folder.path().join("coxswain.db")).unwrap();
    let mut statement = conn
        .prepare("SELECT substr(body, instr(body, '\"text\":\"') + 8, 1) FROM event_rows ORDER BY seq")
        .unwrap();
    statement.query_map((), |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_is_over_when_there_is_room() {
    let (store, seen, folder) = open();
    let long = |letter: &str| letter.repeat(20_000);
    store.put_blob(vec![1; 400_000]).await.unwrap();
    store.append(says("a")).await.unwrap();
    fill_up(&store).await;
    let failed = store.append(says(&long("b"))).await;
    assert!(matches!(failed, Err(StoreError::Full)), "{failed:?}");
    store.append_later(says(&long("c")));
    store.append_later(says("d"));
    let failed = store.append(says(&long("e"))).await;
    assert!(matches!(failed, Err(StoreError::Full)), "every later caller is told: {failed:?}");
    let failed = store.put_blob(vec![7; 50_000]).await;
    assert!(matches!(failed, Err(StoreError::Full)), "{failed:?}");
    assert!(matches!(store.flush().await, Err(StoreError::Full)));
    assert_eq!(log(&folder), ["a"], "what failed left nothing behind");
    assert_eq!(*seen.lock().unwrap(), ["a"]);
    assert_eq!(store.last_seq().await.unwrap(), 1, "and reading goes on");

    make_room(&folder);
    let stored = store.append(says("f")).await.unwrap();
    assert_eq!(stored[0].seq, 4);
    store.flush().await.unwrap();
    assert_eq!(log(&folder), ["a", "c", "d", "f"], "what nobody waited for goes first, in order");
    assert_eq!(*seen.lock().unwrap(), ["a", "c", "d", "f"]);
    let view = store.session_view(&SessionId::new("s_1")).await.unwrap().unwrap();
    assert_eq!(view.seq, 4);
    assert_eq!(store.rebuild().await.unwrap().changed, Vec::<String>::new());
}

#[tokio::test]
async fn one_bad_write_does_not_fail_its_neighbours() {
    let (store, _seen, folder) = open();
    // The first holds the writer up, so that the others come into one transaction.
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let first = store.change(move |_| {
        let _ = wait.recv();
        Ok(())
    });
    let bad = store.change(|db| db.conn.execute("INSERT INTO no_such_table VALUES (1)", ()));
    let good = store.append(says("g"));
    let release = async {
        tokio::task::yield_now().await;
        drop(go);
    };
    let (first, bad, good, ()) = tokio::join!(first, bad, good, release);
    first.unwrap();
    assert!(matches!(bad, Err(StoreError::Database { .. })), "{bad:?}");
    assert_eq!(good.unwrap()[0].seq, 1);
    assert_eq!(log(&folder), ["g"]);
}
