//! Watches a session until its whole tree is idle, or a signal or a closed pipe ends it.
//!
//! 1. Everything that the engine pushes is printed as it comes.
//! 2. When the tree is idle, what is still on its way to here is waited for, and that is the end.
//! 3. A signal stops the tree first, so that every call gets its result and no process stays behind;
//!    a second signal does not wait for that.

use crate::args::Output;
use crate::exit::{Exit, Stop};
use crate::progress::Progress;
use crate::signals::{Signal, Signals};
use crate::{print, run};
use cox_engine::{Engine, Idle, Pushes};
use cox_protocol::SessionId;
use cox_protocol::command::Command;
use cox_protocol::push::Batch;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How long a stopped tree may take.
const STOP_MOST: Duration = Duration::from_secs(10);
/// How late the last events may be.
const LATE_MOST: Duration = Duration::from_secs(5);

/// How it ended.
pub(crate) struct Ended {
    /// The session as it is then, the lead's answer, and the value that it handed in.
    pub(crate) idle: Idle,
    /// The signal that stopped it.
    pub(crate) signal: Option<Signal>,
}

/// Follows the session.
pub(crate) async fn to_the_end(
    engine: &Engine,
    pushes: Pushes,
    signals: &mut Signals,
    session: &SessionId,
    output: Output,
) -> Result<Ended, Stop> {
    let progress = Progress::over(&run::session_view(engine, session).await?);
    let mut watch = Watch { session, output, progress, seen: 0 };
    let mut batches = forwarded(pushes);
    let idle = engine.wait_idle(session);
    tokio::pin!(idle);
    let deadline = tokio::time::sleep(Duration::MAX);
    tokio::pin!(deadline);
    let (mut signal, mut closed, mut is_stopped) = (None, None, false);
    let idle = loop {
        tokio::select! {
            idle = &mut idle => break idle?,
            Some(batch) = batches.recv() => {
                if closed.is_none() && let Err(stop) = watch.take(&batch) {
                    closed = Some(stop);
                }
            }
            arrived = signals.next() => {
                if signal.replace(arrived).is_some() {
                    return Err(Stop::new(arrived.exit(), "left at once; the next start cleans up"));
                }
                print::to_stderr("cox: stopping; once more to leave at once");
            }
            () = &mut deadline => {
                let exit = signal.map_or(Exit::PipeClosed, Signal::exit);
                return Err(Stop::new(exit, "the work did not stop in time; the next start cleans up"));
            }
        }
        if !is_stopped && (signal.is_some() || closed.is_some()) {
            is_stopped = true;
            engine.submit(Command::StopAll { session_id: session.clone() }).await?;
            deadline.as_mut().reset(Instant::now() + STOP_MOST);
        }
    };
    if let Some(stop) = closed {
        return Err(stop);
    }
    while watch.seen < idle.view.seq {
        match tokio::time::timeout(LATE_MOST, batches.recv()).await {
            Ok(Some(batch)) => watch.take(&batch)?,
            Ok(None) | Err(_) => {
                print::to_stderr("cox: the last events did not arrive");
                break;
            }
        }
    }
    Ok(Ended { idle, signal })
}

/// The batches, taken by a task of its own: to stop waiting for one must not lose it.
fn forwarded(mut pushes: Pushes) -> mpsc::Receiver<Batch> {
    let (to, batches) = mpsc::channel(4);
    tokio::spawn(async move { while to.send(pushes.next().await).await.is_ok() {} });
    batches
}

struct Watch<'a> {
    session: &'a SessionId,
    output: Output,
    progress: Progress,
    /// The last event that was here.
    seen: u64,
}

impl Watch<'_> {
    fn take(&mut self, batch: &Batch) -> Result<(), Stop> {
        if batch.gap {
            print::to_stderr("cox: events came faster than they could be printed; some are left out");
        }
        for event in batch.events.iter().filter(|event| &event.session_id == self.session) {
            self.seen = event.seq;
            match self.output {
                Output::StreamJson => print::json(event)?,
                Output::Text | Output::Json => {
                    if let Some(line) = self.progress.line(event) {
                        print::to_stderr(&line);
                    }
                }
            }
        }
        Ok(())
    }
}
