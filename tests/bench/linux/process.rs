//! Processes as `/proc` shows them.

use super::failure::{Outcome, failure};
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::time::Duration;

/// The unit of times in `/proc`; on Linux a constant of the interface, whatever the kernel counts in.
const TICKS_PER_SECOND: f64 = 100.0;

/// The proportional share of memory of a process, in KB.
pub(crate) fn pss_kb(pid: u32) -> Outcome<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kb = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse().ok());
    kb.ok_or_else(|| failure("the system does not say how much memory a process has"))
}

/// User and system time of all threads of this process so far, also of those that have ended.
pub(crate) fn cpu_time() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec.try_into().unwrap_or_default(), spent.tv_nsec.try_into().unwrap_or_default())
}

/// How long ago a process was started; to 10 ms.
pub(crate) fn age(pid: u32) -> Outcome<Duration> {
    let ticks: f64 = field(pid, 22).ok_or_else(|| failure(format!("there is no process {pid}")))?;
    let now = clock_gettime(ClockId::Boottime);
    let now = now.tv_sec as f64 + now.tv_nsec as f64 / 1e9;
    Ok(Duration::from_secs_f64((now - ticks / TICKS_PER_SECOND).max(0.0)))
}

/// All processes of the groups that these belong to.
pub(crate) fn groups_of(pids: &[i32]) -> Vec<i32> {
    let group = |pid: i32| u32::try_from(pid).ok().and_then(|pid| field::<i32>(pid, 5));
    let wanted: Vec<i32> = pids.iter().filter_map(|pid| group(*pid)).collect();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let all = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    all.filter(|pid| group(*pid).is_some_and(|group| wanted.contains(&group))).collect()
}

/// A field of `/proc/PID/stat`, counted from 1 as in its manual; from the third on.
fn field<T: std::str::FromStr>(pid: u32, number: usize) -> Option<T> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is a name in brackets, which may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split_whitespace().nth(number.checked_sub(3)?)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_time_and_a_group() {
        let own = std::process::id();
        assert!(pss_kb(own).unwrap() > 100);
        assert!(cpu_time() > Duration::ZERO);
        assert!(age(own).unwrap() < Duration::from_secs(3_600));
        let pid = i32::try_from(own).unwrap();
        assert!(groups_of(&[pid]).contains(&pid));
    }
}
