//! The real window through WebKitWebDriver, on the display that the environment names.
//!
//! 1. One window at a time on a machine: a lock file keeps the others waiting, whatever runs the tests.
//! 2. The app gets a data folder, a home and an environment of its own, and no keychain: nothing of the user's
//!    is touched.
//! 3. Elements are found by `data-testid`. Everything waits until it is there, and says what is on the page
//!    instead when it never comes.

use crate::place;
use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};

/// How long anything may take to show up.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at what can't be waited for otherwise.
const LOOK: Duration = Duration::from_millis(40);

/// What the app is started with.
#[derive(Clone, Debug)]
pub struct Start {
    /// The data folder. Opening it again is a restart.
    pub data: PathBuf,
    /// The home folder.
    pub home: PathBuf,
    /// Arguments after the data folder.
    pub args: Vec<String>,
    /// Further variables.
    pub vars: Vec<(String, String)>,
}

impl Start {
    /// Over folders below this one, which is empty or was used before.
    pub fn below(folder: &Path) -> Self {
        let (data, home) = (folder.join("data"), folder.join("home"));
        fs::create_dir_all(&home).expect("a home");
        Self { data, home, args: Vec::new(), vars: Vec::new() }
    }

    /// With this folder on the command line.
    pub fn on(mut self, folder: &Path) -> Self {
        self.args.push(folder.to_string_lossy().into_owned());
        self
    }
}

/// A running app.
pub struct Window {
    /// For what has no method here.
    pub client: Client,
    driver: Child,
    _alone: File,
}

impl Window {
    /// Starts the app and waits for its page.
    pub async fn open(start: &Start) -> Self {
        assert!(
            std::env::var_os("DISPLAY").is_some(),
            "the tests of the window need a display; `cargo xtask test` starts a virtual one"
        );
        let alone = alone().await;
        let port = free_port();
        let mut driver = driver(start, port).spawn().expect("WebKitWebDriver (package webkit2gtk-driver)");
        wait_until("WebKitWebDriver takes connections", async || {
            tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok()
        })
        .await;
        let mut args = vec!["--data-dir".to_owned(), start.data.to_string_lossy().into_owned()];
        args.extend(start.args.clone());
        let wanted = json!({ "webkitgtk:browserOptions": { "binary": place::app(), "args": args } });
        let connected = ClientBuilder::new(HttpConnector::new())
            .capabilities(wanted.as_object().expect("an object").clone())
            .connect(&format!("http://127.0.0.1:{port}"))
            .await;
        let client = match connected {
            Ok(client) => client,
            Err(error) => {
                driver.kill().await.ok();
                panic!("the app did not start under WebKitWebDriver: {error}");
            }
        };
        Self { client, driver, _alone: alone }
    }

    /// The element, once it is there.
    pub async fn wait_for(&self, testid: &str) -> Element {
        let selector = by(testid);
        match self.client.wait().at_most(PATIENCE).for_element(Locator::Css(&selector)).await {
            Ok(element) => element,
            Err(error) => self.give_up(&format!("`{testid}` did not appear: {error}")).await,
        }
    }

    /// Waits until the element says this somewhere.
    pub async fn wait_for_text(&self, testid: &str, text: &str) {
        let selector = by(testid);
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            for element in self.client.find_all(Locator::Css(&selector)).await.unwrap_or_default() {
                // The driver's own idea of visible text leaves out what an ellipsis may cut.
                let found = element.prop("textContent").await;
                if found.is_ok_and(|found| found.is_some_and(|found| found.contains(text))) {
                    return;
                }
            }
            tokio::time::sleep(LOOK).await;
        }
        self.give_up(&format!("`{testid}` never said {text:?}")).await
    }

    /// Waits until no such element is there.
    pub async fn wait_gone(&self, testid: &str) {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if self.all(testid).await.is_empty() {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
        self.give_up(&format!("`{testid}` did not go away")).await
    }

    /// All such elements that are there now.
    pub async fn all(&self, testid: &str) -> Vec<Element> {
        self.client.find_all(Locator::Css(&by(testid))).await.expect("the page answers")
    }

    /// Clicks it, once it is there and takes clicks.
    pub async fn click(&self, testid: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let element = self.wait_for(testid).await;
            match element.click().await {
                Ok(()) => return,
                // Moved, covered or replaced just now: look again.
                Err(error) if Instant::now() > until => {
                    self.give_up::<()>(&format!("`{testid}` can't be clicked: {error}")).await;
                }
                Err(_) => tokio::time::sleep(LOOK).await,
            }
        }
    }

    /// Types into it. `\u{e007}` is Enter, `\u{e00c}` Escape.
    pub async fn type_into(&self, testid: &str, text: &str) {
        let element = self.wait_for(testid).await;
        element.send_keys(text).await.unwrap_or_else(|error| panic!("`{testid}` takes no text: {error}"));
    }

    /// What the whole page says.
    pub async fn text(&self) -> String {
        let body = self.client.find(Locator::Css("body")).await.expect("a page");
        body.text().await.expect("its text")
    }

    /// Runs a script in the page; `return` gives its value.
    pub async fn script(&self, script: &str, args: Vec<Value>) -> Value {
        self.client.execute(script, args).await.expect("the script runs")
    }

    /// Saves a picture as `NAME.png`, and says where.
    pub async fn picture(&self, name: &str) -> PathBuf {
        // What the page says may be ahead of what is painted: let two frames pass.
        let frames =
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(0)));";
        self.client.execute_async(frames, vec![]).await.expect("two frames");
        let png = self.client.screenshot().await.expect("a picture");
        let path = place::pictures().join(format!("{name}.png"));
        fs::write(&path, png).expect("the picture is written");
        path
    }

    /// The app's process.
    pub fn app_pid(&self) -> u32 {
        let driver = self.driver.id().expect("WebKitWebDriver runs");
        let name = place::app().file_name().expect("a name").to_string_lossy().into_owned();
        children_of(driver)
            .into_iter()
            .find(|pid| {
                fs::read_to_string(format!("/proc/{pid}/comm"))
                    .is_ok_and(|comm| name.starts_with(comm.trim()))
            })
            .expect("the app runs under WebKitWebDriver")
    }

    /// Ends the app as closing its window does, and waits until it is gone.
    pub async fn quit(self) {
        self.signal("TERM").await;
    }

    /// Ends the app as a power cut does, and waits until it is gone.
    pub async fn kill(self) {
        self.signal("KILL").await;
    }

    async fn signal(mut self, signal: &str) {
        let pid = self.app_pid();
        let sent = place::program("kill").args([&format!("-{signal}"), &pid.to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "SIG{signal} was sent");
        wait_until("the app is gone", async || !is_alive(pid)).await;
        // The session went with the app.
        self.driver.kill().await.ok();
    }

    /// Fails with what the page shows, and a picture of it.
    async fn give_up<T>(&self, why: &str) -> T {
        let shot = self.picture(&format!("failed-{}", std::process::id())).await;
        panic!("{why}\n\nThe page says:\n{}\n\nPicture: {}", self.text().await, shot.display())
    }
}

fn by(testid: &str) -> String {
    format!("[data-testid={testid:?}]")
}

fn driver(start: &Start, port: u16) -> Command {
    // Nothing of the user's: no keys, no session bus and so no keychain, no other home.
    // Not WEBKIT_DISABLE_DMABUF_RENDERER: with it screenshots of a page at rest never come.
    const PASSED: [&str; 7] =
        ["PATH", "DISPLAY", "XAUTHORITY", "LANG", "TMPDIR", "GDK_BACKEND", "NO_AT_BRIDGE"];
    let mut command = Command::from(place::program("WebKitWebDriver"));
    command
        .args([&format!("--port={port}"), "--host=127.0.0.1"])
        .env_clear()
        .envs(PASSED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .env("HOME", &start.home)
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
        .env("TAURI_WEBVIEW_AUTOMATION", "true")
        .envs(start.vars.clone())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true);
    command
}

async fn wait_until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < until, "not so after {} s: {what}", PATIENCE.as_secs());
        tokio::time::sleep(LOOK).await;
    }
}

/// Holds the machine's one place for a window.
async fn alone() -> File {
    tokio::task::spawn_blocking(|| {
        let lock = File::create(place::root().join("target/window.lock")).expect("the lock file");
        lock.lock().expect("the lock");
        lock
    })
    .await
    .expect("the lock")
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port()
}

fn is_alive(pid: u32) -> bool {
    // A process that ended and waits to be collected is gone.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|rest| !rest.starts_with('Z')))
}

fn children_of(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    pids.filter(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent_field = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        parent_field == Some(parent)
    })
    .collect()
}
