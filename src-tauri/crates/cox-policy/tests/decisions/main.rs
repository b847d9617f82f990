//! What is decided: tables of commands and files, and what holds for all of them.

mod commands;
mod common;
mod files;
mod properties;
