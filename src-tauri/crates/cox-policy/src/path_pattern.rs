//! The patterns of file rules: those of gitignore, from the project's folder on.
//!
//! - `secret.txt`: the name, in any folder. `src/x.rs` or `/x.rs`: from the project's folder on.
//! - `*`, `?`, `[a-z]` and `{a,b}` stay within one part of the path; `**` doesn't.
//! - What matches a folder matches all below it. `build/` is all below `build`.
//! - `\` takes the meaning from the next character.
//!
//! Left out: `!` (there is nothing to except from), `~/` and `//` (rules are about the project's own files;
//! everything outside is refused anyway).

use cox_protocol::inbox::Effect;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// A pattern that was understood.
#[derive(Clone, Debug)]
pub struct PathPattern {
    set: GlobSet,
}

impl PathPattern {
    /// Reads a pattern; the error says what is wrong with it.
    pub fn parse(text: &str, effect: Effect) -> Result<Self, String> {
        if text.starts_with('!') {
            return Err("a pattern can't begin with `!`; write a rule of the other effect".into());
        }
        if text == "~" || text.starts_with("~/") || text.starts_with("//") {
            return Err("rules name files from the project's folder on; `~/` and `//` reach out of it".into());
        }
        if text.split('/').any(|part| part == "..") {
            return Err("a pattern can't contain `..`".into());
        }
        let below_only = text.ends_with('/');
        let body = text.strip_suffix('/').unwrap_or(text);
        let body = body.strip_prefix("./").unwrap_or(body);
        let anchored = body.contains('/');
        let body = body.strip_prefix('/').unwrap_or(body);
        if body.is_empty() {
            return Err("the pattern is empty".into());
        }
        let body = if anchored { body.to_owned() } else { format!("**/{body}") };
        let mut set = GlobSetBuilder::new();
        let mut add = |glob: &str| -> Result<(), String> {
            let glob = GlobBuilder::new(glob)
                .literal_separator(true)
                .backslash_escape(true)
                // Two names for one file: a deny must not be passed by other capitals.
                .case_insensitive(effect == Effect::Deny && cfg!(any(target_os = "macos", windows)))
                .build()
                .map_err(|error| error.kind().to_string())?;
            set.add(glob);
            Ok(())
        };
        // `build/` doesn't match a file called build. Policy can't see which it is: a deny takes both.
        if !below_only || effect == Effect::Deny {
            add(&body)?;
        }
        add(&format!("{body}/**"))?;
        Ok(Self { set: set.build().map_err(|error| error.to_string())? })
    }

    /// Does it match this path, relative to the project?
    pub fn matches(&self, path: &str) -> bool {
        self.set.is_match(path)
    }
}

/// The pattern that matches this one file and no other.
pub fn exactly(path: &str) -> String {
    let mut pattern = String::from("/");
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '!' | '\\' | ',') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        for effect in [Effect::Allow, Effect::Deny] {
            let parsed = PathPattern::parse(pattern, effect).unwrap();
            for path in yes {
                assert!(parsed.matches(path), "`{pattern}` ({effect:?}) should match {path:?}");
            }
            for path in no {
                assert!(!parsed.matches(path), "`{pattern}` ({effect:?}) should not match {path:?}");
            }
        }
    }

    #[test]
    fn patterns_match_as_in_gitignore() {
        check(".env", &[".env", "a/b/.env", ".env/x"], &[".envrc", "a.env"]);
        check("/x.rs", &["x.rs"], &["src/x.rs"]);
        check("src/x.rs", &["src/x.rs"], &["x.rs", "a/src/x.rs"]);
        check("src/**", &["src/a", "src/a/b.rs"], &["src", "srcs/a"]);
        check("src", &["src", "src/a", "a/src/b"], &["srcs"]);
        check("*.rs", &["a.rs", "a/b.rs"], &["a.rs.bak"]);
        check("src/*.rs", &["src/a.rs"], &["src/a/b.rs"]);
        check("**/gen/*.ts", &["gen/a.ts", "x/y/gen/a.ts"], &["gen/x/a.ts"]);
        check("a?c", &["abc"], &["a/c", "ac"]);
        check("*.{key,pem}", &["a.key", "b/c.pem"], &["a.pub"]);
        check(r"a\*b", &["a*b"], &["axb"]);
        check("./src/a.rs", &["src/a.rs"], &["a.rs"]);
        check("日本/**", &["日本/ü.txt"], &["日/ü.txt"]);
    }

    #[test]
    fn a_trailing_slash_means_what_is_below() {
        let allow = PathPattern::parse("build/", Effect::Allow).unwrap();
        assert!(allow.matches("build/a") && allow.matches("x/build/a") && !allow.matches("build"));
        let deny = PathPattern::parse("build/", Effect::Deny).unwrap();
        assert!(deny.matches("build/a") && deny.matches("build"));
    }

    #[test]
    fn what_cant_be_meant_is_an_error() {
        for bad in ["", "/", "!x", "~/.ssh/**", "//etc/passwd", "../x", "a/../b", "a[", "{a"] {
            assert!(PathPattern::parse(bad, Effect::Allow).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_exact_pattern_matches_one_file() {
        for path in ["a", "src/a.rs", "a*b", "[x]", "{a,b}", "!a", r"a\b", "a (1).txt", " lead", "ü/日 本"]
        {
            let pattern = PathPattern::parse(&exactly(path), Effect::Allow).unwrap();
            assert!(pattern.matches(path), "{path:?}");
            assert!(!pattern.matches(&format!("x/{path}")), "{path:?}");
        }
    }
}
