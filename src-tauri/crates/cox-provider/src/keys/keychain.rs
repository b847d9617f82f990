//! The keychain of the desktop, one entry per origin, behind a trait so that no test touches a real one.

use super::Key;

/// The service under which entries stand.
const SERVICE: &str = "coxswain";

/// A place that keeps keys beyond the process. Implemented here and by tests; called by [`super::KeyRing`] only,
/// from a thread that may block.
pub trait Keychain: Send + Sync {
    /// The key of an origin, if there is one.
    fn get(&self, origin: &str) -> Result<Option<Key>, KeychainError>;
    /// Keeps a key.
    fn set(&self, origin: &str, key: &Key) -> Result<(), KeychainError>;
    /// Removes a key; nothing to remove is no error.
    fn forget(&self, origin: &str) -> Result<(), KeychainError>;
}

/// Why a keychain did not do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeychainError {
    /// There is none here.
    #[error("there is no keychain here")]
    Absent,
    /// It is there and said no.
    #[error("the keychain refused: {0}")]
    Refused(String),
}

/// No keychain.
pub(super) struct Absent;

impl Keychain for Absent {
    fn get(&self, _: &str) -> Result<Option<Key>, KeychainError> {
        Err(KeychainError::Absent)
    }
    fn set(&self, _: &str, _: &Key) -> Result<(), KeychainError> {
        Err(KeychainError::Absent)
    }
    fn forget(&self, _: &str) -> Result<(), KeychainError> {
        Err(KeychainError::Absent)
    }
}

/// Secret Service, macOS Keychain, or Windows Credential Manager.
pub(super) struct System;

impl System {
    fn entry(origin: &str) -> Result<keyring::Entry, KeychainError> {
        keyring::Entry::new(SERVICE, origin).map_err(explain)
    }
}

impl Keychain for System {
    fn get(&self, origin: &str) -> Result<Option<Key>, KeychainError> {
        match Self::entry(origin)?.get_password() {
            Ok(secret) => Ok(Key::new(secret)),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(explain(error)),
        }
    }

    fn set(&self, origin: &str, key: &Key) -> Result<(), KeychainError> {
        Self::entry(origin)?.set_password(key.expose()).map_err(explain)
    }

    fn forget(&self, origin: &str) -> Result<(), KeychainError> {
        match Self::entry(origin)?.delete_credential() {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(error) => Err(explain(error)),
        }
    }
}

/// Only these two cases matter: nothing is there to talk to, or it answered no.
fn explain(error: keyring::Error) -> KeychainError {
    match error {
        keyring::Error::NoStorageAccess(_)
        | keyring::Error::PlatformFailure(_)
        | keyring::Error::NoDefaultStore => KeychainError::Absent,
        other => KeychainError::Refused(other.to_string()),
    }
}
