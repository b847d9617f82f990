//! Rules as stored, read into a form that can be matched.
//!
//! A pattern is `Tool` or `Tool(specifier)`. `Edit` and `Write` are one family, so are `Read`, `Glob` and
//! `Grep` where a specifier names files; a bare `Glob` or `Grep` is about that tool alone.

use crate::access::ResolvedPath;
use crate::command_pattern::CommandPattern;
use crate::path_pattern::PathPattern;
use cox_protocol::inbox::{Effect, Rule};

/// The rules of a project that could be read, and what is known of those that could not.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    rules: Vec<Parsed>,
    /// Tools with a deny rule that could not be read. Nothing of theirs is allowed unasked: what was to be
    /// denied is not known.
    doubtful: Vec<(Family, String)>,
}

/// A rule that can't be used as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleProblem {
    /// Its place in the list that was given.
    pub index: usize,
    /// The rule.
    pub rule: Rule,
    /// What is wrong, for a person.
    pub message: String,
}

#[derive(Clone, Debug)]
struct Parsed {
    rule: Rule,
    subject: Subject,
}

#[derive(Clone, Debug)]
enum Subject {
    Tool(&'static str),
    Files(Family, Option<PathPattern>),
    Commands(CommandPattern),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Reading,
    Changing,
    Running,
    Other,
}

const INTERNAL: [&str; 6] =
    ["Agent", "SendMessage", "TaskStop", "TaskOutput", "AskUserQuestion", "SyntheticOutput"];

impl RuleSet {
    /// Reads rules. What can't be read is told, and left out; the others hold all the same.
    pub fn parse(rules: &[Rule]) -> (Self, Vec<RuleProblem>) {
        let mut set = Self::default();
        let mut problems = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            let (tool, specifier) = match split(&rule.pattern) {
                Ok(parts) => parts,
                Err(message) => {
                    if rule.effect == Effect::Deny
                        && let Some(family) = guess(&rule.pattern)
                    {
                        set.doubtful.push((family, rule.pattern.clone()));
                    }
                    problems.push(RuleProblem { index, rule: rule.clone(), message });
                    continue;
                }
            };
            match subject(tool, specifier, rule.effect) {
                Ok(subject) => set.rules.push(Parsed { rule: rule.clone(), subject }),
                Err(message) => {
                    if rule.effect == Effect::Deny
                        && let Some(family) = family(tool)
                    {
                        set.doubtful.push((family, rule.pattern.clone()));
                    }
                    problems.push(RuleProblem { index, rule: rule.clone(), message });
                }
            }
        }
        (set, problems)
    }

    /// The rules that could be read, as given.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|parsed| &parsed.rule)
    }

    /// The first rule that denies the whole tool.
    pub(crate) fn denies_tool(&self, tool: &str) -> Option<&Rule> {
        self.with(Effect::Deny).find(|parsed| parsed.is_whole(tool)).map(|parsed| &parsed.rule)
    }

    /// The first rule that denies this file: as asked or as real, either is enough.
    pub(crate) fn denies_file(&self, tool: &str, path: &ResolvedPath) -> Option<&Rule> {
        self.with(Effect::Deny)
            .find(|parsed| {
                parsed.is_whole(tool) || parsed.is_file(tool, &path.asked) || parsed.is_file(tool, &path.real)
            })
            .map(|parsed| &parsed.rule)
    }

    /// The first rule that allows this file: as asked and as real, both are needed.
    pub(crate) fn allows_file(&self, tool: &str, path: &ResolvedPath) -> Option<&Rule> {
        self.with(Effect::Allow)
            .find(|parsed| {
                parsed.is_whole(tool)
                    || (parsed.is_file(tool, &path.asked) && parsed.is_file(tool, &path.real))
            })
            .map(|parsed| &parsed.rule)
    }

    /// Command patterns of one effect, with their rules.
    pub(crate) fn commands(&self, effect: Effect) -> impl Iterator<Item = (&CommandPattern, &Rule)> {
        self.with(effect).filter_map(|parsed| match &parsed.subject {
            Subject::Commands(pattern) => Some((pattern, &parsed.rule)),
            Subject::Tool(_) | Subject::Files(..) => None,
        })
    }

    /// A deny rule about this tool that could not be read.
    pub(crate) fn doubtful(&self, tool: &str) -> Option<&str> {
        let family = family(tool)?;
        self.doubtful.iter().find(|(of, _)| *of == family).map(|(_, pattern)| pattern.as_str())
    }

    fn with(&self, effect: Effect) -> impl Iterator<Item = &Parsed> {
        self.rules.iter().filter(move |parsed| parsed.rule.effect == effect)
    }
}

impl Parsed {
    fn is_whole(&self, tool: &str) -> bool {
        match &self.subject {
            Subject::Tool(name) => *name == tool,
            Subject::Files(of, None) => family(tool) == Some(*of),
            Subject::Files(_, Some(_)) => false,
            Subject::Commands(pattern) => tool == "Bash" && matches!(pattern, CommandPattern::Any),
        }
    }

    fn is_file(&self, tool: &str, path: &str) -> bool {
        match &self.subject {
            Subject::Files(of, Some(pattern)) => family(tool) == Some(*of) && pattern.matches(path),
            Subject::Files(_, None) | Subject::Tool(_) | Subject::Commands(_) => false,
        }
    }
}

/// `Tool(specifier)` into its two parts.
fn split(pattern: &str) -> Result<(&str, Option<&str>), String> {
    let pattern = pattern.trim();
    let Some((tool, rest)) = pattern.split_once('(') else {
        return if pattern.is_empty() { Err("the rule is empty".into()) } else { Ok((pattern, None)) };
    };
    match rest.strip_suffix(')') {
        Some(specifier) if specifier.trim().is_empty() => {
            Err(format!("`{tool}()` names nothing; write `{tool}` for all"))
        }
        Some(specifier) => Ok((tool, Some(specifier))),
        None => Err("the closing bracket is missing".into()),
    }
}

fn subject(tool: &str, specifier: Option<&str>, effect: Effect) -> Result<Subject, String> {
    match (tool, specifier) {
        ("Bash", None) => Ok(Subject::Commands(CommandPattern::Any)),
        ("Bash", Some(text)) => CommandPattern::parse(text, effect).map(Subject::Commands),
        ("Read", None) => Ok(Subject::Files(Family::Reading, None)),
        ("Glob", None) => Ok(Subject::Tool("Glob")),
        ("Grep", None) => Ok(Subject::Tool("Grep")),
        ("Edit" | "Write", None) => Ok(Subject::Files(Family::Changing, None)),
        ("Read" | "Glob" | "Grep", Some(text)) => {
            PathPattern::parse(text, effect).map(|pattern| Subject::Files(Family::Reading, Some(pattern)))
        }
        ("Edit" | "Write", Some(text)) => {
            PathPattern::parse(text, effect).map(|pattern| Subject::Files(Family::Changing, Some(pattern)))
        }
        (other, specifier) => match (INTERNAL.iter().find(|name| **name == other), specifier) {
            (Some(name), None) => Ok(Subject::Tool(name)),
            (Some(name), Some(_)) => Err(format!("`{name}` takes nothing in brackets")),
            (None, _) => Err(format!("there is no tool `{other}`")),
        },
    }
}

fn family(tool: &str) -> Option<Family> {
    match tool {
        "Read" | "Glob" | "Grep" => Some(Family::Reading),
        "Edit" | "Write" => Some(Family::Changing),
        "Bash" => Some(Family::Running),
        other => INTERNAL.contains(&other).then_some(Family::Other),
    }
}

/// What a pattern that can't be read was about, by the word it begins with.
fn guess(pattern: &str) -> Option<Family> {
    let end = pattern.trim_start().find(|c: char| !c.is_ascii_alphanumeric())?;
    family(&pattern.trim_start()[..end])
}
