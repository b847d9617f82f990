//! One word of a command, and its value once the quotes are off.

use tree_sitter::Node;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// As written.
    pub raw: String,
    /// Its value; null where only the shell knows it (a variable, a glob, a substitution).
    pub value: Option<String>,
}

impl Word {
    /// Reads a node that stands where a word can.
    pub(crate) fn read(node: Node<'_>, source: &str) -> Self {
        let raw = text(node, source).to_owned();
        Self { value: value(node, source), raw }
    }

    /// The value, or the text as written: for rules that forbid, where a guess is better than nothing.
    pub fn guess(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.raw)
    }

    /// The beginning that is sure to be in the value, whatever the shell makes of the rest.
    pub(crate) fn sure_beginning(&self) -> &str {
        match &self.value {
            Some(value) => value,
            None => {
                let end = self
                    .raw
                    .find(['*', '?', '[', '{', '$', '`', '"', '\'', '\\', '<', '>', '('])
                    .unwrap_or(self.raw.len());
                &self.raw[..end]
            }
        }
    }
}

pub(crate) fn text<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    source.get(node.byte_range()).unwrap_or_default()
}

fn value(node: Node<'_>, source: &str) -> Option<String> {
    match node.kind() {
        "command_name" | "variable_name" => match node.named_child(0) {
            Some(child) if node.named_child_count() == 1 => value(child, source),
            Some(_) => None,
            None => unquoted(text(node, source)),
        },
        "word" | "number" if node.named_child_count() == 0 => unquoted(text(node, source)),
        "raw_string" => text(node, source).strip_prefix('\'')?.strip_suffix('\'').map(str::to_owned),
        "string" => {
            let mut cursor = node.walk();
            if node.named_children(&mut cursor).any(|child| child.kind() != "string_content") {
                return None;
            }
            in_double_quotes(text(node, source).strip_prefix('"')?.strip_suffix('"')?)
        }
        "concatenation" => {
            let mut cursor = node.walk();
            let mut whole = String::new();
            let mut end = node.start_byte();
            for child in node.children(&mut cursor) {
                // A piece of the text that belongs to no child would be lost.
                if child.start_byte() != end {
                    return None;
                }
                end = child.end_byte();
                whole.push_str(&value(child, source)?);
            }
            (end == node.end_byte()).then_some(whole)
        }
        _ => None,
    }
}

/// A word without quotes: escapes are taken off; anything that the shell would expand gives nothing.
fn unquoted(raw: &str) -> Option<String> {
    if raw.starts_with('~') || raw.contains("=~") || raw.contains(":~") {
        return None;
    }
    let mut value = String::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => value.push(chars.next().filter(|c| *c != '\n')?),
            '*' | '?' | '[' | ']' | '$' | '`' | '\'' | '"' | '<' | '>' | '(' | ')' | '|' | '&' | ';' => {
                return None;
            }
            '{' | '}' if raw != "{}" => return None,
            c => value.push(c),
        }
    }
    Some(value)
}

fn in_double_quotes(raw: &str) -> Option<String> {
    let mut value = String::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                c @ ('"' | '\\' | '$' | '`') => value.push(c),
                '\n' => {}
                c => value.extend(['\\', c]),
            },
            '$' | '`' | '"' => return None,
            c => value.push(c),
        }
    }
    Some(value)
}
