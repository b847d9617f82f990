//! What a server says about an error, in whatever shape it says it.

use serde_json::Value;

/// Characters of a server's words that a message repeats.
const CAP: usize = 400;

/// An error in the server's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// `error.type`.
    pub(crate) kind: String,
    /// `error.code` where it is a word.
    pub(crate) code: String,
    /// `error.code` where it is a number: stands in for the status inside a stream.
    pub(crate) number: Option<u16>,
    /// The words; empty when there are none.
    pub(crate) message: String,
    /// Tokens of the prompt and of the window, where given as numbers.
    pub(crate) tokens: Option<(u64, u64)>,
    /// The answer was a web page.
    pub(crate) page: bool,
}

impl Said {
    /// Reads the body of an answer.
    pub(crate) fn in_body(body: &str) -> Self {
        let body = body.trim();
        if let Ok(value) = serde_json::from_str::<Value>(body) {
            return Self::in_json(&value);
        }
        if body.starts_with('<') {
            return Self { message: title(body).unwrap_or_default(), page: true, ..Self::default() };
        }
        Self { message: cap(body), ..Self::default() }
    }

    /// Reads `{"error": …}` and its relatives: `{"error": "words"}`, `{"message": …}`, `{"detail": …}`.
    pub(crate) fn in_json(value: &Value) -> Self {
        // Gemini wraps its error into a list.
        let value = value.get(0).unwrap_or(value);
        let error = match value.get("error") {
            Some(Value::Null) | None => value,
            Some(error) => error,
        };
        if let Value::String(words) = error {
            return Self { message: cap(words), ..Self::default() };
        }
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
        let message = ["message", "detail", "msg"].map(text).into_iter().find(|text| !text.is_empty());
        let code = error.get("code");
        let count = |key: &str| error.get(key).and_then(Value::as_u64);
        Self {
            kind: text("type").to_owned(),
            code: code.and_then(Value::as_str).unwrap_or_default().to_owned(),
            number: code
                .and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()))
                .and_then(|code| u16::try_from(code).ok()),
            message: message.map_or_else(|| without_words(error), cap),
            tokens: count("n_prompt_tokens").zip(count("n_ctx")),
            page: false,
        }
    }

    /// Does it say one of these, in any case?
    pub(crate) fn has(&self, needles: &[&str]) -> bool {
        let text = self.message.to_lowercase();
        needles.iter().any(|needle| text.contains(needle))
    }

    /// Is its type or its code one of these?
    pub(crate) fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.kind.as_str()) || names.contains(&self.code.as_str())
    }

    /// The numbers of at least 3 digits in its words, thousands separators dropped.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let joined = self.message.replace(',', "");
        let words = joined.split(|ch: char| !ch.is_ascii_digit());
        words.filter(|word| word.len() >= 3).filter_map(|word| word.parse().ok()).collect()
    }
}

fn without_words(error: &Value) -> String {
    match error {
        Value::Object(map) if map.is_empty() => String::new(),
        other => cap(&other.to_string()),
    }
}

fn title(page: &str) -> Option<String> {
    // ASCII only, so that positions stay those of the page.
    let lower = page.to_ascii_lowercase();
    let from = lower.find("<title")?;
    let from = from + lower[from..].find('>')? + 1;
    let to = from + lower[from..].find("</title")?;
    Some(cap(page[from..to].trim()))
}

fn cap(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(CAP) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
