//! Pieces of Markdown. What came out of a file goes through [`code`], so that it is shown and never interpreted.

/// Text as a code span, whatever it holds.
pub(super) fn code(text: &str) -> String {
    let text: String = text.chars().map(|ch| if ch.is_control() { ' ' } else { ch }).collect();
    let longest = text.split(|ch| ch != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.trim().is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Lines as a block of code, whatever they hold.
pub(super) fn block(lines: &[String]) -> String {
    let text = lines.join("\n");
    let longest = text.split(|ch| ch != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}\n{fence}\n")
}

/// Text for a cell of a table.
pub(super) fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A table.
pub(super) fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: Vec<String>| {
        format!("| {} |\n", cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join(" | "))
    };
    let mut out = line(head.iter().map(|text| (*text).to_owned()).collect());
    out.push_str(&format!("|{}\n", " --- |".repeat(head.len())));
    rows.into_iter().for_each(|row| out.push_str(&line(row)));
    out
}

/// A size for people.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 3] = ["KB", "MB", "GB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (mut value, mut unit) = (bytes as f64 / 1024.0, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// `1 file`, `2 files`.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_in_its_span() {
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`x`"), "`` `x` ``");
        assert_eq!(code("a\nb"), "`a b`");
        assert_eq!(table(&["A"], [vec!["x|y".to_owned()]]), "| A |\n| --- |\n| x\\|y |\n");
    }

    #[test]
    fn sizes() {
        assert_eq!([0, 1023, 1536, 5 << 20].map(size), ["0 B", "1023 B", "1.5 KB", "5.0 MB"]);
    }
}
