//! What a server does differently, by name and as data (`data/profiles.json`).
//!
//! To add a quirk: a variant with the report it comes from, its name in the file, and the one place that asks for it.

use serde::Deserialize;
use std::collections::HashSet;
use std::sync::LazyLock;

/// A named difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Quirk {
    /// The output limit is called `max_completion_tokens`; the old name is refused by reasoning models (OpenAI).
    MaxCompletionTokens,
    /// Several calls in one answer must be asked for (llama.cpp: off by default).
    AskParallelCalls,
    /// The reasoning of an answer with calls must be sent back as text, or the next request is refused
    /// (DeepSeek: crewAIInc/crewAI#5878, earendil-works/pi#3636).
    ReplayReasoningText,
    /// The reasoning must be sent back as the list it came as (OpenRouter: earendil-works/pi#6733).
    ReplayReasoningDetails,
    /// A call can come as text when the template knows no tools (lmstudio-ai/lmstudio-bug-tracker#830, llama.cpp).
    LeakedCalls,
    /// A prompt that is too long is cut from the front without a word (ollama/ollama#10980, #17427).
    SilentTruncation,
    /// `length` before the limit that was asked for means that the window is full (llama.cpp).
    ShortLengthIsFullWindow,
}

/// The quirks of a kind of server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Profile {
    /// For people.
    pub(super) name: String,
    hosts: Vec<String>,
    quirks: HashSet<Quirk>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(rename = "version")]
    _version: String,
    profiles: Vec<Profile>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the file is compiled in, and a test parses it")]
    serde_json::from_str(include_str!("../../data/profiles.json")).expect("data/profiles.json is valid")
});

impl Profile {
    /// The profile of a host: its own, that of a domain it belongs to, or the one for all others, which is last.
    pub(super) fn of(host: &str) -> &'static Self {
        let fits = |name: &String| {
            name == "*"
                || host == name
                || host
                    .strip_suffix(name.as_str())
                    .is_some_and(|rest| rest.ends_with('.') || rest.ends_with('-'))
        };
        let profiles = &TABLE.profiles;
        profiles
            .iter()
            .find(|profile| profile.hosts.iter().any(fits))
            .unwrap_or(&profiles[profiles.len() - 1])
    }

    /// Does it have this quirk?
    pub(super) fn has(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Invariant 13
    #[test]
    fn hosts_have_profiles() {
        let names = [
            "api.openai.com",
            "openrouter.ai",
            "us-aiplatform.googleapis.com",
            "evilopenrouter.ai",
            "127.0.0.1",
        ]
        .map(|host| Profile::of(host).name.as_str());
        assert_eq!(names, ["openai", "openrouter", "gemini", "compatible", "compatible"]);
    }
}
