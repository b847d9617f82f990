//! Reads what the tools wrote. Their texts have a fixed form; what does not fit is left out, never guessed.

/// A file and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) bytes: u64,
}

/// What Glob found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// Files in all.
    pub(super) total: u64,
    /// Those that were shown.
    pub(super) files: Vec<File>,
    /// What the tool says about files that it did not see.
    pub(super) remarks: Vec<String>,
}

impl Listing {
    /// `N files` or `N files, the first M shown`, then `path<TAB>bytes`, then remarks in brackets.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let total = number(lines.next()?)?;
        let mut listing = Self { total, ..Self::default() };
        for line in lines {
            if let Some((path, bytes)) = line.rsplit_once('\t')
                && let Ok(bytes) = bytes.parse()
            {
                listing.files.push(File { path: path_of(path), bytes });
            } else if line.starts_with('(') {
                listing.remarks.push(line.trim_matches(['(', ')']).to_owned());
            }
        }
        Some(listing)
    }

    /// Are there files that are not shown?
    pub(super) fn is_cut(&self) -> bool {
        self.total > self.files.len() as u64
            || self.remarks.iter().any(|remark| remark.starts_with("stopped"))
    }
}

/// What Grep counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) matches: u64,
    /// Files that match, shown or not.
    pub(super) files: u64,
    /// The search itself ended early.
    pub(super) stopped: bool,
}

impl Counts {
    /// `N matches in M files`; the files that follow are not needed.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let first = text.lines().next()?;
        let files = number(first.split_once(" matches in ")?.1)?;
        Some(Self { matches: number(first)?, files, stopped: is_stopped(text) })
    }
}

/// A line that Grep found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) path: String,
    pub(super) number: u64,
    pub(super) text: String,
}

/// What Grep found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) matches: u64,
    pub(super) lines: Vec<Line>,
}

impl Lines {
    /// `N matches in M files`, then `path:LINE: text`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let first = text.lines().next()?;
        let lines = text.lines().skip(1).filter_map(line_of).collect();
        Some(Self { matches: number(first)?, lines })
    }
}

fn is_stopped(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("(stopped after"))
}

/// A path may hold a colon: the first that is followed by a number and `: ` ends it.
fn line_of(line: &str) -> Option<Line> {
    line.match_indices(':').find_map(|(at, _)| {
        let (number, text) = line[at + 1..].split_once(':')?;
        let number = number.parse().ok()?;
        Some(Line { path: path_of(&line[..at]), number, text: text.trim().to_owned() })
    })
}

/// What Read showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Numbers and texts.
    pub(super) lines: Vec<(u64, String)>,
    /// Lines in the whole file.
    pub(super) total: u64,
}

impl Page {
    /// `LINE<TAB>text`, and `(lines A–B of N)` last.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (body, last) = text.rsplit_once('\n').unwrap_or(("", text));
        let total = last.strip_prefix("(lines ")?.strip_suffix(')')?.rsplit_once(" of ")?.1.parse().ok()?;
        let lines = body
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .filter_map(|(number, text)| Some((number.parse().ok()?, text.to_owned())))
            .collect();
        Some(Self { lines, total })
    }
}

/// How a command ended, and what it put out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) output: String,
    /// Null when it did not end by itself.
    pub(super) exit_code: Option<i32>,
    /// The last line: how it ended, in words.
    pub(super) end: String,
}

impl Ran {
    /// The output, and how it ended in the last line.
    pub(super) fn parse(text: &str) -> Self {
        let (output, end) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
        let exit_code = end.strip_prefix("exit code ").and_then(|code| code.parse().ok());
        Self { output: output.to_owned(), exit_code, end: end.to_owned() }
    }
}

/// The number that a line begins with.
fn number(line: &str) -> Option<u64> {
    line.split_whitespace().next()?.parse().ok()
}

/// A path with control characters is written as a JSON string.
fn path_of(text: &str) -> String {
    let quoted = text.starts_with('"') && text.ends_with('"');
    quoted.then(|| serde_json::from_str(text).ok()).flatten().unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_listing() {
        let listing = Listing::parse(
            "3 files, the first 2 shown\nsrc/a b.rs\t12\n\"new\\nline\"\t0\n(not read: secret)",
        );
        let expect = Listing {
            total: 3,
            files: vec![
                File { path: "src/a b.rs".into(), bytes: 12 },
                File { path: "new\nline".into(), bytes: 0 },
            ],
            remarks: vec!["not read: secret".into()],
        };
        assert_eq!(listing, Some(expect));
        assert_eq!(Listing::parse("no such folder"), None);
    }

    #[test]
    fn reads_matches() {
        let lines = Lines::parse("2 matches in 1 files, cut at 1\na:b.rs:7: // TODO: x");
        let line = Line { path: "a:b.rs".into(), number: 7, text: "// TODO: x".into() };
        assert_eq!(lines, Some(Lines { matches: 2, lines: vec![line] }));
        let counts = Counts::parse(
            "5 matches in 2 files, cut at 1\na.rs\t4\n(stopped after 60 s: search in one folder)",
        );
        assert_eq!(counts, Some(Counts { matches: 5, files: 2, stopped: true }));
    }

    #[test]
    fn reads_pages_and_ends() {
        let page = Page::parse("3\tfn main() {\n4\t}\n(lines 3–4 of 90)");
        let lines = vec![(3, "fn main() {".to_owned()), (4, "}".to_owned())];
        assert_eq!(page, Some(Page { lines, total: 90 }));
        assert_eq!(Page::parse("(lines 0–0 of 0)"), Some(Page { lines: vec![], total: 0 }));
        let ran = Ran::parse("bash: go: command not found\nexit code 127");
        assert_eq!((ran.exit_code, ran.output.as_str()), (Some(127), "bash: go: command not found"));
        assert_eq!(Ran::parse("timed out after 120 s").exit_code, None);
    }
}
