//! What is known of models: windows, limits, thinking and prices. All of it is data (`data/models.json`), since it
//! changes monthly. A model that the file does not name gets its provider's cautious fallback.

use cox_protocol::settings::ProviderKind;
use cox_protocol::task::Usage;
use cox_protocol::view::ModelRow;
use serde::Deserialize;
use std::sync::LazyLock;

/// What is known of one model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Whose; in the file, never rehearsal.
    pub provider: ProviderKind,
    /// Its exact id; `*` for the fallback.
    pub id: String,
    /// Its window in tokens.
    pub context: u64,
    /// Output tokens that a request asks for; null: the field is not sent, and the server decides.
    pub output: Option<u32>,
    /// Output tokens that a request may ask for at most.
    pub max_output: Option<u32>,
    /// How it is asked to think.
    #[serde(default)]
    pub thinking: Thinking,
    /// Beta features to ask for with every request.
    #[serde(default)]
    pub betas: Vec<String>,
    /// Dollars per million tokens; null when not known.
    pub price: Option<Price>,
}

/// How a model is asked to think.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Thinking {
    /// It is not asked to.
    #[default]
    None,
    /// It decides by itself how long.
    Adaptive {
        /// What of its thinking it shows; null: what it shows by itself.
        #[serde(default)]
        display: Option<String>,
    },
    /// For so many tokens at most.
    Enabled {
        /// At least 1,024 and less than the output limit.
        budget: u32,
    },
}

/// Dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Neither read from the cache nor written to it.
    pub input: f64,
    /// Output, thinking included.
    pub output: f64,
    /// Read from the cache.
    pub cache_read: f64,
    /// Written to the cache.
    pub cache_write: f64,
    /// What a long prompt costs.
    #[serde(default)]
    pub long: Option<LongPrice>,
}

/// Factors for the whole request when its prompt is long.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongPrice {
    /// A prompt of more tokens than this is long.
    pub above: u64,
    /// For input and cache.
    pub input_factor: f64,
    /// For output.
    pub output_factor: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    version: String,
    models: Vec<Model>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the file is compiled in, and a test parses it")]
    serde_json::from_str(include_str!("../data/models.json")).expect("data/models.json is valid")
});

/// What the id of the fallback is.
const ANY: &str = "*";

/// The version of the price table, for the ledger (W38).
pub fn version() -> &'static str {
    &TABLE.version
}

/// What is known of a model: its own row, that of the model whose dated snapshot it is, or its provider's fallback.
pub fn lookup(provider: ProviderKind, model: &str) -> &'static Model {
    row(provider, model).unwrap_or_else(|| {
        // Every provider has one, and the test below holds the file to it.
        row(provider, ANY).unwrap_or(&TABLE.models[0])
    })
}

/// Millionths of a US dollar; null when the price is not known.
pub fn price(provider: ProviderKind, model: &str, usage: &Usage) -> Option<u64> {
    let price = row(provider, model)?.price?;
    // Dollars per million tokens are millionths of a dollar per token.
    let prompt = usage.input as f64 * price.input
        + usage.cache_read as f64 * price.cache_read
        + usage.cache_write as f64 * price.cache_write;
    let output = usage.output as f64 * price.output;
    let long = price.long.filter(|long| usage.prompt() > long.above);
    let (prompt, output) =
        long.map_or((prompt, output), |long| (prompt * long.input_factor, output * long.output_factor));
    Some((prompt + output).round() as u64)
}

/// The models that the file names, for the settings page.
pub fn rows() -> Vec<ModelRow> {
    let named = TABLE.models.iter().filter(|model| model.id != ANY);
    named
        .map(|model| ModelRow { provider: model.provider, id: model.id.clone(), context: model.context })
        .collect()
}

fn row(provider: ProviderKind, model: &str) -> Option<&'static Model> {
    let of = |id: &str| TABLE.models.iter().find(|row| row.provider == provider && row.id == id);
    of(model).or_else(|| of(undated(model)?))
}

/// The id without the date of a snapshot: `-20250929` or `-2025-09-29`. Other endings are other models.
fn undated(model: &str) -> Option<&str> {
    let digits =
        |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, last) = model.rsplit_once('-')?;
    if digits(last, 8) {
        return Some(rest);
    }
    let (rest, month) = rest.rsplit_once('-')?;
    let (rest, year) = rest.rsplit_once('-')?;
    (digits(last, 2) && digits(month, 2) && digits(year, 4)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
        Usage { input, output, cache_read, cache_write, estimated: false }
    }

    #[test]
    fn every_provider_has_a_fallback() {
        for provider in [ProviderKind::Anthropic, ProviderKind::Openai, ProviderKind::Rehearsal] {
            let model = lookup(provider, "no such model");
            assert_eq!((model.provider, model.id.as_str(), model.price), (provider, ANY, None));
        }
        assert!(rows().iter().all(|row| row.id != ANY && row.context > 0));
    }

    #[test]
    fn limits_fit_each_other() {
        for model in &TABLE.models {
            assert!(model.output <= model.max_output, "{}", model.id);
            assert!(u64::from(model.max_output.unwrap_or(0)) < model.context, "{}", model.id);
            if let Thinking::Enabled { budget } = model.thinking {
                assert!(budget >= 1024 && Some(budget) < model.output, "{}", model.id);
            }
        }
    }

    #[test]
    fn a_dated_snapshot_is_its_model() {
        let id = |model| lookup(ProviderKind::Anthropic, model).id.as_str();
        assert_eq!(id("claude-haiku-4-5-20251001"), "claude-haiku-4-5");
        assert_eq!(id("claude-haiku-4-5-2025-10-01"), "claude-haiku-4-5");
        assert_eq!(id("claude-haiku-4-5-fast"), ANY);
        assert_eq!(id("claude-opus-5-5-1"), ANY);
    }

    // W38
    #[test]
    fn prices_in_millionths_of_a_dollar() {
        let cost = |provider, model, usage| price(provider, model, &usage);
        let million = usage(1_000_000, 1_000_000, 1_000_000, 1_000_000);
        assert_eq!(
            cost(ProviderKind::Anthropic, "claude-haiku-4-5-20251001", million),
            Some(1_000_000 + 5_000_000 + 100_000 + 1_250_000)
        );
        assert_eq!(cost(ProviderKind::Anthropic, "claude-haiku-4-5", usage(3, 1, 0, 0)), Some(8));
        assert_eq!(cost(ProviderKind::Openai, "gpt-5.6-sol", usage(272_000, 10, 0, 0)), Some(1_360_300));
        assert_eq!(cost(ProviderKind::Openai, "gpt-5.6-sol", usage(272_001, 10, 0, 0)), Some(2_720_460));
        assert_eq!(cost(ProviderKind::Openai, "qwen-0.5b", million), None);
        assert_eq!(cost(ProviderKind::Anthropic, "gpt-5.6-sol", million), None);
    }
}
