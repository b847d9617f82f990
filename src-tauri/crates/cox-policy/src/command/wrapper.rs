//! Commands that start other commands: `timeout 5 cargo test`, `RUST_LOG=debug cargo test`, `sudo rm …`.
//!
//! Two readings. For an allow rule the wrapper is taken off only where exactly what remains is known. For rules
//! that forbid, every word after a wrapper may be the command.

use super::script::Simple;

/// Assignments that change what a program prints, not what it does.
const SAFE_VARIABLES: [&str; 16] = [
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// Programs whose arguments hold a command.
const STARTERS: [&str; 29] = [
    "builtin", "busybox", "chroot", "command", "coproc", "doas", "env", "exec", "find", "flock", "fd",
    "ionice", "nice", "noglob", "nohup", "nsenter", "parallel", "setsid", "ssh", "stdbuf", "strace", "sudo",
    "time", "timeout", "toybox", "unshare", "watch", "xargs", "taskset",
];

const SHELLS: [&str; 7] = ["bash", "sh", "dash", "zsh", "ksh", "ash", "fish"];

/// A command without what was wrapped around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bare<'a> {
    /// From this word on.
    pub from: usize,
    /// The text from there on.
    pub text: &'a str,
    /// It gets further arguments from a pipe (`xargs`): what it is called with is not known.
    pub more_arguments: bool,
}

/// The forms under which an allow rule may know a command: as written, and without its wrappers.
pub fn for_allow(simple: &Simple) -> Vec<Bare<'_>> {
    let mut forms = vec![Bare { from: 0, text: simple.text.as_str(), more_arguments: false }];
    let safe = simple
        .assignments
        .iter()
        .all(|(name, value)| SAFE_VARIABLES.contains(&name.as_str()) && value.value.is_some());
    if !safe || simple.words.iter().any(|word| word.value.is_none()) {
        return forms;
    }
    let mut at = 0;
    let mut more_arguments = false;
    while let Some(text) = simple.tails.get(at) {
        if at > 0 || !simple.assignments.is_empty() {
            forms.push(Bare { from: at, text, more_arguments });
        }
        let words: Vec<&str> = simple.words[at..].iter().map(|word| word.guess()).collect();
        match after_wrapper(&words) {
            Some(skip) => {
                more_arguments |= words[0] == "xargs";
                at += skip;
            }
            None => break,
        }
    }
    forms
}

/// How many words the wrapper at the front takes; none if there is none, or its options are not known here.
fn after_wrapper(words: &[&str]) -> Option<usize> {
    let skip = match *words.first()? {
        "nohup" | "builtin" | "noglob" | "xargs" | "command" => 1,
        "time" => 1 + usize::from(words.get(1) == Some(&"-p")),
        "nice" => match words.get(1) {
            Some(&"-n") => 3,
            Some(word) if word.strip_prefix('-').is_some_and(is_number) => 2,
            _ => 1,
        },
        "stdbuf" => 1 + words[1..].iter().take_while(|word| is_buffer_option(word)).count(),
        "timeout" => 2,
        _ => return None,
    };
    // An option that is left belongs to the wrapper, and was not understood.
    let number_ok = match words[0] {
        "timeout" => is_duration(words.get(1)?),
        "nice" if skip == 3 => is_number(words.get(2)?.trim_start_matches('-')),
        _ => true,
    };
    (number_ok && !words.get(skip)?.starts_with('-')).then_some(skip)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_duration(text: &str) -> bool {
    let number = text.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or(text);
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

fn is_buffer_option(word: &str) -> bool {
    ["-i", "-o", "-e"]
        .iter()
        .any(|option| word.strip_prefix(option).is_some_and(|mode| mode == "L" || is_number(mode)))
}

/// Where a command may begin, for rules that forbid: at the front, and at every word after a starter.
pub fn beginnings(simple: &Simple) -> Vec<usize> {
    let mut beginnings = vec![0];
    let mut started = false;
    for (at, word) in simple.words.iter().enumerate() {
        if started && at > 0 {
            beginnings.push(at);
        }
        started |= STARTERS.contains(&base_name(word.guess()));
    }
    beginnings
}

/// The texts under which a rule that denies may know a command: as written, without quotes, without the
/// program's folder, and the same for whatever it may start.
pub fn for_deny(simple: &Simple) -> Vec<String> {
    let mut forms = vec![simple.text.trim().to_owned()];
    for from in beginnings(simple) {
        let words: Vec<&str> = simple.words[from..].iter().map(|word| word.guess()).collect();
        let Some((program, arguments)) = words.split_first() else { continue };
        if let Some(tail) = simple.tails.get(from) {
            forms.push(tail.clone());
        }
        for program in [program, base_name(program)] {
            let mut form = program.to_owned();
            for argument in arguments {
                form.push(' ');
                form.push_str(argument);
            }
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

/// The last part of a program's path.
pub fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The texts that a command gives to a shell to run; nothing in place of one that is not known.
pub fn shell_texts(simple: &Simple) -> Vec<Option<String>> {
    let mut texts = Vec::new();
    for from in beginnings(simple) {
        let words = &simple.words[from..];
        let Some((program, arguments)) = words.split_first() else { continue };
        let program = base_name(program.guess());
        if program == "eval" && !arguments.is_empty() {
            let values: Option<Vec<&str>> = arguments.iter().map(|word| word.value.as_deref()).collect();
            texts.push(values.map(|values| values.join(" ")));
        } else if SHELLS.contains(&program)
            && let Some(at) = arguments.iter().position(|word| {
                let word = word.guess();
                word.starts_with('-') && !word.starts_with("--") && word.contains('c')
            })
        {
            texts.extend(arguments.get(at + 1).map(|word| word.value.clone()));
        }
    }
    texts
}
