//! The fold's state of the sessions that are being written to, kept between transactions, so that an append
//! does not read what it is about to change.

use crate::damage::Db;
use crate::projection;
use crate::table::sessions;
use crate::table::tasks::{self, Place};
use cox_protocol::event::EventKind;
use cox_protocol::view::SessionView;
use cox_protocol::{Event, SessionId, TaskId};
use rusqlite::Connection;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Sessions without a live task that are kept all the same, for the next message to them.
const IDLE_KEPT: usize = 2;

/// All of them.
#[derive(Default)]
pub(crate) struct Views {
    cached: HashMap<SessionId, Cached>,
}

struct Cached {
    view: SessionView,
    /// Tasks whose rows have to be written, and the last event about each, if there is a new one.
    touched: HashMap<TaskId, Option<u64>>,
    /// New tasks, by their place in the view: the events that made them.
    made: HashMap<usize, u64>,
    changed: bool,
}

impl Views {
    /// Folds one event in, and writes its rows but for the session's and the tasks'.
    pub(crate) fn apply(&mut self, db: Db<'_>, event: &Event) -> rusqlite::Result<()> {
        let cached = match self.cached.entry(event.session_id.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            // Loaded before this event's rows are written, or they would be in it twice.
            Entry::Vacant(free) => free.insert(Cached::load(db, &event.session_id)?),
        };
        projection::apply(db.conn, event)?;
        cached.touch(event);
        cached.view.apply(event);
        Ok(())
    }

    /// Writes the rows of all sessions and tasks that changed.
    pub(crate) fn write(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        for (id, cached) in self.cached.iter_mut().filter(|(_, cached)| cached.changed) {
            for (ordinal, task) in cached.view.tasks.iter().enumerate() {
                if let Some(seq) = cached.touched.get(&task.id) {
                    let place = Place { seq: *seq, made: cached.made.get(&ordinal).copied() };
                    tasks::put(conn, id, ordinal, task, place)?;
                }
            }
            sessions::put(conn, &mut cached.view)?;
            cached.touched.clear();
            cached.made.clear();
            cached.changed = false;
        }
        Ok(())
    }

    /// Another process has written: forgets the sessions that have events after the last one known here.
    pub(crate) fn forget_written_after(&mut self, conn: &Connection, seq: u64) -> rusqlite::Result<()> {
        let written: Vec<String> = conn
            .prepare_cached("SELECT DISTINCT session_id FROM events WHERE seq > ?1")?
            .query_map([crate::column::int(seq)], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for session in written {
            self.cached.remove(&SessionId::new(session));
        }
        Ok(())
    }

    /// A transaction failed: what is here may hold events that are not stored.
    pub(crate) fn clear(&mut self) {
        self.cached.clear();
    }

    /// Frees what no live task writes to, but for those that were written to last.
    pub(crate) fn evict(&mut self) {
        let live = |cached: &Cached| cached.view.tasks.iter().any(tasks::is_live);
        let mut idle: Vec<u64> =
            self.cached.values().filter(|cached| !live(cached)).map(|cached| cached.view.seq).collect();
        if idle.len() > IDLE_KEPT {
            idle.sort_unstable();
            let oldest_kept = idle[idle.len() - IDLE_KEPT];
            self.cached.retain(|_, cached| live(cached) || cached.view.seq >= oldest_kept);
        }
    }
}

impl Cached {
    fn load(db: Db<'_>, id: &SessionId) -> rusqlite::Result<Self> {
        let view = sessions::view(db, id)?.unwrap_or_else(|| SessionView::empty(id.clone()));
        Ok(Self { view, touched: HashMap::new(), made: HashMap::new(), changed: false })
    }

    /// Notes the tasks that an event changes. Called before it is folded in: an item's task is known only while
    /// the item is there.
    fn touch(&mut self, event: &Event) {
        self.changed = true;
        let kind = event.known();
        if let Some(task) = &event.task_id {
            self.touched.insert(task.clone(), Some(event.seq));
            if let Some(EventKind::TaskStarted { .. }) = kind {
                self.made.insert(self.view.tasks.len(), event.seq);
            }
        }
        let asker = match kind {
            Some(EventKind::InboxOpened { item }) => Some(&item.task_id),
            Some(EventKind::InboxClosed { id, .. }) => {
                self.view.inbox.iter().find(|item| &item.id == id).map(|item| &item.task_id)
            }
            _ => None,
        };
        if let Some(task) = asker {
            self.touched.entry(task.clone()).or_default();
        }
    }
}
