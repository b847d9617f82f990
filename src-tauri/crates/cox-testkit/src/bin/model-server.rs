//! `model-server SCRIPT.json [--port N] [--until-stdin-ends]`: a scripted model server in a process of its own.
//! The script and the door by which a test steers it are described in [`cox_testkit::recipe`].

use cox_testkit::recipe::Recipe;
use cox_testkit::{ModelServer, Wire};
use std::process::ExitCode;
use tokio::io::AsyncReadExt;

const USAGE: &str = "usage: model-server SCRIPT.json [--port N] [--until-stdin-ends]";

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

async fn run() -> Result<(), String> {
    let mut script = None;
    let mut port = 0;
    let mut until_stdin_ends = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--port" => {
                let value = arguments.next().ok_or(USAGE)?;
                port = value.parse().map_err(|_| format!("`{value}` is no port"))?;
            }
            "--until-stdin-ends" => until_stdin_ends = true,
            _ if script.is_none() && !argument.starts_with('-') => script = Some(argument),
            _ => return Err(USAGE.into()),
        }
    }
    let script = script.ok_or(USAGE)?;
    let text = std::fs::read_to_string(&script).map_err(|error| format!("can't read {script}: {error}"))?;
    let recipe = Recipe::parse(&text).map_err(|error| format!("{script}: {error}"))?;
    let server = ModelServer::start_on(port).await;
    recipe.apply(&server);
    println!(
        "{}",
        serde_json::json!({
            "address": server.address(),
            "anthropic": server.url(Wire::Anthropic),
            "openai": server.url(Wire::Openai),
        })
    );
    if until_stdin_ends {
        let mut ignored = Vec::new();
        // Its end is the sign to go, and so is an error.
        let _ = tokio::io::stdin().read_to_end(&mut ignored).await;
    } else {
        std::future::pending::<()>().await;
    }
    Ok(())
}
