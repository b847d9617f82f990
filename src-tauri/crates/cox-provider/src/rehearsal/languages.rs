//! What rehearsal knows of programming languages: endings, and patterns for entry points and tests.

/// A language.
pub(super) struct Language {
    pub(super) name: &'static str,
    endings: &'static [&'static str],
    /// Code, as against data and prose.
    pub(super) is_source: bool,
    /// A line that begins a program.
    pub(super) entry: Option<&'static str>,
    /// A line that begins a test.
    pub(super) test: Option<&'static str>,
}

const fn source(name: &'static str, endings: &'static [&'static str]) -> Language {
    Language { name, endings, is_source: true, entry: None, test: None }
}

const fn prose(name: &'static str, endings: &'static [&'static str]) -> Language {
    Language { name, endings, is_source: false, entry: None, test: None }
}

impl Language {
    const fn entry(mut self, pattern: &'static str) -> Self {
        self.entry = Some(pattern);
        self
    }

    const fn test(mut self, pattern: &'static str) -> Self {
        self.test = Some(pattern);
        self
    }

    /// Files of this language, as a pattern for names.
    pub(super) fn glob(&self) -> String {
        match self.endings {
            [one] => format!("*.{one}"),
            many => format!("*.{{{}}}", many.join(",")),
        }
    }
}

const SCRIPT_TEST: &str = r"^\s*(it|test|describe)(\.\w+)*\(";

static LANGUAGES: &[Language] = &[
    source("Rust", &["rs"]).entry(r"^(pub )?(async )?fn main\(").test(r"^\s*#\[(\w+::)*test\b"),
    source("Python", &["py", "pyi"]).entry(r"^if __name__ == ").test(r"^\s*(async )?def test_\w+"),
    source("TypeScript", &["ts", "tsx", "mts", "cts"]).test(SCRIPT_TEST),
    source("JavaScript", &["js", "jsx", "mjs", "cjs"]).test(SCRIPT_TEST),
    source("Svelte", &["svelte"]),
    source("Vue", &["vue"]),
    source("Go", &["go"]).entry(r"^func main\(\)").test(r"^func (Test|Benchmark|Fuzz)\w*\("),
    source("C", &["c", "h"]).entry(r"^\s*(int|void)\s+main\s*\("),
    source("C++", &["cc", "cpp", "cxx", "hpp", "hh", "hxx"])
        .entry(r"^\s*int\s+main\s*\(")
        .test(r"^\s*(TEST|TEST_F|TEST_P|TEST_CASE)\("),
    source("Java", &["java"]).entry(r"public static void main\s*\(").test(r"^\s*@(Test|ParameterizedTest)\b"),
    source("Kotlin", &["kt", "kts"]).entry(r"^fun main\(").test(r"^\s*@Test\b"),
    source("Swift", &["swift"]).entry(r"^@main\b").test(r"^\s*func test\w+\("),
    source("C#", &["cs"]).entry(r"\bstatic .*\bMain\(").test(r"^\s*\[(Fact|Theory|Test|TestMethod)\b"),
    source("Ruby", &["rb"]).entry(r"^if __FILE__ == \$0").test(r"^\s*(it ['\x22]|def test_)"),
    source("PHP", &["php"]).test(r"function test\w+\("),
    source("Scala", &["scala"]).entry(r"\bdef main\("),
    source("Haskell", &["hs"]).entry(r"^main ::"),
    source("OCaml", &["ml", "mli"]),
    source("Elixir", &["ex", "exs"]).test(r"^\s*test \x22"),
    source("Erlang", &["erl", "hrl"]),
    source("Zig", &["zig"]).entry(r"^pub fn main\(").test(r"^test \x22"),
    source("Lua", &["lua"]),
    source("Perl", &["pl", "pm"]),
    source("R", &["r"]),
    source("Julia", &["jl"]),
    source("Dart", &["dart"]).entry(r"^(void )?main\(").test(r"^\s*test(Widgets)?\("),
    source("Shell", &["sh", "bash", "zsh"]),
    source("SQL", &["sql"]),
    source("HTML", &["html", "htm"]),
    source("CSS", &["css", "scss", "sass", "less"]),
    prose("Markdown", &["md", "markdown"]),
    prose("Text", &["txt", "rst", "adoc"]),
    prose("JSON", &["json", "jsonl"]),
    prose("YAML", &["yaml", "yml"]),
    prose("TOML", &["toml"]),
    prose("XML", &["xml", "svg"]),
];

/// The name of a path.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The folder of a path; `.` for the project itself.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

/// The language of a file, by its ending.
pub(super) fn language_of(path: &str) -> Option<&'static Language> {
    let (stem, ending) = name_of(path).rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    LANGUAGES.iter().find(|language| !stem.is_empty() && language.endings.contains(&ending.as_str()))
}

/// Does it come with the project without being of it, as packages do that were copied in?
pub(super) fn is_foreign(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "node_modules" | "vendor" | "third_party" | "site-packages"))
}

/// Is it code?
pub(super) fn is_source(path: &str) -> bool {
    language_of(path).is_some_and(|language| language.is_source)
}

/// Can a program begin in this file? In a library's root or a module, `fn main` stands in an example in its
/// documentation.
pub(super) fn may_begin(path: &str) -> bool {
    !matches!(name_of(path), "lib.rs" | "mod.rs")
}

/// What a file begins, as its name alone says.
pub(super) fn entry_by_name(path: &str) -> Option<&'static str> {
    let folder = name_of(folder_of(path));
    match (folder, name_of(path)) {
        ("src", "lib.rs") => Some("root of a Rust library"),
        (_, "build.rs") => Some("Rust build script"),
        (_, "__main__.py") => Some("Python module that can be run"),
        (_, "manage.py") => Some("Django's command"),
        (_, "index.html") => Some("web page"),
        ("." | "src" | "lib", name) => match name.split_once('.') {
            Some((
                "index" | "main" | "server" | "cli",
                "js" | "mjs" | "cjs" | "ts" | "mts" | "tsx" | "jsx",
            )) => Some("start of a script package, by its name"),
            Some(_) | None => None,
        },
        (_, _) => None,
    }
}

/// Is it a README?
pub(super) fn is_readme(path: &str) -> bool {
    let name = name_of(path).to_ascii_lowercase();
    name == "readme" || name.starts_with("readme.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_by_ending_and_by_name() {
        assert_eq!(language_of("a/B.RS").map(|language| language.name), Some("Rust"));
        assert!(language_of(".rs").is_none());
        assert!(is_source("x.tsx") && !is_source("x.md") && !is_source("Makefile"));
        assert_eq!(language_of("x.h").map(Language::glob), Some("*.{c,h}".to_owned()));
        assert_eq!(entry_by_name("src/lib.rs"), Some("root of a Rust library"));
        assert_eq!(entry_by_name("index.js"), Some("start of a script package, by its name"));
        assert_eq!(entry_by_name("deep/util/index.js"), None);
    }
}
