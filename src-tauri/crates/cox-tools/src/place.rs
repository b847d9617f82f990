//! Places in the project: from what a model wrote to what the policy and the file system take.

use crate::context::ToolCx;
use crate::tool::ToolError;
use cox_exec::{ExecError, Located, Roots};
use cox_policy::ResolvedPath;

/// Resolves a path. It need not exist.
pub(crate) async fn locate(path: &str, cx: &ToolCx) -> Result<Located, ToolError> {
    let path = path.to_owned();
    on_disk(cx, move |roots| roots.resolve(&path)).await
}

/// Does blocking work on the project's files, away from the async threads.
pub(crate) async fn on_disk<T: Send + 'static>(
    cx: &ToolCx,
    work: impl FnOnce(&Roots) -> Result<T, ExecError> + Send + 'static,
) -> Result<T, ToolError> {
    cx.roots.blocking(work).await.map_err(|error| failed(&error))
}

/// A place as the policy sees it.
pub(crate) fn resolved(at: &Located) -> ResolvedPath {
    ResolvedPath {
        asked: at.asked.clone(),
        real: at.real.clone(),
        outside: at.outside,
        read_only_root: at.read_only_root,
    }
}

/// A failure of the file system, for the model.
pub(crate) fn failed(error: &ExecError) -> ToolError {
    ToolError::tell(error.to_string())
}
