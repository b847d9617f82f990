//! The scripts of a lead and the workers that it dispatches, and the project that they read.

use super::failure::Outcome;
use cox_testkit::Answer;
use cox_testkit::recipe::{AgentRecipe, Recipe, WhenRecipe};
use serde_json::json;
use std::path::Path;

/// Where the last answer of a worker waits, when it is held.
pub(crate) const HOLD: &str = "hold";
/// What the names of workers begin with, among the agents of the server.
pub(crate) const WORKERS: &str = "worker";

/// Files in the project.
const FILES: usize = 100;
/// Lines in each: some 2.5 KB.
const LINES: usize = 60;
/// Tokens of an answer: its words, and its call in fragments.
const TOKENS: usize = 40;

/// What is dispatched, and what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crew {
    /// Workers of one crew.
    pub(crate) workers: usize,
    /// Crews, one for each message to the lead.
    pub(crate) crews: usize,
    /// Turns of a worker: all but the last one read a file.
    pub(crate) turns: usize,
    /// Tokens a second. Null: answers come at once.
    pub(crate) pace: Option<f64>,
    /// Each worker's last answer waits at [`HOLD`].
    pub(crate) held: bool,
    /// Answers differ in length, by at most a fifth to both sides, so that workers don't march in step; and each
    /// worker is an agent of its own in the server, so that its requests can be told from others.
    pub(crate) varied: bool,
}

impl Crew {
    /// The message that has this crew dispatched, from 1 on.
    pub(crate) fn message(number: usize) -> String {
        format!("Send out crew {number}.")
    }

    /// Reads of one worker.
    pub(crate) fn reads(&self) -> usize {
        self.turns - 1
    }

    /// The script.
    pub(crate) fn recipe(&self) -> Recipe {
        let mut agents = Vec::new();
        if self.varied {
            let all = 0..self.workers * self.crews;
            agents.extend(all.map(|worker| agent(&name(worker), &first_words(worker), self.answers(worker))));
        } else {
            agents.push(agent(WORKERS, "Worker ", self.answers(0)));
        }
        for crew in 1..=self.crews {
            let when = WhenRecipe { user: Some(Self::message(crew)), ..WhenRecipe::default() };
            let answers = vec![self.dispatch(crew)];
            agents.push(AgentRecipe { name: format!("lead {crew}"), when, answers, by_turn: Vec::new() });
        }
        agents.push(agent("lead", &Self::message(1), vec![Answer::says("Noted.")]));
        Recipe { check: false, agents, ..Recipe::default() }
    }

    fn dispatch(&self, crew: usize) -> Answer {
        let first = (crew - 1) * self.workers;
        (first..first + self.workers).fold(Answer::says("I send them out."), |answer, worker| {
            let prompt = format!(
                "{} Read the notes one after the other, and say what they have in common.",
                first_words(worker)
            );
            answer.tool(
                "Agent",
                json!({"description": "Read the notes", "prompt": prompt, "name": name(worker)}),
            )
        })
    }

    fn answers(&self, worker: usize) -> Vec<Answer> {
        let reads = (0..self.reads()).map(|turn| {
            let path = format!("notes/{:02}.txt", (worker * 7 + turn) % FILES);
            let input = json!({ "path": path });
            let fragments = input.to_string().len().div_ceil(12);
            let tokens = if self.varied { TOKENS - TOKENS / 5 + spread(worker, turn) } else { TOKENS };
            self.paced(Answer::says(&words(tokens - fragments)).tool("Read", input))
        });
        let mut answers: Vec<Answer> = reads.collect();
        let last = if self.held { Answer::new().gate(HOLD) } else { Answer::new() };
        answers.push(self.paced(last.text(&words(TOKENS))));
        answers
    }

    fn paced(&self, answer: Answer) -> Answer {
        Answer { tokens_per_second: self.pace, ..answer }
    }
}

/// Writes the project.
pub(crate) fn project(folder: &Path) -> Outcome<()> {
    let notes = folder.join("notes");
    std::fs::create_dir_all(&notes)?;
    for file in 0..FILES {
        let line = |line: usize| format!("{line:02} of note {file:02}: the tide turns at noon.\n");
        std::fs::write(notes.join(format!("{file:02}.txt")), (0..LINES).map(line).collect::<String>())?;
    }
    Ok(())
}

fn agent(name: &str, first_user: &str, by_turn: Vec<Answer>) -> AgentRecipe {
    let when = WhenRecipe { first_user: Some(first_user.to_owned()), ..WhenRecipe::default() };
    AgentRecipe { name: name.to_owned(), when, answers: Vec::new(), by_turn }
}

fn name(worker: usize) -> String {
    format!("{WORKERS}-{worker:03}")
}

fn first_words(worker: usize) -> String {
    format!("Worker {worker:03}:")
}

fn words(count: usize) -> String {
    "This note looks like the one before it, ".split_inclusive(' ').cycle().take(count).collect()
}

/// The same for the same worker and turn, and otherwise anything up to two fifths of [`TOKENS`].
fn spread(worker: usize, turn: usize) -> usize {
    (worker * 31 + turn * 17 + worker * turn * 7) % (2 * TOKENS / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_has_every_worker_and_every_crew() {
        let crew = Crew { workers: 3, crews: 2, turns: 4, pace: Some(100.0), held: true, varied: true };
        let recipe = crew.recipe();
        let names: Vec<&str> = recipe.agents.iter().map(|agent| agent.name.as_str()).collect();
        let workers = ["worker-000", "worker-001", "worker-002", "worker-003", "worker-004", "worker-005"];
        assert_eq!(names, [&workers[..], &["lead 1", "lead 2", "lead"]].concat());
        assert!(recipe.agents[..6].iter().all(|worker| worker.by_turn.len() == 4));
        assert!((0..40).all(|at| spread(at, at * at) <= 16));
        assert_eq!(words(12).split_whitespace().count(), 12);
    }
}
