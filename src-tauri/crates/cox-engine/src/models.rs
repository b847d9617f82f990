//! What a model name in a dispatch stands for (W37).

use cox_protocol::settings::ModelAliases;

/// The exact id for an alias or an exact id. The error lists what is valid.
pub(crate) fn resolve(
    wanted: Option<&str>,
    own: &str,
    aliases: &ModelAliases,
    known: &[String],
) -> Result<String, String> {
    let or_own = |id: &str| if id.is_empty() { own.to_owned() } else { id.to_owned() };
    match wanted.map(str::trim) {
        None | Some("" | "inherit") => Ok(own.to_owned()),
        Some("fast" | "haiku") => Ok(or_own(&aliases.fast)),
        Some("standard" | "sonnet") => Ok(or_own(&aliases.standard)),
        Some("strong" | "opus") => Ok(or_own(&aliases.strong)),
        Some(id) if id == own || known.iter().any(|known| known == id) => Ok(id.to_owned()),
        Some(id) => {
            let mut valid: Vec<&str> = vec!["inherit", "fast", "standard", "strong", own];
            valid.extend(known.iter().map(String::as_str));
            valid.dedup();
            Err(format!("unknown model \"{id}\"; valid are: {}", valid.join(", ")))
        }
    }
}

/// The aliases in words, for a coordinator's prompt.
pub(crate) fn describe(own: &str, aliases: &ModelAliases) -> String {
    let mut parts = vec![format!("inherit ({own})")];
    for (name, id) in [("fast", &aliases.fast), ("standard", &aliases.standard), ("strong", &aliases.strong)]
    {
        parts.push(format!("{name} ({})", if id.is_empty() { own } else { id }));
    }
    parts.join(", ")
}
