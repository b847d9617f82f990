//! Anthropic Messages (WIRE.md 1): [`request`] writes, [`stream`] reads blocks
//! that are [`open`] until they stop.

mod open;
mod request;
mod stream;

use crate::address::Address;
use crate::door::{ModelEvent, ModelRequest, Provider};
use crate::error::ProviderError;
use crate::fault::Asked;
use crate::flow::flow;
use crate::http::{self, Exchange, secret};
use crate::keys::Key;
use crate::models;
use crate::net::Net;
use async_trait::async_trait;
use cox_protocol::settings::ProviderKind;
use futures::stream::BoxStream;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::Value;

/// The wire format's name in [`cox_protocol::entry::ProviderRaw`].
const NAME: &str = "anthropic";
const VERSION: &str = "2023-06-01";

/// A server that speaks Anthropic Messages.
pub(crate) struct Anthropic {
    net: Net,
    address: Address,
    key: Option<Key>,
}

impl Anthropic {
    pub(crate) fn new(net: Net, address: Address, key: Option<Key>) -> Self {
        Self { net, address, key }
    }

    fn asked(&self, model: &str) -> Asked {
        Asked {
            kind: ProviderKind::Anthropic,
            address: self.address.clone(),
            key: self.key.clone(),
            model: model.to_owned(),
        }
    }

    fn headers(&self, betas: &[String]) -> Result<HeaderMap, ProviderError> {
        let mut headers = HeaderMap::new();
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
        if let Some(key) = &self.key {
            headers.insert("x-api-key", secret(key.expose())?);
        }
        if let Ok(value) = HeaderValue::from_str(&betas.join(","))
            && !betas.is_empty()
        {
            headers.insert("anthropic-beta", value);
        }
        Ok(headers)
    }
}

#[async_trait]
impl Provider for Anthropic {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Anthropic
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        let (net, asked) = (self.net.clone(), self.asked(&request.model));
        let url = self.address.join("/v1/messages");
        let headers = self.headers(&models::lookup(ProviderKind::Anthropic, &request.model).betas);
        flow(|out| async move {
            let wire = request::write(&request);
            out.push(ModelEvent::Sent { mark: wire.mark.clone(), moved: wire.moved });
            let exchange = Exchange { net, asked: asked.clone(), url, headers: headers?, body: wire.body };
            http::run(exchange, out, || stream::Answer::new(&asked, &request, &wire.mark)).await
        })
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        let url = self.address.join("/v1/models?limit=1000");
        let list = http::get(&self.net, &self.asked(""), url, self.headers(&[])?).await?;
        let data = list["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(data.iter().filter_map(|model| model["id"].as_str()).map(str::to_owned).collect())
    }
}

/// The extra keys of a block that this version has no place for.
fn extras(block: &Value, known: &[&str]) -> Option<Value> {
    let map = block.as_object()?;
    let extra: serde_json::Map<_, _> = map
        .iter()
        .filter(|(key, _)| !known.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    (!extra.is_empty()).then_some(Value::Object(extra))
}
