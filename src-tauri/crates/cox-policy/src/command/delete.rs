//! Recursive deletes of what must not be lost: the project, the home folder, the system.

use super::script::{Script, Simple};
use super::word::Word;
use super::wrapper::{base_name, beginnings};

/// Folders of the system: nothing below them is deleted unasked.
const SYSTEM: [&str; 20] = [
    "Applications",
    "Library",
    "System",
    "bin",
    "boot",
    "dev",
    "etc",
    "lib",
    "lib32",
    "lib64",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "usr",
    "var",
    "Volumes",
];

/// Does it delete a critical folder with all in it, or may it?
pub fn is_critical(script: &Script) -> bool {
    let moved = script.all().any(moves_away);
    script.all().any(|simple| {
        beginnings(simple).into_iter().any(|from| {
            let words = &simple.words[from..];
            let by_xargs = words_before(simple, from)
                .any(|word| matches!(base_name(word.guess()), "xargs" | "parallel"));
            deletes(words).is_some_and(|targets| {
                by_xargs
                    || moved && targets.iter().any(|target| !target.sure_beginning().starts_with('/'))
                    || targets.iter().any(|target| is_critical_path(target))
            })
        })
    })
}

fn words_before(simple: &Simple, from: usize) -> impl Iterator<Item = &Word> {
    simple.words[..from].iter()
}

/// The folder in which the rest runs is not the project any more.
fn moves_away(simple: &Simple) -> bool {
    beginnings(simple).into_iter().any(|from| {
        let words = &simple.words[from..];
        matches!(words.first().map(|word| word.guess()), Some("cd" | "pushd"))
            && words.get(1).is_none_or(is_critical_path)
    })
}

/// What these words delete with all below it; nothing if they delete nothing that way.
fn deletes(words: &[Word]) -> Option<Vec<&Word>> {
    let (program, arguments) = words.split_first()?;
    match base_name(program.guess()) {
        "rm" => {
            let mut recursive = false;
            let mut options = true;
            let mut targets = Vec::new();
            for argument in arguments {
                match argument.guess() {
                    "--" if options => options = false,
                    word if options && word.starts_with("--") => recursive |= word.starts_with("--r"),
                    word if options && word.starts_with('-') => recursive |= word.contains(['r', 'R']),
                    // A word that is not known may be an option.
                    _ => {
                        recursive |=
                            options && argument.value.is_none() && argument.sure_beginning().is_empty();
                        targets.push(argument);
                    }
                }
            }
            recursive.then_some(targets)
        }
        "find" | "fd" => {
            let guesses: Vec<&str> = arguments.iter().map(|word| word.guess()).collect();
            let removes = guesses
                .iter()
                .any(|word| *word == "-delete" || matches!(base_name(word), "rm" | "unlink" | "shred"));
            if !removes {
                return None;
            }
            let starts: Vec<&Word> =
                arguments.iter().take_while(|word| !word.guess().starts_with(['-', '(', '!'])).collect();
            // Without a starting point it starts here.
            Some(if starts.is_empty() { vec![program] } else { starts })
        }
        _ => None,
    }
}

fn is_critical_path(word: &Word) -> bool {
    let raw = word.raw.trim_matches(['"', '\'']);
    if raw.starts_with('~') || word.value.is_none() && raw.contains(['$', '`', '(']) {
        return true;
    }
    let text = word.guess();
    if text == "find" || text == "fd" {
        return true;
    }
    let absolute = text.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                // Upwards out of the folder, or out of something that the shell expands.
                if parts.pop().is_none_or(|part| part.contains(['*', '?', '['])) && !absolute {
                    return true;
                }
            }
            part => parts.push(part),
        }
    }
    let is_pattern = |part: &str| part.contains(['*', '?', '[', '{']);
    match (absolute, parts.as_slice()) {
        (_, []) => true,
        (false, [first, ..]) => is_pattern(first) && word.value.is_none(),
        (true, [_]) => true,
        (true, [first, ..])
            if SYSTEM.contains(first) && !matches!(parts.as_slice(), ["var", "tmp" | "folders", _, ..]) =>
        {
            true
        }
        (true, ["home" | "Users", rest @ ..]) => rest.len() <= 1 || rest.iter().any(|part| is_pattern(part)),
        (true, [first, ..]) => is_pattern(first),
    }
}
