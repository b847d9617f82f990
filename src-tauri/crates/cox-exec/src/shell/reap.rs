//! Ending what an earlier process, or a task, left behind.

use super::TASK_MARKER;
use super::tree::Tree;
#[cfg(target_os = "linux")]
use super::{STOP_GRACE, table};
use std::time::Duration;

/// What became of a recorded group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaped {
    /// Nobody was left.
    Gone,
    /// The number belongs to somebody else now. Nothing was touched.
    NotOurs,
    /// It was ended.
    Killed {
        /// How many processes.
        killed: u32,
        /// Those that are alive all the same.
        left: Vec<i32>,
    },
    /// This system doesn't say when a process started, so nothing was touched.
    CannotTell,
}

/// What became of a task's processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many were signalled.
    pub killed: u32,
    /// How many of them needed KILL.
    pub forced: u32,
    /// Those that are alive all the same.
    pub left: Vec<i32>,
}

/// Ends a group that was recorded before a crash (W19), and whatever else carries the task's marker. The group is
/// touched only if it is provably the recorded one: its leader is the process that started at `start_ticks` and
/// carries the marker, or the leader is gone and a member carries it.
pub async fn reap(pgid: i32, start_ticks: u64, task: &str) -> Reaped {
    #[cfg(target_os = "linux")]
    {
        let marker = format!("{TASK_MARKER}={task}");
        let owner = whose(table::Proc { pid: pgid, ticks: start_ticks }, &marker);
        let group = match owner {
            Owner::Ours(leader) => Some(leader),
            Owner::Nobody | Owner::Strangers => None,
        };
        let end = Tree { group, marker }.end(STOP_GRACE).await;
        match owner {
            _ if end.killed > 0 => Reaped::Killed { killed: end.killed, left: end.left },
            Owner::Strangers => Reaped::NotOurs,
            Owner::Ours(_) | Owner::Nobody => Reaped::Gone,
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (pgid, start_ticks, task);
        Reaped::CannotTell
    }
}

#[cfg(target_os = "linux")]
#[derive(Clone, Copy)]
enum Owner {
    Ours(table::Proc),
    Nobody,
    Strangers,
}

#[cfg(target_os = "linux")]
fn whose(leader: table::Proc, marker: &str) -> Owner {
    // 0 and 1 would name our own group and everybody.
    if leader.pid <= 1 {
        return Owner::Nobody;
    }
    let members = table::in_group(leader.pid);
    match table::start_ticks(leader.pid) {
        Some(ticks) if ticks != leader.ticks => Owner::Strangers,
        // After a restart of the machine number and time can agree by chance; the marker can't.
        Some(_) | None if members.iter().any(|member| table::carries(member.pid, marker)) => {
            Owner::Ours(leader)
        }
        Some(_) | None if members.is_empty() => Owner::Nobody,
        Some(_) | None => Owner::Strangers,
    }
}

/// Ends everything that carries a task's marker (B110), however it left its group. Where there is no /proc it finds
/// nothing.
pub async fn sweep_task(task: &str, grace: Duration) -> Swept {
    let end = Tree { group: None, marker: format!("{TASK_MARKER}={task}") }.end(grace).await;
    Swept { killed: end.killed, forced: end.forced, left: end.left }
}
