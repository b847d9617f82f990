//! Folders, and the rules that belong to them.

use crate::core::{Core, storage};
use crate::session::load::open_roots;
use cox_exec::{KnownFolders, check_folder};
use cox_protocol::command::Reply;
use cox_protocol::error::{CoxError, ErrorCode};
use cox_protocol::id::{ProjectId, RuleId};
use cox_protocol::inbox::Rule;
use cox_protocol::view::ProjectRow;

impl Core {
    pub(super) async fn open_project(&self, path: &str, confirmed: bool) -> Result<Reply, CoxError> {
        let path = cox_exec::text_to_path(path);
        if !path.is_absolute() {
            return Err(CoxError::new(ErrorCode::InvalidInput, "the folder's path has to be absolute"));
        }
        let known = KnownFolders { home: self.home.clone(), data: self.data_folder.clone() };
        let report = tokio::task::spawn_blocking(move || check_folder(&path, &known)).await;
        let report = report.map_err(|error| CoxError::new(ErrorCode::Internal, error.to_string()))?;
        if let Some(message) = report.message() {
            return Err(CoxError::new(ErrorCode::FolderUnusable, message));
        }
        if let (Some(question), false) = (report.question(), confirmed) {
            return Err(CoxError::new(ErrorCode::NeedsConfirmation, question));
        }
        open_roots(&report.path).await?;
        let id = ProjectId::new(self.mint.next(ProjectId::PREFIX));
        let record = self.store.put_project(id, report.path, self.clock.now_ms()).await;
        let record = record.map_err(|error| storage(&error))?;
        self.hub.tell(|pending| pending.projects = true);
        Ok(Reply::Project { project: record.row(true) })
    }

    pub(super) async fn forget_project(&self, id: &ProjectId) -> Result<Reply, CoxError> {
        if !self.store.forget_project(id).await.map_err(|error| storage(&error))? {
            return Err(CoxError::new(ErrorCode::NotFound, "this project is not on the list"));
        }
        self.hub.tell(|pending| pending.projects = true);
        Ok(Reply::Done)
    }

    /// All listed projects, and whether each folder is there now.
    pub(crate) async fn project_rows(&self) -> Result<Vec<ProjectRow>, CoxError> {
        let records = self.store.projects().await.map_err(|error| storage(&error))?;
        let rows = tokio::task::spawn_blocking(move || {
            records.iter().map(|record| record.row(record.path.is_dir())).collect::<Vec<_>>()
        });
        rows.await.map_err(|error| CoxError::new(ErrorCode::Internal, error.to_string()))
    }

    pub(super) async fn add_rule(&self, project: &ProjectId, rule: Rule) -> Result<Reply, CoxError> {
        let (_, problems) = cox_policy::RuleSet::parse(std::slice::from_ref(&rule));
        if let Some(problem) = problems.first() {
            return Err(CoxError::new(
                ErrorCode::InvalidInput,
                format!("this rule can't be read: {}", problem.message),
            ));
        }
        let id = RuleId::new(self.mint.next(RuleId::PREFIX));
        self.store
            .add_rule(id, project.clone(), rule, self.clock.now_ms())
            .await
            .map_err(|error| storage(&error))?;
        self.reload_rules(project).await?;
        Ok(Reply::Done)
    }

    pub(super) async fn remove_rule(&self, id: &RuleId) -> Result<Reply, CoxError> {
        let removed = self.store.remove_rule(id).await.map_err(|error| storage(&error))?;
        let removed =
            removed.ok_or_else(|| CoxError::new(ErrorCode::NotFound, "this rule is gone already"))?;
        self.reload_rules(&removed.project_id).await?;
        Ok(Reply::Done)
    }

    async fn reload_rules(&self, project: &ProjectId) -> Result<(), CoxError> {
        let rows = self.store.rules(project).await.map_err(|error| storage(&error))?;
        self.rules.of(project).set(&rows.into_iter().map(|row| row.rule).collect::<Vec<_>>());
        Ok(())
    }
}
