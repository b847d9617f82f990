//! The engine of Coxswain: sessions, the turn loop, tasks, notifications, retention. No window, no Tauri, and no
//! environment but what a host passes in.
//!
//! In reading order:
//!
//! - [`engine`]: the public handle: open, attach, submit, query
//! - [`config`]: what a host passes in
//! - `submit`, `query`: commands and queries, by topic
//! - `core`: what all sessions share
//! - `session`: one session's own task, its table, its messages
//! - `agent`: the turn loop
//! - `ports`: what the tools get from the engine
//! - `hub`, `panels`, [`pushes`]: what the window sees, and for how long
//! - [`clock`], [`mint`]: time and randomness, from outside

mod agent;
pub mod clock;
pub mod config;
mod control;
mod core;
pub mod engine;
mod hub;
mod inbox;
pub mod mint;
mod models;
mod panels;
mod ports;
mod prompts;
pub mod pushes;
mod query;
mod rules;
mod session;
mod shut;
mod submit;

pub use config::{EngineConfig, EnvKey, Host, HostEnv, Pace, default_data_folder};
pub use engine::{Engine, Idle};
pub use panels::PANEL_GRACE_MS;
pub use pushes::Pushes;
