//! What can't be used, and what is said about it.

use crate::rig::{Folders, Rig, Setup, open};
use cox_protocol::ErrorCode;
use cox_protocol::command::{Command, Reply};
use cox_protocol::settings::{ProviderKind, ProviderSettings, Settings};
use cox_protocol::task::{FailKind, Outcome, PermissionMode, SessionMode, TaskStatus};
use std::path::Path;

async fn open_folder(rig: &Rig, path: &Path) -> Result<Reply, cox_protocol::CoxError> {
    let path = path.to_str().unwrap().to_owned();
    rig.engine.submit(Command::OpenProject { path, confirmed: false }).await
}

// W33: folders that can't or should not be opened.
#[tokio::test]
async fn folders() {
    let rig = Rig::new().await;
    let file = rig.folders.project().join("README.md");
    for path in [file.as_path(), Path::new("/no/such/folder")] {
        let error = open_folder(&rig, path).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::FolderUnusable, "{}", error.message);
        assert!(error.message.contains(path.to_str().unwrap()), "it names the folder: {}", error.message);
    }
    let error = open_folder(&rig, Path::new("/")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NeedsConfirmation, "{}", error.message);
    let data = rig.folders.data.path();
    let error = open_folder(&rig, data).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NeedsConfirmation, "{}", error.message);

    let odd = rig.folders.project().join("a b\n⛵");
    std::fs::create_dir(&odd).unwrap();
    let Reply::Project { project } = open_folder(&rig, &odd).await.unwrap() else { panic!() };
    assert_eq!(project.name, "a b\n⛵");
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_whose_name_is_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let rig = Rig::new().await;
    let odd = rig.folders.project().join(std::ffi::OsStr::from_bytes(b"bad\xff"));
    std::fs::create_dir(&odd).unwrap();
    let path = format!("{}/bad\\xff", rig.folders.project().to_str().unwrap());
    let reply = rig.engine.submit(Command::OpenProject { path, confirmed: false }).await.unwrap();
    assert!(matches!(reply, Reply::Project { .. }), "{reply:?}");
}

// W25: bypassPermissions is confirmed with the folder's name, and is not stored.
#[tokio::test]
async fn bypass_is_confirmed_and_forgotten() {
    let rig = Rig::new().await;
    let (session, _) = rig.session(SessionMode::Coordinator).await;
    let set = |confirm: Option<&str>| Command::SetPermissionMode {
        session_id: session.clone(),
        permission_mode: PermissionMode::BypassPermissions,
        confirm: confirm.map(str::to_owned),
    };
    for wrong in [None, Some(""), Some("elsewhere")] {
        let error = rig.engine.submit(set(wrong)).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::NeedsConfirmation);
    }
    let name = rig.folders.project().file_name().unwrap().to_str().unwrap().to_owned();
    rig.engine.submit(set(Some(&name))).await.unwrap();
    assert_eq!(rig.view(&session).await.permission_mode, PermissionMode::Default, "what is stored");
    let rig = Rig::with(rig.close().await, Setup::default()).await;
    assert_eq!(rig.view(&session).await.permission_mode, PermissionMode::Default);
    let settings = Settings { permission_mode: PermissionMode::BypassPermissions, ..Settings::default() };
    let error = rig.engine.submit(Command::SaveSettings { settings }).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidInput);
}

#[tokio::test]
async fn messages_and_ids() {
    let rig = Rig::new().await;
    let (_, lead) = rig.session(SessionMode::Coordinator).await;
    let send = |task_id, text: &str| Command::SendMessage { task_id, text: text.into() };
    let error = rig.engine.submit(send(lead.clone(), " \n ")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidInput);
    let nobody = cox_protocol::TaskId::new("t_nobody");
    let error = rig.engine.submit(send(nobody.clone(), "hello")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound);
    let error = rig.engine.submit(Command::StopTask { task_id: nobody }).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound);
    let error = rig.engine.submit(Command::ContinueTask { task_id: lead }).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NotRunning, "{}", error.message);
}

// W31, R110: no key, a dead server, plain http to another machine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers() {
    let rig = Rig::new().await;
    let new = |provider: ProviderSettings| Command::NewSession {
        project_id: rig.project.clone(),
        mode: None,
        permission_mode: None,
        provider: Some(provider),
        model: Some("some-model".into()),
        output_schema: None,
    };
    let plain = ProviderSettings {
        kind: ProviderKind::Openai,
        base_url: Some("http://models.example/v1".into()),
        plain_http_confirmed: false,
    };
    let error = rig.engine.submit(new(plain)).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NeedsConfirmation, "{}", error.message);

    let keyless =
        ProviderSettings { kind: ProviderKind::Anthropic, base_url: None, plain_http_confirmed: false };
    let Reply::Session { session_id, lead } = rig.engine.submit(new(keyless)).await.unwrap() else {
        panic!()
    };
    rig.say(&lead, "hello").await;
    let view = rig.idle(&session_id).await;
    let lead = view.lead().unwrap();
    assert_eq!(lead.status, TaskStatus::Failed);
    let Some(Outcome::Failed { kind, message }) = &lead.outcome else { panic!("{lead:?}") };
    assert_eq!(*kind, FailKind::Auth, "{message}");
    assert!(message.contains("key"), "{message}");
}

// A database of a later version is left as it is.
#[tokio::test]
async fn a_newer_database() {
    let folders = Folders::new();
    let engine = open(folders.data.path().to_path_buf(), Setup::default()).await.unwrap();
    engine.shutdown().await;
    let path = folders.data.path().join("coxswain.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // SQLite's user_version: four bytes at offset 60.
    bytes[60..64].copy_from_slice(&9_999u32.to_be_bytes());
    std::fs::write(&path, &bytes).unwrap();
    let error = open(folders.data.path().to_path_buf(), Setup::default()).await.map(drop).unwrap_err();
    assert_eq!(error.code, ErrorCode::DatabaseNewer, "{}", error.message);
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "nothing was written");
}
