//! The task that owns a command's tree from start to proof that it is gone.

use super::output::{Keep, append, whole_chars_end};
use super::read_end::ReadEnd;
use super::running::{Ended, Running, Shared, Tell};
use super::tree::{End, Tree};
use super::{Live, STOP_GRACE, Spawn};
use process_wrap::tokio::ChildWrapper;
use std::future::pending;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// How long those whom the shell left behind may go on before they are ended: a `tee` behind `>(…)` still writes its
/// last lines when the shell has gone.
const LINGER: Duration = Duration::from_millis(300);
/// How long the end of the output is waited for when the tree is gone. It comes at once, unless somebody outside
/// holds the pipe.
const DRAIN: Duration = Duration::from_millis(500);
/// How long after the grace period the shell is waited for.
const COLLECT: Duration = Duration::from_secs(2);
/// Between two calls of the watcher.
const LIVE_EVERY: Duration = Duration::from_millis(50);
/// What the watcher gets at most in one call.
const LIVE_BYTES: usize = 8 * 1024;

pub(super) struct Start {
    pub(super) child: Box<dyn ChildWrapper>,
    pub(super) tree: Tree,
    pub(super) reader: ReadEnd,
    pub(super) spec: Spawn,
}

/// Starts the driver.
pub(super) fn start(start: Start) -> Running {
    let Start { child, tree, reader, spec } = start;
    let keep = Arc::new(Mutex::new(Keep::new(spec.caps)));
    let (tell, told) = mpsc::unbounded_channel();
    let (ended, watch_end) = watch::channel(None);
    let shared = Shared {
        pgid: tree.pgid(),
        start_ticks: tree.start_ticks(),
        command: spec.command,
        keep: Arc::clone(&keep),
        tell,
        ended: watch_end,
    };
    let began = Instant::now();
    let driver = Driver {
        child,
        tree: Guard(Some(tree)),
        told,
        began,
        deadline: spec.timeout.map(|time| began + time),
    };
    tokio::spawn(async move {
        let _ = ended.send(Some(Arc::new(driver.run(reader, keep, spec.live).await)));
    });
    Running { shared: Arc::new(shared) }
}

struct Driver {
    child: Box<dyn ChildWrapper>,
    tree: Guard,
    told: mpsc::UnboundedReceiver<Tell>,
    began: Instant,
    deadline: Option<Instant>,
}

/// Why the tree has to end.
enum Why {
    /// The shell ended by itself.
    Exit(Option<ExitStatus>),
    Stop(Duration),
    TimeOut,
}

impl Driver {
    async fn run(mut self, reader: ReadEnd, keep: Arc<Mutex<Keep>>, live: Option<Live>) -> Ended {
        let cut = CancellationToken::new();
        let mut reading = tokio::spawn(read(reader, Arc::clone(&keep), live, cut.clone()));
        let why = self.until().await;
        let grace = match &why {
            Why::Exit(_) | Why::TimeOut => STOP_GRACE,
            Why::Stop(grace) => *grace,
        };
        let (status, end) = self.end(&why, grace).await;
        if timeout(DRAIN, &mut reading).await.is_err() {
            cut.cancel();
            let _ = reading.await;
        }
        if !end.left.is_empty() {
            tracing::warn!(left = ?end.left, "processes of a command can't be ended");
        }
        let output = Arc::new(keep.lock().unwrap_or_else(PoisonError::into_inner).output());
        Ended {
            exit_code: status.and_then(|status| status.code()),
            signal: signal(status),
            timed_out: matches!(why, Why::TimeOut),
            stopped: matches!(why, Why::Stop(_)),
            killed: end.killed,
            forced: end.forced,
            left: end.left,
            duration_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            output,
        }
    }

    /// Waits for a reason to end.
    async fn until(&mut self) -> Why {
        loop {
            let deadline = self.deadline;
            let time_out = async move {
                match deadline {
                    Some(at) => sleep_until(at).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                status = self.child.wait() => return Why::Exit(status.ok()),
                told = self.told.recv() => match told {
                    Some(Tell::Stop { grace }) => return Why::Stop(grace),
                    Some(Tell::DetachTimeout) => self.deadline = None,
                    // The last handle is gone.
                    None => return Why::Stop(STOP_GRACE),
                },
                () = time_out => return Why::TimeOut,
            }
        }
    }

    /// Ends the tree, and collects the shell meanwhile.
    async fn end(&mut self, why: &Why, grace: Duration) -> (Option<ExitStatus>, End) {
        let Some(tree) = &self.tree.0 else { return (None, End::default()) };
        let result = match why {
            Why::Exit(status) => {
                let alone = tokio::select! {
                    alone = tree.ends_alone(LINGER) => alone,
                    // A stop doesn't wait for this.
                    () = stop_told(&mut self.told) => false,
                };
                (*status, if alone { End::default() } else { tree.end(grace).await })
            }
            Why::Stop(_) | Why::TimeOut => {
                #[cfg(not(unix))]
                let _ = self.child.start_kill();
                // Bounded: a shell that hangs in the kernel is reported as left, and never waited for.
                let wait = timeout(grace + COLLECT, self.child.wait());
                let (status, end) = tokio::join!(wait, tree.end(grace));
                (status.ok().and_then(Result::ok), end)
            }
        };
        self.tree.0 = None;
        result
    }
}

/// A stop, or the end of all handles.
async fn stop_told(told: &mut mpsc::UnboundedReceiver<Tell>) {
    while let Some(Tell::DetachTimeout) = told.recv().await {}
}

/// Kills the tree when the driver goes away before its work is done: with its runtime, or by a panic.
struct Guard(Option<Tree>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(tree) = &self.0 {
            tree.kill_now();
        }
    }
}

/// Reads all output, until its end or the token.
async fn read(mut reader: ReadEnd, keep: Arc<Mutex<Keep>>, live: Option<Live>, cut: CancellationToken) {
    let mut live = live.map(LiveText::new);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let due = live.as_ref().and_then(LiveText::due);
        let show = async move {
            match due {
                Some(at) => sleep_until(at).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = show => if let Some(live) = &mut live { live.show() },
            count = reader.read(&mut buffer) => {
                let piece = match count {
                    Ok(count) if count > 0 => buffer.get(..count).unwrap_or_default(),
                    _ => break,
                };
                if let Some(live) = &mut live {
                    live.push(piece);
                }
                take(&keep, piece).await;
            }
            () = cut.cancelled() => break,
        }
    }
    if let Some(live) = &mut live {
        live.end();
    }
}

async fn take(keep: &Arc<Mutex<Keep>>, piece: &[u8]) {
    let to_spool = keep.lock().unwrap_or_else(PoisonError::into_inner).push(piece);
    let Some(to_spool) = to_spool else { return };
    let written = tokio::task::spawn_blocking(move || append(&to_spool)).await;
    let problem = match written {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error,
        Err(error) => std::io::Error::other(error),
    };
    keep.lock().unwrap_or_else(PoisonError::into_inner).spool_failed(&problem);
}

/// Collects new output for the watcher.
struct LiveText {
    live: Live,
    pending: Vec<u8>,
    shown_at: Option<Instant>,
    fresh: bool,
}

impl LiveText {
    fn new(live: Live) -> Self {
        Self { live, pending: Vec::new(), shown_at: None, fresh: false }
    }

    fn push(&mut self, piece: &[u8]) {
        self.pending.extend_from_slice(piece);
        let over = self.pending.len().saturating_sub(LIVE_BYTES);
        self.pending.drain(..over);
        self.fresh = true;
    }

    fn due(&self) -> Option<Instant> {
        self.fresh.then(|| self.shown_at.map_or_else(Instant::now, |at| at + LIVE_EVERY))
    }

    /// Shows what is there, but for a character that has not come whole yet.
    fn show(&mut self) {
        let whole = whole_chars_end(&self.pending).len();
        let text: Vec<u8> = self.pending.drain(..whole).collect();
        if !text.is_empty() {
            (self.live)(&String::from_utf8_lossy(&text));
        }
        self.shown_at = Some(Instant::now());
        self.fresh = false;
    }

    fn end(&mut self) {
        if !self.pending.is_empty() {
            (self.live)(&String::from_utf8_lossy(&self.pending));
        }
    }
}

#[cfg(unix)]
fn signal(status: Option<ExitStatus>) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    status.and_then(|status| status.signal())
}

#[cfg(not(unix))]
fn signal(_: Option<ExitStatus>) -> Option<i32> {
    None
}
