//! The HTTP clients that all providers of a process share, their time-outs, their randomness.
//!
//! Clients are made when they are first needed, so that a rehearsal makes none. Loopback has clients of its own that
//! never go through a proxy, and plain http has clients that load no certificates, which take time and memory. Redirects are not followed: a key belongs to one origin (W31).

use crate::address::Address;
use crate::error::ProviderError;
use crate::rehearsal::Pace;
use cox_protocol::task::FailKind;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A source of numbers from 0 to 1 (without 1), for the jitter of waits.
pub type Jitter = Arc<dyn Fn() -> f64 + Send + Sync>;

/// How long things may take (WIRE.md 1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until a connection stands.
    pub connect: Duration,
    /// Between bytes of an answer that has begun; a comment counts as bytes.
    pub idle: Duration,
    /// The first wait before another try; the next is twice as long, up to 8 s.
    pub back_off: Duration,
    /// From the request, and from each piece of the answer, to the next piece of the answer. Comments and pings are
    /// none, so that a server that only keeps the line open is given up at last.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            idle: Duration::from_secs(300),
            back_off: Duration::from_millis(500),
            total: Duration::from_secs(600),
        }
    }
}

/// What a host may choose.
#[derive(Clone)]
pub struct NetOptions {
    /// Randomness for waits.
    pub jitter: Jitter,
    /// Time-outs.
    pub timeouts: Timeouts,
    /// How fast rehearsal streams.
    pub rehearsal_pace: Pace,
}

impl Default for NetOptions {
    fn default() -> Self {
        Self { jitter: Arc::new(random), timeouts: Timeouts::default(), rehearsal_pace: Pace::default() }
    }
}

/// The shared client. Cheap to clone.
#[derive(Clone)]
pub struct Net(Arc<Inner>);

struct Inner {
    options: NetOptions,
    /// By [`slot`].
    clients: [OnceLock<reqwest::Client>; 4],
}

fn slot(address: &Address) -> usize {
    usize::from(address.is_loopback()) + 2 * usize::from(address.is_plain())
}

impl Default for Net {
    fn default() -> Self {
        Self::new(NetOptions::default())
    }
}

impl Net {
    /// A client that is made when it is first needed.
    pub fn new(options: NetOptions) -> Self {
        Self(Arc::new(Inner { options, clients: Default::default() }))
    }

    /// What was chosen.
    pub fn options(&self) -> &NetOptions {
        &self.0.options
    }

    /// The client for an address.
    pub(crate) fn client(&self, address: &Address) -> Result<reqwest::Client, ProviderError> {
        let slot = &self.0.clients[slot(address)];
        if let Some(client) = slot.get() {
            return Ok(client.clone());
        }
        // Fails when one is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("coxswain/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(self.0.options.timeouts.connect)
            .tcp_nodelay(true);
        if address.is_loopback() {
            builder = builder.no_proxy();
        }
        if address.is_plain() {
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| {
            ProviderError::new(
                FailKind::Unreachable,
                format!("no secure connection can be made here: {error}"),
            )
            .hint("Are the system's certificates installed (package ca-certificates)?")
        })?;
        Ok(slot.get_or_init(|| client).clone())
    }
}

/// The standard library's own seed, as a number from 0 to 1.
fn random() -> f64 {
    (RandomState::new().hash_one(0_u8) >> 11) as f64 / (1_u64 << 53) as f64
}
