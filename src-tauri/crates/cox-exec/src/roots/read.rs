//! Reading whole files.

use super::located::{Facts, Located};
use super::{Roots, open};
use crate::{ExecError, FileHash, Result};
use std::io::Read;

/// How far a look for NUL goes; the same as git's.
const LOOK: usize = 8_000;

/// A file as it was read.
#[derive(Clone, Debug)]
pub struct FileContent {
    /// All of it.
    pub bytes: Vec<u8>,
    /// Of the bytes.
    pub hash: FileHash,
    /// As seen when it was opened; the size is that of the bytes.
    pub facts: Facts,
}

impl FileContent {
    /// Is it something other than text?
    pub fn is_binary(&self) -> bool {
        is_binary(&self.bytes)
    }
}

/// Is this the beginning of something other than text? So it is with a NUL in the first 8,000 bytes, as for git.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(LOOK).any(|byte| *byte == 0)
}

impl Roots {
    /// Reads a whole file of at most `cap` bytes.
    ///
    /// # Errors
    /// `Outside`, `Missing`, `NotAFile`, `Special`, `TooLarge`, `Moved`, `Io`.
    pub fn read(&self, at: &Located, cap: u64) -> Result<FileContent> {
        let (file, found) = self.seat(at)?.open(at)?;
        let too_large = |size| ExecError::TooLarge { path: at.real.clone(), size, cap };
        if found.len() > cap {
            return Err(too_large(found.len()));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or(0));
        // It may grow while it is read, and files in /proc say 0 and have content all the same.
        file.take(cap.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|source| ExecError::io("read", &at.real, source))?;
        let size = bytes.len() as u64;
        if size > cap {
            return Err(too_large(size));
        }
        Ok(FileContent { hash: FileHash::of(&bytes), facts: Facts { size, ..open::facts(&found) }, bytes })
    }

    /// The hash of a file of any size, read in parts.
    ///
    /// # Errors
    /// As for [`Roots::open_file`].
    pub fn hash(&self, at: &Located) -> Result<FileHash> {
        let mut file = self.open_file(at)?;
        FileHash::of_reader(&mut file).map_err(|source| ExecError::io("read", &at.real, source))
    }
}
