//! CPU of one turn: the difference between a long and a short run, divided by the turns that the long one has more,
//! so that what start and end take is out. User and system time of the whole process, all its threads.
//!
//! Answers come at once. The same turn with its 40 tokens at 100 a second is shown beside it: then the process wakes
//! for every token, and most of what is measured is the machine's price of waking up.

use super::args::Ask;
use super::crew::Crew;
use super::failure::Outcome;
use super::figure::{Figure, median};
use super::measured::Measured;
use super::run::{self, Place};
use super::script_server::ScriptServer;

const PACE: f64 = 100.0;
const TARGET_MS: f64 = 2.0;
/// Turns of a worker in the short and in the long run.
const TURNS: (usize, usize) = (10, 50);
const PACED_TURNS: (usize, usize) = (4, 24);

pub(crate) fn measure(ask: &Ask) -> Outcome<Vec<Figure>> {
    let rounds = ask.whole_or_quick(3, 1);
    let mut figures = Vec::new();
    for (at_once, watched, pace) in
        [(1, false, None), (8, false, None), (1, true, None), (1, false, Some(PACE)), (8, false, Some(PACE))]
    {
        let each: Vec<f64> =
            (0..rounds).map(|_| turn_ms(ask, at_once, watched, pace)).collect::<Outcome<Vec<f64>>>()?;
        let note = format!("median of {rounds}: {}", list(&each));
        let value = median(&each);
        let name = format!("CPU of one turn, {at_once} at once");
        figures.push(match (watched, pace) {
            (false, None) => Figure::below(name, value, "ms", TARGET_MS).note(note),
            (true, _) => Figure::shown(format!("{name}, on screen"), value, "ms").note(note),
            (false, Some(_)) => Figure::shown(format!("{name}, 100 tokens a second"), value, "ms").note(note),
        });
    }
    Ok(figures)
}

/// CPU of one turn.
fn turn_ms(ask: &Ask, at_once: u32, watched: bool, pace: Option<f64>) -> Outcome<f64> {
    // Alone, two workers one after the other.
    let workers = usize::try_from(at_once)?.max(ask.whole_or_quick(2, 1));
    let crew = |turns| Crew { workers, crews: 1, turns, pace, held: false, varied: false };
    let turns = if pace.is_some() { PACED_TURNS } else { TURNS };
    let (short, long) = (crew(turns.0), crew(turns.1));
    let more = (long.turns - short.turns) * workers;
    let spent = run_ms(ask, &long, at_once, watched)? - run_ms(ask, &short, at_once, watched)?;
    Ok(spent / more as f64)
}

/// CPU of a whole run, from the start of the process to its end.
fn run_ms(ask: &Ask, crew: &Crew, at_once: u32, watched: bool) -> Outcome<f64> {
    let place = Place::new()?;
    let server = ScriptServer::start(&crew.recipe(), ask.wire, place.folder())?;
    let mut opening = place.opening(server.provider(), at_once);
    opening.watched = watched;
    let mut measured = Measured::start(&opening)?;
    run::whole_crew(&mut measured, crew, 1)?;
    Ok(measured.close()?.cpu_ms)
}

fn list(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:.2}")).collect::<Vec<_>>().join(", ")
}
