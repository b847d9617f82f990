//! One message model over Anthropic, OpenAI-compatible servers and the offline rehearsal.
//!
//! In reading order:
//!
//! - [`door`]: the trait that the engine speaks to, its request and its events
//! - [`error`]: what a request can fail with, in words for a person
//! - [`mod@connect`]: settings and a key in, a provider out
//! - [`address`]: base URLs, origins, and where plain http is allowed
//! - [`net`]: the HTTP client, its time-outs, its randomness
//! - [`keys`]: keys, the keychain, and the memory that stands in for it
//! - [`models`]: windows, limits, thinking and prices of models, from a data file
//! - [`prefix`]: hashes of a request's parts, and which of them moved
//! - [`rehearsal`]: the offline model that follows fixed rules
//! - `anthropic`, `openai`: the two wire formats
//! - `sse`, `retry`, `fault`, `flow`, `history`, `calls`: what both of them use
//!
//! What a server does differently is a named quirk in `data/profiles.json`, never an `if` in the engine
//! (invariant 13). Absent on purpose: the environment, files, any knowledge of tasks or sessions.

pub mod address;
mod anthropic;
mod calls;
pub mod connect;
pub mod door;
pub mod error;
mod fault;
mod flow;
mod history;
mod http;
pub mod keys;
pub mod models;
pub mod net;
mod openai;
pub mod prefix;
pub mod rehearsal;
mod retry;
mod sse;

pub use connect::connect;
pub use door::{ModelEvent, ModelRequest, Provider};
pub use error::ProviderError;
pub use keys::{Key, KeyRing, KeySource};
pub use net::{Net, NetOptions, Timeouts};
