//! A door to a model that can't be opened: it gives the reason at each request, so that a session without a key
//! can still be read, and says what to do when it is used.

use async_trait::async_trait;
use cox_protocol::settings::ProviderKind;
use cox_provider::{ModelEvent, ModelRequest, Provider, ProviderError};
use futures::StreamExt;
use futures::stream::BoxStream;

pub(crate) struct ShutDoor {
    kind: ProviderKind,
    error: ProviderError,
}

impl ShutDoor {
    pub(crate) fn new(kind: ProviderKind, error: ProviderError) -> Self {
        Self { kind, error }
    }
}

#[async_trait]
impl Provider for ShutDoor {
    fn kind(&self) -> ProviderKind {
        self.kind
    }

    fn stream(&self, _request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ProviderError>> {
        futures::stream::iter([Err(self.error.clone())]).boxed()
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        Err(self.error.clone())
    }
}
