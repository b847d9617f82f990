//! How generations end: once each, result first, then one notification (invariant 4, W15).

use super::actor::Actor;
use super::mailbox::{End, Verdict};
use super::table::{Ended, Note, Row};
use crate::ports::wording;
use cox_protocol::entry::RuntimeNote;
use cox_protocol::envelope::{Envelope, EnvelopeUsage, RESULT_CAP};
use cox_protocol::event::{Cause, EventKind, NewEvent};
use cox_protocol::id::{NotificationId, TaskId};
use cox_protocol::task::{Evidence, KilledBy, Outcome, TaskKind, TaskStatus};

impl Actor {
    /// In one step: what waits, or the end.
    pub(super) async fn drain_or_end(&mut self, end: End) -> Verdict {
        if let Some(row) = self.table.get_mut(&end.task)
            && row.has_incoming()
        {
            return Verdict::More(row.drain());
        }
        self.end(end).await;
        Verdict::Ended
    }

    /// Ends a task that has no agent running.
    pub(super) async fn end_now(&mut self, task: &TaskId, by: KilledBy) {
        let end = End {
            task: task.clone(),
            turn: 0,
            outcome: Outcome::Killed { by },
            result: None,
            value: None,
            evidence: Evidence::default(),
            context_tokens: 0,
        };
        self.end(end).await;
    }

    /// Ends a generation. A generation that is over already stays as it is.
    pub(super) async fn end(&mut self, end: End) {
        let Some(row) = self.table.get(&end.task) else { return };
        if row.status.is_terminal() {
            return;
        }
        let task = end.task.clone();
        let ended = Ended {
            outcome: end.outcome.clone(),
            result: end.result.clone(),
            evidence: end.evidence.clone(),
        };
        let notice = self.notice(row, &ended, end.context_tokens);
        let mut events = vec![self.event(
            &task,
            end.turn,
            EventKind::GenerationEnded {
                outcome: end.outcome,
                result: end.result,
                value: end.value,
                evidence: end.evidence,
            },
        )];
        let in_foreground = row.foreground.as_ref().is_some_and(|waiter| !waiter.is_closed());
        if let Some((parent, id, envelope)) = &notice {
            events.push(self.parent_event(parent, queued(id, envelope)));
            if in_foreground {
                events.push(
                    self.parent_event(
                        parent,
                        EventKind::NotificationDelivered { notification_id: id.clone() },
                    ),
                );
            }
        }
        let stored = self.append(events.clone()).await;
        if let Err(error) = &stored {
            // The generation is over in memory. The log is told as soon as it takes anything again; should the
            // process end before that, the next start finds the generation suspended.
            tracing::error!(%task, %error, "the end of a generation could not be stored");
            self.session.core.store.append_later(events);
        }
        self.session.note_storage(stored.err());
        self.close(&task, ended, in_foreground);
        if let Some((parent, id, envelope)) = notice
            && !in_foreground
        {
            self.note(&parent, Note::Notification { id, envelope: Box::new(envelope) }).await;
        }
        self.fill_slots().await;
        self.wake_after_end(&task).await;
    }

    /// What waits for a task that has just ended begins the next generation, when it ended by itself. After a
    /// stop or a failure messages stay where they are until the user goes on (R100); only the lead's interrupted
    /// turn makes way for what the user wrote meanwhile.
    async fn wake_after_end(&mut self, task: &TaskId) {
        let Some(row) = self.table.get(task) else { return };
        let goes_on = match row.status {
            TaskStatus::Completed => true,
            TaskStatus::Killed => {
                row.kind == TaskKind::Lead && !row.queue.is_empty() && !self.session.is_held()
            }
            TaskStatus::Failed
            | TaskStatus::Pending
            | TaskStatus::Running
            | TaskStatus::Waiting
            | TaskStatus::Interrupted => false,
        };
        if goes_on {
            self.wake(task).await;
        }
    }

    /// The table's side of an end: the slot is free at once.
    fn close(&mut self, task: &TaskId, ended: Ended, in_foreground: bool) {
        self.session.unregister(task);
        self.services.remove(task);
        self.waiters.remove(task);
        let Some(row) = self.table.get_mut(task) else { return };
        row.control = None;
        row.spec = None;
        row.last = Some(ended.clone());
        row.set_status(ended.outcome.status());
        if let Some(waiter) = row.foreground.take()
            && in_foreground
        {
            // The call that waited may have been cut in this moment; the notification is recorded either way.
            let _ = waiter.send(ended);
        }
    }

    /// The envelope for the parent (W16), whatever kind of task the parent is.
    fn notice(
        &self,
        row: &Row,
        ended: &Ended,
        context_tokens: u64,
    ) -> Option<(TaskId, NotificationId, Envelope)> {
        let parent = row.parent.clone()?;
        let now = self.session.core.clock.now_ms();
        let duration = u64::try_from(now - row.started_at).unwrap_or_default();
        let still_open =
            self.table.open_children(&parent).into_iter().filter(|child| child != &row.id).collect();
        let envelope = Envelope {
            task_id: row.id.clone(),
            name: row.name.clone(),
            generation: row.generation,
            tool_use_id: row.tool_use_id.clone(),
            output_file: row.output_file.clone(),
            outcome: ended.outcome.clone(),
            summary: wording::summary(&row.name, row.kind, &ended.outcome, &ended.evidence),
            result: ended.result.as_deref().map(cap_result),
            evidence: (row.kind != TaskKind::Shell || !ended.evidence.commands.is_empty())
                .then(|| ended.evidence.clone()),
            usage: (row.kind != TaskKind::Shell).then_some(EnvelopeUsage {
                total_tokens: context_tokens,
                tool_uses: ended.evidence.tool_uses,
                duration_ms: duration,
            }),
            still_open,
        };
        Some((parent, NotificationId::new(self.session.core.mint.next(NotificationId::PREFIX)), envelope))
    }

    fn parent_event(&self, parent: &TaskId, kind: EventKind) -> NewEvent {
        self.event(parent, 0, kind)
    }

    /// Puts a note to an agent, and wakes it when it is idle.
    pub(super) async fn note(&mut self, to: &TaskId, note: Note) {
        let Some(row) = self.table.get_mut(to) else { return };
        row.notes.push_back(note);
        self.wake(to).await;
    }

    /// Begins a generation of an idle agent for which something waits.
    pub(super) async fn wake(&mut self, task: &TaskId) {
        let Some(row) = self.table.get(task) else { return };
        if !row.has_incoming() {
            return;
        }
        match row.status {
            TaskStatus::Running | TaskStatus::Waiting => {
                self.tell_waiters(task);
                return;
            }
            // A suspended or waiting generation goes on when the user says so, not because something came in.
            TaskStatus::Interrupted => return,
            TaskStatus::Pending if row.kind != TaskKind::Lead => return,
            TaskStatus::Pending | TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Killed => {}
        }
        let has_message = !row.queue.is_empty();
        let has_notification = row.notes.iter().any(|note| matches!(note, Note::Notification { .. }));
        let is_lead = row.kind == TaskKind::Lead;
        // N26: what the user stopped, or interrupted, is not woken by reports; they wait until the user writes.
        let wakes =
            has_message || (is_lead && has_notification && !self.session.is_held() && !row.stopped_by_user());
        if !wakes || self.is_in_line(task) {
            return;
        }
        let cause = if has_message { Cause::Message } else { Cause::Notification };
        if !is_lead && !self.has_slot() {
            self.line.push_back(super::actor::InLine::Next(task.clone()));
            return;
        }
        if let Err(error) = self.begin(task, cause).await {
            tracing::error!(%task, %error, "a generation could not be started");
        }
    }

    /// The process is about to end, and this generation with it; it can go on later (W14).
    pub(super) async fn suspended(&mut self, task: &TaskId, turn: u32) {
        let reason = "Coxswain was closed while it ran".to_owned();
        let event = self.event(task, turn, EventKind::TaskInterrupted { reason });
        if let Err(error) = self.append(vec![event]).await {
            tracing::error!(%task, %error, "a suspension could not be stored");
        }
        self.session.unregister(task);
        if let Some(row) = self.table.get_mut(task) {
            row.control = None;
            row.turn = turn;
            row.set_status(TaskStatus::Interrupted);
        }
    }

    /// A TaskOutput saw the end: that was the delivery (W15).
    pub(super) async fn claim(&mut self, task: &TaskId) {
        let Some(parent) = self.table.get(task).and_then(|row| row.parent.clone()) else { return };
        let Some(row) = self.table.get_mut(&parent) else { return };
        let mut claimed = Vec::new();
        row.notes.retain(|note| match note {
            Note::Notification { id, envelope } if &envelope.task_id == task => {
                claimed.push(id.clone());
                false
            }
            Note::Notification { .. } | Note::Runtime(_) => true,
        });
        let events: Vec<NewEvent> = claimed
            .into_iter()
            .map(|notification_id| {
                self.parent_event(&parent, EventKind::NotificationDelivered { notification_id })
            })
            .collect();
        if !events.is_empty()
            && let Err(error) = self.append(events).await
        {
            tracing::error!(%task, %error, "a delivery could not be stored");
        }
    }

    /// The lead learns what the user did with one of its workers; that alone does not wake it.
    pub(super) fn tell_lead(&mut self, text: String) {
        let lead = self.session.lead.clone();
        if let Some(row) = self.table.get_mut(&lead) {
            row.notes.push_back(Note::Runtime(RuntimeNote::UserActed { text }));
        }
    }
}

fn queued(id: &NotificationId, envelope: &Envelope) -> EventKind {
    EventKind::NotificationQueued { notification_id: id.clone(), envelope: envelope.clone() }
}

fn cap_result(result: &str) -> String {
    match result.char_indices().nth(RESULT_CAP) {
        None => result.to_owned(),
        Some((at, _)) => {
            let rest = result[at..].chars().count();
            format!("{}\n… {rest} characters more in the output file", &result[..at])
        }
    }
}
