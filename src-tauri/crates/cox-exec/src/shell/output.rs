//! The output of a command: its head and its tail in memory, all of it in a nameless file once it grows.

use crate::{ExecError, Result};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// How much output is kept, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputCaps {
    /// From the beginning, in memory.
    pub head: usize,
    /// From the end, in memory.
    pub tail: usize,
    /// On disk; what comes after is only counted.
    pub spool: u64,
}

impl Default for OutputCaps {
    fn default() -> Self {
        Self { head: 64 * 1024, tail: 64 * 1024, spool: 256 * 1024 * 1024 }
    }
}

/// Output as kept in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes, as far as they are not in the head.
    pub tail: Vec<u8>,
    /// Bytes in all.
    pub total_bytes: u64,
    /// Characters in all, as UTF-8.
    pub total_chars: u64,
    /// Line ends in all.
    pub total_lines: u64,
    /// Why the whole is not on disk, where it should be.
    pub spool_problem: Option<String>,
}

/// Output as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputText {
    /// The beginning; everything when nothing was cut.
    pub head: String,
    /// The end; empty when nothing was cut.
    pub tail: String,
    /// Characters left out between the two.
    pub cut_chars: u64,
}

/// The whole output, or as much of it as was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// From the beginning.
    pub bytes: Vec<u8>,
    /// There was more.
    pub cut: bool,
}

impl Output {
    /// Is there more than the head and the tail hold?
    pub fn is_cut(&self) -> bool {
        self.total_bytes > (self.head.len() + self.tail.len()) as u64
    }

    /// As text of at most `max_chars` characters, cut in the middle. Bytes that are not UTF-8 become `U+FFFD`.
    pub fn text(&self, max_chars: usize) -> OutputText {
        if !self.is_cut() {
            let all = [self.head.as_slice(), self.tail.as_slice()].concat();
            let all = String::from_utf8_lossy(&all);
            let count = all.chars().count();
            if count <= max_chars {
                return OutputText { head: all.into_owned(), tail: String::new(), cut_chars: 0 };
            }
            return OutputText {
                head: first(&all, max_chars - max_chars / 2),
                tail: last(&all, max_chars / 2),
                cut_chars: (count - max_chars) as u64,
            };
        }
        let head = first(&String::from_utf8_lossy(whole_chars_end(&self.head)), max_chars - max_chars / 2);
        let tail = last(&String::from_utf8_lossy(whole_chars_start(&self.tail)), max_chars / 2);
        let kept = (head.chars().count() + tail.chars().count()) as u64;
        OutputText { cut_chars: self.total_chars.saturating_sub(kept), head, tail }
    }
}

fn first(text: &str, count: usize) -> String {
    text.chars().take(count).collect()
}

fn last(text: &str, count: usize) -> String {
    let start = text.char_indices().rev().take(count).last().map_or(text.len(), |(at, _)| at);
    text.get(start..).unwrap_or_default().to_owned()
}

/// Without the bytes of a character that the cut at the end split.
pub(super) fn whole_chars_end(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.get(..error.valid_up_to()).unwrap_or(bytes),
        _ => {
            // An invalid byte further ahead hides the end from `from_utf8`; three bytes are all that can be split off.
            let keep = (1..=3.min(bytes.len()))
                .find(|back| bytes.get(bytes.len() - back).is_some_and(|byte| *byte >= 0xC0))
                .filter(|back| bytes.get(bytes.len() - back).is_some_and(|byte| char_len(*byte) > *back))
                .map_or(bytes.len(), |back| bytes.len() - back);
            bytes.get(..keep).unwrap_or(bytes)
        }
    }
}

fn char_len(first: u8) -> usize {
    match first {
        0xF0.. => 4,
        0xE0..=0xEF => 3,
        0xC0..=0xDF => 2,
        _ => 1,
    }
}

/// Without the bytes of a character that the cut at the start split.
fn whole_chars_start(bytes: &[u8]) -> &[u8] {
    let skip = bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
    bytes.get(skip..).unwrap_or(bytes)
}

/// Takes output in and keeps what the caps allow.
#[derive(Debug)]
pub(super) struct Keep {
    caps: OutputCaps,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total_bytes: u64,
    total_chars: u64,
    total_lines: u64,
    spool: Option<Arc<File>>,
    spooled: u64,
    spool_problem: Option<String>,
}

/// Bytes to append to the spool.
pub(super) struct ToSpool {
    pub(super) file: Arc<File>,
    pub(super) bytes: Vec<u8>,
}

impl Keep {
    pub(super) fn new(caps: OutputCaps) -> Self {
        Self {
            caps,
            head: Vec::new(),
            tail: VecDeque::new(),
            total_bytes: 0,
            total_chars: 0,
            total_lines: 0,
            spool: None,
            spooled: 0,
            spool_problem: None,
        }
    }

    /// Takes a piece in. What has to go to disk is given back; [`Self::spooled`] says how that went.
    pub(super) fn push(&mut self, piece: &[u8]) -> Option<ToSpool> {
        let to_spool = self.spoolable(piece);
        self.total_bytes += piece.len() as u64;
        self.total_chars += piece.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64;
        self.total_lines += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
        let (for_head, rest) = piece.split_at(piece.len().min(self.caps.head - self.head.len()));
        self.head.extend_from_slice(for_head);
        let rest = rest.get(rest.len().saturating_sub(self.caps.tail)..).unwrap_or_default();
        let over = (self.tail.len() + rest.len()).saturating_sub(self.caps.tail);
        self.tail.drain(..over);
        self.tail.extend(rest);
        to_spool
    }

    /// The spool begins when memory can't hold all any more, with all that came before.
    fn spoolable(&mut self, piece: &[u8]) -> Option<ToSpool> {
        if self.spool_problem.is_some() {
            return None;
        }
        let mut bytes = Vec::new();
        if self.spool.is_none() {
            if self.total_bytes + piece.len() as u64 <= (self.caps.head + self.caps.tail) as u64 {
                return None;
            }
            match tempfile::tempfile() {
                Ok(file) => self.spool = Some(Arc::new(file)),
                Err(error) => {
                    self.spool_problem = Some(error.to_string());
                    return None;
                }
            }
            bytes.extend_from_slice(&self.head);
            bytes.extend(&self.tail);
        }
        bytes.extend_from_slice(piece);
        let room = self.caps.spool.saturating_sub(self.spooled);
        if bytes.len() as u64 > room {
            bytes.truncate(usize::try_from(room).unwrap_or(usize::MAX));
            self.spool_problem =
                Some(format!("the output is longer than the {} bytes that are kept", self.caps.spool));
        }
        self.spooled += bytes.len() as u64;
        Some(ToSpool { file: self.spool.clone()?, bytes })
    }

    /// A write to the spool failed: the disk is full, for instance.
    pub(super) fn spool_failed(&mut self, error: &io::Error) {
        self.spool_problem = Some(error.to_string());
    }

    pub(super) fn output(&self) -> Output {
        Output {
            head: self.head.clone(),
            tail: self.tail.iter().copied().collect(),
            total_bytes: self.total_bytes,
            total_chars: self.total_chars,
            total_lines: self.total_lines,
            spool_problem: self.spool_problem.clone(),
        }
    }

    /// Where the whole is to be read from.
    pub(super) fn source(&self) -> Source {
        match &self.spool {
            Some(file) => Source::Spool(Arc::clone(file), self.total_bytes),
            None => Source::Memory(
                [self.head.as_slice(), &self.tail.iter().copied().collect::<Vec<u8>>()].concat(),
            ),
        }
    }
}

pub(super) enum Source {
    Memory(Vec<u8>),
    Spool(Arc<File>, u64),
}

impl Source {
    /// Blocking.
    pub(super) fn read(self, limit: u64) -> Result<Whole> {
        match self {
            Self::Memory(mut bytes) => {
                let cut = bytes.len() as u64 > limit;
                bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
                Ok(Whole { bytes, cut })
            }
            Self::Spool(file, total) => {
                let bytes = read_start(&file, limit)
                    .map_err(|source| ExecError::io("read", "the kept output", source))?;
                Ok(Whole { cut: (bytes.len() as u64) < total, bytes })
            }
        }
    }
}

/// Reads without moving the place where the next write goes.
fn read_start(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(file.metadata()?.len().min(limit)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; length];
    let mut done = 0;
    while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(file, rest, done as u64)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(file, rest, done as u64)?;
        if count == 0 {
            break;
        }
        done += count;
    }
    bytes.truncate(done);
    Ok(bytes)
}

/// Blocking. On Windows reading moves the place, so it is set each time.
pub(super) fn append(to: &ToSpool) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    let mut file: &File = &to.file;
    file.seek(SeekFrom::End(0))?;
    file.write_all(&to.bytes)
}
