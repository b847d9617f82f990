//! The engine process from inside: an engine as a window would hold it, told what to do line by line.
//!
//! - [`hold`]: the engine, its session, and the pump that takes what it says
//! - [`stop`]: one stop, timed
//! - [`fill`]: a data folder with many sessions

mod fill;
mod hold;
mod stop;

use super::failure::{Outcome, failure};
use super::process;
use super::report;
use super::step::{Closed, Failed, Opening, Step};
use hold::Hold;
use serde::Serialize;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};

/// How long what a closed engine left behind may take to end.
const CLOSE_MOST: Duration = Duration::from_secs(10);

/// Opens, does what it is told until its input ends, closes, and says what all of it took.
pub(crate) fn main(words: &[String]) -> Outcome<()> {
    let [opening] = words else { return Err(failure("usage: cox-bench engine OPENING")) };
    let opening: Opening = serde_json::from_str(opening)?;
    // As `cox` has it.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(serve(opening));
    runtime.shutdown_timeout(CLOSE_MOST);
    done?;
    answer(&Closed { cpu_ms: process::cpu_time().as_secs_f64() * 1e3 })
}

async fn serve(opening: Opening) -> Outcome<()> {
    let mut hold = Hold::open(opening).await?;
    answer(&"open")?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        if let Err(failure) = perform(&mut hold, serde_json::from_str(&line)?).await {
            answer(&Failed { failed: failure.to_string() })?;
        }
    }
    hold.close().await;
    Ok(())
}

async fn perform(hold: &mut Hold, step: Step) -> Outcome<()> {
    match step {
        Step::Message { text } => answer(&hold.message(text).await?),
        Step::Count {} => answer(&hold.count().await?),
        Step::Stop { text, pids, processes } => answer(&stop::stop(hold, text, &pids, processes).await?),
        Step::Fill { below, projects, sessions, from } => {
            answer(&fill::fill(&hold.engine, &below, projects, from..from + sessions).await?)
        }
    }
}

fn answer(answer: &impl Serialize) -> Outcome<()> {
    report::say(&serde_json::to_string(answer)?);
    Ok(())
}
