//! From a server's answer to kind, message and hint, and to whether another try can help.
//!
//! In order: what the words say for certain, then the type, then the status. A status alone misleads: servers answer
//! 500 to requests that can never work, and 200 to requests that failed.

use super::{Asked, Fault, Said};
use crate::error::ProviderError;
use crate::retry::{Again, by_status};
use cox_protocol::settings::ProviderKind;
use cox_protocol::task::FailKind;

/// The fault that an answer stands for. `status` is that of the answer, or null inside a stream that began well.
pub(crate) fn judge(asked: &Asked, status: Option<u16>, said: &Said) -> Fault {
    let code = status.or(said.number).unwrap_or(0);
    let mut fault =
        by_words(asked, said).or_else(|| by_type(asked, said)).unwrap_or_else(|| by_code(asked, code, said));
    fault.error.status = status.or(said.number);
    fault.error.message = asked.redact(&fault.error.message);
    fault
}

/// What no other try can change, whatever the status says.
fn by_words(asked: &Asked, said: &Said) -> Option<Fault> {
    if said.is(&["exceed_context_size_error", "context_length_exceeded"]) || said.has(OVERFLOW) {
        return Some(Fault::never(overflow(said)));
    }
    if said.has(&["no user query found"]) {
        // Ollama cuts a long prompt from the front without a word, until no user message is left in it.
        return Some(Fault::never(
            ProviderError::new(
                FailKind::ContextExceeded,
                format!(
                    "{} cut the prompt until no user message was left in it ({})",
                    asked.server(),
                    said.message
                ),
            )
            .hint(RAISE_CONTEXT),
        ));
    }
    if said.has(&["jinja", "chat template", "chat_template", "template error"]) {
        return Some(Fault::never(
            invalid(asked, "can't write the tools into the prompt with this chat template", said)
                .hint("Start llama-server with --jinja, or use a model whose chat template supports tools."),
        ));
    }
    if said.has(&["failed to parse tool call arguments"]) {
        return Some(Fault::never(invalid(asked, "refuses an earlier call in the history", said)));
    }
    if said.has(&["image input is not supported", "does not support image"]) {
        return Some(Fault::never(invalid(asked, "got an image for a model that takes none", said)));
    }
    if said.has(&["does not support tools", "tools is not supported", "tool use is not supported"]) {
        return Some(Fault::never(
            invalid(asked, &format!("says that {} can't use tools", asked.model), said)
                .hint("Choose a model that supports tools."),
        ));
    }
    if said.is(&["insufficient_quota", "billing_error", "billing_not_active"]) || said.has(NO_MONEY) {
        return Some(Fault::never(
            ProviderError::new(
                FailKind::Billing,
                format!("the account at {} can't pay ({})", asked.server(), said.message),
            )
            .hint("Check credit and spending limits in the provider's console."),
        ));
    }
    if said.has(&["loading model"]) {
        return Some(Fault::back_off(
            ProviderError::new(
                FailKind::ServerError,
                format!("{} is still loading the model", asked.server()),
            )
            .hint("Try again in a minute."),
        ));
    }
    None
}

const OVERFLOW: &[&str] = &[
    "prompt is too long",
    "maximum context length",
    "exceeds the available context size",
    "exceed context limit",
    "exceeds the context window",
    "context length of only",
    "input is too long",
];

const NO_MONEY: &[&str] =
    &["credit balance is too low", "spend limit", "spending limit", "insufficient balance"];

const RAISE_CONTEXT: &str = "Raise the server's context size (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx; llama.cpp: --ctx-size; LM Studio: context length).";

fn by_type(asked: &Asked, said: &Said) -> Option<Fault> {
    Some(match said.kind.as_str() {
        "authentication_error" | "permission_error" => no_entry(asked, said),
        "not_found_error" => missing(asked, said),
        "rate_limit_error" => too_many(asked, said),
        "overloaded_error" => overloaded(asked, said),
        "request_too_large" => too_large(asked, said),
        _ if said.is(&["model_not_found"]) => missing(asked, said),
        _ if said.is(&["invalid_api_key"]) => no_entry(asked, said),
        _ if said.is(&["rate_limit_exceeded"]) => too_many(asked, said),
        "timeout_error" | "api_error" => server(asked, said),
        _ => return None,
    })
}

fn by_code(asked: &Asked, code: u16, said: &Said) -> Fault {
    let fault = match code {
        300..=399 => Fault::never(
            invalid(asked, "sends this request to another address, and redirects are not followed", said)
                .hint("Set the base URL to the address where the server really is."),
        ),
        401 | 403 => no_entry(asked, said),
        402 => Fault::never(ProviderError::new(
            FailKind::Billing,
            format!("the account at {} can't pay{}", asked.server(), words(said)),
        )),
        404 => missing(asked, said),
        413 => too_large(asked, said),
        429 => too_many(asked, said),
        529 => overloaded(asked, said),
        400..=499 => Fault::never(invalid(asked, &format!("refused the request with status {code}"), said)),
        _ => server(asked, said),
    };
    match by_status(code) {
        Again::BackOff if fault.error.kind != FailKind::Billing => Fault { again: Again::BackOff, ..fault },
        _ => fault,
    }
}

fn no_entry(asked: &Asked, said: &Said) -> Fault {
    let what = if asked.key.is_some() { "did not accept the key" } else { "wants a key, and there is none" };
    Fault::never(
        ProviderError::new(FailKind::Auth, format!("{} {what}{}", asked.server(), words(said)))
            .hint("Set the key for this server in the settings, or name its variable with --api-key-env."),
    )
}

fn missing(asked: &Asked, said: &Said) -> Fault {
    let about_model = !asked.model.is_empty() && (said.has(&["model"]) || said.is(&["model_not_found"]));
    if about_model {
        return Fault::never(
            ProviderError::new(
                FailKind::ModelNotFound,
                format!("{} does not know the model {}{}", asked.server(), asked.model, words(said)),
            )
            .hint("Choose a model that the server names, or load it there first."),
        );
    }
    let hint = match asked.kind {
        ProviderKind::Anthropic => "The base URL of an Anthropic server ends without /v1.",
        ProviderKind::Openai | ProviderKind::Rehearsal => {
            "The base URL of an OpenAI-compatible server usually ends in /v1."
        }
    };
    Fault::never(
        ProviderError::new(
            FailKind::InvalidRequest,
            format!("there is no model server at {}{}", asked.address.base(), words(said)),
        )
        .hint(hint),
    )
}

fn too_many(asked: &Asked, said: &Said) -> Fault {
    Fault::back_off(
        ProviderError::new(
            FailKind::RateLimited,
            format!("{} takes no more requests for now{}", asked.server(), words(said)),
        )
        .hint("Wait a while, or run fewer workers at once."),
    )
}

fn overloaded(asked: &Asked, said: &Said) -> Fault {
    Fault::back_off(
        ProviderError::new(FailKind::Overloaded, format!("{} is overloaded{}", asked.server(), words(said)))
            .hint("Wait a while and continue."),
    )
}

fn too_large(asked: &Asked, said: &Said) -> Fault {
    Fault::never(
        ProviderError::new(
            FailKind::ContextExceeded,
            format!("the request is too large for {}{}", asked.server(), words(said)),
        )
        .hint("Start a new session, or dispatch workers with smaller tasks."),
    )
}

fn server(asked: &Asked, said: &Said) -> Fault {
    let fault =
        ProviderError::new(FailKind::ServerError, format!("{} failed{}", asked.server(), words(said)));
    if said.page {
        return Fault::back_off(
            fault.hint("It answered with a web page: is a proxy or another program in front of it?"),
        );
    }
    Fault::back_off(fault.hint("Wait a while and continue; the server's own log may say more."))
}

fn overflow(said: &Said) -> ProviderError {
    let message = match said.tokens.or_else(|| two_numbers(&said.numbers())) {
        Some((prompt, window)) => {
            format!("the request needs {prompt} tokens, and the model's window holds {window}")
        }
        None => format!("the prompt does not fit the model's window{}", words(said)),
    };
    ProviderError::new(FailKind::ContextExceeded, message)
        .hint("Start a new session or a fresh worker with a smaller task, or use a model with a larger window; a local server's window is set when it starts.")
}

/// Servers name both numbers in either order. Whatever did not fit is the larger one.
fn two_numbers(numbers: &[u64]) -> Option<(u64, u64)> {
    match numbers {
        [a, b] => Some((*a.max(b), *a.min(b))),
        // `input + max_tokens > window`
        [input, output, window] if input + output > *window => Some((input + output, *window)),
        // `maximum is W. However, you requested N tokens (A in the messages, B in the completion)`
        [window, requested, ..] if requested > window => Some((*requested, *window)),
        _ => None,
    }
}

fn invalid(asked: &Asked, what: &str, said: &Said) -> ProviderError {
    ProviderError::new(FailKind::InvalidRequest, format!("{} {what}{}", asked.server(), words(said)))
}

fn words(said: &Said) -> String {
    if said.message.is_empty() { String::new() } else { format!(" ({})", said.message) }
}
