//! What the page may call: three commands for everything (W10), and the folder that the process was started with.

use crate::house::House;
use crate::pump::Pump;
use cox_protocol::CoxError;
use cox_protocol::command::{Command, Reply};
use cox_protocol::push::Batch;
use cox_protocol::query::{Page, Query};
use cox_protocol::view::Snapshot;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tauri::ipc::Channel;
use tauri::{State, WebviewWindow};

/// Begins, or begins again after a reload: a snapshot, and from then on one batch a frame over the channel.
/// Batches may arrive before the snapshot does.
#[tauri::command]
pub(crate) async fn attach(
    page: WebviewWindow,
    channel: Channel<Batch>,
    house: State<'_, Arc<House>>,
    pump: State<'_, Pump>,
) -> Result<Snapshot, CoxError> {
    let engine = house.engine().await?;
    pump.attach(engine, page, channel).await
}

/// Asks the engine to do something.
#[tauri::command]
pub(crate) async fn submit(command: Command, house: State<'_, Arc<House>>) -> Result<Reply, CoxError> {
    house.engine().await?.submit(command).await
}

/// Asks the engine to tell something.
#[tauri::command]
pub(crate) async fn query(query: Query, house: State<'_, Arc<House>>) -> Result<Page, CoxError> {
    house.engine().await?.query(query).await
}

/// The folder of the command line, once: a reload is no reason to open it again.
#[tauri::command]
pub(crate) fn initial_folder(folder: State<'_, InitialFolder>) -> Option<String> {
    folder.0.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The folder that waits to be opened.
pub(crate) struct InitialFolder(Mutex<Option<String>>);

impl InitialFolder {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self(Mutex::new(folder.map(|folder| folder.to_string_lossy().into_owned())))
    }
}
