//! A stand-in for the runtime: delivers entries, runs calls, ends workers with envelopes. It checks every answer on
//! the way: pure, honest in its first word, no tool that is not on offer, ids unique, arguments that the tools know.

use super::super::answer;
use super::super::answer::Answer;
use super::{COORDINATOR, EXPLORE, SOLO, VERIFY, files, tools};
use cox_protocol::entry::{
    Block, CommandRun, Entry, Party, ResultStatus, RuntimeNote, ToolCall, ToolDetail, ToolResult,
};
use cox_protocol::envelope::Envelope;
use cox_protocol::id::TaskId;
use cox_protocol::task::{Evidence, KilledBy, Outcome, ToolDef};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

pub(super) const CARGO: &str =
    concat!(r#"{"packages":[{"name":"boat","version":"0.1.0","targets":[{},{}]}]}"#, "\nexit code 0");

/// One agent.
pub(super) struct Agent {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) system: String,
    pub(super) tools: Vec<ToolDef>,
    pub(super) entries: Vec<Arc<Entry>>,
    generation: u32,
    tool_use_id: Option<String>,
    live: bool,
    evidence: Evidence,
}

/// A session over a folder.
pub(super) struct Runtime {
    pub(super) folder: tempfile::TempDir,
    /// The lead first.
    pub(super) agents: Vec<Agent>,
    /// What Bash answers.
    pub(super) bash: (ResultStatus, String),
    /// What the user answers to a card.
    pub(super) card: (ResultStatus, String),
    /// What a dispatch of this name is refused with.
    pub(super) refuse: Option<(&'static str, &'static str)>,
}

pub(super) fn user(text: &str) -> Entry {
    Entry::User { from: Party::User, text: text.to_owned(), message_id: None }
}

pub(super) fn from_lead(text: &str) -> Entry {
    Entry::User { from: Party::Agent { task_id: TaskId::new("t0") }, text: text.to_owned(), message_id: None }
}

pub(super) fn result(call: &ToolCall, status: ResultStatus, content: impl Into<String>) -> ToolResult {
    ToolResult {
        call_id: call.id.clone(),
        tool: call.name.clone(),
        status,
        content: content.into(),
        full: None,
        detail: ToolDetail::None,
        duration_ms: 1,
    }
}

impl Runtime {
    pub(super) fn coordinator(files: &[(&str, &str)]) -> Self {
        Self::new(files, &COORDINATOR)
    }

    pub(super) fn solo(files: &[(&str, &str)]) -> Self {
        Self::new(files, &SOLO)
    }

    fn new(paths: &[(&str, &str)], lead: &[&str]) -> Self {
        let mut runtime = Self {
            folder: files::folder(paths),
            agents: Vec::new(),
            bash: (ResultStatus::Ok, CARGO.to_owned()),
            card: (ResultStatus::Ok, r#"{"answers":[{"question":"?","answer":"Run the check"}]}"#.to_owned()),
            refuse: None,
        };
        runtime.add("lead", "You are the lead.", lead, None);
        runtime
    }

    fn add(&mut self, name: &str, system: &str, names: &[&str], tool_use_id: Option<String>) -> usize {
        self.agents.push(Agent {
            id: format!("t{}", self.agents.len()),
            name: name.to_owned(),
            system: system.to_owned(),
            tools: tools(names),
            entries: Vec::new(),
            generation: 1,
            tool_use_id,
            live: true,
            evidence: Evidence::default(),
        });
        self.agents.len() - 1
    }

    pub(super) fn put(&mut self, at: usize, entry: Entry) {
        self.agents[at].entries.push(Arc::new(entry));
    }

    pub(super) fn at(&self, name: &str) -> usize {
        self.agents.iter().position(|agent| agent.name == name).unwrap_or_else(|| panic!("no worker {name}"))
    }

    /// Live workers, in order.
    pub(super) fn live(&self) -> Vec<String> {
        self.agents.iter().skip(1).filter(|agent| agent.live).map(|agent| agent.name.clone()).collect()
    }

    /// The lead's last words.
    pub(super) fn last_words(&self, at: usize) -> String {
        self.agents[at].entries.iter().rev().find_map(|entry| entry.text()).unwrap_or_default()
    }

    /// A prompt, and everything that follows from it.
    pub(super) fn prompt(&mut self, text: &str) -> String {
        self.put(0, user(text));
        self.settle()
    }

    /// Runs lead and workers until nobody has anything to do; gives the lead's last words.
    pub(super) fn settle(&mut self) -> String {
        self.finish_turn(0);
        while let Some(name) = self.live().first().cloned() {
            self.finish(&name);
            self.finish_turn(0);
        }
        self.last_words(0)
    }

    /// Runs one worker to its end and tells the lead.
    pub(super) fn finish(&mut self, name: &str) {
        let at = self.at(name);
        self.finish_turn(at);
        self.end(name, Outcome::Completed);
    }

    /// Ends a worker as it stands.
    pub(super) fn end(&mut self, name: &str, outcome: Outcome) {
        let at = self.at(name);
        let result = Some(self.last_words(at)).filter(|text| !text.is_empty());
        let agent = &mut self.agents[at];
        agent.live = false;
        let envelope = Envelope {
            task_id: TaskId::new(agent.id.clone()),
            name: agent.name.clone(),
            generation: agent.generation,
            tool_use_id: agent.tool_use_id.clone(),
            output_file: format!("output/{}.jsonl", agent.id),
            outcome,
            summary: String::new(),
            result,
            evidence: Some(std::mem::take(&mut agent.evidence)),
            usage: None,
            still_open: Vec::new(),
        };
        self.put(0, Entry::Runtime { note: RuntimeNote::Notification { envelope } });
    }

    pub(super) fn kill(&mut self, name: &str) {
        self.end(name, Outcome::Killed { by: KilledBy::User });
    }

    /// The worker goes on with this message, as a new generation when it had ended.
    pub(super) fn message(&mut self, at: usize, entry: Entry) {
        self.put(at, entry);
        let agent = &mut self.agents[at];
        agent.generation += u32::from(!agent.live);
        agent.live = true;
    }

    fn finish_turn(&mut self, at: usize) {
        while !self.step(at).calls.is_empty() {}
    }

    /// One request, its answer, and the results of its calls.
    pub(super) fn step(&mut self, at: usize) -> Answer {
        let answer = self.answer(at);
        self.take(at, answer.clone());
        answer
    }

    /// The answer to the next request, checked.
    pub(super) fn answer(&self, at: usize) -> Answer {
        let agent = &self.agents[at];
        let made = answer(&agent.system, &agent.tools, &agent.entries);
        let again = answer(&agent.system, &agent.tools, &agent.entries);
        assert_eq!(made, again, "an answer is a pure function of the request");
        assert!(
            made.text.starts_with("Rehearsal: I follow fixed rules and did not act on the request itself.")
                || made.text.starts_with("Rehearsal (fixed rules, not your request): "),
            "{}",
            made.text
        );
        for call in &made.calls {
            assert!(agent.tools.iter().any(|tool| tool.name == call.tool), "{} is not on offer", call.tool);
            check_arguments(call.tool, &call.input);
        }
        made
    }

    fn take(&mut self, at: usize, answer: Answer) {
        let stop = answer.stop();
        let blocks = answer.into_blocks(&self.agents[at].entries);
        let entry = Entry::Assistant { blocks, stop, model: "rehearsal".into(), interrupted: false };
        let calls: Vec<ToolCall> = entry.calls().cloned().collect();
        self.put(at, entry);
        let ids: Vec<String> = self.agents[at]
            .entries
            .iter()
            .flat_map(|entry| entry.calls())
            .map(|call| call.id.clone())
            .collect();
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "ids are unique in a transcript");
        if !calls.is_empty() {
            let results = calls.iter().map(|call| self.call(at, call)).collect();
            self.put(at, Entry::ToolResults { results });
        }
    }

    fn call(&mut self, at: usize, call: &ToolCall) -> ToolResult {
        self.agents[at].evidence.tool_uses += 1;
        match call.name.as_str() {
            "Agent" => self.dispatch(call),
            "SendMessage" => {
                let to = self.at(call.input["to"].as_str().unwrap());
                self.message(to, from_lead(call.input["message"].as_str().unwrap()));
                result(
                    call,
                    ResultStatus::Ok,
                    json!({ "success": true, "agentId": self.agents[to].id }).to_string(),
                )
            }
            "AskUserQuestion" => result(call, self.card.0, self.card.1.clone()),
            "Bash" => {
                let (status, content) = self.bash.clone();
                if matches!(status, ResultStatus::Ok | ResultStatus::Error) {
                    let exit_code = content.rsplit("exit code ").next().and_then(|code| code.parse().ok());
                    self.agents[at].evidence.commands.push(run_of(call, exit_code));
                }
                result(call, status, content)
            }
            "SyntheticOutput" => result(call, ResultStatus::Ok, "the result was accepted"),
            name => match files::run(self.folder.path(), name, &call.input) {
                Ok(content) => result(call, ResultStatus::Ok, content),
                Err(content) => result(call, ResultStatus::Error, content),
            },
        }
    }

    fn dispatch(&mut self, call: &ToolCall) -> ToolResult {
        let field = |name: &str| call.input[name].as_str().unwrap().to_owned();
        let name = field("name");
        if let Some((_, kind)) = self.refuse.filter(|(refused, _)| *refused == name) {
            let content = json!({ "error": kind, "message": format!("refused: {kind}") }).to_string();
            return result(call, ResultStatus::Error, content);
        }
        assert!(!self.agents.iter().any(|agent| agent.name == name), "the name {name} is taken");
        let is_plain = name.len() <= 40 && name.chars().all(|ch| ch.is_ascii_alphanumeric() || ch == '-');
        assert!(is_plain, "the name {name} can't be used");
        let role = field("subagent_type");
        let names: &[&str] = if role == "verify" { &VERIFY } else { &EXPLORE };
        let system = format!("You are a worker.\n\n# Role: {role}\n\nYou work.");
        let at = self.add(&name, &system, names, Some(call.id.clone()));
        self.put(at, from_lead(&field("prompt")));
        let receipt = json!({ "status": "async_launched", "agentId": self.agents[at].id, "name": name });
        result(call, ResultStatus::Ok, receipt.to_string())
    }

    /// Everything that was said and done, for a snapshot.
    pub(super) fn transcript(&self) -> String {
        let mut out = String::new();
        for agent in &self.agents {
            out.push_str(&format!("===== {} =====\n", agent.name));
            for entry in &agent.entries {
                out.push_str(&shown(entry));
            }
        }
        out
    }
}

fn shown(entry: &Entry) -> String {
    match entry {
        Entry::User { from, text, .. } => {
            format!("--- {}\n{text}\n", if *from == Party::User { "user" } else { "lead" })
        }
        Entry::Assistant { blocks, .. } => blocks
            .iter()
            .map(|block| match block {
                Block::Text { text } => format!("--- says\n{text}\n"),
                Block::ToolCall { call } => format!("--- calls {} {}\n", call.name, call.input),
                Block::Thinking { .. } | Block::Opaque { .. } => String::new(),
            })
            .collect(),
        Entry::ToolResults { results } => {
            results.iter().map(|result| format!("--- {} gives\n{}\n", result.tool, result.content)).collect()
        }
        Entry::Runtime { note: RuntimeNote::Notification { envelope } } => {
            format!("--- envelope of {} ({:?})\n", envelope.name, envelope.outcome)
        }
        Entry::Runtime { note } => format!("--- runtime\n{}\n", note.to_text()),
    }
}

fn run_of(call: &ToolCall, exit_code: Option<i32>) -> CommandRun {
    CommandRun {
        command: call.input["command"].as_str().unwrap().to_owned(),
        exit_code,
        signal: None,
        timed_out: false,
        killed: 0,
        output_bytes: 0,
        duration_ms: 1,
    }
}

/// The real tools refuse arguments that they don't know.
fn check_arguments(tool: &str, input: &Value) {
    let known: &[&str] = match tool {
        "Glob" => &["pattern", "path", "limit", "ignored"],
        "Grep" => &["pattern", "path", "glob", "mode", "ignore_case", "limit", "ignored"],
        "Read" => &["path", "offset", "limit"],
        "Bash" => &["command", "description", "timeout_ms"],
        "Agent" => &["description", "prompt", "subagent_type", "name"],
        "SendMessage" => &["to", "summary", "message"],
        "AskUserQuestion" => &["questions"],
        "SyntheticOutput" => return,
        other => panic!("{other} is no tool for rehearsal: it changes nothing"),
    };
    for key in input.as_object().unwrap().keys() {
        assert!(known.contains(&key.as_str()), "{tool} knows no {key}");
    }
}
