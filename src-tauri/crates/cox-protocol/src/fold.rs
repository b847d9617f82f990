//! Events in, view out (W11). The window's fold in `ui/src/lib/state/` does the same; the vectors in
//! `tests/fold/` prove it for both.

use crate::entry::{Entry, ToolDetail};
use crate::event::{Event, EventKind};
use crate::id::{SessionId, TaskId};
use crate::inbox::InboxItem;
use crate::task::{PermissionMode, SessionMode, TaskKind, TaskSpec, TaskStatus, Totals};
use crate::view::{
    Activity, EntryRow, OpenCall, PanelView, RetryView, SessionView, TaskView, TreeState, call_label,
};
use std::collections::BTreeMap;

/// Activities that a task's view keeps.
pub const ACTIVITIES: usize = 5;
/// Characters of a result that a task's view keeps.
pub const RESULT_PREVIEW: usize = 2_000;
/// Changed files that a task's view keeps.
pub const CHANGED_FILES: usize = 200;
/// Files changed by other hands that a task's view keeps.
pub const CHANGED_OUTSIDE: usize = 50;

impl SessionView {
    /// A session before its first event.
    pub fn empty(id: SessionId) -> Self {
        Self {
            seq: 0,
            id,
            project_id: None,
            title: String::new(),
            mode: SessionMode::Coordinator,
            permission_mode: PermissionMode::Default,
            provider: String::new(),
            base_url: None,
            model: String::new(),
            created_at: 0,
            updated_at: 0,
            tasks: Vec::new(),
            inbox: Vec::new(),
            queued: Vec::new(),
        }
    }

    /// The task with this id.
    pub fn task(&self, id: &TaskId) -> Option<&TaskView> {
        self.tasks.iter().find(|task| &task.id == id)
    }

    /// The agent that the user talks to.
    pub fn lead(&self) -> Option<&TaskView> {
        self.tasks.iter().find(|task| task.kind == TaskKind::Lead)
    }

    /// The state of the whole tree (invariant 12).
    pub fn tree_state(&self) -> TreeState {
        if !self.inbox.is_empty() {
            return TreeState::Asks;
        }
        if self
            .tasks
            .iter()
            .any(|task| task.status.is_live() && !(task.kind == TaskKind::Lead && task.generation == 0))
        {
            return TreeState::Busy;
        }
        if self.tasks.iter().any(|task| task.status == TaskStatus::Interrupted) {
            return TreeState::Interrupted;
        }
        match self.lead().map(|lead| lead.status) {
            Some(TaskStatus::Failed) => TreeState::Failed,
            _ => TreeState::Idle,
        }
    }

    /// Workers that are pending, running or waiting.
    pub fn live_workers(&self) -> u32 {
        let live = self.tasks.iter().filter(|task| task.kind == TaskKind::Worker && task.status.is_live());
        u32::try_from(live.count()).unwrap_or(u32::MAX)
    }

    /// Folds one event in. Events must come in the order of `seq`; one that is already in changes nothing.
    pub fn apply(&mut self, event: &Event) {
        if event.session_id != self.id || event.seq <= self.seq {
            return;
        }
        self.seq = event.seq;
        self.updated_at = event.at;
        let Some(kind) = event.known() else { return };
        match kind {
            EventKind::SessionCreated {
                project_id,
                title,
                mode,
                permission_mode,
                provider,
                base_url,
                model,
            } => {
                self.project_id = Some(project_id.clone());
                self.title.clone_from(title);
                self.mode = *mode;
                self.permission_mode = *permission_mode;
                self.provider.clone_from(provider);
                self.base_url.clone_from(base_url);
                self.model.clone_from(model);
                self.created_at = event.at;
            }
            EventKind::SessionTitled { title } => self.title.clone_from(title),
            EventKind::SessionModeSet { permission_mode } => self.permission_mode = *permission_mode,
            EventKind::TaskStarted { spec } => {
                if let Some(id) = &event.task_id {
                    self.tasks.push(TaskView::new(id.clone(), event, spec));
                }
            }
            EventKind::InboxOpened { item } => self.open_item(item),
            EventKind::InboxClosed { id, .. } => {
                if let Some(at) = self.inbox.iter().position(|item| &item.id == id) {
                    let item = self.inbox.remove(at);
                    if let Some(task) = self.task_mut(Some(&item.task_id)) {
                        task.asks = task.asks.saturating_sub(1);
                    }
                }
            }
            EventKind::MessageQueued { message } => self.queued.push(message.clone()),
            EventKind::MessageDelivered { message_id } | EventKind::MessageWithdrawn { message_id } => {
                self.queued.retain(|message| &message.id != message_id)
            }
            EventKind::GenerationStarted { .. }
            | EventKind::TaskInterrupted { .. }
            | EventKind::TaskResumed {}
            | EventKind::TaskWaiting { .. }
            | EventKind::Entry { .. }
            | EventKind::ToolStarted { .. }
            | EventKind::Usage { .. }
            | EventKind::RequestRetried { .. }
            | EventKind::GenerationEnded { .. }
            | EventKind::FileChanged { .. } => {
                if let Some(task) = self.task_mut(event.task_id.as_ref()) {
                    task.apply(event, kind);
                }
            }
            EventKind::NotificationQueued { .. }
            | EventKind::NotificationDelivered { .. }
            | EventKind::ProcessStarted { .. }
            | EventKind::ProcessEnded { .. } => {}
        }
    }

    fn open_item(&mut self, item: &InboxItem) {
        self.inbox.push(item.clone());
        if let Some(task) = self.task_mut(Some(&item.task_id)) {
            task.asks += 1;
        }
    }

    fn task_mut(&mut self, id: Option<&TaskId>) -> Option<&mut TaskView> {
        let id = id?;
        self.tasks.iter_mut().find(|task| &task.id == id)
    }
}

impl TaskView {
    fn new(id: TaskId, event: &Event, spec: &TaskSpec) -> Self {
        Self {
            id,
            parent: event.parent_task_id.clone(),
            tool_use_id: event.tool_use_id.clone(),
            kind: spec.kind,
            name: spec.name.clone(),
            description: spec.description.clone(),
            role: spec.role.clone(),
            model: spec.model.clone(),
            permission_mode: spec.permission_mode,
            tint: spec.tint,
            output_file: spec.output_file.clone(),
            status: TaskStatus::Pending,
            asks: 0,
            generation: 0,
            turn: 0,
            started_at: event.at,
            ended_at: None,
            outcome: None,
            result: None,
            evidence: None,
            totals: Totals::default(),
            activities: Vec::new(),
            changed_files: Vec::new(),
            changed_outside: Vec::new(),
            retry: None,
        }
    }

    fn apply(&mut self, event: &Event, kind: &EventKind) {
        self.turn = if event.turn > 0 { event.turn } else { self.turn };
        match kind {
            EventKind::GenerationStarted { .. } => {
                self.status = TaskStatus::Running;
                self.generation = event.generation;
                self.turn = 0;
                self.started_at = event.at;
                self.ended_at = None;
                self.outcome = None;
                self.changed_outside.clear();
            }
            EventKind::TaskInterrupted { .. } => {
                self.status = TaskStatus::Interrupted;
                self.retry = None;
            }
            EventKind::TaskResumed {} => self.status = TaskStatus::Running,
            EventKind::TaskWaiting { .. } => self.status = TaskStatus::Waiting,
            EventKind::Entry { entry } => self.apply_entry(event.at, entry),
            EventKind::Usage { usage, cost_micro_usd, .. } => {
                self.retry = None;
                self.totals.context_tokens = usage.prompt() + usage.output;
                self.totals.latest_input = usage.prompt();
                self.totals.sum.add(usage);
                self.totals.requests += 1;
                match cost_micro_usd {
                    Some(cost) => self.totals.cost_micro_usd += cost,
                    None => self.totals.unpriced_requests += 1,
                }
            }
            EventKind::RequestRetried { attempt, max_attempts, delay_ms, category, message, .. } => {
                self.retry = Some(RetryView {
                    attempt: *attempt,
                    max_attempts: *max_attempts,
                    due_at: event.at.saturating_add(i64::try_from(*delay_ms).unwrap_or(i64::MAX)),
                    category: *category,
                    message: message.clone(),
                });
            }
            EventKind::GenerationEnded { outcome, result, evidence, .. } => {
                self.status = outcome.status();
                self.ended_at = Some(event.at);
                self.outcome = Some(outcome.clone());
                self.result = result.as_deref().map(|text| text.chars().take(RESULT_PREVIEW).collect());
                self.evidence = Some(evidence.clone());
                self.retry = None;
            }
            EventKind::FileChanged { change, own, .. } => {
                let (list, cap) = if *own {
                    (&mut self.changed_files, CHANGED_FILES)
                } else {
                    (&mut self.changed_outside, CHANGED_OUTSIDE)
                };
                list.retain(|path| path != &change.path);
                list.push(change.path.clone());
                if list.len() > cap {
                    list.remove(0);
                }
            }
            _ => {}
        }
    }

    fn apply_entry(&mut self, at: i64, entry: &Entry) {
        match entry {
            Entry::Assistant { .. } => {
                self.retry = None;
                for call in entry.calls() {
                    self.activities.push(Activity {
                        call_id: call.id.clone(),
                        tool: call.name.clone(),
                        label: call_label(&call.name, &call.input),
                        at,
                    });
                }
                let extra = self.activities.len().saturating_sub(ACTIVITIES);
                self.activities.drain(..extra);
            }
            Entry::ToolResults { results } => {
                self.totals.tool_uses += u32::try_from(results.len()).unwrap_or(u32::MAX);
            }
            Entry::User { .. } | Entry::Runtime { .. } => {}
        }
    }
}

impl PanelView {
    /// A panel before its first event.
    pub fn empty(task_id: TaskId) -> Self {
        Self {
            seq: 0,
            task_id,
            entries: Vec::new(),
            has_earlier: false,
            open_calls: BTreeMap::new(),
            partial: None,
        }
    }

    /// Folds one event in. Events must come in the order of `seq`; one that is already in changes nothing.
    pub fn apply(&mut self, event: &Event) {
        if event.task_id.as_ref() != Some(&self.task_id) || event.seq <= self.seq {
            return;
        }
        self.seq = event.seq;
        match event.known() {
            Some(EventKind::Entry { entry }) => {
                match entry {
                    Entry::Assistant { .. } => {
                        self.partial = None;
                        for call in entry.calls() {
                            self.open_calls.insert(call.id.clone(), OpenCall::Queued);
                        }
                    }
                    Entry::ToolResults { results } => {
                        for result in results {
                            self.open_calls.remove(&result.call_id);
                        }
                    }
                    Entry::User { .. } | Entry::Runtime { .. } => {}
                }
                self.entries.push(EntryRow {
                    seq: event.seq,
                    at: event.at,
                    generation: event.generation,
                    turn: event.turn,
                    entry: entry.clone(),
                });
            }
            Some(EventKind::ToolStarted { call_id, .. }) => self.set_call(call_id, OpenCall::Running),
            Some(EventKind::InboxOpened { item }) => self.set_call(&item.call_id, OpenCall::Asking),
            Some(EventKind::GenerationEnded { .. } | EventKind::TaskInterrupted { .. }) => {
                self.partial = None
            }
            _ => {}
        }
    }

    fn set_call(&mut self, call_id: &str, state: OpenCall) {
        if let Some(call) = self.open_calls.get_mut(call_id) {
            *call = state;
        }
    }
}

/// The change that a result records, if it records one.
pub fn change_of(detail: &ToolDetail) -> Option<&crate::entry::FileChange> {
    if let ToolDetail::Change { change, .. } = detail { Some(change) } else { None }
}
