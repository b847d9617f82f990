//! Reads the environment once, and opens the engine.

use crate::args::HostArgs;
use crate::exit::{Exit, Stop};
use cox_engine::{Engine, EngineConfig, EnvKey, Host, HostEnv, default_data_folder};
use cox_protocol::settings::{ProviderKind, ProviderSettings};
use cox_protocol::task::SessionMode;

/// Opens the engine as this host: nobody can be asked.
pub(crate) async fn open(args: &HostArgs, more: More) -> Result<Engine, Stop> {
    let mut env = environment();
    let data_folder = match &args.data_dir {
        Some(folder) => std::path::absolute(folder).map_err(|error| {
            Stop::usage(format!("{} can't be used as data folder: {error}", folder.display()))
        })?,
        None => default_data_folder(&env.vars).ok_or_else(|| {
            Stop::new(Exit::Open, "there is no place for data: neither HOME nor XDG_DATA_HOME is set")
                .hint("Name one with --data-dir DIR.")
        })?,
    };
    env.api_keys.extend(more.key);
    let mut config = EngineConfig::new(data_folder, Host::Headless);
    config.home = std::env::home_dir();
    config.version = env!("CARGO_PKG_VERSION");
    config.max_workers = more.max_workers;
    config.env = env;
    Ok(Engine::open(config).await?)
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

/// What the command line adds to the environment.
#[derive(Default)]
pub(crate) struct More {
    /// Workers at once.
    pub(crate) max_workers: Option<u32>,
    /// A key for one server.
    pub(crate) key: Option<EnvKey>,
}

/// The key in a variable that the user named, for the server that the user named (W31).
pub(crate) fn key_from(variable: &str, provider: &ProviderSettings) -> Result<EnvKey, Stop> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty());
    let key = value.and_then(|value| value.into_string().ok());
    let key =
        key.ok_or_else(|| Stop::new(Exit::Provider, format!("the variable {variable} holds no key")))?;
    Ok(EnvKey {
        kind: provider.kind,
        origin_base_url: provider.base_url.clone(),
        variable: variable.to_owned(),
        key,
    })
}
