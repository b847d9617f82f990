//! Whole trees and their end. Nobody is left, whatever they do to stay.

use cox_exec::{ChildEnv, Ended, Reaped, Running, STOP_GRACE, Shell, Spawn, reap, sweep_task};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A running command, and its output as it comes.
struct Live {
    running: Running,
    told: UnboundedReceiver<String>,
    seen: String,
}

fn start(task: &str, command: &str) -> Live {
    start_in(Shell::default(), task, command)
}

fn start_in(shell: Shell, task: &str, command: &str) -> Live {
    let (tell, told) = unbounded_channel();
    let mut spec = Spawn::new(command, std::env::temp_dir(), task);
    spec.live = Some(Box::new(move |text| {
        let _ = tell.send(text.to_owned());
    }));
    Live { running: shell.spawn(spec).unwrap(), told, seen: String::new() }
}

impl Live {
    /// Waits for a line `WORD NUMBER` and gives the number.
    async fn number(&mut self, word: &str) -> i32 {
        loop {
            let whole_lines = self.seen.rsplit_once('\n').map_or("", |(lines, _)| lines);
            if let Some(number) =
                whole_lines.lines().find_map(|line| line.strip_prefix(word)?.trim().parse().ok())
            {
                return number;
            }
            let more = tokio::time::timeout(Duration::from_secs(20), self.told.recv()).await;
            self.seen.push_str(&more.expect("the command says nothing").expect("the command has ended"));
        }
    }
}

fn is_alive(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X']))
}

#[track_caller]
fn assert_gone(ended: &Ended, pids: &[i32]) {
    assert_eq!(ended.left, Vec::<i32>::new());
    for pid in pids {
        assert!(!is_alive(*pid), "{pid} is alive: {ended:?}");
    }
}

#[tokio::test]
async fn a_well_behaved_tree_ends_at_once() {
    // R1
    let mut live =
        start("t-well", "sleep 600 & echo child $!; (sleep 600 & echo grandchild $!; wait) & wait");
    let pids = [live.number("child").await, live.number("grandchild").await, live.running.pgid()];
    let began = Instant::now();
    let ended = live.running.stop(STOP_GRACE).await;
    assert!(began.elapsed() < STOP_GRACE, "no grace period was waited for");
    assert_gone(&ended, &pids);
    assert_eq!((ended.stopped, ended.killed, ended.forced, ended.signal), (true, 4, 0, Some(15)));
}

#[tokio::test]
async fn a_tree_that_ignores_term_is_killed_in_time() {
    // R21
    let mut live = start(
        "t-ignores",
        "trap '' TERM; sleep 600 & echo child $!; while :; do wait; echo still here; done",
    );
    let pids = [live.number("child").await, live.running.pgid()];
    let began = Instant::now();
    let ended = live.running.stop(STOP_GRACE).await;
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert_gone(&ended, &pids);
    assert_eq!((ended.killed, ended.forced, ended.signal), (2, 2, Some(9)));
}

#[tokio::test]
async fn a_stopped_process_ends_too() {
    let mut live = start("t-stopped", "sleep 600 & echo child $!; kill -STOP $!; echo ready 1; wait");
    let child = live.number("child").await;
    live.number("ready").await;
    let ended = live.running.stop(STOP_GRACE).await;
    assert_gone(&ended, &[child]);
    assert_eq!(ended.forced, 0, "it was woken to get TERM");
}

#[tokio::test]
async fn who_left_the_group_is_found() {
    // R20
    let mut live = start(
        "t-setsid",
        "setsid bash -c 'echo escaped $$; exec sleep 600' & (setsid bash -c 'echo orphan $$; exec sleep 600' &) ; wait",
    );
    let pids = [live.number("escaped").await, live.number("orphan").await];
    for pid in pids {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let group: i32 = stat.rsplit(')').next().unwrap().split_whitespace().nth(2).unwrap().parse().unwrap();
        assert_ne!(group, live.running.pgid(), "it did leave the group");
    }
    assert_gone(&live.running.stop(STOP_GRACE).await, &pids);
}

#[tokio::test]
async fn who_left_the_group_and_hides_its_environment_is_found_by_its_parent() {
    let mut live =
        start("t-env-i", "env -i setsid bash --norc -c 'echo hidden $$; while :; do sleep 600; done' & wait");
    let hidden = live.number("hidden").await;
    assert_gone(&live.running.stop(STOP_GRACE).await, &[hidden]);
}

#[tokio::test]
async fn an_escaped_process_that_ignores_term_is_killed() {
    let mut live = start(
        "t-both",
        "setsid bash -c 'trap \"\" TERM; echo escaped $$; while :; do sleep 600; done' > >(cat) & echo ready 1; wait",
    );
    let escaped = live.number("escaped").await;
    let ended = live.running.stop(Duration::from_millis(100)).await;
    assert_gone(&ended, &[escaped]);
    assert!(ended.forced >= 1);
}

#[tokio::test]
async fn a_port_is_free_after_the_stop() {
    // R20: this very program, started as a server by a grandchild that left the group.
    let exe = std::env::current_exe().unwrap();
    let shell = Shell::new(ChildEnv::inherited().set("COX_EXEC_TEST_SERVE", "1"));
    let command = format!(
        "(setsid '{}' --exact trees::serves_a_port --nocapture --test-threads 1 &); sleep 600",
        exe.display()
    );
    let mut live = start_in(shell, "t-port", &command);
    let port = u16::try_from(live.number("port").await).unwrap();
    assert!(TcpListener::bind(("127.0.0.1", port)).is_err(), "it is taken");
    let ended = live.running.stop(STOP_GRACE).await;
    assert_gone(&ended, &[]);
    TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
}

/// The server of [`a_port_is_free_after_the_stop`]; a test only so that the test program can be started as it.
#[test]
fn serves_a_port() {
    if std::env::var_os("COX_EXEC_TEST_SERVE").is_none() {
        return;
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    println!("\nport {}", listener.local_addr().unwrap().port());
    for connection in listener.incoming() {
        drop(connection);
    }
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let mut live = start("t-behind", "sleep 600 & echo child $!");
    let child = live.number("child").await;
    let ended = live.running.wait().await;
    assert_gone(&ended, &[child]);
    assert_eq!((ended.exit_code, ended.stopped, ended.killed), (Some(0), false, 1));

    let mut live = start("t-behind", "setsid sleep 600 >/dev/null 2>&1 </dev/null & echo child $!");
    let child = live.number("child").await;
    let ended = live.running.wait().await;
    assert_gone(&ended, &[child]);
    assert_eq!(ended.killed, 1, "also when it holds no pipe");
}

#[tokio::test]
async fn the_last_lines_of_a_filter_behind_the_shell_are_read() {
    let live = start("t-filter", "echo word > >(sed s/word/last/); exit 0");
    let ended = live.running.wait().await;
    assert_eq!((ended.output.text(100).head.as_str(), ended.killed), ("last\n", 0));
}

#[tokio::test]
async fn dropping_the_last_handle_stops_the_tree() {
    let mut live = start("t-drop", "trap 'echo ended 1; exit' TERM; sleep 600 & echo child $!; wait");
    let child = live.number("child").await;
    let second = live.running.clone();
    drop(live.running);
    assert!(is_alive(child), "a clone still holds it");
    drop(second);
    // The channel ends when the driver has read the last output, and with it the tree is gone.
    while live.told.recv().await.is_some() {}
    assert!(!is_alive(child));
}

#[test]
fn a_runtime_that_ends_takes_its_trees_along() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (running, pids) = runtime.block_on(async {
        let mut live =
            start("t-runtime", "setsid bash -c 'echo escaped $$; exec sleep 600' & echo child $!; wait");
        let pids = [live.number("escaped").await, live.running.pgid()];
        (live.running, pids)
    });
    drop(runtime);
    // KILL was sent; the kernel may take a moment to carry it out. A pidfd says when it has.
    for pid in pids {
        let Ok(process) = rustix::process::pidfd_open(
            rustix::process::Pid::from_raw(pid).unwrap(),
            rustix::process::PidfdFlags::empty(),
        ) else {
            continue;
        };
        let mut wait = [rustix::event::PollFd::new(&process, rustix::event::PollFlags::IN)];
        let limit = rustix::event::Timespec { tv_sec: 20, tv_nsec: 0 };
        assert_eq!(rustix::event::poll(&mut wait, Some(&limit)), Ok(1), "{pid} is alive");
    }
    drop(running);
}

#[tokio::test]
async fn other_commands_of_the_task_live_on() {
    let mut first = start("t-two", "sleep 600 & echo child $!; wait");
    let mut second = start("t-two", "sleep 600 & echo child $!; wait");
    let (child, other) = (first.number("child").await, second.number("child").await);
    assert_gone(&first.running.stop(STOP_GRACE).await, &[child]);
    assert!(is_alive(other));
    // The end of the task ends them all (B110).
    let swept = sweep_task("t-two", STOP_GRACE).await;
    assert_eq!((swept.killed, swept.left.len(), is_alive(other)), (2, 0, false));
    assert_eq!(second.running.wait().await.signal, Some(15));
    assert_eq!(sweep_task("t-two", STOP_GRACE).await.killed, 0);
}

#[tokio::test]
async fn a_recorded_group_is_reaped() {
    // W19
    let mut live = start("t-reap", "sleep 600 & echo child $!; wait");
    let (pgid, ticks) = (live.running.pgid(), live.running.start_ticks());
    assert!(ticks > 0);
    let child = live.number("child").await;
    assert_eq!(reap(pgid, ticks, "t-reap").await, Reaped::Killed { killed: 2, left: Vec::new() });
    assert!(!is_alive(child) && !is_alive(pgid));
    live.running.wait().await;
    assert_eq!(reap(pgid, ticks, "t-reap").await, Reaped::Gone);
}

#[tokio::test]
async fn a_group_whose_leader_is_gone_is_reaped_by_its_marker() {
    // W19
    let mut live = start("t-orphans", "sleep 600 & echo child $!; wait");
    let (pgid, ticks) = (live.running.pgid(), live.running.start_ticks());
    let child = live.number("child").await;
    // As after a crash: the shell is gone, nobody ended the rest. (The driver would after a moment.)
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pgid).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    let Reaped::Killed { left, .. } = reap(pgid, ticks, "t-orphans").await else {
        panic!("nothing was reaped")
    };
    assert!(left.is_empty() && !is_alive(child));
}

#[tokio::test]
async fn a_number_that_belongs_to_somebody_else_is_never_killed() {
    // W19: neither another start time nor another task's process is ours.
    let mut live = start("t-stranger", "sleep 600 & echo child $!; wait");
    let (pgid, ticks) = (live.running.pgid(), live.running.start_ticks());
    let child = live.number("child").await;
    assert_eq!(reap(pgid, ticks - 1, "t-mine").await, Reaped::NotOurs);
    assert_eq!(reap(pgid, ticks, "t-mine").await, Reaped::NotOurs);
    // The child leads no group; it may have started within the same tick as its parent.
    assert!(matches!(reap(child, ticks, "t-mine").await, Reaped::Gone | Reaped::NotOurs));
    for number in [0, 1, -1, -pgid] {
        assert_eq!(reap(number, ticks, "t-mine").await, Reaped::Gone);
    }
    assert!(is_alive(child) && is_alive(pgid));
    live.running.stop(STOP_GRACE).await;
}
