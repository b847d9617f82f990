//! Opening: folders, formats, damage.

use crate::support::*;
use cox_protocol::ErrorCode;
use cox_store::{OpenOptions, Store, StoreError};
use rusqlite::Connection;
use std::path::Path;

fn try_open(folder: &Path) -> Result<Store, StoreError> {
    Store::open(folder, OpenOptions::default(), Box::new(|_| {}))
}

#[tokio::test]
async fn a_newer_database_is_refused_and_left_alone() {
    let f = fixture();
    f.store.append(begin(&session(1), &task(1), "p_1", 1)).await.unwrap();
    let folder = f.folder;
    f.store.close().await.unwrap();
    let path = folder.path().join("coxswain.db");
    let known: u32 = {
        let conn = Connection::open(&path).unwrap();
        let known = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        conn.pragma_update(None, "user_version", 99).unwrap();
        known
    };
    let before = std::fs::read(&path).unwrap();
    let error = try_open(folder.path()).unwrap_err();
    assert!(
        matches!(&error, StoreError::Newer { found: 99, known: ours, .. } if *ours == known),
        "{error:?}"
    );
    assert_eq!(error.code(), ErrorCode::DatabaseNewer);
    assert!(error.to_string().contains("newer version of Coxswain (format 99"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before, "not a byte was written");
}

#[test]
fn a_folder_that_can_not_be_used_says_why() {
    let outer = tempfile::tempdir().unwrap();
    let file = outer.path().join("file");
    std::fs::write(&file, "not a folder").unwrap();
    let error = try_open(&file.join("data")).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error:?}");
    assert_eq!(error.code(), ErrorCode::Storage);
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_says_so() {
    use std::os::unix::fs::PermissionsExt as _;
    let outer = tempfile::tempdir().unwrap();
    let closed = outer.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(closed.join("probe"), "").is_ok() {
        println!("skipped: this user may write everywhere");
        return;
    }
    let error = try_open(&closed.join("data")).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error:?}");
    let error = try_open(&closed).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error:?}");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
}

// W7: the folder 0700, the database 0600.
#[cfg(unix)]
#[tokio::test]
async fn nobody_else_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let f = fixture();
    let (s, lead) = (session(1), task(1));
    f.store.append(begin(&s, &lead, "p_1", 1)).await.unwrap();
    f.store.flush().await.unwrap();
    let _lock = f.store.lock_session(&s, "x").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(f.folder.path()), 0o700);
    for name in ["coxswain.db", "coxswain.db-wal", "coxswain.db-shm", "derived-1.db"] {
        assert_eq!(mode(&f.folder.path().join(name)), 0o600, "{name}");
    }
    assert_eq!(mode(&f.folder.path().join(cox_store::output_file(&s, &lead))), 0o600);
}

#[test]
fn what_is_no_database_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("coxswain.db");
    let text = "this is a letter, and not a database at all. ".repeat(50);
    std::fs::write(&path, &text).unwrap();
    let error = try_open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Database { .. }), "{error:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn a_damaged_row_is_told_of_and_the_rest_opens() {
    let f = fixture();
    let (s, lead) = (session(1), task(1));
    f.store.append(begin(&s, &lead, "p_1", 1)).await.unwrap();
    f.store.append(vec![of_task(&s, &lead, 2, runs())]).await.unwrap();
    let texts = ["one", "two", "three"].map(|text| of_task(&s, &lead, 3, says(text)));
    f.store.append(texts.to_vec()).await.unwrap();
    f.store.append(begin(&session(2), &task(2), "p_1", 1)).await.unwrap();
    let view = f.store.session_view(&s).await.unwrap();
    let conn = Connection::open(f.folder.path().join("coxswain.db")).unwrap();
    conn.execute_batch(
        "UPDATE events SET body = '{\"kind\":\"entry\",' WHERE seq = 5;
         UPDATE tasks SET view = 'nonsense' WHERE id = 't_1';
         UPDATE sessions SET state = 'perplexed' WHERE id = 's_2';
         INSERT INTO settings (name, value) VALUES ('settings', '[');",
    )
    .unwrap();
    drop(conn);

    let f = f.reopen();
    let seqs: Vec<u64> = f.store.transcript(&lead).await.unwrap().iter().map(|row| row.seq).collect();
    assert_eq!(seqs, [4, 6], "the damaged entry is left out");
    let (page, earlier) = f.store.transcript_page(&lead, u64::MAX, 2).await.unwrap();
    assert_eq!((page.len(), earlier), (1, true));
    assert_eq!(f.store.session_view(&s).await.unwrap(), view, "folded anew from the log");
    assert_eq!(f.store.task(&lead).await.unwrap().unwrap().1.id, lead);
    let (rows, _) = f.store.sessions(None, None, 10).await.unwrap();
    assert_eq!(rows.len(), 1, "the other session is listed");
    assert_eq!(f.store.settings().await.unwrap(), cox_protocol::settings::Settings::default());
    let mut tables: Vec<(&str, String)> =
        f.store.damages().into_iter().map(|damage| (damage.table, damage.row)).collect();
    tables.sort();
    tables.dedup();
    let expected = [("events", "5"), ("sessions", "s_2"), ("settings", "settings"), ("tasks", "t_1")];
    assert_eq!(tables, expected.map(|(table, row)| (table, row.to_owned())));

    f.store.append(vec![of_task(&s, &lead, 9, says("four"))]).await.unwrap();
    let report = f.store.rebuild().await.unwrap();
    assert_eq!((report.damaged, report.sessions), (1, 2));
    assert_eq!(f.store.sessions(None, None, 10).await.unwrap().0.len(), 2, "a rebuild mends the list");
}

#[tokio::test]
async fn a_damaged_search_index_is_made_anew() {
    let f = fixture();
    f.store.append(begin(&session(1), &task(1), "p_1", 1)).await.unwrap();
    f.store.append(vec![of_task(&session(1), &task(1), 2, says("lighthouse"))]).await.unwrap();
    let folder = f.folder;
    f.store.close().await.unwrap();
    std::fs::write(folder.path().join("derived-1.db"), "rubbish ".repeat(1_000)).unwrap();
    let (store, _) = open(folder.path());
    store.flush().await.unwrap();
    assert_eq!(store.search("lighthouse", None).await.unwrap().len(), 1);
}
