//! From an answer's last byte to the last byte of the worker's next request, with a Read between and everything
//! recorded. The server's own clock says when.

use super::args::Ask;
use super::crew::{self, Crew};
use super::failure::Outcome;
use super::figure::{Figure, median, quantile};
use super::measured::Measured;
use super::run::{self, Place};
use super::script_server::ScriptServer;

/// Tokens a second.
const PACE: f64 = 100.0;
const MEDIAN_MS: f64 = 2.0;
const P95_MS: f64 = 8.0;

pub(crate) fn measure(ask: &Ask) -> Outcome<Vec<Figure>> {
    let mut figures = Vec::new();
    // One at a time, four workers one after the other.
    for (at_once, workers) in [(1, 4), (8, 8), (32, 32)] {
        let turns = ask.whole_or_quick(16, 5);
        let crew = Crew { workers, crews: 1, turns, pace: Some(PACE), held: false, varied: true };
        let gaps = gaps(ask, &crew, at_once)?;
        let note = format!("{} gaps, the longest {:.2} ms", gaps.len(), quantile(&gaps, 1.0));
        let name = |what: &str| format!("gap, {at_once} at once, {what}");
        figures.push(Figure::below(name("median"), median(&gaps), "ms", MEDIAN_MS).note(note.clone()));
        figures.push(Figure::below(name("p95"), quantile(&gaps, 0.95), "ms", P95_MS).note(note));
    }
    Ok(figures)
}

fn gaps(ask: &Ask, crew: &Crew, at_once: u32) -> Outcome<Vec<f64>> {
    let place = Place::new()?;
    let server = ScriptServer::start(&crew.recipe(), ask.wire, place.folder())?;
    let mut measured = Measured::start(&place.opening(server.provider(), at_once))?;
    run::whole_crew(&mut measured, crew, 1)?;
    run::check(&mut measured, crew, 1)?;
    measured.close()?;
    server.gaps(crew::WORKERS)
}
