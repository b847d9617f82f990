//! The engine process from outside.

use super::failure::{Outcome, failure, tried};
use super::process;
use super::step::{Closed, Failed, Opening, Step};
use cox_tests::place;
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two looks at the memory of a process.
const LOOK: Duration = Duration::from_millis(20);

/// A running engine process. It is killed when this is dropped before it was closed.
pub(crate) struct Measured {
    child: Child,
    tell: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Measured {
    /// Starts one, and waits until its engine is open.
    pub(crate) fn start(opening: &Opening) -> Outcome<Self> {
        Self::start_as(&std::env::current_exe()?, opening)
    }

    /// The same from a copy of the program in this folder. A process shares the memory of its program with all
    /// others that run the same file, this one among them, and its proportional share would look small.
    pub(crate) fn start_copy(opening: &Opening, folder: &Path) -> Outcome<Self> {
        let copy = folder.join("engine");
        std::fs::copy(std::env::current_exe()?, &copy)?;
        Self::start_as(&copy, opening)
    }

    fn start_as(program: &Path, opening: &Opening) -> Outcome<Self> {
        let started = place::program(program)
            .arg("engine")
            .arg(serde_json::to_string(opening)?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = tried("starting the engine process", started)?;
        let gone = || failure("the engine process has no pipes");
        let (tell, answers) = (child.stdin.take(), child.stdout.take().ok_or_else(gone)?);
        let mut measured = Self { child, tell, answers: BufReader::new(answers) };
        measured.answer::<serde_json::Value>()?;
        Ok(measured)
    }

    /// Tells it what to do, without waiting.
    pub(crate) fn tell(&mut self, step: &Step) -> Outcome<()> {
        let tell = self.tell.as_mut().ok_or_else(|| failure("the engine process was closed"))?;
        let line = serde_json::to_string(step)?;
        Ok(writeln!(tell, "{line}")?)
    }

    /// Waits for what it says to that.
    pub(crate) fn answer<T: DeserializeOwned>(&mut self) -> Outcome<T> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(failure(format!("the engine process ended: {}", self.child.wait()?)));
        }
        if let Ok(Failed { failed }) = serde_json::from_str(&line) {
            return Err(failure(failed));
        }
        Ok(serde_json::from_str(&line)?)
    }

    /// Both.
    pub(crate) fn ask<T: DeserializeOwned>(&mut self, step: &Step) -> Outcome<T> {
        self.tell(step)?;
        self.answer()
    }

    /// Its memory right now, in KB.
    pub(crate) fn pss_kb(&self) -> Outcome<u64> {
        process::pss_kb(self.child.id())
    }

    /// Begins to look for the most memory that it has.
    pub(crate) fn watch_memory(&self) -> Peak {
        let pid = self.child.id();
        let (end, ended) = channel();
        let looking = std::thread::spawn(move || {
            let mut most = 0;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LOOK) {
                most = most.max(process::pss_kb(pid).unwrap_or_default());
            }
            most
        });
        Peak { end, looking }
    }

    /// Lets it close everything, and gives what it took in all.
    pub(crate) fn close(mut self) -> Outcome<Closed> {
        self.tell = None;
        let closed = self.answer()?;
        let status = self.child.wait()?;
        if status.success() {
            Ok(closed)
        } else {
            Err(failure(format!("the engine process ended: {status}")))
        }
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        // Fails when it has ended, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A watch over the memory of a process.
pub(crate) struct Peak {
    end: Sender<()>,
    looking: JoinHandle<u64>,
}

impl Peak {
    /// Ends it, and gives the most that was seen, in KB.
    pub(crate) fn end(self) -> Outcome<u64> {
        drop(self.end);
        self.looking.join().map_err(|_| failure("the watch over the memory broke"))
    }
}
