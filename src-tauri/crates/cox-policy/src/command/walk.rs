//! From a syntax tree to a [`Script`]: takes simple commands, and notes a doubt for everything else.

use super::doubt::Doubt;
use super::script::{Script, Simple};
use super::word::{Word, text};
use tree_sitter::{Node, Tree};

/// Fills a script from its tree.
pub(super) fn fill(script: &mut Script, source: &str, tree: &Tree) {
    let mut walk = Walk { source, script, covered: Vec::new() };
    walk.statement(tree.root_node());
    let covered = std::mem::take(&mut walk.covered);
    if !only_joints_between(source, covered) {
        // Something is in the text that no part accounts for.
        script.note(Doubt::ControlFlow);
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
                self.note_redirected(node);
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
            "redirected_statement" => {
                self.note_redirected(node);
                self.nested_in(node);
            }
            _ => self.nested_in(node),
        }
    }

    /// The whole statement; and since `a && b > c` is parsed as one, its last command with the redirection.
    fn note_redirected(&mut self, node: Node<'_>) {
        self.script.redirected.push(text(node, self.source).trim().to_owned());
        let mut last = node.child_by_field_name("body");
        while let Some(inner) = last.filter(|inner| matches!(inner.kind(), "list" | "pipeline")) {
            last =
                u32::try_from(inner.named_child_count()).ok().and_then(|count| inner.named_child(count - 1));
        }
        let from_last = last.and_then(|last| self.source.get(last.start_byte()..node.end_byte()));
        self.script.redirected.extend(from_last.map(|text| text.trim().to_owned()));
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
                    simple.tails.push(
                        self.source.get(child.start_byte()..node.end_byte()).unwrap_or_default().to_owned(),
                    );
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
        let operator = raw
            .get(..target.start_byte() - node.start_byte())
            .unwrap_or_default()
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
