//! From an async function that hands out events to a stream of them, without a task of its own: whoever drops the
//! stream drops the function, and with it the connection.

use crate::door::ModelEvent;
use crate::error::ProviderError;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

/// Where the function puts its events.
#[derive(Clone, Default)]
pub(crate) struct Out(Arc<Mutex<Queue>>);

#[derive(Default)]
struct Queue {
    events: VecDeque<ModelEvent>,
    delivered: bool,
}

impl Out {
    /// Hands out an event.
    pub(crate) fn push(&self, event: ModelEvent) {
        let mut queue = self.lock();
        queue.delivered |= matches!(event, ModelEvent::Delta { .. } | ModelEvent::Block { .. });
        queue.events.push_back(event);
    }

    /// Was anything of an answer handed out? Then the request must not be sent again.
    pub(crate) fn delivered(&self) -> bool {
        self.lock().delivered
    }

    fn pop(&self) -> Option<ModelEvent> {
        self.lock().events.pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The stream of what the function hands out, and of the error it ends with, if it does.
pub(crate) fn flow<F>(work: impl FnOnce(Out) -> F) -> BoxStream<'static, Result<ModelEvent, ProviderError>>
where
    F: Future<Output = Result<(), ProviderError>> + Send + 'static,
{
    let out = Out::default();
    let mut work = Some(Box::pin(work(out.clone())));
    let mut failure = None;
    stream::poll_fn(move |cx| {
        if let Some(event) = out.pop() {
            return Poll::Ready(Some(Ok(event)));
        }
        let Some(running) = &mut work else { return Poll::Ready(failure.take().map(Err)) };
        match running.as_mut().poll(cx) {
            Poll::Pending => out.pop().map_or(Poll::Pending, |event| Poll::Ready(Some(Ok(event)))),
            Poll::Ready(result) => {
                work = None;
                failure = result.err();
                Poll::Ready(out.pop().map(Ok).or_else(|| failure.take().map(Err)))
            }
        }
    })
    .boxed()
}
