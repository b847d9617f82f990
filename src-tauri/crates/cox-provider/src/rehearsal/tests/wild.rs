//! Whatever a transcript holds: the answer is the same for the same request, calls only what is on offer, and says
//! what it is.

use super::super::answer;
use super::super::job::{About, Job, Look};
use super::runtime::{from_lead, result, user};
use super::tools;
use cox_protocol::entry::{Block, Entry, ResultStatus, RuntimeNote, StopReason, ToolCall};
use cox_protocol::envelope::Envelope;
use cox_protocol::id::TaskId;
use cox_protocol::task::{KilledBy, Outcome};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;

const TOOLS: [&str; 12] = [
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "Bash",
    "Agent",
    "SendMessage",
    "TaskStop",
    "TaskOutput",
    "AskUserQuestion",
    "SyntheticOutput",
];
const TEXTS: [&str; 14] = [
    "",
    "3 files\nsrc/a.rs\t10\nlib/b.py\t4\nx\t",
    "5 files, the first 1 shown\n\"a\\nb.rs\"\t99999999999999999999",
    "2 matches in 1 files\nsrc/a.rs:4: // TODO x\na:b:7: ```",
    "2 matches in 1 files\nsrc/a.rs\t2",
    "1\tfn main() {}\n(lines 1–1 of 1)",
    "(lines 0–0 of 0)",
    "exit code 0",
    "{\"packages\":[{}]}\nexit code 0",
    "{\"agentId\":\"t1\"}",
    "{\"answers\":[{\"answer\":\"Only read\"}]}",
    "```rehearsal-facts\n{\"task\":\"layout\",\"files\":3,\"listed\":3,\"bytes\":1,\"languages\":[],\"parts\":[],\"manifests\":[],\"largest\":[],\"readme\":null,\"problems\":[]}\n```",
    "```rehearsal-facts\n{\"task\":\"check\"}\n```",
    "Ask me a question — 🚣 ```",
];

/// What happens next to a transcript.
#[derive(Clone, Debug)]
enum Happens {
    Message(usize, bool),
    Answered(Vec<(usize, usize)>, bool),
    Ends(usize, usize),
    Note(usize),
}

fn happens() -> impl Strategy<Value = Happens> {
    let text = 0..TEXTS.len() + 6;
    prop_oneof![
        1 => (text.clone(), any::<bool>()).prop_map(|(text, is_user)| Happens::Message(text, is_user)),
        // Mostly its own answers, answered in every way.
        4 => (prop::collection::vec((0..7_usize, 0..TEXTS.len()), 6), any::<bool>())
            .prop_map(|(results, cut)| Happens::Answered(results, cut)),
        1 => (0..3_usize, 0..TEXTS.len()).prop_map(|(outcome, text)| Happens::Ends(outcome, text)),
        1 => (0..4_usize).prop_map(Happens::Note),
    ]
}

fn text(at: usize) -> String {
    let jobs = [
        Job::Layout,
        Job::Part { folder: "src".into(), own_files: true, look: Look::All },
        Job::Part { folder: ".".into(), own_files: false, look: Look::Notes },
        Job::FollowUp { about: About::Notes },
        Job::Check,
        Job::GoOn,
    ];
    TEXTS.get(at).map_or_else(|| jobs[at - TEXTS.len()].prompt(1), |text| (*text).to_owned())
}

fn entries(happens: &Happens, blocks: Vec<Block>, calls_so_far: &[String]) -> Vec<Entry> {
    match happens {
        Happens::Message(at, true) => vec![user(&text(*at))],
        Happens::Message(at, false) => vec![from_lead(&text(*at))],
        Happens::Answered(results, cut) => {
            let entry = Entry::Assistant {
                blocks,
                stop: StopReason::ToolUse,
                model: "rehearsal".into(),
                interrupted: *cut,
            };
            let statuses = [
                ResultStatus::Ok,
                ResultStatus::Error,
                ResultStatus::InvalidCall,
                ResultStatus::Denied,
                ResultStatus::NoUi,
                ResultStatus::Interrupted,
                ResultStatus::OutcomeUnknown,
            ];
            let calls: Vec<ToolCall> = entry.calls().cloned().collect();
            let results: Vec<_> = calls
                .iter()
                .zip(results.iter().cycle())
                .map(|(call, (status, text))| result(call, statuses[*status], TEXTS[*text]))
                .collect();
            let mut out = vec![entry];
            out.extend((!results.is_empty()).then_some(Entry::ToolResults { results }));
            out
        }
        Happens::Ends(outcome, text) => {
            let outcome = [
                Outcome::Completed,
                Outcome::Killed { by: KilledBy::User },
                Outcome::Failed { kind: cox_protocol::task::FailKind::Internal, message: "x".into() },
            ][*outcome]
                .clone();
            let envelope = Envelope {
                task_id: TaskId::new("t1"),
                name: "layout".into(),
                generation: 1,
                tool_use_id: calls_so_far.last().cloned(),
                output_file: String::new(),
                outcome,
                summary: String::new(),
                result: Some(TEXTS[*text].to_owned()),
                evidence: None,
                usage: None,
                still_open: Vec::new(),
            };
            vec![Entry::Runtime { note: RuntimeNote::Notification { envelope } }]
        }
        Happens::Note(at) => {
            let note = [
                RuntimeNote::Nudge,
                RuntimeNote::Interrupted { reason: "x".into() },
                RuntimeNote::UserActed { text: "x".into() },
                RuntimeNote::ChildInterrupted {
                    task_id: TaskId::new("t1"),
                    name: "layout".into(),
                    reason: "x".into(),
                },
            ][*at]
                .clone();
            vec![Entry::Runtime { note }]
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_transcript(offered in prop::collection::vec(any::<bool>(), TOOLS.len()), role in 0..5_usize, story in prop::collection::vec(happens(), 0..16)) {
        let names: Vec<&str> = TOOLS.iter().zip(&offered).filter(|(_, is_offered)| **is_offered).map(|(name, _)| *name).collect();
        let mut tools = tools(&names);
        for tool in &mut tools {
            tool.input_schema = json!({ "properties": { "text": { "type": "string" } }, "required": ["text"] });
        }
        let system = ["# Role: explore", "# Role: plan", "# Role: verify", "# Role: worker", ""][role];
        let mut transcript: Vec<Arc<Entry>> = vec![Arc::new(user("go"))];
        let mut ids: Vec<String> = Vec::new();
        for happens in &story {
            let made = answer(system, &tools, &transcript);
            prop_assert_eq!(&made, &answer(system, &tools, &transcript));
            prop_assert!(made.text.starts_with("Rehearsal"), "{}", made.text);
            prop_assert!(!made.text.trim().is_empty());
            for call in &made.calls {
                prop_assert!(names.contains(&call.tool), "{} is not on offer", call.tool);
                prop_assert!(!["Write", "Edit", "TaskStop", "TaskOutput"].contains(&call.tool));
            }
            let blocks = made.into_blocks(&transcript);
            let new = entries(happens, blocks, &ids);
            for entry in &new {
                for call in entry.calls() {
                    prop_assert!(!ids.contains(&call.id), "{} is not unique", call.id);
                    ids.push(call.id.clone());
                }
            }
            transcript.extend(new.into_iter().map(Arc::new));
        }
    }
}
