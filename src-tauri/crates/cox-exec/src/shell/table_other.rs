//! The process table where there is no /proc: the group is all that can be seen.
//!
//! On Windows the job object ends the whole tree when the shell is killed, so there is nothing to look for here.

use super::tree::Tree;

/// A process. Start times are not known here, so they are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Proc {
    pub(super) pid: i32,
    pub(super) ticks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Term,
    Kill,
}

pub(super) fn start_ticks(_: i32) -> Option<u64> {
    None
}

/// The group stands for its members.
pub(super) fn is_alive(process: Proc) -> bool {
    #[cfg(unix)]
    return rustix::process::Pid::from_raw(process.pid)
        .is_some_and(|pgid| rustix::process::test_kill_process_group(pgid).is_ok());
    #[cfg(not(unix))]
    {
        let _ = process;
        false
    }
}

/// Environments of others can't be read here, so the marker finds nobody.
pub(super) fn members(tree: &Tree) -> Vec<Proc> {
    let _ = &tree.marker;
    tree.group.into_iter().filter(|leader| is_alive(*leader)).collect()
}

pub(super) fn send(tree: &Tree, _: &[Proc], signal: Signal) {
    #[cfg(unix)]
    if let Some(pgid) = tree.group.and_then(|leader| rustix::process::Pid::from_raw(leader.pid)) {
        let _ = match signal {
            Signal::Term => {
                let sent = rustix::process::kill_process_group(pgid, rustix::process::Signal::TERM);
                let _ = rustix::process::kill_process_group(pgid, rustix::process::Signal::CONT);
                sent
            }
            Signal::Kill => rustix::process::kill_process_group(pgid, rustix::process::Signal::KILL),
        };
    }
    #[cfg(not(unix))]
    let _ = (tree, signal);
}
