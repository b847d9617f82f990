//! Starting programs: shown, read, or watched line by line.

use crate::stop::Stop;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;

/// The repository.
pub(crate) fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).map_or(here.clone(), PathBuf::from)
}

/// A program, to be run in the repository.
#[expect(clippy::disallowed_methods, reason = "automation starts build tools; the rule is for the app")]
pub(crate) fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root());
    command
}

/// The cargo that runs this.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let cargo =
        std::env::var_os("CARGO").map_or_else(|| "cargo".into(), |path| path.to_string_lossy().into_owned());
    let mut command = program(&cargo);
    command.args(args);
    // What cargo told this program about itself is no business of the build: build scripts that look at it (ring's)
    // would run again each time a build is started from here after one that was not, and back.
    for (name, _) in std::env::vars_os() {
        let is_about_xtask = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_")
                || name.starts_with("CARGO_MANIFEST_")
                || name == "CARGO_PRIMARY_PACKAGE"
        });
        if is_about_xtask {
            command.env_remove(name);
        }
    }
    command
}

/// A command as one would type it.
fn shown(command: &Command) -> String {
    let name = command.get_program().to_string_lossy();
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    let words = command.get_args().map(|arg| arg.to_string_lossy().into_owned());
    std::iter::once(name).chain(words).collect::<Vec<_>>().join(" ")
}

fn not_started(command: &Command, error: &std::io::Error) -> Stop {
    let name = command.get_program().to_string_lossy();
    match error.kind() {
        ErrorKind::NotFound => Stop::missing(format!("`{name}` is not installed, or not in PATH")),
        _ => Stop::failed(format!("`{name}` did not start: {error}")),
    }
}

/// Runs a program in plain view. An error when it fails.
pub(crate) fn show(command: &mut Command) -> Result<(), Stop> {
    println!("\n> {}", shown(command));
    let status = command.status().map_err(|error| not_started(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(Stop::failed(format!("`{}` failed ({status})", shown(command))))
    }
}

/// What a program prints on standard output; null when it fails or is not there.
pub(crate) fn read(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Is the program there? `name --version` has to work.
pub(crate) fn has(name: &str) -> bool {
    read(program(name).arg("--version")).is_some()
}

/// Runs a program, prints its lines as they come, and gives each to `see`. True when it succeeds.
pub(crate) fn watch(command: &mut Command, mut see: impl FnMut(&str)) -> Result<bool, Stop> {
    println!("\n> {}", shown(command));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| not_started(command, &error))?;
    let (lines, incoming) = mpsc::channel();
    if let Some(out) = child.stdout.take() {
        forward(out, lines.clone());
    }
    if let Some(err) = child.stderr.take() {
        forward(err, lines.clone());
    }
    drop(lines);
    for line in incoming {
        println!("{line}");
        see(&line);
    }
    let status = child.wait().map_err(|error| not_started(command, &error))?;
    Ok(status.success())
}

fn forward(from: impl Read + Send + 'static, to: mpsc::Sender<String>) {
    std::thread::spawn(move || {
        let mut reader = BufReader::new(from);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            if to.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_err() {
                return;
            }
            line.clear();
        }
    });
}
