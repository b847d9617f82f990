//! One stop, timed from the command to the end of the last process.

use super::hold::{Hold, News};
use crate::linux::failure::{Outcome, failure};
use crate::linux::process;
use crate::linux::step::Stopped;
use cox_protocol::command::Command;
use cox_protocol::inbox::Answer;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::path::Path;
use std::time::{Duration, Instant};

/// Between two looks at the file in which the processes write their ids, and how many.
const LOOK: Duration = Duration::from_millis(5);
const LOOKS: usize = 4_000;

/// Sends the lead a message, allows its worker's command, waits until that has written so many ids, and stops the
/// worker.
pub(super) async fn stop(hold: &mut Hold, text: String, pids: &Path, processes: usize) -> Outcome<Stopped> {
    let (session, lead) = hold.session().await?;
    hold.engine.submit(Command::SendMessage { task_id: lead, text }).await?;
    let asked = hold
        .until(|news| match news {
            News::Asked(item) => Some(item),
            News::Ended(_) => None,
        })
        .await?;
    let worker = asked.task_id.clone();
    hold.engine.submit(Command::AnswerInbox { id: asked.id, answer: Answer::AllowOnce }).await?;
    let tree = process::groups_of(&written(pids, processes).await?);
    let watched = tree.iter().map(|pid| watch(*pid)).collect::<Outcome<Vec<OwnedFd>>>()?;
    let gone = tokio::task::spawn_blocking(move || all_gone(&watched));
    let began = Instant::now();
    hold.engine.submit(Command::StopTask { task_id: worker.clone() }).await?;
    let gone_ms = (gone.await??).saturating_duration_since(began).as_secs_f64() * 1e3;
    hold.until(|news| match news {
        News::Ended(task) => (task == worker).then_some(()),
        News::Asked(_) => None,
    })
    .await?;
    let ended_ms = began.elapsed().as_secs_f64() * 1e3;
    hold.engine.wait_idle(&session).await?;
    Ok(Stopped { gone_ms, ended_ms, processes: tree.len() })
}

/// The ids, once all of them are written.
async fn written(path: &Path, count: usize) -> Outcome<Vec<i32>> {
    for _ in 0..LOOKS {
        let text = tokio::fs::read_to_string(path).await.unwrap_or_default();
        let pids: Vec<i32> = text.lines().filter_map(|line| line.parse().ok()).collect();
        if pids.len() >= count {
            return Ok(pids);
        }
        tokio::time::sleep(LOOK).await;
    }
    Err(failure("the command's processes did not start"))
}

fn watch(pid: i32) -> Outcome<OwnedFd> {
    let pid = Pid::from_raw(pid).ok_or_else(|| failure("no process has the id 0"))?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Waits until all of them have ended, and gives the time.
fn all_gone(processes: &[OwnedFd]) -> Outcome<Instant> {
    for process in processes {
        // Readable from the end of the process on.
        while poll(&mut [PollFd::new(process, PollFlags::IN)], None)? == 0 {}
    }
    Ok(Instant::now())
}
