//! The patterns of command rules.
//!
//! An allow rule is the exact command, or a beginning: `git log *` and `git log:*` both allow `git log` and
//! `git log -3`, not `git logs`. A deny rule may have `*` anywhere, each for any characters.

use cox_protocol::inbox::Effect;

/// A pattern that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandPattern {
    /// Every command.
    Any,
    /// This one.
    Exact(String),
    /// This one, alone or with more words after it.
    Prefix(String),
    /// Pieces in this order, with anything between them; only of a deny rule. `true`: more words may follow.
    Pieces(Vec<String>, bool),
}

impl CommandPattern {
    /// Reads what stands in the brackets; the error says what is wrong with it.
    pub fn parse(text: &str, effect: Effect) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("the command is empty".into());
        }
        if text.chars().all(|c| c == '*') || text == ":*" {
            return Ok(Self::Any);
        }
        let (body, more) = match text.strip_suffix(" *").or_else(|| text.strip_suffix(":*")) {
            Some(body) => (body.trim_end(), true),
            None => (text, false),
        };
        if body.is_empty() {
            return Ok(Self::Any);
        }
        Ok(match (effect, body.contains('*'), more) {
            (Effect::Deny, true, more) => Self::Pieces(body.split('*').map(str::to_owned).collect(), more),
            (_, _, true) => Self::Prefix(body.to_owned()),
            (_, _, false) => Self::Exact(body.to_owned()),
        })
    }

    /// Does it match the text of one command?
    pub fn matches(&self, command: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(text) => command == text,
            Self::Prefix(text) => begins_with_words(command, text),
            Self::Pieces(pieces, more) => {
                pieces_match(pieces, command)
                    // `more words may follow`: the same, cut at some word's end.
                    || (*more
                        && command
                            .match_indices([' ', '\t', '\n'])
                            .any(|(at, _)| pieces_match(pieces, &command[..at])))
            }
        }
    }
}

fn begins_with_words(command: &str, words: &str) -> bool {
    command.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n']))
}

fn pieces_match(pieces: &[String], text: &str) -> bool {
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return false };
    let Some(rest) = text.strip_prefix(first.as_str()) else { return false };
    let Some(mut rest) = rest.strip_suffix(last.as_str()) else { return false };
    for piece in pieces.iter().take(pieces.len() - 1).skip(1) {
        match rest.find(piece.as_str()) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(effect: Effect, pattern: &str, yes: &[&str], no: &[&str]) {
        let parsed = CommandPattern::parse(pattern, effect).unwrap();
        for command in yes {
            assert!(parsed.matches(command), "`{pattern}` should match `{command}`");
        }
        for command in no {
            assert!(!parsed.matches(command), "`{pattern}` should not match `{command}`");
        }
    }

    #[test]
    fn an_allow_is_exact_or_a_beginning() {
        let allow = Effect::Allow;
        check(allow, "cargo test", &["cargo test"], &["cargo test -q", "cargo tests", "cargo"]);
        for pattern in ["git log *", "git log:*"] {
            check(allow, pattern, &["git log", "git log -3"], &["git logs", "git"]);
        }
        check(allow, "*", &["anything"], &[]);
        // Only a deny has stars in the middle: an allow that could mean more than it says is not one.
        check(allow, "git * main", &["git * main"], &["git push main"]);
    }

    #[test]
    fn a_deny_has_stars_anywhere() {
        let deny = Effect::Deny;
        check(deny, "git push*", &["git push", "git push -f", "git pushx"], &["git pull"]);
        check(deny, "git * main", &["git push main", "git a b main"], &["git main", "git push mainx"]);
        check(deny, "*secret*", &["cat secret", "secret"], &["cat secre"]);
        check(deny, "a*b *", &["ab", "axb", "axb c"], &["axbc"]);
        check(deny, "aXb*bXa", &["aXbbXa"], &["aXbXa"]);
        check(deny, "rm:*", &["rm", "rm -rf x"], &["rmdir"]);
    }

    #[test]
    fn an_empty_command_is_an_error() {
        assert!(CommandPattern::parse("  ", Effect::Deny).is_err());
    }
}
