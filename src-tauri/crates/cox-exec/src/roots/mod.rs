//! Files only through roots (W30): the project's folder and further read-only ones, each an open directory handle.
//!
//! 1. [`Roots::resolve`] turns what a model asked for into a [`Located`]: as asked, as real with every link resolved,
//!    and whether that lies in a root. The policy decides on it.
//! 2. Every other call takes the `Located` and opens its real path, name by name, from the root's handle, following no
//!    link on the way. So what is opened is what was decided on, or nothing.
//!
//! All calls block; [`Roots::blocking`] moves them off the async threads.

mod located;
mod name;
mod open;
mod read;
mod resolve;
mod walk;
mod write;

pub use located::{Facts, Kind, Located};
pub use name::{path_to_text, text_to_path};
pub use read::{FileContent, is_binary};
pub(crate) use walk::is_ours;
pub use walk::{Found, Listing, WalkCut, WalkEnd, WalkOptions};
pub use write::{Expect, Written};

use crate::{ExecError, Result};
use cap_std::fs::Dir;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folders that an agent may look into; the first is the project. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Roots {
    roots: Arc<Vec<Arc<Root>>>,
}

#[derive(Debug)]
struct Root {
    /// Absolute, as it was named; people and models use this form too.
    given: PathBuf,
    /// Absolute, links resolved.
    real: PathBuf,
    dir: Dir,
    read_only: bool,
}

impl Root {
    fn open(folder: &Path, read_only: bool) -> Result<Root> {
        let text = path_to_text(folder);
        let given = std::path::absolute(folder).map_err(|source| ExecError::io("find", &text, source))?;
        let real = std::fs::canonicalize(&given).map_err(|source| ExecError::io("find", &text, source))?;
        if !real.is_dir() {
            return Err(ExecError::NotAFolder { path: text });
        }
        let dir = Dir::open_ambient_dir(&real, cap_std::ambient_authority())
            .map_err(|source| ExecError::io("open", &text, source))?;
        Ok(Root { given, real, dir, read_only })
    }
}

impl Roots {
    /// Opens the project's folder.
    ///
    /// # Errors
    /// `Missing`, `NotAFolder`, `Io`.
    pub fn open(project: &Path) -> Result<Roots> {
        Ok(Roots { roots: Arc::new(vec![Arc::new(Root::open(project, false)?)]) })
    }

    /// The same roots and one more, which may only be read.
    ///
    /// # Errors
    /// `Missing`, `NotAFolder`, `Io`.
    pub fn with_read_root(&self, folder: &Path) -> Result<Roots> {
        let mut roots = self.roots.as_ref().clone();
        roots.push(Arc::new(Root::open(folder, true)?));
        Ok(Roots { roots: Arc::new(roots) })
    }

    /// The project's folder: absolute, links resolved.
    pub fn project(&self) -> &Path {
        &self.first().real
    }

    /// Does blocking work on these roots away from the async threads.
    pub async fn blocking<T: Send + 'static>(&self, work: impl FnOnce(&Roots) -> T + Send + 'static) -> T {
        let roots = self.clone();
        match tokio::task::spawn_blocking(move || work(&roots)).await {
            Ok(value) => value,
            // Blocking work can't be cancelled once it runs, so this is its panic: it goes on in the caller.
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    #[expect(clippy::indexing_slicing, reason = "`open` is the only constructor, and puts the project first")]
    fn first(&self) -> &Root {
        &self.roots[0]
    }
}
