//! The few commands that nobody is asked about while there is no sandbox (W27): they only show what is there.

use super::script::{Script, Simple};
use crate::access::ResolvedPath;

const HARMLESS: [&str; 6] = ["cat", "head", "ls", "pwd", "tail", "wc"];

/// Options in long form that take no file. Others are not known to be harmless (`wc --files0-from=…`).
const LONG_OPTIONS: [&str; 12] = [
    "--all",
    "--almost-all",
    "--bytes",
    "--chars",
    "--help",
    "--human-readable",
    "--lines",
    "--number",
    "--recursive",
    "--reverse",
    "--version",
    "--words",
];

/// Commands of the shell that change what the commands after them mean.
const STATE_CHANGERS: [&str; 20] = [
    ".", "alias", "cd", "declare", "enable", "eval", "exec", "export", "hash", "local", "popd", "pushd",
    "readonly", "set", "shopt", "source", "trap", "typeset", "unalias", "unset",
];

/// May the harmless ones among these commands pass unasked? Not where another one changes the folder, the
/// names or the options of the shell.
pub fn may_pass(script: &Script) -> bool {
    !script.all().any(|simple| simple.words.iter().any(|word| STATE_CHANGERS.contains(&word.guess())))
}

/// The paths that a harmless command names, as written; null when the command is not a harmless one.
pub fn paths_of(simple: &Simple) -> Option<Vec<&str>> {
    if !simple.assignments.is_empty() || simple.redirected {
        return None;
    }
    let values: Vec<&str> = simple.words.iter().map(|word| word.value.as_deref()).collect::<Option<_>>()?;
    let (program, arguments) = values.split_first()?;
    if !HARMLESS.contains(program) {
        return None;
    }
    let mut paths = Vec::new();
    let mut options = true;
    for argument in arguments {
        match argument.strip_prefix('-').filter(|_| options) {
            Some("") => {}
            Some("-") => options = false,
            Some(_) if argument.starts_with("--") => {
                LONG_OPTIONS.contains(argument).then_some(())?;
            }
            Some(letters) => letters.bytes().all(|b| b.is_ascii_alphanumeric()).then_some(())?,
            None => paths.push(*argument),
        }
    }
    Some(paths)
}

/// A path of a command, from the project's folder on. Null when it is absolute or goes upwards: where it leads
/// is then not known here.
pub fn in_project(cwd: &ResolvedPath, path: &str) -> Option<String> {
    if path.is_empty() || path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return None;
    }
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    let base = if cwd.real == "." { None } else { Some(cwd.real.as_str()) };
    let whole: Vec<&str> = base.into_iter().chain(parts).collect();
    Some(if whole.is_empty() { ".".into() } else { whole.join("/") })
}

/// The paths that the harmless parts of a command name. A caller that can look at the disk resolves them and
/// asks [`crate::decide_with_paths`], so that a link in the project can't lead a `cat` out of it.
pub fn named_paths(command: &str) -> Vec<String> {
    let script = Script::parse(command);
    script.parts.iter().filter_map(paths_of).flatten().map(str::to_owned).collect()
}
