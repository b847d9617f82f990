//! One message model over Anthropic, OpenAI-compatible servers and the offline rehearsal; SSE, retries, prices, keys.
