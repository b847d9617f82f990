//! Many workers at once, whose answers come at once: from the message to the end of everything.

use super::args::Ask;
use super::crew::Crew;
use super::failure::Outcome;
use super::figure::{Figure, median, quantile};
use super::measured::Measured;
use super::run::{self, Place};
use super::script_server::ScriptServer;

const TARGET_S: f64 = 2.0;
const TURNS: usize = 5;
const AT_ONCE: u32 = 128;

pub(crate) fn measure(ask: &Ask) -> Outcome<Vec<Figure>> {
    let workers = ask.whole_or_quick(100, 30);
    let rounds = ask.whole_or_quick(5, 2);
    let crew = Crew { workers, crews: 1, turns: TURNS, pace: None, held: false, varied: false };
    let mut walls = Vec::new();
    let (mut requests, mut cpu_ms) = (0, 0.0);
    for _ in 0..rounds {
        let place = Place::new()?;
        let server = ScriptServer::start(&crew.recipe(), ask.wire, place.folder())?;
        let mut measured = Measured::start(&place.opening(server.provider(), AT_ONCE))?;
        walls.push(run::whole_crew(&mut measured, &crew, 1)?.wall_ms / 1e3);
        run::check(&mut measured, &crew, 1)?;
        requests = server.requests()?;
        cpu_ms = measured.close()?.cpu_ms;
    }
    let note = format!(
        "median of {rounds}, the longest {:.2} s; {requests} requests and {cpu_ms:.0} ms of CPU in the last",
        quantile(&walls, 1.0)
    );
    Ok(vec![
        Figure::below(format!("{workers} workers, {TURNS} turns each"), median(&walls), "s", TARGET_S)
            .note(note),
    ])
}
