//! The window's TypeScript types, which the tests of `cox-protocol` write from its Rust types.
//!
//! A test run writes them into a fresh folder; `codegen` copies that into the page, `check` and `test` compare.

use crate::step;
use crate::stop::Stop;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the page has them.
fn committed() -> PathBuf {
    step::root().join("ui/src/lib/generated")
}

fn fresh() -> PathBuf {
    step::root().join("target/generated-types")
}

/// Lets a test run write the types into an empty folder.
pub(crate) fn into_fresh(command: &mut Command) -> Result<(), Stop> {
    let folder = fresh();
    let emptied = match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    };
    emptied
        .and_then(|()| fs::create_dir_all(&folder))
        .map_err(|error| Stop::failed(format!("{} can't be emptied: {error}", folder.display())))?;
    command.env("TS_RS_EXPORT_DIR", folder);
    Ok(())
}

/// Writes them anew, on its own.
pub(crate) fn generate() -> Result<(), Stop> {
    let mut command =
        step::cargo(&["test", "--quiet", "--package", "cox-protocol", "--lib", "export_bindings"]);
    into_fresh(&mut command)?;
    step::show(&mut command)
}

/// `codegen`: the page's folder becomes what the Rust types say.
pub(crate) fn write() -> Result<(), Stop> {
    generate()?;
    let (made, there) = (read(&fresh())?, read(&committed())?);
    let failed =
        |error: std::io::Error| Stop::failed(format!("{} can't be written: {error}", committed().display()));
    fs::create_dir_all(committed()).map_err(failed)?;
    for name in there.keys().filter(|name| !made.contains_key(*name)) {
        println!("- {name}");
        fs::remove_file(committed().join(name)).map_err(failed)?;
    }
    for (name, text) in made.iter().filter(|(name, text)| there.get(*name) != Some(text)) {
        println!("+ {name}");
        let path = committed().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(path, text).map_err(failed)?;
    }
    println!("{} types", made.len());
    Ok(())
}

/// Is the page's folder what the last run wrote? The error names the files that differ.
pub(crate) fn compare() -> Result<(), Stop> {
    let (made, there) = (read(&fresh())?, read(&committed())?);
    if made.is_empty() {
        return Err(Stop::failed("no types were generated: did the tests of cox-protocol run?"));
    }
    let stale: Vec<&str> = made
        .keys()
        .chain(there.keys().filter(|name| !made.contains_key(*name)))
        .filter(|name| made.get(*name) != there.get(*name))
        .map(String::as_str)
        .collect();
    if stale.is_empty() {
        println!("\nThe window's types are current ({}).", made.len());
        return Ok(());
    }
    Err(Stop::failed(format!(
        "the window's types are stale: {}. `cargo xtask codegen` writes them anew",
        stale.join(", ")
    )))
}

/// All files under a folder, by relative path.
fn read(folder: &Path) -> Result<BTreeMap<String, String>, Stop> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path)
                .map_err(|error| Stop::failed(format!("{} can't be read: {error}", path.display())))?;
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            files.insert(name, text);
        }
    }
    Ok(files)
}
