//! The virtual display: one Xvfb on a number that it finds free by itself, gone when this is dropped.
//!
//! It lets in only who has its cookie, so that nobody else on the machine can look at it or type into it.

use crate::step;
use crate::stop::Stop;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Width and height of the screen: those of the window.
const SCREEN: (u32, u32) = (1440, 900);

/// A display that nobody sees.
pub(crate) struct VirtualDisplay {
    server: Child,
    name: String,
    folder: PathBuf,
}

/// Has this environment a display?
pub(crate) fn is_there() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

impl VirtualDisplay {
    /// Starts one, and waits until it takes connections.
    pub(crate) fn start() -> Result<Self, Stop> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            Stop::failed(format!("the virtual display did not start: {what}: {error}"))
        };
        let folder = std::env::temp_dir().join(format!("coxswain-display-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|error| failed("its folder", &error))?;
        let authority = folder.join("authority");
        fs::write(&authority, cookie()?).map_err(|error| failed("its cookie", &error))?;
        let screen = format!("{}x{}x24", SCREEN.0, SCREEN.1);
        let mut server = step::program("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", &screen, "-nolisten", "tcp", "-noreset", "-auth"])
            .arg(&authority)
            .arg("-fbdir")
            .arg(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed("Xvfb", &error))?;
        let mut line = String::new();
        if let Some(out) = server.stdout.take() {
            // It writes its number once it is ready.
            BufReader::new(out).read_line(&mut line).map_err(|error| failed("its number", &error))?;
        }
        let name = format!(":{}", line.trim());
        let display = Self { server, name, folder };
        if line.trim().is_empty() { Err(failed("Xvfb", &"it ended at once")) } else { Ok(display) }
    }

    /// Points a command at this display.
    pub(crate) fn apply(&self, command: &mut Command) {
        command
            .env("DISPLAY", &self.name)
            .env("XAUTHORITY", self.folder.join("authority"))
            .env_remove("WAYLAND_DISPLAY")
            .env("GDK_BACKEND", "x11")
            // No accessibility bus; without this GTK looks for one and complains.
            .env("NO_AT_BRIDGE", "1");
    }

    /// The screen right now, as an XWD file.
    pub(crate) fn screen(&self) -> Result<Vec<u8>, Stop> {
        fs::read(self.folder.join("Xvfb_screen0"))
            .map_err(|error| Stop::failed(format!("the virtual display's screen can't be read: {error}")))
    }
}

impl Drop for VirtualDisplay {
    fn drop(&mut self) {
        // Asked to end, it takes its socket and its lock file away; killed, it would leave both.
        let asked = step::program("kill").arg(self.server.id().to_string()).status();
        if !asked.is_ok_and(|status| status.success()) {
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// An Xauthority file with one entry for any host and any display number.
fn cookie() -> Result<Vec<u8>, Stop> {
    let mut secret = [0; 16];
    fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut secret))
        .map_err(|error| Stop::failed(format!("no random numbers: {error}")))?;
    const FAMILY_WILD: [u8; 2] = [0xff, 0xff];
    let mut file = FAMILY_WILD.to_vec();
    for field in [b"".as_slice(), b"", b"MIT-MAGIC-COOKIE-1", &secret] {
        file.extend(u16::try_from(field.len()).unwrap_or_default().to_be_bytes());
        file.extend(field);
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::{VirtualDisplay, cookie};
    use crate::picture::Picture;

    #[test]
    fn a_cookie_for_any_display() {
        let file = cookie().unwrap();
        assert_eq!(file.len(), 2 + 2 + 2 + 2 + 18 + 2 + 16);
        assert_eq!(file[..8], [0xff, 0xff, 0, 0, 0, 0, 0, 18]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn comes_with_a_screen_and_leaves_nothing() {
        let display = VirtualDisplay::start().unwrap();
        let picture = Picture::of_xwd(&display.screen().unwrap()).unwrap();
        assert_eq!(picture.size(), (1440, 900));
        let folder = display.folder.clone();
        drop(display);
        assert!(!folder.exists());
    }
}
