//! What the store keeps beside the log: projects, rules, settings, blobs. Written by the writer's thread like
//! everything else; on disk when a function returns.

use crate::aside::Note;
use crate::damage::Db;
use crate::error::StoreError;
use crate::queue::{Change, Command, Write};
use crate::rows::{ProjectRecord, RebuildReport};
use crate::store::Store;
use crate::table::{blobs, projects, rules, settings};
use cox_protocol::entry::BlobRef;
use cox_protocol::inbox::Rule;
use cox_protocol::settings::Settings;
use cox_protocol::task::PermissionMode;
use cox_protocol::view::RuleRow;
use cox_protocol::{ProjectId, RuleId};
use std::path::PathBuf;

impl Store {
    /// Adds a folder to the projects. One that is known keeps its id, and is listed again.
    pub async fn put_project(
        &self,
        id: ProjectId,
        path: PathBuf,
        opened_at: i64,
    ) -> Result<ProjectRecord, StoreError> {
        self.change(move |db| projects::put(db.conn, &id, &path, opened_at)).await
    }

    /// Takes a project off the list; says whether it was there. Its sessions stay.
    pub async fn forget_project(&self, id: &ProjectId) -> Result<bool, StoreError> {
        let id = id.clone();
        self.change(move |db| projects::forget(db.conn, &id)).await
    }

    /// Stores the settings. `durable` holds from then on.
    pub async fn put_settings(&self, settings: Settings) -> Result<(), StoreError> {
        if settings.permission_mode == PermissionMode::BypassPermissions {
            return Err(StoreError::Refused("the mode in which nothing asks is never kept".to_owned()));
        }
        let durable = settings.durable;
        self.change(move |db| settings::put(db.conn, &settings)).await?;
        self.send(Command::Durable(durable))
    }

    /// Adds a rule to a project. An equal one that is there already is given back instead.
    pub async fn add_rule(
        &self,
        id: RuleId,
        project: ProjectId,
        rule: Rule,
        created_at: i64,
    ) -> Result<RuleRow, StoreError> {
        let row = RuleRow { id, project_id: project, rule, created_at };
        let unknown = StoreError::Refused(format!("there is no project {}", row.project_id));
        let add = move |db: Db<'_>| match rules::project_exists(db.conn, &row.project_id)? {
            true => rules::add(db.conn, &row).map(Some),
            false => Ok(None),
        };
        self.change(add).await?.ok_or(unknown)
    }

    /// Removes a rule and gives it back; none when there is no such rule.
    pub async fn remove_rule(&self, id: &RuleId) -> Result<Option<RuleRow>, StoreError> {
        let id = id.clone();
        self.change(move |db| rules::remove(db, &id)).await
    }

    /// Keeps bytes, once for each content.
    pub async fn put_blob(&self, bytes: Vec<u8>) -> Result<BlobRef, StoreError> {
        self.change(move |db| blobs::put(db.conn, &bytes)).await
    }

    /// Makes all projections, the search index and the exports anew from the events (`cox doctor --rebuild`).
    pub async fn rebuild(&self) -> Result<RebuildReport, StoreError> {
        let report = self.ask(Command::Rebuild).await?;
        self.aside().ask(Note::Restart).await?;
        Ok(report)
    }

    /// Runs a change in the writer's next transaction.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        work: impl FnMut(Db<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.ask(|ack| Command::Write(Write::Table(Box::new(Change { work, value: None, ack })))).await
    }
}
