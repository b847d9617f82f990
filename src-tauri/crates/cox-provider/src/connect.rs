//! From settings and a key to a provider.

use crate::address::Address;
use crate::anthropic::Anthropic;
use crate::door::Provider;
use crate::error::ProviderError;
use crate::keys::Key;
use crate::net::Net;
use crate::openai::OpenAi;
use crate::rehearsal::Rehearsal;
use cox_protocol::settings::{ProviderKind, ProviderSettings};
use cox_protocol::task::FailKind;
use std::sync::Arc;

/// The provider that the settings stand for. No request is made. An error when the address can't be used, or when
/// the provider's own address is to be used without a key.
pub fn connect(
    settings: &ProviderSettings,
    key: Option<Key>,
    net: &Net,
) -> Result<Arc<dyn Provider>, ProviderError> {
    Ok(match settings.kind {
        ProviderKind::Anthropic => {
            let (address, key) = reachable(settings, key)?;
            Arc::new(Anthropic::new(net.clone(), address, key))
        }
        ProviderKind::Openai => {
            let (address, key) = reachable(settings, key)?;
            Arc::new(OpenAi::new(net.clone(), address, key))
        }
        ProviderKind::Rehearsal => Arc::new(Rehearsal { pace: net.options().rehearsal_pace }),
    })
}

fn reachable(settings: &ProviderSettings, key: Option<Key>) -> Result<(Address, Option<Key>), ProviderError> {
    let address = Address::of(settings)?;
    if key.is_none() && address.is_own() {
        return Err(ProviderError::new(FailKind::Auth, format!("there is no key for {}", address.origin()))
            .hint("Set one in the settings, or name its variable with --api-key-env."));
    }
    Ok((address, key))
}
