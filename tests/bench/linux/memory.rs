//! Memory of the engine's process, as its proportional share (PSS).
//!
//! Workers take their turns and are then held before their last answer: each has its transcript in memory and a
//! request under way. An idle worker is one that has ended; its session can message it at any time.

use super::args::Ask;
use super::crew::{Crew, HOLD};
use super::failure::Outcome;
use super::figure::Figure;
use super::measured::Measured;
use super::run::{self, Place};
use super::script_server::ScriptServer;
use super::step::Step;

const ONE_MB: f64 = 25.0;
const MANY_MB: f64 = 60.0;
const IDLE_KB: f64 = 250.0;
/// Turns of a worker.
const TURNS: usize = 6;
const AT_ONCE: u32 = 128;
/// Crews of ended workers, over which the growth is taken.
const CREWS: usize = 3;

pub(crate) fn measure(ask: &Ask) -> Outcome<Vec<Figure>> {
    let many = ask.whole_or_quick(100, 30);
    let one = crews_kb(ask, 1, 1)?;
    let all = crews_kb(ask, many, CREWS)?;
    let grown = all.ended_kb[CREWS - 1] - all.ended_kb[0];
    let further = grown / (many * (CREWS - 1)) as f64;
    let waiting = (all.held_kb - one.held_kb) / (many - 1) as f64;
    let note = |crews: &Crews| {
        let ended: Vec<String> = crews.ended_kb.iter().map(|kb| format!("{:.1}", kb / 1e3)).collect();
        format!(
            "PSS; at the peak {:.1} MB, after the end of each crew {} MB",
            crews.peak_kb / 1e3,
            ended.join(", ")
        )
    };
    Ok(vec![
        Figure::below("memory, 1 worker", one.held_kb / 1e3, "MB", ONE_MB).note(note(&one)),
        Figure::below(format!("memory, {many} workers"), all.held_kb / 1e3, "MB", MANY_MB).note(note(&all)),
        Figure::shown(format!("memory, {many} workers, peak"), all.peak_kb / 1e3, "MB"),
        Figure::shown("memory, each further working one", waiting, "KB"),
        Figure::below("memory, each further idle one", further, "KB", IDLE_KB)
            .note(format!("from {many} to {} that have ended", many * CREWS)),
    ])
}

/// Memory of one run.
struct Crews {
    /// With the first crew held before its last answers.
    held_kb: f64,
    /// The most while the first crew was at work.
    peak_kb: f64,
    /// After the end of each crew.
    ended_kb: Vec<f64>,
}

fn crews_kb(ask: &Ask, workers: usize, crews: usize) -> Outcome<Crews> {
    let crew = Crew { workers, crews, turns: TURNS, pace: None, held: true, varied: false };
    let place = Place::new()?;
    let server = ScriptServer::start(&crew.recipe(), ask.wire, place.folder())?;
    let mut measured = Measured::start_copy(&place.opening(server.provider(), AT_ONCE), place.folder())?;
    let peak = measured.watch_memory();
    measured.tell(&Step::Message { text: Crew::message(1) })?;
    server.reached(HOLD, workers)?;
    let held_kb = measured.pss_kb()? as f64;
    server.open(HOLD)?;
    run::end_of_crew(&mut measured, &crew, 1)?;
    let peak_kb = peak.end()? as f64;
    let mut ended_kb = vec![measured.pss_kb()? as f64];
    for number in 2..=crews {
        run::whole_crew(&mut measured, &crew, number)?;
        ended_kb.push(measured.pss_kb()? as f64);
    }
    run::check(&mut measured, &crew, crews)?;
    measured.close()?;
    Ok(Crews { held_kb, peak_kb, ended_kb })
}
