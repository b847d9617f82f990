//! From the stop of a worker to the end of the last process of the command that it runs.

use super::args::Ask;
use super::failure::{Outcome, failure};
use super::figure::{Figure, median, quantile};
use super::measured::Measured;
use super::run::Place;
use super::script_server::ScriptServer;
use super::step::{Step, Stopped};
use cox_testkit::Answer;
use cox_testkit::recipe::{AgentRecipe, Recipe, WhenRecipe};
use serde_json::json;

const WELL_BEHAVED_MS: f64 = 500.0;
const STUBBORN_MS: f64 = 3_000.0;
/// Processes of [`TREE`].
const PROCESSES: usize = 6;

/// A shell with a sleeper and two shells below it, each with a sleeper of its own. All write down their ids. What
/// one of them ignores, its children ignore too.
const TREE: &str = "\
test \"$2\" = stubborn && trap '' TERM
echo $$ >> \"$1\"
sleep 600 & echo $! >> \"$1\"
for branch in 1 2; do
  bash -c 'sleep 600 & echo $! >> \"$0\"; echo $$ >> \"$0\"; wait' \"$1\" &
done
wait
";

pub(crate) fn measure(ask: &Ask) -> Outcome<Vec<Figure>> {
    let rounds = ask.whole_or_quick(20, 5);
    let mut figures = Vec::new();
    for (name, manner, target) in [
        ("stop, well-behaved tree, p95", "tame", WELL_BEHAVED_MS),
        ("stop, tree that ignores TERM, p95", "stubborn", STUBBORN_MS),
    ] {
        let stops = stops(ask, manner, rounds)?;
        let gone: Vec<f64> = stops.iter().map(|stop| stop.gone_ms).collect();
        let ended: Vec<f64> = stops.iter().map(|stop| stop.ended_ms).collect();
        figures.push(Figure::below(name, quantile(&gone, 0.95), "ms", target).note(format!(
            "{rounds} stops of {PROCESSES} processes, median {:.0} ms; the worker's end is known after {:.0} ms (p95)",
            median(&gone),
            quantile(&ended, 0.95)
        )));
    }
    Ok(figures)
}

fn stops(ask: &Ask, manner: &str, rounds: usize) -> Outcome<Vec<Stopped>> {
    let place = Place::new()?;
    let project = place.folder().join("project");
    std::fs::write(project.join("tree.sh"), TREE)?;
    let server = ScriptServer::start(&recipe(manner, rounds), ask.wire, place.folder())?;
    let mut measured = Measured::start(&place.opening(server.provider(), 4))?;
    let mut stops = Vec::new();
    for round in 0..rounds {
        let pids = project.join(format!("pids-{round}"));
        let step = Step::Stop { text: message(round), pids, processes: PROCESSES };
        let stopped: Stopped = measured.ask(&step)?;
        if stopped.processes != PROCESSES {
            return Err(failure(format!("there were {} processes, not {PROCESSES}", stopped.processes)));
        }
        stops.push(stopped);
    }
    measured.close()?;
    Ok(stops)
}

fn message(round: usize) -> String {
    format!("Begin round {round}.")
}

fn recipe(manner: &str, rounds: usize) -> Recipe {
    let mut agents = Vec::new();
    for round in 0..rounds {
        let prompt = format!("Run the tree of round {round}, please.");
        let input = json!({"command": format!("bash tree.sh pids-{round} {manner}")});
        agents.push(AgentRecipe {
            name: format!("worker {round}"),
            when: WhenRecipe { first_user: Some(prompt.clone()), ..WhenRecipe::default() },
            answers: vec![Answer::says("I run it.").tool("Bash", input)],
            by_turn: Vec::new(),
        });
        let input = json!({"description": "Run a tree", "prompt": prompt, "name": format!("tree-{round}")});
        agents.push(AgentRecipe {
            name: format!("lead {round}"),
            when: WhenRecipe { user: Some(message(round)), ..WhenRecipe::default() },
            answers: vec![Answer::says("It runs.").tool("Agent", input)],
            by_turn: Vec::new(),
        });
    }
    agents.push(AgentRecipe {
        name: "lead".into(),
        by_turn: vec![Answer::says("Noted.")],
        ..AgentRecipe::default()
    });
    Recipe { check: false, agents, ..Recipe::default() }
}
