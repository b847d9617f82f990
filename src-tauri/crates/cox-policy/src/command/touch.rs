//! Protected paths that a command names (W29).

use super::script::Script;
use crate::protected;

/// The first protected path that a word or a redirection of a command names.
pub fn protected_path(script: &Script) -> Option<&str> {
    let words = script
        .all()
        .flat_map(|simple| simple.words.iter().chain(simple.assignments.iter().map(|(_, value)| value)));
    words.chain(&script.redirects).find_map(|word| {
        let text = word.guess();
        // `--git-dir=.git`, `@.env`, `a:b`: the path may stand behind a sign.
        text.split(['=', ':', '@', ',', ' ', '\n', '"', '\'']).find(|piece| is_protected(piece)).map(|_| text)
    })
}

fn is_protected(piece: &str) -> bool {
    protected::protection(piece).is_some()
}
