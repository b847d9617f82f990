//! Solo mode: one agent goes through the same steps with its own tools, and reports.

use super::answer::{Answer, Work, in_brief, opening};
use super::check::check;
use super::desk::Desk;
use super::job::Look;
use super::layout::layout;
use super::part::{Area, part};
use super::question::choice;
use super::report;
use super::round::{Round, rounds};
use super::survey::Survey;
use super::{form, news};
use cox_protocol::entry::Entry;
use cox_protocol::task::ToolDef;
use std::sync::Arc;

/// The next answer of a solo agent.
pub(super) fn answer(tools: &[ToolDef], entries: &[Arc<Entry>]) -> Answer {
    let rounds = rounds(entries);
    let Some((round, earlier)) = rounds.split_last() else {
        return Answer::last_word(opening("There is no prompt yet."));
    };
    if round.is_over {
        return Answer::last_word(opening("There is nothing new since the report."));
    }
    let inside = &entries[round.start..round.end];
    // The first full round has everything that a later one compares with.
    let known = earlier.iter().find_map(|round| {
        let survey = whole(&Desk::over(tools, &entries[round.start..round.end]), round).ok()?;
        Some((round.number, survey))
    });
    let desk = Desk::over(tools, inside);
    let report = match &known {
        Some((number, before)) => again(&desk, round).map(|now| report::compared(*number, before, &now)),
        None => whole(&desk, round).map(|survey| report::full(&survey)),
    };
    match report {
        Ok(report) => form::last_word(tools, report),
        Err(work) => {
            let mut said = news::acknowledged(entries, round.start + 1);
            said.push(work.say);
            let text = said.join("\n\n");
            let text = if news::is_first_word(inside) { opening(&text) } else { in_brief(&text) };
            Answer { text, calls: work.calls }
        }
    }
}

/// All of it.
fn whole(desk: &Desk<'_>, round: &Round<'_>) -> Result<Survey, Work> {
    let choice = choice(desk, round.prompt)?;
    let layout = layout(desk)?;
    let mut survey = Survey { layout: Some(layout), choice: Some(choice), ..Survey::default() };
    if survey.layout.as_ref().is_some_and(|layout| layout.files > 0) {
        survey.parts = vec![part(desk, Area { folder: ".", own_files: false, look: Look::All })?];
        if survey.choice.as_ref().is_none_or(|choice| choice.run_check) {
            survey.check = Some(check(desk)?);
        }
    }
    Ok(survey)
}

/// A second round: one look.
fn again(desk: &Desk<'_>, round: &Round<'_>) -> Result<Survey, Work> {
    let choice = choice(desk, round.prompt)?;
    let mut survey = Survey::default();
    if choice.run_check && choice.because.is_some() {
        survey.check = Some(check(desk)?);
    } else {
        survey.layout = Some(layout(desk)?);
    }
    survey.choice = Some(choice);
    Ok(survey)
}
