//! Which panels the engine holds in memory, and until when (W12).
//!
//! *Viewed* means opened, focused or kept. A panel that is not viewed leaves 30 s after the later of leaving
//! and ending, and never while its task is not terminal. What leaves is the panel's entries in memory; the
//! worker itself stays in the store and is loaded from there when it is opened again.

use cox_protocol::event::{Event, EventKind};
use cox_protocol::id::{SessionId, TaskId};
use cox_protocol::push::{PanelState, Retention};
use cox_protocol::view::PanelView;
use std::collections::HashMap;
use std::sync::Arc;

/// Milliseconds from the later of leaving and ending to eviction.
pub const PANEL_GRACE_MS: i64 = 30_000;

/// Entries that a panel holds in memory; earlier ones come from the store in pages.
pub(crate) const PANEL_ENTRIES: u32 = 200;

/// Entries at which a panel in memory is cut back to [`PANEL_ENTRIES`].
const PANEL_ENTRIES_MOST: usize = 600;

#[derive(Default)]
pub(crate) struct Panels {
    slots: HashMap<TaskId, Slot>,
}

struct Slot {
    session: SessionId,
    viewed: bool,
    kept: bool,
    visible: bool,
    /// When it was left, or made without being viewed.
    left_at: i64,
    /// When its task's last generation ended; null while it is not terminal.
    ended_at: Option<i64>,
    content: Content,
}

enum Content {
    /// Being loaded; what is committed meanwhile.
    Loading(Vec<Arc<Event>>),
    Loaded(PanelView),
}

/// What a caller has to do after it opened a panel.
#[derive(PartialEq, Eq)]
pub(crate) enum Opened {
    /// Load it from the store and hand it to [`Panels::loaded`].
    Load,
    /// Nothing: it is in memory, or being loaded.
    InMemory,
}

impl Panels {
    /// Makes sure that there is a panel. It begins as left.
    pub(crate) fn open(
        &mut self,
        task: &TaskId,
        session: &SessionId,
        ended_at: Option<i64>,
        now: i64,
    ) -> Opened {
        if self.slots.contains_key(task) {
            return Opened::InMemory;
        }
        self.slots.insert(
            task.clone(),
            Slot {
                session: session.clone(),
                viewed: false,
                kept: false,
                visible: false,
                left_at: now,
                ended_at,
                content: Content::Loading(Vec::new()),
            },
        );
        Opened::Load
    }

    /// Takes what the store had; events that were committed meanwhile are folded in.
    pub(crate) fn loaded(&mut self, task: &TaskId, mut view: PanelView) {
        let Some(slot) = self.slots.get_mut(task) else { return };
        if let Content::Loading(events) = &slot.content {
            for event in events {
                view.apply(event);
            }
            slot.content = Content::Loaded(view);
        }
    }

    /// The panel, when it is in memory.
    pub(crate) fn get(&self, task: &TaskId) -> Option<&PanelView> {
        match &self.slots.get(task)?.content {
            Content::Loaded(view) => Some(view),
            Content::Loading(_) => None,
        }
    }

    pub(crate) fn view(&mut self, task: &TaskId) -> Option<PanelState> {
        self.slots.get_mut(task)?.viewed = true;
        self.state(task)
    }

    pub(crate) fn leave(&mut self, task: &TaskId, now: i64) -> Option<PanelState> {
        let slot = self.slots.get_mut(task)?;
        if slot.viewed {
            slot.viewed = false;
            slot.left_at = now;
        }
        self.state(task)
    }

    pub(crate) fn keep(&mut self, task: &TaskId, keep: bool, now: i64) -> Option<PanelState> {
        let slot = self.slots.get_mut(task)?;
        slot.kept = keep;
        if !keep {
            slot.left_at = now;
        }
        self.state(task)
    }

    /// These, and only these, are on screen.
    pub(crate) fn show(&mut self, tasks: &[TaskId]) {
        for (task, slot) in &mut self.slots {
            slot.visible = tasks.contains(task);
        }
    }

    /// The window went away: that counts as leaving every panel.
    pub(crate) fn leave_all(&mut self, now: i64) -> Vec<PanelState> {
        let tasks: Vec<TaskId> = self.slots.keys().cloned().collect();
        self.show(&[]);
        tasks.iter().filter_map(|task| self.leave(task, now)).collect()
    }

    pub(crate) fn is_visible(&self, task: &TaskId) -> bool {
        self.slots.get(task).is_some_and(|slot| slot.visible)
    }

    /// Is a panel of this session in memory?
    pub(crate) fn is_open(&self, session: &SessionId) -> bool {
        self.slots.values().any(|slot| &slot.session == session)
    }

    /// Folds a committed event in. Gives the new state when the event changed it.
    pub(crate) fn apply(&mut self, event: &Arc<Event>) -> Option<PanelState> {
        let task = event.task_id.as_ref()?;
        let slot = self.slots.get_mut(task)?;
        match &mut slot.content {
            Content::Loading(events) => events.push(Arc::clone(event)),
            Content::Loaded(view) => {
                view.apply(event);
                if view.entries.len() > PANEL_ENTRIES_MOST {
                    let extra = view.entries.len() - usize::try_from(PANEL_ENTRIES).unwrap_or(usize::MAX);
                    view.entries.drain(..extra);
                    view.has_earlier = true;
                }
            }
        }
        match event.known()? {
            EventKind::GenerationEnded { .. } => slot.ended_at = Some(event.at),
            EventKind::GenerationStarted { .. } => slot.ended_at = None,
            _ => return None,
        }
        self.state(task)
    }

    /// When the next panel is due to leave.
    pub(crate) fn next_eviction(&self) -> Option<i64> {
        self.slots.values().filter_map(Slot::evict_at).min()
    }

    /// Drops what is due.
    pub(crate) fn evict(&mut self, now: i64) -> Vec<PanelState> {
        let due: Vec<TaskId> = self
            .slots
            .iter()
            .filter(|(_, slot)| slot.evict_at().is_some_and(|at| at <= now))
            .map(|(task, _)| task.clone())
            .collect();
        for task in &due {
            self.slots.remove(task);
        }
        due.into_iter().map(|task_id| PanelState { task_id, retention: Retention::Evicted }).collect()
    }

    pub(crate) fn state(&self, task: &TaskId) -> Option<PanelState> {
        let slot = self.slots.get(task)?;
        let retention = match (slot.kept, slot.viewed, slot.evict_at()) {
            (true, ..) => Retention::Kept,
            (_, true, _) => Retention::Viewed,
            (_, _, Some(evict_at)) => Retention::Leaving { evict_at },
            (_, _, None) => Retention::Left,
        };
        Some(PanelState { task_id: task.clone(), retention })
    }
}

impl Slot {
    fn evict_at(&self) -> Option<i64> {
        if self.viewed || self.kept {
            return None;
        }
        Some(self.left_at.max(self.ended_at?) + PANEL_GRACE_MS)
    }
}
