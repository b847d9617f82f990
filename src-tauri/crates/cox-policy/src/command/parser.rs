//! The parser, kept in bounds: it is C, and the text comes from a model.

#[cfg(doc)]
use super::MAX_CHARS;
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

/// How many hundreds of steps the parser may take. A command of [`MAX_CHARS`] of the shortest plain words takes
/// 375; some broken ones cost it the square of their length.
const MAX_STEPS: u32 = 400;

/// How deep a syntax tree is looked into.
const MAX_DEPTH: u32 = 150;

/// The tree of a text; nothing where it takes too long, or can't be walked.
pub(super) fn parse(source: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    bounded_parse(&mut parser, &for_parser(source)).filter(|tree| is_walkable(tree, source))
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
            c => text.extend(std::iter::repeat_n('x', c.len_utf8())),
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

/// Not nested deeper than anybody writes, since the walk is recursive; and no token begins or ends inside of a
/// character.
fn is_walkable(tree: &Tree, source: &str) -> bool {
    let mut cursor = tree.walk();
    loop {
        let range = cursor.node().byte_range();
        let whole = source.is_char_boundary(range.start) && source.is_char_boundary(range.end);
        if !whole || cursor.depth() > MAX_DEPTH {
            return false;
        }
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return true;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

/// Characters that bash, this parser and a reader may take in different ways.
pub(super) fn is_odd(c: char) -> bool {
    match c {
        ' ' | '\t' | '\n' => false,
        c if c.is_control() || c.is_whitespace() => true,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}
