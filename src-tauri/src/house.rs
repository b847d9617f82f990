//! The engine behind the window: opened once, whoever asks first. When it can't be opened the window shows why,
//! and the next who asks tries again: the disk may have room by then.

use crate::args::Args;
use cox_engine::{Engine, EngineConfig, EnvKey, Host, HostEnv, default_data_folder};
use cox_protocol::settings::ProviderKind;
use cox_protocol::task::SessionMode;
use cox_protocol::{CoxError, ErrorCode};
use std::path::{Path, PathBuf};
use tokio::sync::OnceCell;

/// The engine, or the way to it.
pub(crate) struct House {
    data_folder: PathBuf,
    env: HostEnv,
    engine: OnceCell<Engine>,
}

impl House {
    /// Reads the environment, once. An error when there is no place for data.
    pub(crate) fn new(args: &Args) -> Result<Self, String> {
        let env = environment();
        let data_folder = match &args.data_dir {
            Some(folder) => std::path::absolute(folder)
                .map_err(|error| format!("{} can't be used as data folder: {error}", folder.display()))?,
            None => default_data_folder(&env.vars)
                .ok_or("there is no place for data: the environment names no home. Use --data-dir DIR")?,
        };
        Ok(Self { data_folder, env, engine: OnceCell::new() })
    }

    /// Where everything is kept.
    pub(crate) fn data_folder(&self) -> &Path {
        &self.data_folder
    }

    /// The engine, opened now if it is not yet.
    pub(crate) async fn engine(&self) -> Result<&Engine, CoxError> {
        let opened = self.engine.get_or_try_init(|| Engine::open(self.config())).await;
        if let Err(error) = &opened {
            tracing::error!(code = ?error.code, message = error.message, "the engine did not open");
        }
        opened
    }

    /// Puts the engine down, if there is one.
    pub(crate) async fn close(&self) {
        if let Some(engine) = self.engine.get() {
            engine.shutdown().await;
        }
    }

    fn config(&self) -> EngineConfig {
        let mut config = EngineConfig::new(self.data_folder.clone(), Host::Window);
        config.home = std::env::home_dir();
        config.version = env!("CARGO_PKG_VERSION");
        config.env = self.env.clone();
        config
    }
}

/// What the environment says, read once: keys for the providers' own addresses (W31), the mode of new sessions
/// (W23), and the variables of which children get the harmless part (W28).
fn environment() -> HostEnv {
    let vars: Vec<_> = std::env::vars_os().collect();
    let text = |name: &str| {
        let value = vars.iter().find(|(key, _)| key == name)?.1.to_str()?;
        (!value.is_empty()).then(|| value.to_owned())
    };
    let key = |kind: ProviderKind| {
        let variable = kind.key_variable()?;
        Some(EnvKey { kind, origin_base_url: None, variable: variable.to_owned(), key: text(variable)? })
    };
    let api_keys = [ProviderKind::Anthropic, ProviderKind::Openai].into_iter().filter_map(key).collect();
    let default_mode = text(SessionMode::VARIABLE).and_then(|value| SessionMode::of_switch(&value));
    HostEnv { api_keys, default_mode, vars }
}

/// An answer of another kind than was asked for: a defect.
pub(crate) fn unexpected(what: &impl std::fmt::Debug) -> CoxError {
    CoxError::new(ErrorCode::Internal, format!("the engine gave an unexpected answer: {what:?}"))
}
