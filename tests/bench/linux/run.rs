//! What scenarios share: a place for a run, a crew's run, and the check that it did what it should.

use super::crew::{self, Crew};
use super::failure::{Outcome, failure};
use super::measured::Measured;
use super::step::{Counted, Opening, Ran, Step};
use cox_protocol::settings::ProviderSettings;
use cox_tests::place;
use std::path::Path;
use tempfile::TempDir;

/// Folders of one run, on the disk that holds the build.
pub(crate) struct Place(TempDir);

impl Place {
    /// Makes them, and the project.
    pub(crate) fn new() -> Outcome<Self> {
        let below = place::root().join("target/tmp");
        std::fs::create_dir_all(&below)?;
        let place = Self(tempfile::Builder::new().prefix("bench-").tempdir_in(below)?);
        crew::project(&place.folder().join("project"))?;
        Ok(place)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    /// How the engine process opens it.
    pub(crate) fn opening(&self, provider: ProviderSettings, workers_at_once: u32) -> Opening {
        Opening {
            data: self.folder().join("data"),
            project: self.folder().join("project"),
            provider,
            workers_at_once,
            workers_in_all: 10_000,
            watched: false,
        }
    }
}

/// Sends out a crew, and waits for its end.
pub(crate) fn whole_crew(measured: &mut Measured, crew: &Crew, number: usize) -> Outcome<Ran> {
    measured.tell(&Step::Message { text: Crew::message(number) })?;
    end_of_crew(measured, crew, number)
}

/// Waits for the end of a crew that was sent out.
pub(crate) fn end_of_crew(measured: &mut Measured, crew: &Crew, number: usize) -> Outcome<Ran> {
    let ran: Ran = measured.answer()?;
    match ran.completed == crew.workers * number {
        true => Ok(ran),
        false => Err(failure(format!("{} of {} workers completed", ran.completed, crew.workers * number))),
    }
}

/// Every worker read what it should, and nothing else happened.
pub(crate) fn check(measured: &mut Measured, crew: &Crew, crews: usize) -> Outcome<()> {
    let counted: Counted = measured.ask(&Step::Count {})?;
    let wanted = crew.workers * crew.reads() * crews;
    match (counted.reads, counted.others) {
        (reads, 0) if reads == wanted => Ok(()),
        (reads, others) => Err(failure(format!("{reads} of {wanted} reads, and {others} other results"))),
    }
}
