//! A process tree and how it ends: TERM, a grace period, KILL, and a look that nobody is left.
//!
//! Who belongs to it, [`super::table`] says: the members of the group, whoever carries the marker, and their children.

use super::table::{self, Proc, Signal};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long KILL is repeated. What survives that waits in the kernel, and can't be ended by anybody.
const KILL_FOR: Duration = Duration::from_millis(1_200);
/// Looks follow each other after so long, doubling to [`LOOK_MOST`].
const LOOK_FIRST: Duration = Duration::from_millis(2);
const LOOK_MOST: Duration = Duration::from_millis(50);

/// Who is to end.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The group, and when its leader started; `None` when only the marker counts.
    pub(super) group: Option<Proc>,
    /// An entry of the environment, `NAME=value`.
    pub(super) marker: String,
}

/// How a tree ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct End {
    pub(super) killed: u32,
    pub(super) forced: u32,
    pub(super) left: Vec<i32>,
}

impl Tree {
    /// The tree of a shell that was started just now and is not collected yet.
    pub(super) fn of_group(pgid: i32, marker: String) -> Self {
        Self { group: Some(Proc { pid: pgid, ticks: table::start_ticks(pgid).unwrap_or(0) }), marker }
    }

    pub(super) fn pgid(&self) -> i32 {
        self.group.map_or(0, |leader| leader.pid)
    }

    pub(super) fn start_ticks(&self) -> u64 {
        self.group.map_or(0, |leader| leader.ticks)
    }

    /// Does everybody end by themselves in this time?
    pub(super) async fn ends_alone(&self, time: Duration) -> bool {
        self.press(None, time, &mut BTreeSet::new()).await.is_empty()
    }

    /// Ends it.
    pub(super) async fn end(&self, grace: Duration) -> End {
        let mut seen = BTreeSet::new();
        let left = self.press(Some(Signal::Term), grace, &mut seen).await;
        let mut end = End { killed: count(&seen), ..End::default() };
        if left.is_empty() {
            return end;
        }
        let mut forced: BTreeSet<Proc> = left.iter().copied().collect();
        let left = self.press(Some(Signal::Kill), KILL_FOR, &mut forced).await;
        seen.extend(&forced);
        end.killed = count(&seen);
        end.forced = count(&forced);
        end.left = left.into_iter().map(|process| process.pid).collect();
        end
    }

    /// Signals everybody (with no signal it only waits), also those who come to light later, until nobody is left or
    /// the time is up. Gives who is left.
    async fn press(&self, signal: Option<Signal>, time: Duration, seen: &mut BTreeSet<Proc>) -> Vec<Proc> {
        let until = Instant::now() + time;
        let mut pause = LOOK_FIRST;
        let mut told = BTreeSet::new();
        loop {
            let members = self.members().await;
            // The time counts here too: a tree that goes on by ever new children is never seen alive twice.
            if members.is_empty() || Instant::now() >= until {
                return members;
            }
            let new: Vec<Proc> = members.iter().copied().filter(|member| told.insert(*member)).collect();
            match signal {
                // Once more for all: between looking and signalling they can have had children.
                Some(Signal::Kill) => table::send(self, &members, Signal::Kill),
                Some(Signal::Term) if !new.is_empty() => table::send(self, &new, Signal::Term),
                Some(Signal::Term) | None => {}
            }
            seen.extend(&members);
            // The whole table is looked through again only when all who are known are gone.
            while members.iter().any(|member| table::is_alive(*member)) {
                sleep(pause.min(until - Instant::now())).await;
                pause = (pause * 2).min(LOOK_MOST);
                if signal == Some(Signal::Kill) || Instant::now() >= until {
                    break;
                }
            }
        }
    }

    /// Reading the process table takes milliseconds when there are many.
    async fn members(&self) -> Vec<Proc> {
        let tree = self.clone();
        tokio::task::spawn_blocking(move || table::members(&tree)).await.unwrap_or_default()
    }

    /// KILL at once, without waiting. For when there is no time left.
    pub(super) fn kill_now(&self) {
        // Twice, for children that came into being during the first round.
        for _ in 0..2 {
            let members = table::members(self);
            if members.is_empty() {
                break;
            }
            table::send(self, &members, Signal::Kill);
        }
    }
}

fn count(processes: &BTreeSet<Proc>) -> u32 {
    u32::try_from(processes.len()).unwrap_or(u32::MAX)
}
