//! A command line, parsed: its simple commands, and everything in it that is not understood.
//!
//! What makes a command simple enough to be allowed by rules: one or more commands of literal words, joined by
//! `&&`, `||`, `;`, `|`, `|&`, `&` or new lines, with no redirection but to `/dev/null` and between the
//! standard streams. Each other thing is a [`Doubt`]. Commands inside doubtful parts are still collected,
//! since a rule that denies has to see them.

use super::MAX_CHARS;
use super::word::{Word, text};
use std::ops::ControlFlow;
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

/// How deep `bash -c "bash -c …"` is followed.
const MAX_NESTING: usize = 4;

/// How many hundreds of steps the parser may take. A command of [`MAX_CHARS`] of the shortest plain words takes
/// 375; some broken ones cost it the square of their length.
const MAX_STEPS: u32 = 400;

/// How deep a syntax tree is looked into.
const MAX_DEPTH: u32 = 150;

/// A parsed command line.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The commands at the top, in order: all that runs, if there is no doubt.
    pub parts: Vec<Simple>,
    /// Commands in substitutions, sub-shells, loops, and in the text given to another shell.
    pub nested: Vec<Simple>,
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

impl Simple {
    /// The program's name, if it is a literal.
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.value.as_deref()
    }
}

/// Why a command can't be allowed by rules, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// Over [`MAX_CHARS`]: not looked into.
    TooLong,
    /// Control characters, odd blanks, or characters that change how the text is shown.
    OddCharacters,
    /// Not valid, or not as this parser knows bash.
    ParseError,
    /// The program's name is made by the shell.
    UnknownProgram,
    /// `$(…)`, backticks, `<(…)`.
    Substitution,
    /// A here-document or here-string.
    Heredoc,
    /// It reads from or writes to a file by redirection.
    Redirection,
    /// A variable, a glob, a brace or a tilde.
    Expansion,
    /// A loop, a condition, a function, a sub-shell, an assignment that stays, a comment.
    ControlFlow,
    /// There is no command in it.
    Empty,
}

impl Doubt {
    /// It asks even where nothing else does (W27).
    pub fn always_asks(self) -> bool {
        match self {
            Self::TooLong | Self::OddCharacters | Self::ParseError | Self::UnknownProgram | Self::Empty => {
                true
            }
            Self::Substitution | Self::Heredoc | Self::Redirection | Self::Expansion | Self::ControlFlow => {
                false
            }
        }
    }

    /// For a person: "the command …".
    pub fn words(self) -> &'static str {
        match self {
            Self::TooLong => "is longer than 10,000 characters",
            Self::OddCharacters => "has control characters or invisible characters in it",
            Self::ParseError => "can't be parsed",
            Self::UnknownProgram => "starts a program whose name is only known when it runs",
            Self::Substitution => "has a command substitution in it",
            Self::Heredoc => "has a here-document in it",
            Self::Redirection => "redirects to or from a file",
            Self::Expansion => "has a variable, a pattern or another expansion in it",
            Self::ControlFlow => "is more than a list of plain commands",
            Self::Empty => "is empty",
        }
    }
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
        if source.chars().any(is_odd) {
            script.note(Doubt::OddCharacters);
        }
        if source.trim().is_empty() {
            script.note(Doubt::Empty);
            return script;
        }
        let mut parser = Parser::new();
        let tree = match parser.set_language(&tree_sitter_bash::LANGUAGE.into()) {
            Ok(()) => bounded_parse(&mut parser, &for_parser(source)),
            Err(_) => None,
        };
        let Some(tree) = tree.filter(|tree| !is_too_deep(tree)) else {
            script.note(Doubt::ParseError);
            return script;
        };
        let root = tree.root_node();
        if root.has_error() {
            script.note(Doubt::ParseError);
        }
        if source.contains("\\\n") {
            script.note(Doubt::ControlFlow);
        }
        let mut walk = Walk { source, script: &mut script, covered: Vec::new() };
        walk.statement(root);
        let covered = std::mem::take(&mut walk.covered);
        if !only_joints_between(source, covered) {
            // Something is in the text that no part accounts for.
            script.note(Doubt::ControlFlow);
        }
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
                    self.redirects.extend(script.redirects);
                    self.nested.extend(script.parts);
                    self.nested.extend(script.nested);
                }
                Some(_) | None => self.note(Doubt::UnknownProgram),
            }
        }
    }

    fn note(&mut self, doubt: Doubt) {
        self.doubt = Some(self.doubt.map_or(doubt, |before| before.min(doubt)));
    }
}

struct Walk<'s> {
    source: &'s str,
    script: &'s mut Script,
    /// Byte ranges that are accounted for.
    covered: Vec<std::ops::Range<usize>>,
}

impl Walk<'_> {
    /// A node at the top: lists and pipelines are entered, simple commands taken, all else is a doubt.
    fn statement(&mut self, node: Node<'_>) {
        match node.kind() {
            "program" | "list" | "pipeline" => {
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    self.statement(child);
                }
            }
            "command" => {
                self.covered.push(node.byte_range());
                let simple = self.simple(node);
                self.script.parts.push(simple);
            }
            "redirected_statement" => {
                let before = self.script.parts.len();
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    match child.kind() {
                        "file_redirect" => {
                            self.covered.push(child.byte_range());
                            self.redirect(child);
                        }
                        "heredoc_redirect" | "herestring_redirect" => {
                            self.covered.push(child.byte_range());
                            self.script.note(Doubt::Heredoc);
                            self.nested_in(child);
                        }
                        _ => self.statement(child),
                    }
                }
                for part in &mut self.script.parts[before..] {
                    part.redirected = true;
                }
            }
            _ => {
                self.covered.push(node.byte_range());
                self.script.note(doubt_of(node.kind()));
                self.nested(node);
            }
        }
    }

    /// Takes every command in a node that is not understood.
    fn nested(&mut self, node: Node<'_>) {
        match node.kind() {
            "command" => {
                let simple = self.simple(node);
                self.script.nested.push(simple);
            }
            "file_redirect" => self.redirect(node),
            _ => self.nested_in(node),
        }
    }

    fn nested_in(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.nested(child);
        }
    }

    fn simple(&mut self, node: Node<'_>) -> Simple {
        let mut simple = Simple { text: text(node, self.source).to_owned(), ..Simple::default() };
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => {
                    let name = child.child_by_field_name("name").map(|name| text(name, self.source));
                    let value = child.child_by_field_name("value").map_or_else(
                        || Word { raw: String::new(), value: Some(String::new()) },
                        |value| self.word(value),
                    );
                    simple.assignments.push((name.unwrap_or_default().to_owned(), value));
                }
                "file_redirect" => {
                    simple.redirected = true;
                    self.redirect(child);
                }
                "heredoc_redirect" | "herestring_redirect" => {
                    simple.redirected = true;
                    self.script.note(Doubt::Heredoc);
                    self.nested_in(child);
                }
                _ => {
                    let word = self.word(child);
                    simple.words.push(word);
                    simple.tails.push(self.source[child.start_byte()..node.end_byte()].to_owned());
                }
            }
        }
        match simple.words.first() {
            Some(word) if word.value.as_deref().is_some_and(|name| !name.is_empty()) => {}
            _ => self.script.note(Doubt::UnknownProgram),
        }
        simple
    }

    fn word(&mut self, node: Node<'_>) -> Word {
        let word = Word::read(node, self.source);
        if word.value.is_none() {
            self.script.note(Doubt::Expansion);
            self.doubts_in(node);
        }
        word
    }

    /// The doubts in a word, and the commands in its substitutions.
    fn doubts_in(&mut self, node: Node<'_>) {
        if matches!(node.kind(), "command_substitution" | "process_substitution") {
            self.script.note(Doubt::Substitution);
            self.nested_in(node);
            return;
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.doubts_in(child);
        }
    }

    fn redirect(&mut self, node: Node<'_>) {
        let raw = text(node, self.source);
        let Some(target) = node.child_by_field_name("destination") else {
            // `2>&-` has none.
            self.script.note(Doubt::Redirection);
            return;
        };
        let operator = raw[..target.start_byte() - node.start_byte()]
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_end();
        let target = self.word(target);
        let value = target.value.as_deref();
        let understood = match operator {
            ">&" | "<&" => value.is_some_and(|value| value.chars().all(|c| c.is_ascii_digit())),
            ">" | ">>" | "<" | "&>" | "&>>" => value == Some("/dev/null"),
            _ => false,
        };
        if !understood {
            self.script.note(Doubt::Redirection);
            self.script.redirects.push(target);
        }
    }
}

fn doubt_of(kind: &str) -> Doubt {
    match kind {
        "ERROR" => Doubt::ParseError,
        "file_redirect" => Doubt::Redirection,
        "heredoc_redirect" | "heredoc_body" | "herestring_redirect" => Doubt::Heredoc,
        _ => Doubt::ControlFlow,
    }
}

/// Between the parts there is nothing but blanks and what joins commands.
fn only_joints_between(source: &str, mut covered: Vec<std::ops::Range<usize>>) -> bool {
    covered.sort_by_key(|range| range.start);
    let mut at = 0;
    let mut gaps = String::new();
    for range in covered {
        if range.start > at {
            gaps.push_str(&source[at..range.start]);
            gaps.push(' ');
        }
        at = at.max(range.end);
    }
    gaps.push_str(&source[at..]);
    gaps.split_whitespace().all(|gap| matches!(gap, "&&" | "||" | ";" | "|" | "|&" | "&"))
}

/// The text as the parser gets it: byte for byte as long, and ASCII. Its scanner reads outside of a table on
/// some other characters and takes the process down (tree-sitter-bash issue 337, in its newest version 0.25.1).
/// What is replaced is to bash a plain part of a word, or an [`is_odd`] character, which is a doubt anyway.
fn for_parser(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    for c in source.chars() {
        match c {
            c if is_odd(c) => text.extend(std::iter::repeat_n(' ', c.len_utf8())),
            c if c.is_ascii() => text.push(c),
            c => text.extend(std::iter::repeat_n('%', c.len_utf8())),
        }
    }
    text
}

/// Gives up on text that makes the parser work far beyond its length.
fn bounded_parse(parser: &mut Parser, text: &str) -> Option<Tree> {
    let mut steps = 0u32;
    let mut progress = |_: &ParseState| {
        steps += 1;
        if steps > MAX_STEPS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(&mut |at, _| text.as_bytes().get(at..).unwrap_or_default(), None, Some(options))
}

/// Nested deeper than anybody writes. The walk is recursive, so the depth is bounded first.
fn is_too_deep(tree: &Tree) -> bool {
    let mut cursor = tree.walk();
    loop {
        if cursor.depth() > MAX_DEPTH {
            return true;
        }
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return false;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

/// Characters that bash, this parser and a reader may take in different ways.
fn is_odd(c: char) -> bool {
    match c {
        ' ' | '\t' | '\n' => false,
        c if c.is_control() || c.is_whitespace() => true,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}
