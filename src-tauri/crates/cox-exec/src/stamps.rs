//! What an agent has read, and whether it is still so (W30: keyed by agent, cloneable).
//!
//! An edit is allowed only on a file whose content is the one that this agent read last. The hash decides; the
//! watcher only makes it known early, so that the agent can be told before it tries.

use crate::{ExecError, FileHash, Located, Roots};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How an agent's knowledge of a file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// The content is the one that was read.
    Fresh,
    /// It has changed since.
    Stale,
    /// This agent has not read it.
    NeverRead,
}

/// The files that one agent has read, by real path. Cloning copies them for another agent.
#[derive(Debug, Default)]
pub struct ReadStamps {
    stamps: Mutex<BTreeMap<String, Stamp>>,
}

#[derive(Clone, Debug)]
struct Stamp {
    hash: FileHash,
    /// A change was seen and told; it is not told again until the next read.
    told: bool,
}

impl Clone for ReadStamps {
    fn clone(&self) -> Self {
        Self { stamps: Mutex::new(self.lock().clone()) }
    }
}

impl ReadStamps {
    /// The agent has seen this content: after a Read, and after its own Write or Edit.
    pub fn record(&self, at: &Located, hash: FileHash) {
        self.lock().insert(at.real.clone(), Stamp { hash, told: false });
    }

    /// Is `now`, the hash of the content on disk, what the agent read last?
    pub fn check(&self, at: &Located, now: &FileHash) -> Freshness {
        match self.lock().get(&at.real) {
            None => Freshness::NeverRead,
            Some(stamp) if stamp.hash == *now => Freshness::Fresh,
            Some(_) => Freshness::Stale,
        }
    }

    /// The hash that was read last, by [`Located::real`].
    pub fn get(&self, real: &str) -> Option<FileHash> {
        self.lock().get(real).map(|stamp| stamp.hash.clone())
    }

    /// Takes a file off the list.
    pub fn forget(&self, at: &Located) {
        self.lock().remove(&at.real);
    }

    /// A file is now so on disk (`None`: gone). True when that makes this agent's knowledge stale and it has not
    /// been told yet. An agent's own write is no news: it was recorded with its hash.
    pub fn mark_changed(&self, real: &str, now: Option<&FileHash>) -> bool {
        let mut stamps = self.lock();
        let Some(stamp) = stamps.get_mut(real) else { return false };
        if now == Some(&stamp.hash) {
            stamp.told = false;
            return false;
        }
        !std::mem::replace(&mut stamp.told, true)
    }

    /// Looks at changed paths (real, relative to the project) on disk, and gives those that this agent's knowledge
    /// is newly stale of. Blocking; costs nothing for paths that were not read.
    pub fn note_changes(&self, roots: &Roots, changed: &[String]) -> Vec<String> {
        let mut stale = Vec::new();
        for real in changed.iter().filter(|real| self.get(real).is_some()) {
            let now = match roots.resolve(real).and_then(|at| roots.hash(&at)) {
                Ok(hash) => Some(hash),
                // Unreadable for the moment says nothing about the content; the next edit looks again.
                Err(ExecError::Io { .. }) => continue,
                Err(_) => None,
            };
            if self.mark_changed(real, now.as_ref()) {
                stale.push(real.clone());
            }
        }
        stale
    }

    /// The real paths on the list, sorted.
    pub fn paths(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// How many files are on the list.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Has nothing been read?
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Forgets everything (B105).
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Stamp>> {
        self.stamps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
