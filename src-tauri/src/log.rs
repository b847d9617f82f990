//! What is written down: one file a day in the data folder, the last seven kept. No key gets into it: the engine
//! logs none, and whatever looks like one is blotted out here all the same.

use std::io::{self, Write};
use std::path::Path;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// The variable that says how much; `info` without it.
const LEVEL: &str = "COXSWAIN_LOG";
/// Files that are kept.
const FILES: usize = 7;
/// What keys begin with.
const KEY_MARKS: [&str; 3] = ["sk-", "Bearer ", "x-api-key: "];

/// Starts the log. It is written while the guard lives; without a file it goes to standard error.
pub(crate) fn start(data_folder: &Path) -> Option<WorkerGuard> {
    let level = std::env::var_os(LEVEL).and_then(|level| level.into_string().ok()).unwrap_or_default();
    let filter = EnvFilter::try_new(if level.is_empty() { "info" } else { &level });
    let filter = filter.unwrap_or_else(|_| EnvFilter::new("info"));
    let file = private_folder(&data_folder.join("logs")).and_then(|()| {
        RollingFileAppender::builder()
            .rotation(Rotation::DAILY)
            .filename_prefix("coxswain")
            .filename_suffix("log")
            .max_log_files(FILES)
            .build(data_folder.join("logs"))
            .map_err(io::Error::other)
    });
    let format = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
    let (guard, started) = match file {
        Ok(file) => {
            let (writer, guard) = tracing_appender::non_blocking(file);
            (Some(guard), format.with_writer(Redacted(writer)).try_init())
        }
        Err(error) => {
            to_stderr(&format!("coxswain: no log file: {error}"));
            (None, format.with_writer(Redacted(io::stderr)).try_init())
        }
    };
    if let Err(error) = started {
        to_stderr(&format!("coxswain: no log: {error}"));
    }
    guard
}

/// Makes a folder that only the user can look into, as the engine makes the one above it (W7).
fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// A line on standard output.
pub(crate) fn to_stdout(line: &str) {
    // Whoever started it has stopped listening; the window goes on.
    let _ = writeln!(io::stdout().lock(), "{line}");
}

/// A line on standard error.
pub(crate) fn to_stderr(line: &str) {
    // There is nowhere left to say that this failed.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Gives out writers that blot out keys.
struct Redacted<M>(M);

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for Redacted<M> {
    type Writer = Blotting<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        Blotting(self.0.make_writer())
    }
}

/// One event is written in one call, so a key is never cut in two.
struct Blotting<W>(W);

impl<W: Write> Write for Blotting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        if KEY_MARKS.iter().any(|mark| text.contains(mark)) {
            self.0.write_all(without_keys(&text).as_bytes())?;
            Ok(bytes.len())
        } else {
            self.0.write(bytes)
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn without_keys(text: &str) -> String {
    let mut clean = text.to_owned();
    for mark in KEY_MARKS {
        let mut done = 0;
        while let Some(found) = clean[done..].find(mark) {
            let from = done + found + mark.len();
            let is_key =
                |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '-' | '_' | '.' | '+' | '/' | '=');
            let length = clean[from..].find(|ch| !is_key(ch)).unwrap_or(clean.len() - from);
            clean.replace_range(from..from + length, "***");
            done = from + 3;
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::without_keys;

    #[test]
    fn no_key_gets_through() {
        assert_eq!(
            without_keys("key sk-ant-api03_A-b, then Authorization: Bearer abc.def== and on"),
            "key sk-***, then Authorization: Bearer *** and on"
        );
        assert_eq!(without_keys("nothing here"), "nothing here");
    }
}
