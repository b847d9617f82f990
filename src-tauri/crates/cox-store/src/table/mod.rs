//! One file per table: its migrations, how it is written, how it is read.
//!
//! `events` and `blobs` are the truth, `projects`, `rules` and `settings` the user's own; `partials` holds answers
//! in progress. All others are projections: they can be thrown away and made anew from the events.
//!
//! How to add a table: a file here with `MIGRATIONS`, its place in [`crate::migration::all`], and, when it is a
//! projection, its lines in [`crate::projection`] (`apply`, `TABLES`).

pub(crate) mod blobs;
pub(crate) mod calls;
pub(crate) mod events;
pub(crate) mod inbox;
pub(crate) mod messages;
pub(crate) mod notifications;
pub(crate) mod partials;
pub(crate) mod processes;
pub(crate) mod projects;
pub(crate) mod rules;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod tasks;
pub(crate) mod usage;
