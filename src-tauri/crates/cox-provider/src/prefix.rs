//! Hashes of a request's three parts, and which part is not as it was (invariant 11).
//!
//! The parts are hashed as they are sent, but without cache markers. Messages are hashed in a chain, so that a
//! longer history can be compared with a shorter one.

use cox_protocol::event::{PrefixMark, PrefixPart};

/// The mark of a request, and the part that moved since `last`: the first of tools, system and messages. History
/// that only grew at its end has not moved.
pub fn mark<'a>(
    tools: &str,
    system: &str,
    messages: impl IntoIterator<Item = &'a str>,
    last: Option<&PrefixMark>,
) -> (PrefixMark, Option<PrefixPart>) {
    let mut chain = blake3::Hasher::new();
    let mut count = 0_u32;
    let mut then = (last.map_or(0, |last| last.count) == 0).then(|| hex(&chain));
    for message in messages {
        // The length keeps two histories apart that differ only in where a message ends.
        chain.update(&(message.len() as u64).to_le_bytes());
        chain.update(message.as_bytes());
        count += 1;
        if last.is_some_and(|last| last.count == count) {
            then = Some(hex(&chain));
        }
    }
    let mark = PrefixMark { tools: hash(tools), system: hash(system), messages: hex(&chain), count };
    let moved = last.and_then(|last| {
        if last.tools != mark.tools {
            Some(PrefixPart::Tools)
        } else if last.system != mark.system {
            Some(PrefixPart::System)
        } else if then.as_deref() != Some(last.messages.as_str()) {
            Some(PrefixPart::Messages)
        } else {
            None
        }
    });
    (mark, moved)
}

fn hash(text: &str) -> String {
    short(&blake3::hash(text.as_bytes()))
}

fn hex(chain: &blake3::Hasher) -> String {
    short(&chain.finalize())
}

/// 128 bits are plenty to tell parts apart, and a mark is stored with every request.
fn short(hash: &blake3::Hash) -> String {
    hash.to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(last: &PrefixMark, tools: &str, system: &str, messages: &[&str]) -> Option<PrefixPart> {
        mark(tools, system, messages.iter().copied(), Some(last)).1
    }

    // W21, N38
    #[test]
    fn names_the_part_that_moved() {
        let (last, first) = mark("t", "s", ["a", "b"], None);
        assert_eq!(first, None);
        assert_eq!(moved(&last, "t", "s", &["a", "b"]), None);
        assert_eq!(moved(&last, "t", "s", &["a", "b", "c"]), None);
        assert_eq!(moved(&last, "T", "S", &["a", "b"]), Some(PrefixPart::Tools));
        assert_eq!(moved(&last, "t", "S", &["a", "b"]), Some(PrefixPart::System));
        assert_eq!(moved(&last, "t", "s", &["a", "B", "c"]), Some(PrefixPart::Messages));
        assert_eq!(moved(&last, "t", "s", &["a"]), Some(PrefixPart::Messages));
        assert_eq!(moved(&last, "t", "s", &["ab", "", "c"]), Some(PrefixPart::Messages));
    }

    #[test]
    fn an_empty_history_may_grow() {
        let (last, _) = mark("t", "s", [], None);
        assert_eq!(moved(&last, "t", "s", &["a"]), None);
    }
}
