//! A scripted model server that speaks the real wire formats, recorded traffic, and temporary projects.
//!
//! In reading order:
//!
//! - [`answer`]: what a scripted model says, and how it goes wrong
//! - [`step`]: what an answer is made of
//! - [`script`]: which agent gets which answer
//! - [`captured`]: a request as it came, with easy ways to look into it
//! - [`server`]: the server on 127.0.0.1
//! - [`gates`]: where an answer waits for the test
//! - [`speak`]: answers as bytes, in both formats
//! - [`check`]: is a request one that a real server would take?
//! - [`recipe`]: a script as JSON, for a server in a process of its own
//! - [`http`]: as much of HTTP/1.1 as that needs
//! - [`wire`]: recorded traffic of a real server
//! - [`project`]: temporary projects
//!
//! ```
//! use cox_testkit::{Answer, ModelServer, When, Wire};
//!
//! # #[tokio::main] async fn main() {
//! let server = ModelServer::start().await;
//! server.agent("lead", When::system("You are the lead")).answers([
//!     Answer::new().text("I'll look.").tool("Read", serde_json::json!({"path": "a.rs"})),
//!     Answer::new().gate("second").text("Done."),
//! ]);
//! let base_url = server.url(Wire::Anthropic); // give it to what is tested
//! // … server.reached("second").await; server.open("second"); …
//! server.assert_valid();
//! # }
//! ```
//!
//! It is test code: it panics on what a test did wrong.

pub mod answer;
pub mod captured;
pub mod check;
pub mod gates;
pub mod http;
pub mod project;
pub mod recipe;
pub mod script;
pub mod server;
pub mod speak;
pub mod step;
pub mod wire;

pub use answer::Answer;
pub use captured::{CapturedRequest, Wire};
pub use check::{Problem, ProblemKind};
pub use project::TempProject;
pub use script::When;
pub use server::ModelServer;
pub use step::{Step, Stop, Tokens};
