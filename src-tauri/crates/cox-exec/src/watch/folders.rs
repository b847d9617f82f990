//! The watch's thread: which folders are watched, and what the events mean.

use super::ignored::Ignored;
use super::{Debounced, WatchEvent, WatchOptions};
use crate::path_to_text;
use notify::event::{EventKind, ModifyKind};
use notify::{ErrorKind, RecursiveMode};
use notify_debouncer_full::DebounceEventResult;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

/// With more changed paths than these at once, nobody gains from names.
const NAMED_MOST: usize = 5_000;
/// Does each folder need a watch of its own?
const ONE_BY_ONE: bool = cfg!(any(target_os = "linux", target_os = "android"));

pub(super) enum Input {
    Seen(DebounceEventResult),
    Stop,
}

pub(super) struct Folders {
    root: PathBuf,
    options: WatchOptions,
    debouncer: Debounced,
    stopped: Arc<AtomicBool>,
    tell: Box<dyn FnMut(WatchEvent) + Send>,
    ignored: Ignored,
    watched: BTreeSet<PathBuf>,
    capped: bool,
    gone: bool,
}

impl Folders {
    pub(super) fn new(
        root: PathBuf,
        options: WatchOptions,
        debouncer: Debounced,
        stopped: Arc<AtomicBool>,
        tell: Box<dyn FnMut(WatchEvent) + Send>,
    ) -> Self {
        let ignored = Ignored::new(root.clone());
        Self {
            root,
            options,
            debouncer,
            stopped,
            tell,
            ignored,
            watched: BTreeSet::new(),
            capped: false,
            gone: false,
        }
    }

    pub(super) fn run(mut self, inputs: &Receiver<Input>) {
        let root = self.root.clone();
        if ONE_BY_ONE {
            self.cover(&root, &mut BTreeSet::new());
        } else {
            self.watch(&root, RecursiveMode::Recursive);
        }
        if self.watched.is_empty() {
            self.say(WatchEvent::Failed { message: format!("{} can't be watched", path_to_text(&root)) });
        }
        self.say(WatchEvent::Ready { folders: self.watched.len(), capped: self.capped });
        while let Ok(input) = inputs.recv() {
            match input {
                Input::Stop => break,
                Input::Seen(_) if self.is_stopped() => break,
                Input::Seen(Ok(events)) => self.seen(events.into_iter().map(|event| event.event).collect()),
                Input::Seen(Err(errors)) => {
                    for error in errors {
                        self.say(WatchEvent::Failed { message: error.to_string() });
                    }
                }
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    fn say(&mut self, event: WatchEvent) {
        if !self.is_stopped() {
            (self.tell)(event);
        }
    }

    fn seen(&mut self, events: Vec<notify::Event>) {
        if events.iter().any(notify::Event::need_rescan) {
            self.say(WatchEvent::Overflow);
        }
        let mut paths = BTreeSet::new();
        let mut moved = BTreeSet::new();
        for event in events {
            match event.kind {
                EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)) => {}
                EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)) => {
                    moved.extend(event.paths.iter().cloned());
                    paths.extend(event.paths);
                }
                EventKind::Any | EventKind::Other | EventKind::Modify(_) => paths.extend(event.paths),
            }
        }
        if paths.iter().any(|path| Ignored::is_rules(path)) {
            self.ignored.forget();
            moved.insert(self.root.clone());
        }
        if ONE_BY_ONE {
            self.follow(&moved, &mut paths);
        }
        self.report(&paths);
        if !self.gone && !self.root.is_dir() {
            self.gone = true;
            self.say(WatchEvent::Failed { message: format!("{} is gone", path_to_text(&self.root)) });
        }
    }

    /// Takes folders that went off the watch, and puts those that came on it; what is in them is new.
    fn follow(&mut self, moved: &BTreeSet<PathBuf>, paths: &mut BTreeSet<PathBuf>) {
        // First all that went: a renamed folder takes its watch with it, and would lose it under its new name.
        for path in moved.iter().filter(|path| **path != self.root) {
            let under: Vec<PathBuf> = self
                .watched
                .range(path.clone()..)
                .take_while(|folder| folder.starts_with(path))
                .cloned()
                .collect();
            for folder in under {
                let _ = self.debouncer.unwatch(&folder);
                self.watched.remove(&folder);
            }
        }
        let was_capped = self.capped;
        for path in moved.iter().filter(|path| is_folder(path)) {
            if !self.ignored.hides(path, true) {
                self.cover(path, paths);
            }
        }
        if self.capped && !was_capped {
            let message = format!("only {} folders are watched; there are more", self.watched.len());
            self.say(WatchEvent::Failed { message });
        }
    }

    fn report(&mut self, paths: &BTreeSet<PathBuf>) {
        let mut named = BTreeSet::new();
        for path in paths {
            let Ok(inside) = path.strip_prefix(&self.root) else { continue };
            if inside.as_os_str().is_empty() || self.ignored.hides(path, is_folder(path)) {
                continue;
            }
            named.insert(path_to_text(inside));
        }
        if named.len() > NAMED_MOST {
            self.say(WatchEvent::Overflow);
        } else if !named.is_empty() {
            self.say(WatchEvent::Changed { paths: named.into_iter().collect() });
        }
    }

    /// Watches a folder and those below it that are not ignored. Files in folders that were not watched before are
    /// added to `new`. Breadth first, so that a cap leaves out the deepest.
    fn cover(&mut self, from: &Path, new: &mut BTreeSet<PathBuf>) {
        let mut queue = std::collections::VecDeque::from([from.to_owned()]);
        while let Some(folder) = queue.pop_front() {
            if self.is_stopped() {
                return;
            }
            // Watched before it is listed, so that nothing falls between.
            let known = self.watched.contains(&folder);
            if !known && !self.watch(&folder, RecursiveMode::NonRecursive) {
                if self.capped {
                    return;
                }
                continue;
            }
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                let path = entry.path();
                if kind.is_dir() {
                    if !self.ignored.hides(&path, true) {
                        queue.push_back(path);
                    }
                } else if !known && new.len() <= NAMED_MOST {
                    new.insert(path);
                }
            }
        }
    }

    fn watch(&mut self, folder: &Path, mode: RecursiveMode) -> bool {
        if self.watched.len() >= self.options.max_folders {
            self.capped = true;
            return false;
        }
        match self.debouncer.watch(folder, mode) {
            Ok(()) => self.watched.insert(folder.to_owned()),
            Err(error) => {
                // The user's limit is used up, by us or by others.
                self.capped |= matches!(error.kind, ErrorKind::MaxFilesWatch);
                false
            }
        }
    }
}

fn is_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}
