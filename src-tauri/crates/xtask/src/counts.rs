//! How many tests passed and failed, read from the last lines of nextest, libtest and vitest.

use std::fmt;
use std::ops::AddAssign;

/// Tests that ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

impl Counts {
    /// The counts of a runner's summary line; null for any other line.
    pub(crate) fn of_line(line: &str) -> Option<Self> {
        let plain = without_colours(line);
        let plain = plain.trim();
        let list = if let Some(rest) = plain.strip_prefix("test result: ") {
            rest // libtest: `test result: ok. 3 passed; 0 failed; …`
        } else if plain.starts_with("Summary [") {
            plain.split_once("run: ")?.1 // nextest: `Summary [   0.1s] 5 tests run: 4 passed, 1 failed, 0 skipped`
        } else {
            let rest = plain.strip_prefix("Tests ")?; // vitest: `Tests  1 failed | 11 passed (12)`
            rest.trim_start().starts_with(|first: char| first.is_ascii_digit()).then_some(rest)?
        };
        let mut counts = Self::default();
        let words: Vec<&str> =
            list.split([' ', ',', ';', '|', '(', ')']).filter(|word| !word.is_empty()).collect();
        for pair in words.windows(2) {
            let Ok(number) = pair[0].parse::<u64>() else { continue };
            match pair[1] {
                "passed" => counts.passed += number,
                "failed" | "timed" | "exec" => counts.failed += number,
                _ => {}
            }
        }
        Some(counts)
    }
}

fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(ch) = chars.next() {
        if ch == '\u{1b}' {
            // CSI: up to its final letter.
            for ch in chars.by_ref() {
                if ch.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            plain.push(ch);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::Counts;

    fn check(line: &str, passed: u64, failed: u64) {
        assert_eq!(Counts::of_line(line), Some(Counts { passed, failed }), "{line}");
    }

    #[test]
    fn reads_every_runner() {
        check("     Summary [   0.123s] 5 tests run: 4 passed (1 slow, 1 flaky), 1 failed, 2 skipped", 4, 1);
        check("     Summary [   0.123s] 1 test run: 1 passed, 0 skipped", 1, 0);
        check(
            "Summary [ 9.0s] 4/9 tests run: 1 passed, 1 failed, 1 timed out, 1 exec failed, 0 skipped",
            1,
            3,
        );
        check(
            "\u{1b}[32;1m     Summary\u{1b}[0m [   0.1s] \u{1b}[1m3\u{1b}[0m tests run: \u{1b}[1m3\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m",
            3,
            0,
        );
        check("test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out", 3, 2);
        check("      Tests  1 failed | 11 passed (12)", 11, 1);
        check("      Tests  120 passed (120)", 120, 0);
    }

    #[test]
    fn leaves_other_lines() {
        assert_eq!(Counts::of_line("Test Files  2 passed (2)"), None);
        assert_eq!(Counts::of_line("Tests that pass"), None);
        assert_eq!(Counts::of_line("running 3 tests"), None);
    }
}
