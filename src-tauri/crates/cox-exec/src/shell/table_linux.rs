//! The process table, from /proc.
//!
//! A process is named by its id and its start time, so that an id that was given to another is never mistaken for it;
//! signals go through a pidfd that was checked after it was opened.

use super::tree::Tree;
use rustix::process::{Pid, PidfdFlags, kill_process_group, pidfd_open, pidfd_send_signal};
use std::collections::BTreeSet;
use std::fs;

/// A process, and no other that gets its id later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Proc {
    pub(super) pid: i32,
    /// Clock ticks since the machine started.
    pub(super) ticks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Term,
    Kill,
}

/// What /proc says of a process.
struct Row {
    process: Proc,
    parent: i32,
    group: i32,
}

/// When a process started; `None` when it is gone.
pub(super) fn start_ticks(pid: i32) -> Option<u64> {
    row(pid).map(|(row, _)| row.process.ticks)
}

/// Does it run, or could it? A zombie holds nothing any more, and only its parent can take it away.
pub(super) fn is_alive(process: Proc) -> bool {
    row(process.pid).is_some_and(|(row, alive)| alive && row.process == process)
}

/// Does the process carry this entry in its environment?
pub(super) fn carries(pid: i32, marker: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    environment.split(|byte| *byte == 0).any(|entry| entry == marker.as_bytes())
}

/// Everybody alive who belongs to a tree.
pub(super) fn members(tree: &Tree) -> Vec<Proc> {
    let rows = rows();
    let group = tree.group.filter(|leader| !reused(*leader, &rows));
    let since = tree.group.map_or(0, |leader| leader.ticks);
    let mut pids: BTreeSet<i32> = rows
        .iter()
        // Nobody in the tree is older than its leader; that spares most of the look into environments.
        .filter(|row| row.process.ticks >= since)
        .filter(|row| {
            group.is_some_and(|leader| row.group == leader.pid) || carries(row.process.pid, &tree.marker)
        })
        .map(|row| row.process.pid)
        .collect();
    // Children that threw their environment away and left the group.
    loop {
        let before = pids.len();
        for row in &rows {
            if row.process.ticks >= since && pids.contains(&row.parent) {
                pids.insert(row.process.pid);
            }
        }
        if pids.len() == before {
            break;
        }
    }
    rows.into_iter().map(|row| row.process).filter(|process| pids.contains(&process.pid)).collect()
}

/// Everybody alive in a group.
pub(super) fn in_group(pgid: i32) -> Vec<Proc> {
    rows().into_iter().filter(|row| row.group == pgid).map(|row| row.process).collect()
}

/// While a group has members, its number is given to no new process. So a process of that number that is not the
/// leader says that the group died out, and its number went to strangers.
fn reused(leader: Proc, rows: &[Row]) -> bool {
    rows.iter().any(|row| row.process.pid == leader.pid && row.process.ticks != leader.ticks)
}

/// Signals each of them, and the whole group at once if one of them is in it: that reaches also those who are being
/// born.
pub(super) fn send(tree: &Tree, to: &[Proc], signal: Signal) {
    let number = match signal {
        Signal::Term => rustix::process::Signal::TERM,
        Signal::Kill => rustix::process::Signal::KILL,
    };
    let mut in_group = false;
    for process in to {
        in_group |= tree.group.is_some()
            && row(process.pid).is_some_and(|(row, _)| row.process == *process && row.group == tree.pgid());
    }
    let pgid = tree.group.and_then(|leader| Pid::from_raw(leader.pid));
    if let Some(pgid) = pgid.filter(|_| in_group) {
        let _ = kill_process_group(pgid, number);
        wake(signal, || {
            let _ = kill_process_group(pgid, rustix::process::Signal::CONT);
        });
    }
    for process in to {
        let Some(pid) = Pid::from_raw(process.pid) else { continue };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
        // Only now is it sure whom the handle names.
        if !is_alive(*process)
            || row(process.pid).is_some_and(|(row, _)| in_group && row.group == tree.pgid())
        {
            continue;
        }
        let _ = pidfd_send_signal(&handle, number);
        wake(signal, || {
            let _ = pidfd_send_signal(&handle, rustix::process::Signal::CONT);
        });
    }
}

/// A process that is stopped (Ctrl-Z) gets TERM only when it goes on.
fn wake(signal: Signal, go_on: impl FnOnce()) {
    match signal {
        Signal::Term => go_on(),
        Signal::Kill => {}
    }
}

/// All processes that are alive, but for this one.
fn rows() -> Vec<Row> {
    let own = std::process::id().cast_signed();
    let Ok(listing) = fs::read_dir("/proc") else { return Vec::new() };
    listing
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != own)
        .filter_map(row)
        .filter_map(|(row, alive)| alive.then_some(row))
        .collect()
}

/// Fields 3, 4, 5 and 22 of /proc/PID/stat, and whether it is alive. The name in field 2 may hold anything, so
/// counting begins after its last bracket.
fn row(pid: i32) -> Option<(Row, bool)> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let fields: Vec<&str> = std::str::from_utf8(stat.get(after..)?).ok()?.split_ascii_whitespace().collect();
    let state = *fields.first()?;
    let row = Row {
        process: Proc { pid, ticks: fields.get(19)?.parse().ok()? },
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
    };
    Some((row, !matches!(state, "Z" | "X" | "x")))
}
