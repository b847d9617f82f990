//! Process trees, project roots and paths, read stamps and file watching.
//!
//! The only crate that starts processes (own group, allow-listed environment, proof that nothing is left) and the
//! only one that opens the project's files (through directory handles). What may be read, written or run is not
//! decided here: `cox-policy` decides, on the paths that [`Roots::resolve`] gives.

mod error;
mod folder;
mod hash;
mod memory;
mod roots;
mod shell;
mod stamps;
mod watch;

pub use error::{ExecError, Result};
pub use folder::{FolderConcern, FolderProblem, FolderReport, KnownFolders, check_folder};
pub use hash::FileHash;
pub use memory::give_back_early;
pub use roots::{
    Expect, Facts, FileContent, Found, Kind, Listing, Located, Roots, WalkCut, WalkEnd, WalkOptions, Written,
    is_binary, path_to_text, text_to_path,
};
pub use shell::{
    ChildEnv, Ended, Live, Output, OutputCaps, OutputText, Reaped, Running, STOP_GRACE, Shell, Spawn, Swept,
    Whole, reap, sweep_task,
};
pub use stamps::{Freshness, ReadStamps};
pub use watch::{ProjectWatch, WatchEvent, WatchOptions};
