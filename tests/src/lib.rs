//! What the tests of the whole share: the real window, driven as a person drives it.
//!
//! - [`place`]: where the app and the model server are; they come by environment, so that the dependencies of
//!   these tests never rebuild the app's
//! - [`window`]: the window through WebKitWebDriver
//! - [`drag`]: a folder dragged from another window
//! - [`models`]: the scripted model server, in a process of its own
//!
//! `cargo xtask test` builds everything, starts a virtual display and runs them.
#![expect(clippy::expect_used, clippy::panic, reason = "a failure here is a failed test")]

#[cfg(target_os = "linux")]
pub mod drag;
pub mod models;
pub mod place;
#[cfg(target_os = "linux")]
pub mod window;
