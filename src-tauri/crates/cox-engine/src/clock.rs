//! Time as a port (W6): the engine asks this for every time stamp and every wait that a test may want to move.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// A wait that a clock hands out.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where time comes from. Implemented by [`SystemClock`] for hosts and by [`TestClock`] for tests.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> i64;
    /// Ends when this clock has moved on by `duration`.
    fn sleep(&self, duration: Duration) -> Sleep;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A clock that stands still until a test moves it.
#[derive(Clone, Debug, Default)]
pub struct TestClock {
    now: Arc<Mutex<i64>>,
    moved: Arc<Notify>,
}

impl TestClock {
    /// A clock that shows this time, in milliseconds since 1970.
    pub fn at(now_ms: i64) -> Self {
        Self { now: Arc::new(Mutex::new(now_ms)), moved: Arc::new(Notify::new()) }
    }

    /// Moves the clock on and ends every wait that is due.
    pub fn advance(&self, duration: Duration) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) +=
            i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        self.moved.notify_waiters();
    }
}

impl Clock for TestClock {
    fn now_ms(&self) -> i64 {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let clock = self.clone();
        let due = clock.now_ms() + i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Box::pin(async move {
            loop {
                // Registered before the look at the time, so that a move in between is not missed.
                let moved = clock.moved.notified();
                if clock.now_ms() >= due {
                    return;
                }
                moved.await;
            }
        })
    }
}
