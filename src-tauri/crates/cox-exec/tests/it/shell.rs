//! Running commands: output, exit, time-out, environment.

use cox_exec::{ChildEnv, Ended, ExecError, OutputCaps, OutputText, STOP_GRACE, Shell, Spawn};
use std::sync::mpsc;
use std::time::Duration;

fn spawn(command: &str) -> Spawn {
    Spawn::new(command, std::env::temp_dir(), "task-of-shell-tests")
}

async fn run(command: &str) -> Ended {
    Shell::default().spawn(spawn(command)).unwrap().wait().await
}

fn text(ended: &Ended) -> String {
    let OutputText { head, tail, cut_chars } = ended.output.text(100_000);
    assert_eq!((tail.as_str(), cut_chars), ("", 0));
    head
}

#[tokio::test]
async fn both_streams_stand_in_the_order_in_which_they_were_written() {
    let ended = run("echo a; echo b >&2; echo c; echo d >&2; exit 3").await;
    assert_eq!(text(&ended), "a\nb\nc\nd\n");
    let expect = Ended {
        exit_code: Some(3),
        signal: None,
        timed_out: false,
        stopped: false,
        killed: 0,
        forced: 0,
        left: Vec::new(),
        duration_ms: ended.duration_ms,
        output: ended.output.clone(),
    };
    assert_eq!(ended, expect);
    assert_eq!((ended.output.total_bytes, ended.output.total_chars, ended.output.total_lines), (8, 8, 4));
}

#[tokio::test]
async fn a_signal_is_told_from_an_exit_code() {
    let ended = run("kill -SEGV $$").await;
    assert_eq!((ended.exit_code, ended.signal, ended.stopped), (None, Some(11), false));
}

#[tokio::test]
async fn a_command_is_taken_as_it_is() {
    assert_eq!(text(&run("-x").await), "bash: line 1: -x: command not found\n");
    assert_eq!(text(&run("printf '%s' 'grün 🚣'").await), "grün 🚣");
    assert_eq!(text(&run("cat; echo read nothing").await), "read nothing\n", "there is no input");
}

#[tokio::test]
async fn the_folder_is_checked_and_used() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().canonicalize().unwrap().join("with space\nand line");
    std::fs::create_dir(&folder).unwrap();
    let running = Shell::default().spawn(Spawn::new("pwd", &folder, "t")).unwrap();
    assert_eq!(text(&running.wait().await), format!("{}\n", folder.display()));
    let missing = Shell::default().spawn(Spawn::new("pwd", folder.join("x"), "t"));
    assert!(matches!(missing, Err(ExecError::Missing { .. })));
    std::fs::write(folder.join("file"), "").unwrap();
    let file = Shell::default().spawn(Spawn::new("pwd", folder.join("file"), "t"));
    assert!(matches!(file, Err(ExecError::NotAFolder { .. })));
}

#[tokio::test]
async fn children_get_the_allowed_variables_and_no_other() {
    // W28
    let temp = tempfile::tempdir().unwrap();
    let startup = temp.path().join("startup");
    std::fs::write(&startup, "echo startup file was read").unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let parent = [
        ("PATH", path.to_str().unwrap()),
        ("HOME", "/nowhere"),
        ("ANTHROPIC_API_KEY", "sk-secret"),
        ("SOME_VARIABLE", "value"),
        ("BASH_ENV", startup.to_str().unwrap()),
        ("ENV", startup.to_str().unwrap()),
        ("BASH_FUNC_env%%", "() { echo function was called; }"),
    ];
    let shell = Shell::new(ChildEnv::from_parent(parent.map(|(name, value)| (name.into(), value.into()))));
    let ended = shell.spawn(spawn("env")).unwrap().wait().await;
    let output = text(&ended);
    let mut names: Vec<&str> = output.lines().map(|line| line.split('=').next().unwrap()).collect();
    names.sort_unstable();
    let expect = [
        "COXSWAIN_RUN",
        "COXSWAIN_TASK",
        "GIT_PAGER",
        "GIT_TERMINAL_PROMPT",
        "HOME",
        "PAGER",
        "PATH",
        "PWD",
        "SHLVL",
        "TERM",
        "_",
    ];
    assert_eq!(names, expect, "{output}");
    assert!(output.contains("COXSWAIN_TASK=task-of-shell-tests\n"));
}

#[tokio::test]
async fn a_line_of_five_megabytes_is_kept_whole_and_costs_little_memory() {
    // Bad input: a 5 MB line of output.
    let ended = {
        let running = Shell::default()
            .spawn(spawn("printf start; head -c 5000000 /dev/zero | tr '\\0' 'x'; printf end"))
            .unwrap();
        let ended = running.wait().await;
        let whole = running.whole(u64::MAX).await.unwrap();
        assert_eq!((whole.bytes.len(), whole.cut), (5_000_008, false));
        assert!(whole.bytes.starts_with(b"startxxx") && whole.bytes.ends_with(b"xxxend"));
        let part = running.whole(1_000).await.unwrap();
        assert_eq!((part.bytes.len(), part.cut), (1_000, true));
        ended
    };
    let caps = OutputCaps::default();
    assert_eq!((ended.output.head.len(), ended.output.tail.len()), (caps.head, caps.tail));
    assert_eq!((ended.output.total_bytes, ended.output.total_lines), (5_000_008, 0));
    assert_eq!(ended.output.spool_problem, None);
    let text = ended.output.text(30_000);
    assert!(text.head.starts_with("startxxx") && text.tail.ends_with("xxxend"));
    assert_eq!((text.head.len() + text.tail.len(), text.cut_chars), (30_000, 4_970_008));
}

#[tokio::test]
async fn what_memory_holds_needs_no_file_and_a_cap_on_the_file_is_said() {
    let mut spec = spawn("echo hello");
    spec.caps = OutputCaps { head: 4, tail: 4, spool: 0 };
    let running = Shell::default().spawn(spec).unwrap();
    let ended = running.wait().await;
    assert_eq!(running.whole(100).await.unwrap().bytes, b"hello\n");
    assert_eq!((ended.output.head.as_slice(), ended.output.tail.as_slice()), (&b"hell"[..], &b"o\n"[..]));

    let mut spec = spawn("seq 1000");
    spec.caps = OutputCaps { head: 4, tail: 5, spool: 100 };
    let running = Shell::default().spawn(spec).unwrap();
    let ended = running.wait().await;
    let whole = running.whole(1_000).await.unwrap();
    assert_eq!((whole.bytes.len(), whole.cut), (100, true));
    assert!(ended.output.spool_problem.is_some());
    assert_eq!(
        ended.output.text(9),
        OutputText { head: "1\n2\n".into(), tail: "000\n".into(), cut_chars: 3_885 }
    );
}

#[tokio::test]
async fn characters_are_not_split_where_output_is_cut() {
    let mut spec = spawn("printf 'ää%.0s' {1..100}");
    spec.caps = OutputCaps { head: 5, tail: 5, spool: 1_000 };
    let ended = Shell::default().spawn(spec).unwrap().wait().await;
    let expect = OutputText { head: "ää".into(), tail: "ää".into(), cut_chars: 196 };
    assert_eq!(ended.output.text(1_000), expect);
}

#[tokio::test]
async fn live_output_comes_while_the_command_runs() {
    let (tell, told) = mpsc::channel();
    let mut spec = spawn("printf 'first ä'; read -r line < pipe; echo \"got $line\"");
    let temp = tempfile::tempdir().unwrap();
    let pipe = temp.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    spec.cwd = temp.path().to_owned();
    spec.live = Some(Box::new(move |text| tell.send(text.to_owned()).unwrap()));
    let running = Shell::default().spawn(spec).unwrap();
    let first = tokio::task::spawn_blocking(move || {
        let first = told.recv_timeout(Duration::from_secs(20)).unwrap();
        // Only now can the command go on.
        std::fs::write(pipe, "second\n").unwrap();
        (first, told)
    });
    let (first, told) = first.await.unwrap();
    assert_eq!(first, "first ä");
    assert_eq!(running.wait().await.exit_code, Some(0));
    assert_eq!(told.into_iter().collect::<String>(), "got second\n");
}

#[tokio::test]
async fn a_time_out_stops_the_tree() {
    let mut spec = spawn("sleep 600 & echo begun; wait");
    spec.timeout = Some(Duration::from_millis(200));
    let ended = Shell::default().spawn(spec).unwrap().wait().await;
    assert_eq!(
        (ended.timed_out, ended.stopped, ended.exit_code, ended.signal),
        (true, false, None, Some(15))
    );
    assert_eq!((ended.left.as_slice(), ended.forced), (&[][..], 0));
    assert_eq!(text(&ended), "begun\n", "what it wrote is kept");
}

#[tokio::test]
async fn a_lifted_time_out_does_not_strike() {
    let mut spec = spawn("echo begun; sleep 600");
    spec.timeout = Some(Duration::from_secs(3_600));
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    spec.live = Some(Box::new(move |text| tell.send(text.to_owned()).unwrap()));
    let running = Shell::default().spawn(spec).unwrap();
    told.recv().await.unwrap();
    running.detach_timeout();
    let ended = running.stop(STOP_GRACE).await;
    assert_eq!((ended.timed_out, ended.stopped), (false, true));
    assert_eq!(running.ended(), Some(ended.clone()), "everybody gets the same end");
    assert_eq!(running.stop(STOP_GRACE).await, ended, "also a second stop");
}
