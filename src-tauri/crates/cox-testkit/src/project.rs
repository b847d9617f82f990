//! Temporary projects: real folders with real files, gone when dropped.

use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub struct TempProject {
    folder: TempDir,
}

impl TempProject {
    /// An empty one.
    pub fn new() -> Self {
        Self {
            folder: tempfile::Builder::new().prefix("cox-project-").tempdir().expect("a temporary folder"),
        }
    }

    /// With these files: path and content.
    pub fn with<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let project = Self::new();
        for (path, content) in files {
            project.write(path, content);
        }
        project
    }

    /// A small Rust crate: a library of two modules, a program, a test, two marks to find.
    pub fn rust() -> Self {
        Self::with([
            (
                "Cargo.toml",
                "[package]\nname = \"tides\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n",
            ),
            ("README.md", "# Tides\n\nTurns tide tables into calendar files.\n"),
            (".gitignore", "/target/\n"),
            (
                "src/lib.rs",
                "//! Tide tables.\n\npub mod calendar;\npub mod table;\n\npub use table::Table;\n",
            ),
            (
                "src/table.rs",
                "/// Rows of a tide table.\n#[derive(Debug, Default)]\npub struct Table {\n    pub rows: Vec<(String, f64)>,\n}\n\nimpl Table {\n    /// Reads `time;height` lines.\n    pub fn parse(text: &str) -> Table {\n        // TODO: report lines that can't be read\n        let rows = text\n            .lines()\n            .filter_map(|line| {\n                let (time, height) = line.split_once(';')?;\n                Some((time.to_string(), height.parse().ok()?))\n            })\n            .collect();\n        Table { rows }\n    }\n\n    /// The highest tide.\n    pub fn highest(&self) -> Option<f64> {\n        self.rows.iter().map(|row| row.1).reduce(f64::max)\n    }\n}\n",
            ),
            (
                "src/calendar.rs",
                "use crate::Table;\n\n/// One event a row.\npub fn render(table: &Table) -> String {\n    // FIXME: escape commas\n    table.rows.iter().map(|(time, height)| format!(\"BEGIN:VEVENT\\n{time} {height}\\nEND:VEVENT\\n\")).collect()\n}\n",
            ),
            (
                "src/main.rs",
                "fn main() {\n    let table = tides::Table::parse(\"06:12;3.1\\n18:40;3.4\\n\");\n    print!(\"{}\", tides::calendar::render(&table));\n}\n",
            ),
            (
                "tests/table.rs",
                "#[test]\nfn the_highest_tide() {\n    let table = tides::Table::parse(\"06:12;3.1\\n18:40;3.4\\n\");\n    assert_eq!(table.highest(), Some(3.4));\n}\n",
            ),
        ])
    }

    /// A small JavaScript package: two modules, a test, one mark to find.
    pub fn javascript() -> Self {
        Self::with([
            (
                "package.json",
                "{\n  \"name\": \"tides\",\n  \"version\": \"0.1.0\",\n  \"type\": \"module\",\n  \"main\": \"src/index.js\",\n  \"scripts\": { \"test\": \"node --test\" }\n}\n",
            ),
            ("README.md", "# Tides\n\nTurns tide tables into calendar files.\n"),
            (".gitignore", "node_modules/\n"),
            (
                "src/index.js",
                "export { parse } from './table.js';\nexport { render } from './calendar.js';\n",
            ),
            (
                "src/table.js",
                "// TODO: report lines that can't be read\nexport function parse(text) {\n  return text\n    .split('\\n')\n    .filter((line) => line.includes(';'))\n    .map((line) => line.split(';'));\n}\n",
            ),
            (
                "src/calendar.js",
                "export const render = (rows) => rows.map(([time, height]) => `${time} ${height}`).join('\\n');\n",
            ),
            (
                "test/table.test.js",
                "import assert from 'node:assert';\nimport test from 'node:test';\nimport { parse } from '../src/index.js';\n\ntest('rows', () => {\n  assert.deepEqual(parse('06:12;3.1'), [['06:12', '3.1']]);\n});\n",
            ),
        ])
    }

    /// With this many files, 100 a folder: `d000/f00000.txt` and so on, each of one line that names it.
    pub fn many(count: usize) -> Self {
        let project = Self::new();
        for index in 0..count {
            let path = format!("d{:03}/f{index:05}.txt", index / 100);
            project.write(&path, format!("This is {path}.\n"));
        }
        project
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The absolute path of a file in it.
    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes a file, and the folders on the way to it.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let whole = self.at(path);
        std::fs::create_dir_all(whole.parent().expect("a file is in a folder")).expect("folders can be made");
        std::fs::write(&whole, content).unwrap_or_else(|error| panic!("can't write {path}: {error}"));
    }

    /// Reads a file as text.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap_or_else(|error| panic!("can't read {path}: {error}"))
    }

    /// Is there something of this name?
    pub fn has(&self, path: &str) -> bool {
        self.at(path).exists()
    }

    /// Removes a file.
    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.at(path)).unwrap_or_else(|error| panic!("can't remove {path}: {error}"));
    }

    /// All files, as paths from the folder on, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("the folder can be read") {
                let entry = entry.expect("the folder can be read");
                if entry.file_type().expect("files have a type").is_dir() {
                    folders.push(entry.path());
                } else {
                    let path = entry.path();
                    let path = path.strip_prefix(self.path()).expect("it is in the project");
                    files.push(path.to_string_lossy().replace('\\', "/"));
                }
            }
        }
        files.sort();
        files
    }
}

impl Default for TempProject {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_are_real_and_go_away() {
        let rust = TempProject::rust();
        assert_eq!(
            rust.files(),
            [
                ".gitignore",
                "Cargo.toml",
                "README.md",
                "src/calendar.rs",
                "src/lib.rs",
                "src/main.rs",
                "src/table.rs",
                "tests/table.rs"
            ]
        );
        assert!(rust.read("src/table.rs").contains("// TODO: "));
        rust.remove("README.md");
        assert!(!rust.has("README.md"));
        assert!(TempProject::javascript().has("src/index.js"));
        let folder = rust.path().to_owned();
        drop(rust);
        assert!(!folder.exists());
    }

    #[test]
    fn many_files_are_in_folders_of_a_hundred() {
        let many = TempProject::many(205);
        assert_eq!(many.files().len(), 205);
        assert_eq!(many.read("d002/f00204.txt"), "This is d002/f00204.txt.\n");
    }
}
