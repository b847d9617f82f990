//! Keys (W31): each belongs to one origin. They come from the host's environment, from the keychain, or from a
//! memory that lasts as long as the process where there is no keychain.

use crate::address::Address;
use crate::error::ProviderError;
use cox_protocol::settings::{ProviderKind, ProviderSettings};
use cox_protocol::task::FailKind;
use cox_protocol::view::KeyState;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use zeroize::Zeroizing;

mod keychain;
pub use keychain::{Keychain, KeychainError};

/// How long a keychain is waited for: it may ask a person for a password first.
const PATIENCE: Duration = Duration::from_secs(60);

/// A secret. It is wiped from memory when dropped, and never shown.
#[derive(Clone)]
pub struct Key(Zeroizing<String>);

impl Key {
    /// A key, without the spaces around it; null when nothing is left.
    pub fn new(secret: impl Into<String>) -> Option<Self> {
        let secret = Zeroizing::new(secret.into());
        let trimmed = secret.trim();
        (!trimmed.is_empty()).then(|| Self(Zeroizing::new(trimmed.to_owned())))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The text with the key in it made unreadable.
    pub fn redact(&self, text: &str) -> String {
        // A key this short is a placeholder, and would be found inside of words.
        let secret = self.expose().len() >= 8;
        if secret && text.contains(self.expose()) {
            text.replace(self.expose(), "***")
        } else {
            text.to_owned()
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(***)")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Keys that a host took from its environment, each with the origin it belongs to.
#[derive(Clone, Debug, Default)]
pub struct KeySource(HashMap<String, Key>);

impl KeySource {
    /// No keys.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a key for the server that the settings stand for. Rehearsal needs none; an address that can't be used
    /// is an error.
    pub fn add(&mut self, settings: &ProviderSettings, key: Key) -> Result<(), ProviderError> {
        if let Some(origin) = origin(settings)? {
            self.0.insert(origin, key);
        }
        Ok(())
    }
}

/// A key and where it came from.
#[derive(Clone, Debug)]
pub struct Found {
    /// The key, if there is one.
    pub key: Option<Key>,
    /// Where it came from, or whether one is missing.
    pub state: KeyState,
}

/// All keys of this process.
pub struct KeyRing {
    keychain: Arc<dyn Keychain>,
    memory: Mutex<HashMap<String, Held>>,
}

#[derive(Clone)]
struct Held {
    key: Key,
    in_keychain: bool,
}

impl KeyRing {
    /// On the keychain of the desktop.
    pub fn system() -> Self {
        Self::new(Arc::new(keychain::System))
    }

    /// Without a keychain: keys last as long as the process.
    pub fn in_memory() -> Self {
        Self::new(Arc::new(keychain::Absent))
    }

    /// On any keychain.
    pub fn new(keychain: Arc<dyn Keychain>) -> Self {
        Self { keychain, memory: Mutex::new(HashMap::new()) }
    }

    /// The key for the server that the settings stand for: from the environment, else from the keychain, else from
    /// memory. Never that of another origin.
    pub async fn get(&self, settings: &ProviderSettings, env: &KeySource) -> Found {
        let address = match Address::of(settings) {
            Ok(address) => address,
            Err(_) if settings.kind == ProviderKind::Rehearsal => {
                return Found { key: None, state: KeyState::NotNeeded };
            }
            Err(_) => return Found { key: None, state: KeyState::Missing },
        };
        if let Some(key) = env.0.get(address.origin()) {
            return Found { key: Some(key.clone()), state: KeyState::Environment };
        }
        if let Some(held) = self.held(address.origin()) {
            let state = if held.in_keychain { KeyState::Keychain } else { KeyState::Memory };
            return Found { key: Some(held.key), state };
        }
        let origin = address.origin().to_owned();
        let read = self.on_keychain(move |chain| chain.get(&origin)).await;
        if let Ok(Some(key)) = read {
            self.hold(address.origin(), Held { key: key.clone(), in_keychain: true });
            return Found { key: Some(key), state: KeyState::Keychain };
        }
        let state = if address.is_loopback() { KeyState::NotNeeded } else { KeyState::Missing };
        Found { key: None, state }
    }

    /// Keeps a key for the server that the settings stand for. True: in the keychain. False: in memory, for this
    /// run only, because there is no keychain or it refused.
    pub async fn set(&self, settings: &ProviderSettings, key: Key) -> Result<bool, ProviderError> {
        let Some(origin) = origin(settings)? else {
            return Err(ProviderError::new(FailKind::InvalidRequest, "rehearsal needs no key"));
        };
        let (to, copy) = (origin.clone(), key.clone());
        let stored = self.on_keychain(move |chain| chain.set(&to, &copy)).await;
        if let Err(error) = &stored {
            tracing::warn!(%error, "the keychain did not take the key; it is kept in memory");
        }
        self.hold(&origin, Held { key, in_keychain: stored.is_ok() });
        Ok(stored.is_ok())
    }

    /// Removes the key from the keychain and from memory. An error when the keychain has it and does not let go.
    pub async fn forget(&self, settings: &ProviderSettings) -> Result<(), ProviderError> {
        let Some(origin) = origin(settings)? else { return Ok(()) };
        self.lock().remove(&origin);
        match self.on_keychain(move |chain| chain.forget(&origin)).await {
            Ok(()) | Err(KeychainError::Absent) => Ok(()),
            Err(KeychainError::Refused(why)) => Err(ProviderError::new(
                FailKind::Storage,
                format!("the keychain did not remove the key: {why}"),
            )
            .hint("Unlock the keychain and try again, or remove the entry `coxswain` there.")),
        }
    }

    /// The keychain may block for as long as a person types a password, so it has a thread of its own.
    async fn on_keychain<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn Keychain) -> Result<T, KeychainError> + Send + 'static,
    ) -> Result<T, KeychainError> {
        let keychain = self.keychain.clone();
        match tokio::time::timeout(PATIENCE, tokio::task::spawn_blocking(move || act(keychain.as_ref())))
            .await
        {
            Ok(Ok(result)) => result,
            Ok(Err(_)) | Err(_) => Err(KeychainError::Absent),
        }
    }

    fn held(&self, origin: &str) -> Option<Held> {
        self.lock().get(origin).cloned()
    }

    fn hold(&self, origin: &str, held: Held) {
        self.lock().insert(origin.to_owned(), held);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Held>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyRing(***)")
    }
}

fn origin(settings: &ProviderSettings) -> Result<Option<String>, ProviderError> {
    if settings.kind == ProviderKind::Rehearsal {
        return Ok(None);
    }
    Address::of(settings).map(|address| Some(address.origin().to_owned()))
}
