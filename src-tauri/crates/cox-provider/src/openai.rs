//! OpenAI Chat Completions and its many relatives (WIRE.md 2.1 and 3): [`request`] writes, [`answer`] reads.
//!
//! What every server gets wrong in its own way is forgiven everywhere ([`slots`]); what can't be forgiven everywhere
//! is a named quirk of a profile ([`profile`]).

mod answer;
mod leak;
mod profile;
mod reasoning;
mod request;
mod slots;
mod verdict;

use crate::address::Address;
use crate::door::{ModelEvent, ModelRequest, Provider};
use crate::error::ProviderError;
use crate::fault::Asked;
use crate::flow::flow;
use crate::http::{self, Exchange, secret};
use crate::keys::Key;
use crate::net::Net;
use async_trait::async_trait;
use cox_protocol::settings::ProviderKind;
use futures::stream::BoxStream;
use profile::Profile;
use reqwest::header::{AUTHORIZATION, HeaderMap};

/// The wire format's name in [`cox_protocol::entry::ProviderRaw`].
const NAME: &str = "openai";

/// A server that speaks Chat Completions.
pub(crate) struct OpenAi {
    net: Net,
    address: Address,
    key: Option<Key>,
    profile: &'static Profile,
}

impl OpenAi {
    pub(crate) fn new(net: Net, address: Address, key: Option<Key>) -> Self {
        let profile = Profile::of(address.host());
        tracing::debug!(server = address.origin(), profile = profile.name, "connected");
        Self { net, address, key, profile }
    }

    fn asked(&self, model: &str) -> Asked {
        Asked {
            kind: ProviderKind::Openai,
            address: self.address.clone(),
            key: self.key.clone(),
            model: model.to_owned(),
        }
    }

    fn headers(&self) -> Result<HeaderMap, ProviderError> {
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.key {
            headers.insert(AUTHORIZATION, secret(&format!("Bearer {}", key.expose()))?);
        }
        Ok(headers)
    }
}

#[async_trait]
impl Provider for OpenAi {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Openai
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        let (net, asked, profile) = (self.net.clone(), self.asked(&request.model), self.profile);
        let url = self.address.join("/chat/completions");
        let headers = self.headers();
        flow(|out| async move {
            let wire = request::write(&request, profile);
            out.push(ModelEvent::Sent { mark: wire.mark.clone(), moved: wire.moved });
            let sent = verdict::Sent {
                profile,
                bytes: wire.body.len() as u64,
                max_tokens: wire.max_tokens,
                tools: request.tools.clone(),
            };
            let exchange = Exchange { net, asked: asked.clone(), url, headers: headers?, body: wire.body };
            http::run(exchange, out, || answer::Answer::new(&asked, &sent, &request, &wire.mark)).await
        })
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        let list =
            http::get(&self.net, &self.asked(""), self.address.join("/models"), self.headers()?).await?;
        let data = list["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(data.iter().filter_map(|model| model["id"].as_str()).map(str::to_owned).collect())
    }
}
