//! From the start of the app to its session list on screen, over a database with many projects and sessions, on a
//! virtual display with software rendering.

use super::args::Ask;
use super::failure::{Failure, Outcome, failure};
use super::figure::{Figure, median, quantile};
use super::measured::Measured;
use super::process;
use super::report;
use super::run::Place;
use super::script_server::beside;
use super::step::{Filled, Step};
use cox_protocol::settings::ProviderSettings;
use cox_tests::place;
use cox_tests::window::{Start, Window};
use std::path::Path;
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

const NAME: &str = "window ready, 50 projects, 2,000 sessions";
const TARGET_S: f64 = 2.0;
const PROJECTS: usize = 50;
const SESSIONS: usize = 2_000;
/// Sessions that one engine process makes: it holds a lock for each.
const AT_A_TIME: usize = 250;

/// Waits for the first frame after all projects and the first sessions are there, and gives its time. It is called
/// once the driver has hold of the page, so that a page that was ready before is taken for later than it was.
const READY: &str = "\
const [projects, done] = arguments;
const is = (name) => document.querySelectorAll(`[data-testid=\"${name}\"]`).length;
const look = () => requestAnimationFrame(() =>
  is('project-row') === projects && is('session-row') > 0 ? requestAnimationFrame(() => done(Date.now())) : look());
look();";

pub(crate) fn measure(ask: &Ask) -> Outcome<Vec<Figure>> {
    let app = match tools() {
        Ok(app) => app,
        Err(missing) => return Ok(vec![Figure::not_measured(NAME, "s", TARGET_S, missing.to_string())]),
    };
    let place = Place::new()?;
    fill(&place)?;
    let rounds = ask.whole_or_quick(5, 2);
    let mut times = Vec::new();
    for _ in 0..rounds {
        let output = place::program("xvfb-run")
            .args(["-a", "-s", "-screen 0 1440x900x24 -nolisten tcp"])
            .arg(std::env::current_exe()?)
            .arg("window-ready")
            .arg(place.folder())
            .env("COX_APP", &app)
            .env("GDK_BACKEND", "x11")
            .env("NO_AT_BRIDGE", "1")
            .env("LIBGL_ALWAYS_SOFTWARE", "1")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let seconds = said.trim().parse().ok().filter(|_| output.status.success());
        times.push(seconds.ok_or_else(|| failure(format!("the window did not come up: {}", said.trim())))?);
    }
    let note = format!("median of {rounds} starts, the longest {:.2} s", quantile(&times, 1.0));
    Ok(vec![Figure::below(NAME, median(&times), "s", TARGET_S).note(note)])
}

/// The app, when all that is needed to look at it is here.
fn tools() -> Outcome<std::path::PathBuf> {
    let app = beside("coxswain")?;
    if !place::root().join("ui/dist/index.html").is_file() {
        return Err(failure("the page is not built"));
    }
    for tool in ["xvfb-run", "WebKitWebDriver"] {
        let found = std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(tool).is_file()));
        if !found {
            return Err(failure(format!("{tool} is not installed")));
        }
    }
    Ok(app)
}

fn fill(place: &Place) -> Outcome<()> {
    let below = place.folder().join("projects");
    for from in (0..SESSIONS).step_by(AT_A_TIME) {
        let mut measured = Measured::start(&place.opening(ProviderSettings::default(), 20))?;
        let step = Step::Fill { below: below.clone(), projects: PROJECTS, sessions: AT_A_TIME, from };
        let filled: Filled = measured.ask(&step)?;
        if filled.sessions != AT_A_TIME {
            return Err(failure(format!("{} of {AT_A_TIME} sessions were made", filled.sessions)));
        }
        measured.close()?;
    }
    Ok(())
}

/// On the virtual display: starts the app once, and prints how many seconds it took.
pub(crate) fn inside(words: &[String]) -> Outcome<()> {
    let [folder] = words else { return Err(failure("usage: cox-bench window-ready FOLDER")) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let seconds = runtime.block_on(ready(Path::new(folder)))?;
    report::say(&format!("{seconds:.3}"));
    Ok(())
}

async fn ready(folder: &Path) -> Outcome<f64> {
    let window = Window::open(&Start::below(folder)).await;
    let shown = window.client.execute_async(READY, vec![PROJECTS.into()]).await?;
    let shown_ms = shown.as_f64().ok_or_else(|| failure(format!("the page gave {shown} for a time")))?;
    let started = now()? - process::age(window.app_pid())?.as_secs_f64();
    window.quit().await;
    Ok(shown_ms / 1e3 - started)
}

/// Seconds since 1970.
fn now() -> Result<f64, Failure> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64())
}
