//! The command line.

use clap::Parser;
use std::path::PathBuf;

/// A desktop window in which a coordinator directs workers over a project folder.
#[derive(Debug, Parser)]
#[command(name = "coxswain", version)]
pub(crate) struct Args {
    /// The folder to open
    folder: Option<PathBuf>,
    /// Where the database is; the user's place for application data by default
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Play a session over the folder by fixed rules: start it, allow the first command that it asks for, write
    /// one line of JSON with the report to standard output when all is idle, and stay open until standard input
    /// is closed
    #[arg(long, requires = "folder")]
    pub(crate) rehearse: bool,
}

impl Args {
    /// The folder as an absolute path, since the page does not know where the command was typed.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        Some(std::path::absolute(folder).unwrap_or_else(|_| folder.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_definition_holds() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_folder_becomes_absolute() {
        let args = Args::try_parse_from(["coxswain", "some folder"]).unwrap();
        assert!(args.folder().unwrap().is_absolute());
        assert!(Args::try_parse_from(["coxswain", "--rehearse"]).is_err(), "nothing to rehearse over");
    }
}
