//! Tests of the crate through its own door, against real sockets.

// The attributes tell clippy that helpers are test code too.
#[cfg(test)]
mod anthropic;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod quirks;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod retries;
#[cfg(test)]
mod server;
#[cfg(test)]
mod support;
