//! A command line, parsed: its simple commands, and everything in it that is not understood.
//!
//! What makes a command simple enough to be allowed by rules: one or more commands of literal words, joined by
//! `&&`, `||`, `;`, `|`, `|&`, `&` or new lines, with no redirection but to `/dev/null` and between the
//! standard streams. Each other thing is a [`Doubt`]. Commands inside doubtful parts are still collected,
//! since a rule that denies has to see them.

use super::doubt::Doubt;
use super::word::Word;
use super::{MAX_CHARS, parser, walk};

/// How deep `bash -c "bash -c …"` is followed.
const MAX_NESTING: usize = 4;

/// A parsed command line.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The commands at the top, in order: all that runs, if there is no doubt.
    pub parts: Vec<Simple>,
    /// Commands in substitutions, sub-shells, loops, and in the text given to another shell.
    pub nested: Vec<Simple>,
    /// Statements with their redirections, as written: a rule that denies may name them so.
    pub redirected: Vec<String>,
    /// Files that redirections write to or read from.
    pub redirects: Vec<Word>,
    /// What is not understood, worst first; none: all of it is understood.
    pub doubt: Option<Doubt>,
}

/// One program with its words.
#[derive(Clone, Debug, Default)]
pub struct Simple {
    /// As written, without redirections around it.
    pub text: String,
    /// `NAME` and value of the assignments before it.
    pub assignments: Vec<(String, Word)>,
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// It has redirections, if only to `/dev/null` or between the standard streams.
    pub redirected: bool,
    /// The text from each word on, in step with `words`.
    pub tails: Vec<String>,
}

impl Script {
    /// Parses a command line. Never fails: what is wrong is a doubt.
    pub fn parse(source: &str) -> Self {
        Self::parse_nested(source, 0)
    }

    /// All commands: the parts, and those nested in them.
    pub fn all(&self) -> impl Iterator<Item = &Simple> {
        self.parts.iter().chain(&self.nested)
    }

    fn parse_nested(source: &str, depth: usize) -> Self {
        let mut script = Self::default();
        // `nth` stops at the limit, however long the text is.
        if source.chars().nth(MAX_CHARS).is_some() {
            script.note(Doubt::TooLong);
            return script;
        }
        if source.chars().any(parser::is_odd) {
            script.note(Doubt::OddCharacters);
        }
        if source.trim().is_empty() {
            script.note(Doubt::Empty);
            return script;
        }
        let Some(tree) = parser::parse(source) else {
            script.note(Doubt::ParseError);
            return script;
        };
        if tree.root_node().has_error() {
            script.note(Doubt::ParseError);
        }
        if source.contains("\\\n") {
            script.note(Doubt::ControlFlow);
        }
        walk::fill(&mut script, source, &tree);
        if script.parts.is_empty() && script.doubt.is_none() {
            script.note(Doubt::Empty);
        }
        script.follow_shells(depth);
        script
    }

    /// `bash -c TEXT` and `eval TEXT` are commands in commands.
    fn follow_shells(&mut self, depth: usize) {
        let mut inner = Vec::new();
        for simple in self.parts.iter().chain(&self.nested) {
            inner.extend(super::wrapper::shell_texts(simple));
        }
        for text in inner {
            match text {
                Some(text) if depth < MAX_NESTING => {
                    let script = Self::parse_nested(&text, depth + 1);
                    if let Some(doubt) = script.doubt {
                        self.note(doubt);
                    }
                    self.redirected.extend(script.redirected);
                    self.redirects.extend(script.redirects);
                    self.nested.extend(script.parts);
                    self.nested.extend(script.nested);
                }
                Some(_) | None => self.note(Doubt::UnknownProgram),
            }
        }
    }

    pub(super) fn note(&mut self, doubt: Doubt) {
        self.doubt = Some(self.doubt.map_or(doubt, |before| before.min(doubt)));
    }
}
