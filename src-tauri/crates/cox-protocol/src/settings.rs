//! What the user chose. Keys are never part of it (W31).

use crate::task::{Limits, PermissionMode, SessionMode};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// All settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(export)]
pub struct Settings {
    /// The first-run choice was made.
    pub onboarded: bool,
    /// Where new sessions send their requests.
    pub provider: ProviderSettings,
    /// What the model aliases stand for.
    pub models: ModelAliases,
    /// The mode of a new session.
    pub session_mode: SessionMode,
    /// The permission mode of a new session; never `bypassPermissions`.
    pub permission_mode: PermissionMode,
    /// Limits of a new session.
    pub limits: Limits,
    /// Colours.
    pub theme: Theme,
    /// Base font size in pixels, 11 to 20.
    pub font_size: f32,
    /// `synchronous=FULL`: survives a power cut, costs about 5 ms a commit.
    pub durable: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            onboarded: false,
            provider: ProviderSettings::default(),
            models: ModelAliases::default(),
            session_mode: SessionMode::Coordinator,
            permission_mode: PermissionMode::Default,
            limits: Limits::default(),
            theme: Theme::System,
            font_size: 13.5,
            durable: false,
        }
    }
}

/// A server and its wire format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(export)]
pub struct ProviderSettings {
    /// The wire format.
    pub kind: ProviderKind,
    /// Null: the provider's own address. Anthropic without `/v1`, OpenAI-compatible with it.
    pub base_url: Option<String>,
    /// Plain http to this address is confirmed although it is not loopback.
    pub plain_http_confirmed: bool,
}

impl Default for ProviderSettings {
    fn default() -> Self {
        Self { kind: ProviderKind::Rehearsal, base_url: None, plain_http_confirmed: false }
    }
}

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ProviderKind {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, or a server compatible with it.
    Openai,
    /// The built-in offline model.
    Rehearsal,
}

impl ProviderKind {
    /// As written in events and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
            Self::Rehearsal => "rehearsal",
        }
    }

    /// The environment variable in which a host looks for a key for the provider's own address (W31).
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Openai => Some("OPENAI_API_KEY"),
            Self::Rehearsal => None,
        }
    }
}

/// What the aliases in a dispatch stand for (W37); empty: the session's own model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(export)]
pub struct ModelAliases {
    /// The lead's model, and what `inherit` means for its workers.
    pub lead: String,
    /// `fast`, `haiku`.
    pub fast: String,
    /// `standard`, `sonnet`.
    pub standard: String,
    /// `strong`, `opus`.
    pub strong: String,
}

/// Colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Theme {
    /// As the desktop says.
    System,
    /// Dark.
    Dark,
    /// Light.
    Light,
}
