//! Gates: an answer waits at one until the test opens it, and the test can wait until an answer got there.
//! No sleeps on either side.

use std::collections::HashMap;
use std::sync::Mutex;
use tokio::sync::Notify;

/// All gates of a server, by name. A gate exists as soon as somebody names it; an opened one stays open.
#[derive(Debug, Default)]
pub struct Gates {
    state: Mutex<HashMap<String, Gate>>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Gate {
    reached: usize,
    open: bool,
}

impl Gates {
    /// Opens a gate, for those who wait and for all who come later.
    pub fn open(&self, name: &str) {
        self.with(name, |gate| gate.open = true);
        self.changed.notify_waiters();
    }

    /// Waits until answers have reached a gate this many times in all.
    pub async fn reached(&self, name: &str, times: usize) {
        self.until(|| self.with(name, |gate| gate.reached >= times)).await;
    }

    /// Reaches a gate, and waits until it is open.
    pub async fn pass(&self, name: &str) {
        self.with(name, |gate| gate.reached += 1);
        self.changed.notify_waiters();
        self.until(|| self.with(name, |gate| gate.open)).await;
    }

    async fn until(&self, mut done: impl FnMut() -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            if done() {
                return;
            }
            changed.await;
        }
    }

    fn with<T>(&self, name: &str, change: impl FnOnce(&mut Gate) -> T) -> T {
        let mut state = self.state.lock().expect("no test panics inside a gate");
        change(state.entry(name.to_owned()).or_default())
    }
}
