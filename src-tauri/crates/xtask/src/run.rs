//! `run`: the window. Without a display the same window runs on a virtual one and rehearses a session (W43):
//!
//! 1. The app is started with `--rehearse` over the folder, with a data folder of its own that is thrown away.
//! 2. It opens the folder, starts a session, answers the one permission request, and writes one line of JSON
//!    when everything is idle.
//! 3. A picture of the screen is taken once it stands still.
//! 4. The app ends when its standard input is closed.

use crate::display::{self, VirtualDisplay};
use crate::picture::Picture;
use crate::stop::Stop;
use crate::system::{self, Need};
use crate::{step, ui};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// A rehearsal over a large folder on a slow machine takes a minute.
const REHEARSAL_MOST: Duration = Duration::from_secs(600);
/// How long the screen has to stand still before it is taken, and how long to wait for that.
const STILL: Duration = Duration::from_millis(600);
const STILL_MOST: Duration = Duration::from_secs(10);
/// How long the app may take to end.
const END_MOST: Duration = Duration::from_secs(15);

/// Builds and runs.
pub(crate) fn run(args: &[String]) -> Result<(), Stop> {
    let has_display = display::is_there();
    system::ensure(if has_display { &[Need::Build] } else { &[Need::Build, Need::VirtualDisplay] })?;
    ui::install()?;
    ui::build()?;
    step::show(&mut step::cargo(&["build", "--workspace"]))?;
    let app = step::root().join("target/debug").join(format!("coxswain{}", std::env::consts::EXE_SUFFIX));
    if has_display {
        let mut command = step::program(&app.to_string_lossy());
        // A folder is meant relative to where the command was typed.
        if let Ok(here) = std::env::current_dir() {
            command.current_dir(here);
        }
        return step::show(command.args(args));
    }
    let folder = match args {
        [] => step::root(),
        [folder] => std::path::absolute(folder).map_err(|error| Stop::usage(format!("{folder}: {error}")))?,
        [_, extra, ..] => return Err(Stop::usage(format!("`{extra}` is one argument too many"))),
    };
    rehearse(&app, &folder)
}

fn rehearse(app: &Path, folder: &Path) -> Result<(), Stop> {
    println!("\nThere is no display here, so the window opens on a virtual one and rehearses a session over");
    println!("{}. Rehearsal follows fixed rules; it is no language model.", folder.display());
    let display = VirtualDisplay::start()?;
    let data = TempFolder::new()?;
    let mut command = step::program(&app.to_string_lossy());
    command.arg("--data-dir").arg(&data.0).arg("--rehearse").arg(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    display.apply(&mut command);
    // Rendering is in software here; sharing buffers with a GPU that is not there costs time and memory. Not so in
    // tests: with it WebKitWebDriver's screenshots of a page at rest never come.
    command.env("WEBKIT_DISABLE_DMABUF_RENDERER", "1");
    let mut app = command.spawn().map_err(|error| Stop::failed(format!("the app did not start: {error}")))?;
    let lines = read_lines(app.stdout.take());
    let told = lines.recv_timeout(REHEARSAL_MOST);
    let shot = step::root().join("target/coxswain-run.png");
    let pictured = take_still(&display, &shot);
    end(&mut app, &lines);
    let report = match told {
        Ok(line) => line,
        Err(RecvTimeoutError::Timeout) => {
            return Err(Stop::failed(format!("no report after {} s", REHEARSAL_MOST.as_secs())));
        }
        Err(RecvTimeoutError::Disconnected) => return Err(Stop::failed("the app ended without a report")),
    };
    pictured?;
    tell(&report, &shot)
}

/// Prints what the app wrote: `{"report", "answered", "error"}`, each a string or null.
fn tell(line: &str, shot: &Path) -> Result<(), Stop> {
    let told: serde_json::Value = serde_json::from_str(line).map_err(|error| {
        Stop::failed(format!("the app wrote something else than a report ({error}): {line}"))
    })?;
    let field = |name: &str| told[name].as_str();
    if let Some(report) = field("report") {
        println!("\n{report}");
    }
    match field("answered") {
        Some(action) => println!("\nAnswered the permission request for you, once: {action}"),
        None => println!("\nNobody asked for permission."),
    }
    println!("Screenshot: {}", shot.display());
    match field("error") {
        None => Ok(()),
        Some(error) => Err(Stop::failed(error)),
    }
}

fn read_lines(out: Option<ChildStdout>) -> Receiver<String> {
    let (to, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in out.into_iter().flat_map(|out| BufReader::new(out).lines()).map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Takes the picture once the screen stands still.
fn take_still(display: &VirtualDisplay, path: &Path) -> Result<(), Stop> {
    let began = Instant::now();
    let mut screen = display.screen()?;
    loop {
        std::thread::park_timeout(STILL);
        let next = display.screen()?;
        let is_still = next == screen;
        screen = next;
        if is_still || began.elapsed() > STILL_MOST {
            break;
        }
    }
    let picture = Picture::of_xwd(&screen).ok_or_else(|| Stop::failed("the screen has an unknown format"))?;
    picture.write(path)
}

/// Closes the app's standard input, and waits for it to end; its lines end with it.
fn end(app: &mut Child, lines: &Receiver<String>) {
    drop(app.stdin.take());
    let until = Instant::now() + END_MOST;
    while lines.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok() {}
    if app.try_wait().is_ok_and(|status| status.is_none()) && Instant::now() >= until {
        println!("The app did not end when asked, and is killed.");
        // It may have ended just now; then there is nothing to kill.
        let _ = app.kill();
    }
    let _ = app.wait();
}

struct TempFolder(PathBuf);

impl TempFolder {
    fn new() -> Result<Self, Stop> {
        let path = std::env::temp_dir().join(format!("coxswain-run-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| Stop::failed(format!("{}: {error}", path.display())))?;
        Ok(Self(path))
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // A leftover in the temporary folder is no reason to fail.
        let _ = fs::remove_dir_all(&self.0);
    }
}
