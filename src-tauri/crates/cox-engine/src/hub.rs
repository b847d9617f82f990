//! Where what the engine does meets those who look at it.
//!
//! 1. The store's writer calls [`Hub::committed`] with every committed event, in order.
//! 2. The hub folds it into the panels in memory and puts it into each subscriber's pending batch.
//! 3. Pieces of answers in progress come by [`Hub::delta`]; they reach only panels on screen.
//! 4. A host takes what is pending with [`crate::Pushes::next`], at its own pace. What a slow host leaves is
//!    bounded: past the bound items are dropped and the batch says so (`gap`).

use crate::clock::Clock;
use crate::panels::{Opened, Panels};
use cox_protocol::event::{Event, EventKind};
use cox_protocol::id::{SessionId, TaskId};
use cox_protocol::push::{Delta, PanelState, SessionLive};
use cox_protocol::view::{PanelView, Partial, PartialBlock, PartialKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;

/// Events that wait for a host before the batch is a gap.
const EVENTS_MOST: usize = 20_000;
/// Bytes of deltas that wait for a host before the batch is a gap.
const DELTA_BYTES_MOST: usize = 4 * 1024 * 1024;

/// Which events a subscriber wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// All of them: a host that prints the log.
    Everything,
    /// Entries only of sessions with a panel in memory: a window.
    OpenSessions,
}

pub(crate) struct Hub {
    state: Mutex<State>,
    clock: Arc<dyn Clock>,
    /// The time of the next eviction may have changed.
    retention: Notify,
}

#[derive(Default)]
struct State {
    panels: Panels,
    live: HashMap<TaskId, LiveText>,
    subscribers: Vec<Weak<Subscriber>>,
}

/// The answer in progress of one task, and the length of each block in UTF-16 units.
#[derive(Default)]
struct LiveText {
    partial: Partial,
    lengths: Vec<u32>,
}

/// A piece of an answer as the turn loop has it.
pub(crate) struct Piece<'a> {
    pub(crate) generation: u32,
    pub(crate) turn: u32,
    pub(crate) block: u32,
    pub(crate) kind: PartialKind,
    pub(crate) tool: &'a str,
    pub(crate) text: &'a str,
}

pub(crate) struct Subscriber {
    wants: Wants,
    pending: Mutex<Pending>,
    wake: Notify,
}

/// What waits for a host.
#[derive(Default)]
pub(crate) struct Pending {
    pub(crate) events: Vec<Arc<Event>>,
    pub(crate) deltas: Vec<Delta>,
    delta_bytes: usize,
    pub(crate) panels: BTreeMap<TaskId, PanelState>,
    pub(crate) sessions: BTreeSet<SessionId>,
    pub(crate) live: Vec<SessionLive>,
    pub(crate) projects: bool,
    pub(crate) environment: bool,
    pub(crate) gap: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hub {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State::default()), clock, retention: Notify::new() })
    }

    pub(crate) fn subscribe(&self, wants: Wants) -> Arc<Subscriber> {
        let subscriber =
            Arc::new(Subscriber { wants, pending: Mutex::new(Pending::default()), wake: Notify::new() });
        lock(&self.state).subscribers.push(Arc::downgrade(&subscriber));
        subscriber
    }

    /// Takes committed events; called by the store's writer, in order.
    pub(crate) fn committed(&self, events: &[Arc<Event>]) {
        let mut state = lock(&self.state);
        for event in events {
            if let (Some(task), Some(EventKind::Entry { entry: cox_protocol::Entry::Assistant { .. } })) =
                (&event.task_id, event.known())
            {
                state.live.remove(task);
            }
            if let (Some(task), Some(EventKind::GenerationEnded { .. })) = (&event.task_id, event.known()) {
                state.live.remove(task);
            }
            if let Some(panel) = state.panels.apply(event) {
                state.tell(|pending| {
                    pending.panels.insert(panel.task_id.clone(), panel.clone());
                });
                self.retention.notify_one();
            }
            let open = state.panels.is_open(&event.session_id);
            let detail = matches!(
                event.known(),
                Some(EventKind::Entry { .. } | EventKind::ToolStarted { .. } | EventKind::Usage { .. })
            );
            state.tell_each(|subscriber, pending| {
                if subscriber.wants == Wants::Everything || open || !detail {
                    if pending.events.len() < EVENTS_MOST {
                        pending.events.push(Arc::clone(event));
                    } else {
                        pending.gap = true;
                    }
                }
                pending.sessions.insert(event.session_id.clone());
            });
        }
    }

    /// Takes a piece of an answer in progress.
    pub(crate) fn delta(&self, task: &TaskId, piece: &Piece<'_>) {
        let mut state = lock(&self.state);
        let visible = state.panels.is_visible(task);
        let live = state.live.entry(task.clone()).or_default();
        let Some(offset) = live.push(piece) else { return };
        if !visible {
            return;
        }
        state.tell(|pending| pending.push_delta(task, piece, offset));
    }

    /// The text of the answer in progress.
    pub(crate) fn partial(&self, task: &TaskId) -> Option<Partial> {
        lock(&self.state).live.get(task).map(|live| live.partial.clone())
    }

    /// The answer in progress is given up.
    pub(crate) fn drop_partial(&self, task: &TaskId) {
        lock(&self.state).live.remove(task);
    }

    pub(crate) fn open_panel(&self, task: &TaskId, session: &SessionId, ended_at: Option<i64>) -> Opened {
        lock(&self.state).panels.open(task, session, ended_at, self.clock.now_ms())
    }

    pub(crate) fn panel_loaded(&self, task: &TaskId, view: PanelView) {
        lock(&self.state).panels.loaded(task, view);
        self.retention.notify_one();
    }

    /// The panel with the answer in progress, when it is in memory.
    pub(crate) fn panel(&self, task: &TaskId) -> Option<PanelView> {
        let state = lock(&self.state);
        let mut view = state.panels.get(task)?.clone();
        view.partial = state.live.get(task).map(|live| live.partial.clone());
        Some(view)
    }

    /// Changes panels and tells everyone what became of them.
    pub(crate) fn panels(&self, change: impl FnOnce(&mut Panels, i64) -> Vec<PanelState>) {
        let mut state = lock(&self.state);
        let changed = change(&mut state.panels, self.clock.now_ms());
        state.tell(|pending| {
            for panel in &changed {
                pending.panels.insert(panel.task_id.clone(), panel.clone());
            }
        });
        self.retention.notify_one();
    }

    pub(crate) fn tell(&self, change: impl Fn(&mut Pending)) {
        lock(&self.state).tell(change);
    }

    /// Evicts panels when they are due, for as long as it is polled.
    pub(crate) async fn keep_time(&self) {
        loop {
            let due = lock(&self.state).panels.next_eviction();
            let wait = due.map(|at| u64::try_from(at - self.clock.now_ms()).unwrap_or_default());
            tokio::select! {
                () = self.retention.notified() => {}
                () = self.clock.sleep(Duration::from_millis(wait.unwrap_or_default())), if wait.is_some() => {
                    self.panels(|panels, now| panels.evict(now));
                }
            }
        }
    }
}

impl State {
    fn tell(&mut self, change: impl Fn(&mut Pending)) {
        self.tell_each(|_, pending| change(pending));
    }

    fn tell_each(&mut self, change: impl Fn(&Subscriber, &mut Pending)) {
        self.subscribers.retain(|weak| {
            let Some(subscriber) = weak.upgrade() else { return false };
            change(&subscriber, &mut lock(&subscriber.pending));
            subscriber.wake.notify_one();
            true
        });
    }
}

impl LiveText {
    /// Appends, and gives the block's length before; null for an empty piece of a block that is there.
    fn push(&mut self, piece: &Piece<'_>) -> Option<u32> {
        if (self.partial.generation, self.partial.turn) != (piece.generation, piece.turn) {
            *self = Self::default();
            self.partial.generation = piece.generation;
            self.partial.turn = piece.turn;
        }
        let at = usize::try_from(piece.block).ok()?;
        let is_new = self.partial.blocks.len() <= at;
        while self.partial.blocks.len() <= at {
            self.partial.blocks.push(PartialBlock {
                kind: piece.kind,
                text: String::new(),
                tool: piece.tool.to_owned(),
            });
            self.lengths.push(0);
        }
        if piece.text.is_empty() && !is_new {
            return None;
        }
        let offset = self.lengths[at];
        self.partial.blocks[at].text.push_str(piece.text);
        self.lengths[at] += u32::try_from(piece.text.encode_utf16().count()).unwrap_or(u32::MAX);
        Some(offset)
    }
}

impl Pending {
    fn push_delta(&mut self, task: &TaskId, piece: &Piece<'_>, offset: u32) {
        if self.delta_bytes + piece.text.len() > DELTA_BYTES_MOST {
            self.deltas.clear();
            self.delta_bytes = 0;
            self.gap = true;
        }
        self.delta_bytes += piece.text.len();
        if let Some(last) = self.deltas.last_mut()
            && (&last.task_id, last.generation, last.turn, last.block)
                == (task, piece.generation, piece.turn, piece.block)
        {
            last.text.push_str(piece.text);
            return;
        }
        self.deltas.push(Delta {
            task_id: task.clone(),
            generation: piece.generation,
            turn: piece.turn,
            block: piece.block,
            kind: piece.kind,
            tool: piece.tool.to_owned(),
            offset,
            text: piece.text.to_owned(),
        });
    }

    fn is_empty(&self) -> bool {
        self.events.is_empty()
            && self.deltas.is_empty()
            && self.panels.is_empty()
            && self.sessions.is_empty()
            && self.live.is_empty()
            && !self.projects
            && !self.environment
            && !self.gap
    }
}

impl Subscriber {
    /// Everything that waits; waits itself until there is something.
    pub(crate) async fn take(&self) -> Pending {
        loop {
            let taken = std::mem::take(&mut *lock(&self.pending));
            if !taken.is_empty() {
                return taken;
            }
            self.wake.notified().await;
        }
    }
}
