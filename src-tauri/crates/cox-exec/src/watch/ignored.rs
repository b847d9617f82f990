//! Which paths .gitignore and .ignore leave out, asked one path at a time.

use crate::roots::is_ours;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub(super) struct Ignored {
    root: PathBuf,
    /// The top of the git work tree, when the root lies in one; else the root.
    top: PathBuf,
    /// By folder, the rules that stand in it; the stronger first.
    rules: HashMap<PathBuf, Vec<Gitignore>>,
}

impl Ignored {
    pub(super) fn new(root: PathBuf) -> Self {
        let top = root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&root).to_owned();
        Self { root, top, rules: HashMap::new() }
    }

    /// Is this file one that holds such rules?
    pub(super) fn is_rules(path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == ".gitignore" || name == ".ignore")
    }

    /// The rules have changed; they are read again when they are needed.
    pub(super) fn forget(&mut self) {
        self.rules.clear();
    }

    /// Is this path left out, by itself or with a folder that holds it? The root itself never is.
    pub(super) fn hides(&mut self, path: &Path, is_folder: bool) -> bool {
        let Ok(inside) = path.strip_prefix(&self.root) else { return true };
        let mut so_far = self.root.clone();
        let mut names = inside.iter().peekable();
        while let Some(name) = names.next() {
            so_far.push(name);
            if is_ours(name) || self.hides_one(&so_far, names.peek().is_some() || is_folder) {
                return true;
            }
        }
        false
    }

    /// By itself: the innermost folder with a word on it decides.
    fn hides_one(&mut self, path: &Path, is_folder: bool) -> bool {
        let folders: Vec<PathBuf> = path
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(&self.top))
            .map(Path::to_owned)
            .collect();
        for folder in folders {
            let is_top = folder == self.top;
            let rules = self.rules.entry(folder).or_insert_with_key(|folder| read(folder, is_top));
            for rule in rules.iter() {
                match rule.matched(path, is_folder) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
        }
        false
    }
}

/// What can't be parsed hides nothing.
fn read(folder: &Path, is_top: bool) -> Vec<Gitignore> {
    let mut files = vec![folder.join(".ignore"), folder.join(".gitignore")];
    if is_top {
        files.push(folder.join(".git/info/exclude"));
    }
    files
        .into_iter()
        .filter(|file| file.is_file())
        .filter_map(|file| {
            let mut builder = GitignoreBuilder::new(folder);
            builder.add(file);
            builder.build().ok()
        })
        .collect()
}
