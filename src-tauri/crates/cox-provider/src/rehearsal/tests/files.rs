//! Glob, Grep and Read over a real folder, with the texts that the real tools write.

use globset::GlobBuilder;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with these files.
pub(super) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// The result's text, or an error's.
pub(super) fn run(root: &Path, tool: &str, input: &Value) -> Result<String, String> {
    let text = |name: &str| input[name].as_str().map(str::to_owned);
    let number = |name: &str| input[name].as_u64();
    let base = text("path").unwrap_or_else(|| ".".to_owned());
    if !root.join(&base).exists() {
        return Err(format!("there is no {base}"));
    }
    match tool {
        "Glob" => {
            Ok(glob(&walk(root, &base), &base, &text("pattern").unwrap(), number("limit").unwrap_or(1_000)))
        }
        "Grep" => {
            let files = walk(root, &base);
            let files =
                files.into_iter().filter(|(path, _)| takes(text("glob").as_deref(), below(&base, path)));
            let pattern = Regex::new(&text("pattern").unwrap()).unwrap();
            let mut hits = Vec::new();
            for (path, _) in files {
                let content = String::from_utf8_lossy(&fs::read(root.join(&path)).unwrap()).into_owned();
                hits.extend(
                    content
                        .lines()
                        .enumerate()
                        .filter(|(_, line)| pattern.is_match(line))
                        .map(|(at, line)| (path.clone(), at + 1, line.to_owned())),
                );
            }
            Ok(grep(&hits, &text("mode").unwrap(), number("limit").unwrap_or(200)))
        }
        "Read" => {
            let content = fs::read_to_string(root.join(&base)).map_err(|error| error.to_string())?;
            let (offset, limit) =
                (number("offset").unwrap_or(1) as usize, number("limit").unwrap_or(2_000) as usize);
            let lines: Vec<&str> = content.lines().collect();
            let shown: Vec<String> = lines
                .iter()
                .enumerate()
                .skip(offset - 1)
                .take(limit)
                .map(|(at, line)| format!("{}\t{line}\n", at + 1))
                .collect();
            let (first, last) = if shown.is_empty() { (0, 0) } else { (offset, offset + shown.len() - 1) };
            Ok(format!("{}(lines {first}–{last} of {})", shown.concat(), lines.len()))
        }
        other => Err(format!("no such tool: {other}")),
    }
}

fn walk(root: &Path, base: &str) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let mut open: Vec<PathBuf> = vec![root.join(base)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                let path = entry
                    .path()
                    .strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .trim_start_matches("./")
                    .to_owned();
                found.insert(path, entry.metadata().unwrap().len());
            }
        }
    }
    found
}

fn below<'a>(base: &str, path: &'a str) -> &'a str {
    if base == "." { path } else { path.strip_prefix(base).unwrap().trim_start_matches('/') }
}

fn takes(glob: Option<&str>, path: &str) -> bool {
    let Some(glob) = glob else { return true };
    let name = path.rsplit('/').next().unwrap();
    matcher(glob).is_match(if glob.contains('/') { path } else { name })
}

fn matcher(pattern: &str) -> globset::GlobMatcher {
    GlobBuilder::new(pattern).literal_separator(true).build().unwrap().compile_matcher()
}

fn glob(files: &BTreeMap<String, u64>, base: &str, pattern: &str, limit: u64) -> String {
    let matcher = matcher(pattern);
    let files: Vec<_> = files.iter().filter(|(path, _)| matcher.is_match(below(base, path))).collect();
    let shown = files.len().min(limit as usize);
    let mut out = format!("{} files", files.len());
    if shown < files.len() {
        out.push_str(&format!(", the first {shown} shown"));
    }
    files[..shown].iter().for_each(|(path, size)| out.push_str(&format!("\n{path}\t{size}")));
    out
}

fn grep(hits: &[(String, usize, String)], mode: &str, limit: u64) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    hits.iter().for_each(|(path, ..)| *counts.entry(path).or_default() += 1);
    let items = if mode == "lines" { hits.len() } else { counts.len() };
    let mut out = format!("{} matches in {} files", hits.len(), counts.len());
    if items > limit as usize {
        out.push_str(&format!(", cut at {limit}"));
    }
    let limit = limit as usize;
    match mode {
        "lines" => hits
            .iter()
            .take(limit)
            .for_each(|(path, line, text)| out.push_str(&format!("\n{path}:{line}: {text}"))),
        "count" => {
            counts.iter().take(limit).for_each(|(path, count)| out.push_str(&format!("\n{path}\t{count}")))
        }
        other => panic!("mode {other}"),
    }
    out
}
