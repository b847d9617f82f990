//! Settings and keys.

use super::sessions::provider_error;
use crate::core::{Core, storage};
use cox_protocol::command::Reply;
use cox_protocol::error::{CoxError, ErrorCode};
use cox_protocol::settings::{ProviderSettings, Settings};
use cox_protocol::task::PermissionMode;
use cox_provider::Key;

impl Core {
    pub(super) async fn save_settings(&self, settings: Settings) -> Result<Reply, CoxError> {
        check(&settings)?;
        self.store.put_settings(settings.clone()).await.map_err(|error| storage(&error))?;
        self.set_settings(settings);
        self.forget_doors().await;
        Ok(Reply::Done)
    }

    pub(super) async fn set_key(&self, provider: &ProviderSettings, key: String) -> Result<Reply, CoxError> {
        let key = Key::new(key).ok_or_else(|| {
            CoxError::new(ErrorCode::InvalidInput, "the key is empty or holds characters that no key has")
                .hint("Copy it again, without line breaks or quotes.")
        })?;
        let in_keychain = self.keys.set(provider, key).await.map_err(|error| provider_error(&error))?;
        self.forget_doors().await;
        Ok(Reply::Key { in_keychain })
    }

    pub(super) async fn forget_key(&self, provider: &ProviderSettings) -> Result<Reply, CoxError> {
        self.keys.forget(provider).await.map_err(|error| CoxError {
            code: ErrorCode::Keychain,
            message: error.message.clone(),
            hint: error.hint.clone(),
        })?;
        self.forget_doors().await;
        Ok(Reply::Done)
    }

    /// The next request of every session goes through a door made with what holds now.
    async fn forget_doors(&self) {
        for session in self.sessions.lock().await.values() {
            session.forget_provider();
        }
        self.hub.tell(|pending| pending.environment = true);
    }
}

fn check(settings: &Settings) -> Result<(), CoxError> {
    let refuse = |message: &str| Err(CoxError::new(ErrorCode::InvalidInput, message));
    if settings.permission_mode == PermissionMode::BypassPermissions {
        return refuse("bypassPermissions can't be the setting for new sessions; it is chosen in a session");
    }
    if !(11.0..=20.0).contains(&settings.font_size) {
        return refuse("the font size has to be between 11 and 20 pixels");
    }
    let limits = settings.limits;
    if !(1..=256).contains(&limits.workers_at_once) {
        return refuse("between 1 and 256 workers can run at once");
    }
    if limits.workers_per_session < limits.workers_at_once {
        return refuse("a session has to allow at least as many workers in all as at once");
    }
    if limits.turns_per_generation == 0 || limits.repeats < 2 {
        return refuse("the limits allow nothing to be done: at least 1 turn and 2 repeats are needed");
    }
    Ok(())
}
