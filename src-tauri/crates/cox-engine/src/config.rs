//! What a host gives the engine when it opens it. The engine reads no environment of its own.

use crate::clock::{Clock, SystemClock};
use crate::mint::{Random, system_random};
use cox_protocol::settings::ProviderKind;
use cox_protocol::task::SessionMode;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

pub use cox_provider::rehearsal::Pace;

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// A window: people can be asked, now or when it is back.
    Window,
    /// No one: a request for permission and a question are answered with `no_ui` (W26).
    Headless,
}

/// A key that the host found in its environment, and the server that it is for (W31).
#[derive(Clone)]
pub struct EnvKey {
    /// The wire format.
    pub kind: ProviderKind,
    /// The server; null: the provider's own.
    pub origin_base_url: Option<String>,
    /// The variable it came from; removed from the environment of every child.
    pub variable: String,
    /// The key.
    pub key: String,
}

/// What a host read from its environment, once.
#[derive(Clone, Default)]
pub struct HostEnv {
    /// Keys.
    pub api_keys: Vec<EnvKey>,
    /// All variables; children get the part of them that is on the allow-list (W28).
    pub vars: Vec<(OsString, OsString)>,
    /// The mode of a new session, where the environment names one (W23).
    pub default_mode: Option<SessionMode>,
}

/// How to open an engine.
pub struct EngineConfig {
    /// Where the database lives.
    pub data_folder: PathBuf,
    /// The user's home, for the check of dropped folders (W33).
    pub home: Option<PathBuf>,
    /// The version shown and recorded.
    pub version: &'static str,
    /// Who is at the other end.
    pub host: Host,
    /// What owns a session, for other processes to read: `coxswain` or `cox`.
    pub owner: String,
    /// How fast the rehearsal model streams.
    pub rehearsal_pace: Pace,
    /// What the host read from its environment.
    pub env: HostEnv,
    /// Workers at once, instead of the setting.
    pub max_workers: Option<u32>,
    /// Use the operating system's keychain.
    pub keychain: bool,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness for ids.
    pub random: Random,
}

impl EngineConfig {
    /// The usual configuration over this data folder.
    pub fn new(data_folder: PathBuf, host: Host) -> Self {
        Self {
            data_folder,
            home: None,
            version: env!("CARGO_PKG_VERSION"),
            host,
            owner: match host {
                Host::Window => "the Coxswain window".into(),
                Host::Headless => "cox".into(),
            },
            rehearsal_pace: match host {
                Host::Window => Pace::Human,
                Host::Headless => Pace::Instant,
            },
            env: HostEnv::default(),
            max_workers: None,
            keychain: true,
            clock: Arc::new(SystemClock),
            random: system_random(),
        }
    }
}

/// The default data folder, the same for the window and for `cox` (W7): `$COXSWAIN_DATA_DIR`, or the platform's
/// place for application data. Null when the environment names neither that nor a home.
pub fn default_data_folder(vars: &[(OsString, OsString)]) -> Option<PathBuf> {
    let var = |name: &str| {
        vars.iter()
            .find(|(key, value)| key == name && !value.is_empty())
            .map(|(_, value)| PathBuf::from(value))
    };
    if let Some(folder) = var("COXSWAIN_DATA_DIR") {
        return Some(folder);
    }
    if cfg!(target_os = "macos") {
        return Some(var("HOME")?.join("Library/Application Support/Coxswain"));
    }
    if cfg!(windows) {
        return Some(var("LOCALAPPDATA").or_else(|| var("APPDATA"))?.join("Coxswain"));
    }
    let base = var("XDG_DATA_HOME").filter(|path| path.is_absolute());
    Some(base.or_else(|| Some(var("HOME")?.join(".local/share")))?.join("coxswain"))
}
