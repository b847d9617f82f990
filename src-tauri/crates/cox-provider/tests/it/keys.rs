//! Keys belong to an origin, and are never shown (W31).

use crate::server::{Reply, Server};
use crate::support::{events, net, request, settings};
use cox_protocol::settings::{ProviderKind, ProviderSettings};
use cox_protocol::task::FailKind;
use cox_protocol::view::KeyState;
use cox_provider::keys::{Keychain, KeychainError};
use cox_provider::{Key, KeyRing, KeySource, connect};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A keychain that can be taken away.
#[derive(Default)]
struct Chain {
    entries: Mutex<HashMap<String, String>>,
    locked: Mutex<bool>,
}

impl Chain {
    fn check(&self) -> Result<(), KeychainError> {
        if *self.locked.lock().unwrap() { Err(KeychainError::Refused("it is locked".into())) } else { Ok(()) }
    }
}

impl Keychain for Chain {
    fn get(&self, origin: &str) -> Result<Option<Key>, KeychainError> {
        self.check()?;
        Ok(self.entries.lock().unwrap().get(origin).and_then(Key::new))
    }
    fn set(&self, origin: &str, _: &Key) -> Result<(), KeychainError> {
        self.check()?;
        self.entries.lock().unwrap().insert(origin.into(), format!("stored for {origin}"));
        Ok(())
    }
    fn forget(&self, origin: &str) -> Result<(), KeychainError> {
        self.check()?;
        self.entries.lock().unwrap().remove(origin);
        Ok(())
    }
}

fn anthropic() -> ProviderSettings {
    ProviderSettings { kind: ProviderKind::Anthropic, ..ProviderSettings::default() }
}

fn other() -> ProviderSettings {
    settings(ProviderKind::Openai, "https://models.example.org/v1")
}

async fn state(ring: &KeyRing, settings: &ProviderSettings, env: &KeySource) -> KeyState {
    let found = ring.get(settings, env).await;
    let has = matches!(found.state, KeyState::Environment | KeyState::Keychain | KeyState::Memory);
    assert_eq!(found.key.is_some(), has);
    found.state
}

#[tokio::test]
async fn one_key_an_origin() {
    let chain = Arc::new(Chain::default());
    let ring = KeyRing::new(chain.clone());
    let none = KeySource::none();
    assert_eq!(state(&ring, &anthropic(), &none).await, KeyState::Missing);
    assert_eq!(ring.set(&anthropic(), Key::new("a").unwrap()).await, Ok(true));
    assert_eq!(state(&ring, &anthropic(), &none).await, KeyState::Keychain);
    assert_eq!(state(&ring, &other(), &none).await, KeyState::Missing);
    let entries: Vec<String> = chain.entries.lock().unwrap().keys().cloned().collect();
    assert_eq!(entries, ["https://api.anthropic.com"]);
    // A new process reads it from the keychain.
    assert_eq!(state(&KeyRing::new(chain.clone()), &anthropic(), &none).await, KeyState::Keychain);
    assert_eq!(ring.forget(&anthropic()).await, Ok(()));
    assert_eq!(state(&ring, &anthropic(), &none).await, KeyState::Missing);
}

#[tokio::test]
async fn the_environment_comes_first_and_for_its_origin_only() {
    let ring = KeyRing::in_memory();
    let mut env = KeySource::none();
    env.add(&other(), Key::new("from the environment").unwrap()).unwrap();
    assert_eq!(state(&ring, &other(), &env).await, KeyState::Environment);
    assert_eq!(state(&ring, &anthropic(), &env).await, KeyState::Missing);
}

#[tokio::test]
async fn without_a_keychain_keys_last_as_long_as_the_process() {
    for ring in
        [KeyRing::in_memory(), KeyRing::new(Arc::new(Chain { locked: true.into(), ..Chain::default() }))]
    {
        assert_eq!(ring.set(&other(), Key::new("k").unwrap()).await, Ok(false));
        assert_eq!(state(&ring, &other(), &KeySource::none()).await, KeyState::Memory);
    }
}

#[tokio::test]
async fn a_keychain_that_does_not_let_go_says_so() {
    let ring = KeyRing::new(Arc::new(Chain { locked: true.into(), ..Chain::default() }));
    let error = ring.forget(&other()).await.unwrap_err();
    assert_eq!(error.message, "the keychain did not remove the key: it is locked");
}

#[tokio::test]
async fn where_none_is_needed() {
    let ring = KeyRing::in_memory();
    assert_eq!(state(&ring, &ProviderSettings::default(), &KeySource::none()).await, KeyState::NotNeeded);
    let local = settings(ProviderKind::Openai, "http://localhost:8080/v1");
    assert_eq!(state(&ring, &local, &KeySource::none()).await, KeyState::NotNeeded);
    let Err(error) = connect(&anthropic(), None, &net()) else { panic!("the own address needs a key") };
    assert_eq!(
        (error.kind, error.message.as_str()),
        (FailKind::Auth, "there is no key for https://api.anthropic.com")
    );
}

#[test]
fn a_key_is_never_shown() {
    let key = Key::new("  sk-secret\n").unwrap();
    assert_eq!(format!("{key} {key:?}"), "*** Key(***)");
    assert_eq!(key.redact("wrong key sk-secret!"), "wrong key ***!");
    assert!(Key::new(" \n").is_none());
    let mut env = KeySource::none();
    env.add(&other(), key).unwrap();
    assert!(!format!("{env:?}").contains("secret"));
}

#[tokio::test]
async fn keys_go_into_the_header_of_their_format() {
    for (kind, header) in
        [(ProviderKind::Anthropic, "x-api-key: sk-1"), (ProviderKind::Openai, "authorization: Bearer sk-1")]
    {
        for key in [Key::new("sk-1"), None] {
            let server = Server::start([Reply::status(400, "", "{}")]).await;
            let sent = key.is_some();
            events(connect(&settings(kind, &server.origin()), key, &net()).unwrap().as_ref(), request("m"))
                .await;
            assert_eq!(server.asked()[0].head.contains(header), sent);
        }
    }
}
