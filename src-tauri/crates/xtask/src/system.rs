//! Packages of the operating system: what is missing is installed, or the line that installs it is printed.
//!
//! Debian and Ubuntu only. On other systems this says what is needed and can't be installed.

use crate::step;
use crate::stop::Stop;
use std::io::{BufRead, IsTerminal};

/// What packages are needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Compiling the window.
    Build,
    /// A display where there is none.
    VirtualDisplay,
    /// Driving the window from tests.
    WindowTests,
}

impl Need {
    fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Build => &["build-essential", "pkg-config", "libwebkit2gtk-4.1-dev"],
            Self::VirtualDisplay => &["xvfb", "fonts-dejavu-core"],
            Self::WindowTests => &["webkit2gtk-driver", "xdotool", "python3-gi", "gir1.2-gtk-3.0"],
        }
    }
}

/// Makes sure that everything for `needs` is there.
pub(crate) fn ensure(needs: &[Need]) -> Result<(), Stop> {
    if cfg!(target_os = "macos") {
        return if step::read(step::program("xcode-select").arg("-p")).is_some() {
            Ok(())
        } else {
            Err(Stop::missing(
                "the compiler is missing, and can't be installed from here: run `xcode-select --install`",
            ))
        };
    }
    if cfg!(windows) {
        println!(
            "Windows: the Microsoft C++ build tools and WebView2 (part of Windows 11) can't be installed from here. \
             If the build fails for them, see https://tauri.app/start/prerequisites/"
        );
        return Ok(());
    }
    let wanted: Vec<&str> = needs.iter().flat_map(|need| need.packages()).copied().collect();
    if !step::has("dpkg-query") {
        return elsewhere(&wanted);
    }
    let missing: Vec<&str> = wanted.into_iter().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() { Ok(()) } else { install(&missing) }
}

fn is_installed(package: &str) -> bool {
    step::read(step::program("dpkg-query").args(["-W", "-f=${Status}", package]))
        .is_some_and(|status| status == "install ok installed")
}

/// A Linux without dpkg: the names are Debian's, and all that can be checked is the library of the window.
fn elsewhere(wanted: &[&str]) -> Result<(), Stop> {
    if step::read(step::program("pkg-config").args(["--exists", "webkit2gtk-4.1"])).is_some() {
        return Ok(());
    }
    Err(Stop::missing(format!(
        "this system has no apt, so nothing can be installed from here. Needed, by Debian's names: {}. \
         See https://tauri.app/start/prerequisites/ for the names here",
        wanted.join(" ")
    )))
}

fn install(missing: &[&str]) -> Result<(), Stop> {
    let list = missing.join(" ");
    println!("Missing system packages: {list}");
    if step::read(step::program("id").arg("-u")).as_deref() == Some("0") {
        return apt(&[], missing);
    }
    let by_hand = format!("sudo apt-get update && sudo apt-get install -y --no-install-recommends {list}");
    if !std::io::stdin().is_terminal() || !step::has("sudo") {
        return Err(Stop::missing(format!(
            "system packages are missing. Run this, then start again:\n\n  {by_hand}"
        )));
    }
    println!("Install them now with sudo? [Y/n]");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    if read.is_ok_and(|count| count > 0) && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes")
    {
        apt(&["sudo"], missing)
    } else {
        Err(Stop::missing(format!("system packages are missing. To install them:\n\n  {by_hand}")))
    }
}

fn apt(before: &[&str], packages: &[&str]) -> Result<(), Stop> {
    let call = |args: &[&str]| {
        let words = [before, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"], args].concat();
        let mut command = step::program(words[0]);
        command.args(&words[1..]);
        step::show(&mut command)
    };
    // A stale or unreachable list is no reason to give up: what is in the cache may do.
    if let Err(stop) = call(&["update"]) {
        println!("{}; going on with the lists that are there", stop.message);
    }
    call(&[&["install", "-y", "--no-install-recommends"], packages].concat())
        .map_err(|stop| Stop::missing(format!("{}: the packages could not be installed", stop.message)))
}
