//! The search itself: walks, opens each file through the roots, and collects what matches. Blocking.

use super::super::glob::{below, glob};
use crate::text;
use crate::tool::ToolError;
use cox_exec::{ExecError, Found, Kind, Located, Roots, WalkCut, WalkEnd, WalkOptions};
use globset::GlobMatcher;
use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long one search may take.
pub(super) const TIME: Duration = Duration::from_secs(60);
/// Characters of a line that are kept.
const LINE_CHARS: usize = 300;
/// Files that can't be searched and are named.
const PROBLEMS: usize = 20;

/// What to search for, and where.
pub(super) struct Search {
    pub(super) matcher: RegexMatcher,
    pub(super) glob: Option<NameFilter>,
    pub(super) options: WalkOptions,
    /// How many matching lines are kept; all are counted.
    pub(super) keep_lines: u64,
    pub(super) cancel: CancellationToken,
    /// May the contents of this file be shown without asking?
    pub(super) may_show: Box<dyn Fn(&Located) -> bool + Send>,
}

/// What was found.
pub(super) struct Hits {
    /// Matching lines.
    pub(super) matches: u64,
    /// Files with how many lines match in each, in order of the walk.
    pub(super) files: Vec<(String, u64)>,
    /// The first lines.
    pub(super) lines: Vec<Line>,
    /// Files that match and must not be shown.
    pub(super) hidden: u64,
    pub(super) out_of_time: bool,
    pub(super) end: WalkEnd,
}

/// A line that matches.
pub(super) struct Line {
    pub(super) path: String,
    pub(super) number: u64,
    pub(super) text: String,
}

/// Which files are searched.
pub(super) struct NameFilter {
    glob: GlobMatcher,
    by_path: bool,
}

impl NameFilter {
    /// A pattern without a slash is about the name in any folder.
    pub(super) fn new(pattern: &str) -> Result<Self, ToolError> {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        Ok(Self { glob: glob(pattern)?, by_path: pattern.contains('/') })
    }

    fn takes(&self, base: &str, path: &str) -> bool {
        let path = below(base, path);
        self.glob.is_match(if self.by_path { path } else { path.rsplit('/').next().unwrap_or(path) })
    }
}

impl Search {
    /// Searches everything under the base, or the base itself when it is a file.
    pub(super) fn run(&self, roots: &Roots, base: &Located) -> Result<Hits, ExecError> {
        let mut files: Vec<Found> = Vec::new();
        let mut end = roots.walk(base, &self.options, |found| {
            let wanted = self.glob.as_ref().is_none_or(|glob| glob.takes(&base.real, &found.path));
            if found.kind == Kind::File && wanted {
                files.push(found);
            }
            ControlFlow::Continue(())
        })?;
        files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .line_terminator(LineTerminator::crlf())
            .binary_detection(BinaryDetection::quit(0))
            .build();
        let deadline = Instant::now() + TIME;
        let mut hits = Hits {
            matches: 0,
            files: Vec::new(),
            lines: Vec::new(),
            hidden: 0,
            out_of_time: false,
            end: WalkEnd { emitted: end.emitted, cut: None, problems: Vec::new(), more_problems: 0 },
        };
        for found in &files {
            if self.cancel.is_cancelled() {
                end.cut = Some(WalkCut::Cancelled);
                break;
            }
            if Instant::now() > deadline {
                hits.out_of_time = true;
                end.cut = end.cut.or(Some(WalkCut::Caller));
                break;
            }
            let at_file = match self.one(&mut searcher, roots, found, hits.lines.len() as u64) {
                Ok(at_file) => at_file,
                // Gone since the walk, as if it had never been there.
                Err(ExecError::Missing { .. }) => continue,
                Err(error) => {
                    unread(&mut end, error.to_string());
                    continue;
                }
            };
            if at_file.count == 0 || at_file.binary {
                continue;
            }
            if found.path != base.real && !(self.may_show)(&roots.at(found)) {
                hits.hidden += 1;
                continue;
            }
            hits.matches += at_file.count;
            hits.files.push((found.path.clone(), at_file.count));
            hits.lines.extend(at_file.lines);
        }
        hits.end = end;
        Ok(hits)
    }

    fn one<'a>(
        &'a self,
        searcher: &mut Searcher,
        roots: &Roots,
        found: &'a Found,
        have: u64,
    ) -> Result<Collector<'a>, ExecError> {
        let file = roots.open_file(&roots.at(found))?;
        let mut collector = Collector {
            path: &found.path,
            keep: self.keep_lines.saturating_sub(have),
            cancel: &self.cancel,
            count: 0,
            lines: Vec::new(),
            binary: false,
        };
        searcher.search_file(&self.matcher, &file, &mut collector).map_err(|source| ExecError::Io {
            attempted: "search",
            path: found.path.clone(),
            source,
        })?;
        Ok(collector)
    }
}

/// Counts a file that can't be searched; the first are named.
fn unread(end: &mut WalkEnd, problem: String) {
    if end.problems.len() < PROBLEMS {
        end.problems.push(problem);
    } else {
        end.more_problems += 1;
    }
}

/// Collects the matches of one file.
struct Collector<'a> {
    path: &'a str,
    keep: u64,
    cancel: &'a CancellationToken,
    count: u64,
    lines: Vec<Line>,
    binary: bool,
}

impl Sink for Collector<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.count += 1;
        if self.count <= self.keep {
            let line = String::from_utf8_lossy(found.bytes());
            self.lines.push(Line {
                path: self.path.to_owned(),
                number: found.line_number().unwrap_or(0),
                text: text::head(line.trim_end_matches(['\n', '\r']), LINE_CHARS),
            });
        }
        Ok(!self.cancel.is_cancelled())
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> Result<bool, Self::Error> {
        self.binary = true;
        Ok(false)
    }
}
