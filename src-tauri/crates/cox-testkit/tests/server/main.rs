//! The scripted server, as a client sees it.
mod answers;
mod checks;
mod client;
mod faults;
mod process;
mod recordings;
