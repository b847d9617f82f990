//! One generation from its start to its one end.

use super::{Agent, Start, Stop};
use crate::control::Halt;
use crate::session::mailbox::{End, Verdict};
use crate::session::table::{Incoming, Note};
use cox_protocol::entry::{Entry, RuntimeNote};
use cox_protocol::event::EventKind;
use cox_protocol::task::{FailKind, Outcome};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// What a turn leads to.
pub(super) enum Next {
    /// Another turn.
    Again,
    /// The model has said its last word.
    Final,
}

impl Agent {
    /// Runs the generation. It ends through the session, exactly once, whatever happens here.
    pub(crate) async fn run(mut self, start: Start) {
        let stop = match self.run_to_end(start).await {
            Ok(()) => return,
            Err(stop) => stop,
        };
        let (outcome, value) = match stop {
            Stop::Halted(Halt::Suspended) => {
                self.session.suspended(&self.id, self.turn).await;
                return;
            }
            Stop::Halted(Halt::Killed(by)) => (Outcome::Killed { by }, None),
            Stop::Failed(kind, message) => (Outcome::Failed { kind, message }, None),
            Stop::HandedIn(value) => (Outcome::Completed, Some(value)),
        };
        self.kill_shells(true).await;
        let end = self.end(outcome, value);
        self.session.end(end).await;
    }

    async fn run_to_end(&mut self, start: Start) -> Result<(), Stop> {
        let is_resumed = matches!(start, Start::Resumed);
        match start {
            Start::Fresh(entry) => self.entries.push(entry),
            Start::Again => self.load().await?,
            Start::Resumed => self.resume().await?,
        }
        // A generation that was suspended after its last word has only its end left.
        let mut has_said_all = is_resumed && self.has_said_all();
        loop {
            let incoming = self.session.drain(&self.id).await;
            has_said_all &= incoming.is_empty();
            self.deliver(incoming).await?;
            while !has_said_all && matches!(self.turn().await?, Next::Again) {
                let incoming = self.session.drain(&self.id).await;
                self.deliver(incoming).await?;
            }
            has_said_all = false;
            if self.wait_for_shells().await? {
                continue;
            }
            let end = self.end(Outcome::Completed, None);
            match self.session.drain_or_end(end).await {
                Verdict::Ended => return Ok(()),
                Verdict::More(incoming) => self.deliver(incoming).await?,
            }
        }
    }

    fn has_said_all(&self) -> bool {
        match self.entries.last().map(Arc::as_ref) {
            Some(entry @ Entry::Assistant { interrupted: false, .. }) => entry.calls().next().is_none(),
            Some(
                Entry::Assistant { .. }
                | Entry::User { .. }
                | Entry::ToolResults { .. }
                | Entry::Runtime { .. },
            )
            | None => false,
        }
    }

    async fn turn(&mut self) -> Result<Next, Stop> {
        self.check_halt()?;
        let limit = self.limits().turns_per_generation;
        if self.turn >= limit {
            return Err(Stop::Failed(
                FailKind::TurnLimit,
                format!(
                    "it took {limit} turns, the most that one generation may take (a setting). Message it to go on."
                ),
            ));
        }
        self.turn += 1;
        let answer = self.answer().await?;
        self.take(answer).await
    }

    /// Puts what waited into the transcript: the user's text first (B184), each with the record that it was
    /// delivered, in one append.
    async fn deliver(&mut self, incoming: Incoming) -> Result<(), Stop> {
        if incoming.is_empty() {
            return Ok(());
        }
        let mut kinds = Vec::new();
        for message in incoming.messages {
            let message_id = message.id;
            kinds.push(EventKind::Entry {
                entry: Entry::User {
                    from: message.from,
                    text: message.text,
                    message_id: Some(message_id.clone()),
                },
            });
            kinds.push(EventKind::MessageDelivered { message_id });
        }
        for note in incoming.notes {
            match note {
                Note::Notification { id, envelope } => {
                    kinds.push(runtime(RuntimeNote::Notification { envelope: *envelope }));
                    kinds.push(EventKind::NotificationDelivered { notification_id: id });
                }
                Note::Runtime(note) => kinds.push(runtime(note)),
            }
        }
        self.append(kinds).await
    }

    /// Waits for the agent's own background commands (W18). True when something came in meanwhile.
    async fn wait_for_shells(&mut self) -> Result<bool, Stop> {
        self.kill_shells(false).await;
        let shells = self.session.live_shells(&self.id).await;
        if shells.is_empty() {
            return Ok(false);
        }
        self.append(vec![EventKind::TaskWaiting { shells }]).await?;
        let most = Duration::from_millis(self.limits().wait_for_shells_ms);
        let control = Arc::clone(&self.control);
        let came = tokio::select! {
            () = control.token().cancelled() => None,
            () = self.session.core.clock.sleep(most) => Some(false),
            () = self.session.incoming(&self.id) => Some(true),
        };
        self.check_halt()?;
        if came != Some(true) {
            self.kill_shells(true).await;
        }
        self.append(vec![EventKind::TaskResumed {}]).await?;
        Ok(came == Some(true))
    }

    /// Kills the agent's background commands: services only, or all of them. Each is named in the evidence.
    async fn kill_shells(&mut self, all: bool) {
        let killed = self.session.kill_shells(&self.id, all).await;
        self.evidence.killed_shells(killed);
    }

    fn end(&self, outcome: Outcome, value: Option<Value>) -> End {
        let wall = self.session.core.clock.now_ms() - self.started_at;
        let result = match &value {
            Some(value) => Some(value.to_string()),
            None => self.last_text(),
        };
        End {
            task: self.id.clone(),
            turn: self.turn,
            outcome,
            result,
            value,
            evidence: self.evidence.snapshot(u64::try_from(wall).unwrap_or_default()),
            context_tokens: self.context_tokens,
        }
    }

    /// The final text: the last answer of this generation that has any (B96).
    fn last_text(&self) -> Option<String> {
        self.entries.iter().rev().find_map(|entry| entry.text())
    }

    pub(super) fn limits(&self) -> cox_protocol::task::Limits {
        self.spec.frozen.as_ref().map(|frozen| frozen.limits).unwrap_or_default()
    }
}

pub(super) fn runtime(note: RuntimeNote) -> EventKind {
    EventKind::Entry { entry: Entry::Runtime { note } }
}
