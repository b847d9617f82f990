//! What in a command is not understood.

#[cfg(doc)]
use super::MAX_CHARS;

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
