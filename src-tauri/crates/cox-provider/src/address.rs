//! Where requests go: base URLs, the origins that keys belong to, and where plain http is allowed (W31).

use crate::error::ProviderError;
use cox_protocol::settings::{ProviderKind, ProviderSettings};
use cox_protocol::task::FailKind;
use reqwest::Url;

/// Anthropic's own address, without `/v1`.
pub const ANTHROPIC: &str = "https://api.anthropic.com";
/// OpenAI's own address, with `/v1`.
pub const OPENAI: &str = "https://api.openai.com/v1";

/// A checked base URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    base: String,
    origin: String,
    host: String,
    loopback: bool,
}

impl Address {
    /// The address that the settings stand for. An error when there is none (rehearsal), when it can't be used, or
    /// when it is plain http to another machine and not confirmed.
    pub fn of(settings: &ProviderSettings) -> Result<Self, ProviderError> {
        let address = Self::parse(settings)?;
        if address.is_plain() && !address.loopback && !settings.plain_http_confirmed {
            return Err(refused(format!(
                "{} is plain http to another machine, so anybody on the way can read the key and the files",
                address.base
            ))
            .hint("Use https, or confirm plain http for this address."));
        }
        Ok(address)
    }

    fn parse(settings: &ProviderSettings) -> Result<Self, ProviderError> {
        let own = match settings.kind {
            ProviderKind::Anthropic => ANTHROPIC,
            ProviderKind::Openai => OPENAI,
            ProviderKind::Rehearsal => return Err(refused("rehearsal has no address".into())),
        };
        let given = settings.base_url.as_deref().map_or(own, str::trim);
        let given = if given.is_empty() { own } else { given };
        // What was given is not repeated: people paste keys into the wrong field.
        let url = Url::parse(given).map_err(|error| bad(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad("it begins neither with https:// nor with http://"));
        }
        let Some(host) = url.host_str().map(str::to_owned) else { return Err(bad("it names no server")) };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("it holds a name or a password; a key has its own field"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(bad("it has a part after ? or #"));
        }
        let loopback = is_loopback(&url);
        Ok(Self {
            base: url.as_str().trim_end_matches('/').to_owned(),
            origin: url.origin().ascii_serialization(),
            host,
            loopback,
        })
    }

    /// The URL of a path below the base, for example `/v1/messages`.
    pub fn join(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// The base URL without a slash at its end.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Scheme, host and port: what a key belongs to.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The host's name.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// It is this machine.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// It is http without encryption.
    pub fn is_plain(&self) -> bool {
        self.base.starts_with("http:")
    }

    /// It is the provider's own, where nothing works without a key.
    pub fn is_own(&self) -> bool {
        self.base == ANTHROPIC || self.base == OPENAI
    }
}

/// Does this address need the user's word first, because it is plain http to another machine?
pub fn needs_confirmation(settings: &ProviderSettings) -> bool {
    !settings.plain_http_confirmed
        && Address::parse(settings).is_ok_and(|address| address.is_plain() && !address.is_loopback())
}

fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<std::net::IpAddr>() {
        Ok(ip) => ip.is_loopback(),
        Err(_) => bare == "localhost" || bare.ends_with(".localhost"),
    }
}

fn bad(why: &str) -> ProviderError {
    refused(format!("the base URL can't be used: {why}"))
        .hint("Anthropic: https://api.anthropic.com. OpenAI-compatible servers: with /v1 at the end, as in http://localhost:8080/v1.")
}

fn refused(message: String) -> ProviderError {
    ProviderError::new(FailKind::InvalidRequest, message)
}
