//! Bash: runs a command, to its end or in the background.
//!
//! 1. The command starts in the project folder, in a process group of its own, which is recorded.
//! 2. In the foreground: its end, its time-out or a cancellation, whichever is first; the whole tree is gone
//!    before the result is made.
//! 3. In the background: the engine takes it over as a task, and the call returns at once.

mod footprint;
mod report;

use crate::context::ToolCx;
use crate::pipeline::Approved;
use crate::place::{failed, locate, on_disk, resolved};
use crate::tool::{Output, Plan, Tool, ToolError};
use async_trait::async_trait;
use cox_exec::{Ended, Running, STOP_GRACE, Spawn};
use cox_policy::{Access, ResolvedPath, named_paths};
use cox_protocol::entry::CommandRun;
use cox_protocol::inbox::Action;
use cox_protocol::{TaskId, ToolDetail};
use footprint::Footprint;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The time-out when none is given, in milliseconds.
const TIMEOUT_MS: u64 = 120_000;
/// The longest time-out, in milliseconds.
const MAX_TIMEOUT_MS: u64 = 600_000;

/// Runs commands.
pub struct Bash;

/// What to run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The command, for bash.
    command: String,
    /// What it does, in five to ten words, for the user.
    #[serde(default)]
    #[expect(dead_code, reason = "read by people, from the stored call")]
    description: Option<String>,
    /// Milliseconds after which it is ended. Left out: 120000. At most 600000. A background command has none.
    #[serde(default)]
    #[schemars(range(min = 1, max = 600_000))]
    timeout_ms: Option<u64>,
    /// Don't wait for it. You get the id of a task now, and a notification when it ends. Left out: false.
    #[serde(default)]
    run_in_background: Option<bool>,
    /// A background command that never ends by itself, such as a server: it is ended when you give your final
    /// answer. Left out: false.
    #[serde(default)]
    service: Option<bool>,
}

impl Input {
    fn background(&self) -> bool {
        self.run_in_background.unwrap_or(false) || self.service.unwrap_or(false)
    }
}

#[async_trait]
impl Tool for Bash {
    const NAME: &'static str = "Bash";
    type Input = Input;

    fn description() -> &'static str {
        include_str!("../../../../../prompts/tools/Bash.md")
    }

    fn read_only(&self) -> bool {
        false
    }

    async fn plan(&self, input: &Input, cx: &ToolCx) -> Result<Plan, ToolError> {
        if input.command.trim().is_empty() {
            return Err(ToolError::invalid("the command is empty"));
        }
        if input.command.contains('\0') {
            return Err(ToolError::invalid("the command holds a NUL byte"));
        }
        let cwd = locate(".", cx).await?;
        let background = input.background();
        let action = Action::Command { command: input.command.clone(), cwd: cwd.asked.clone(), background };
        let access = Access::Command { command: input.command.clone(), cwd: resolved(&cwd), background };
        let mut plan = Plan::new(access, Some(action));
        plan.named = named(&input.command, cx).await;
        plan.at = Some(cwd);
        if background && cx.rights.verify_no_changes {
            return Ok(plan.but(ToolError::tell(
                "this role runs commands in the foreground only, so that what they change can be seen",
            )));
        }
        Ok(plan)
    }

    async fn run(
        &self,
        input: Input,
        plan: Plan,
        _approved: Approved,
        cx: &ToolCx,
    ) -> Result<Output, ToolError> {
        let place = plan.place()?;
        let cwd = on_disk(cx, move |roots| roots.folder_path(&place)).await?;
        let spawn = Spawn::new(input.command.clone(), cwd, cx.task_id.as_str().to_owned());
        if input.background() {
            return background(input, spawn, cx).await;
        }
        let before = match cx.rights.verify_no_changes {
            true => Some(Footprint::of(cx).await),
            false => None,
        };
        let timeout_ms = input.timeout_ms.unwrap_or(TIMEOUT_MS).min(MAX_TIMEOUT_MS);
        let (running, ended) = foreground(spawn, timeout_ms, cx).await?;
        let violations = match before {
            Some(before) => before.changes(&Footprint::of(cx).await, &input.command),
            None => Vec::new(),
        };
        report::result(&running, &ended, timeout_ms, violations, cx).await
    }
}

/// What the paths that the command names really are.
async fn named(command: &str, cx: &ToolCx) -> Vec<ResolvedPath> {
    let names = named_paths(command);
    if names.is_empty() {
        return Vec::new();
    }
    cx.roots
        .blocking(move |roots| {
            let place = |name: String| match roots.resolve(&name) {
                Ok(at) => resolved(&at),
                // What can't be a path in the project is not harmless.
                Err(_) => {
                    ResolvedPath { real: name.clone(), asked: name, outside: true, read_only_root: false }
                }
            };
            names.into_iter().map(place).collect()
        })
        .await
}

/// Runs to the end, the time-out or the cancellation.
async fn foreground(mut spawn: Spawn, timeout_ms: u64, cx: &ToolCx) -> Result<(Running, Ended), ToolError> {
    spawn.timeout = Some(Duration::from_millis(timeout_ms));
    let listener = cx.clone();
    spawn.live = Some(Box::new(move |text| listener.journal.live_output(&listener, text)));
    let running = cx.shell.spawn(spawn).map_err(|error| failed(&error))?;
    cx.journal.process(cx, running.pgid(), running.start_ticks()).await;
    let ended = tokio::select! {
        biased;
        ended = running.wait() => ended,
        () = cx.cancel.cancelled() => running.stop(STOP_GRACE).await,
    };
    cx.journal.process_ended(cx, running.pgid()).await;
    Ok((running, ended))
}

/// Hands the command over to the engine.
async fn background(input: Input, mut spawn: Spawn, cx: &ToolCx) -> Result<Output, ToolError> {
    // Live output belongs to the shell's own panel, and its task has no id before the engine gives it one.
    let task: Arc<OnceLock<TaskId>> = Arc::default();
    let known = Arc::clone(&task);
    let listener = cx.clone();
    spawn.live = Some(Box::new(move |text| {
        if let Some(id) = known.get() {
            let shell = ToolCx { task_id: id.clone(), ..listener.clone() };
            shell.journal.live_output(&shell, text);
        }
    }));
    let service = input.service.unwrap_or(false);
    let running = cx.shell.spawn(spawn).map_err(|error| failed(&error))?;
    let pgid = running.pgid();
    cx.journal.process(cx, pgid, running.start_ticks()).await;
    let started = cx.tasks.start_shell(cx, input.command.clone(), running.clone(), service).await;
    let id = match started {
        Ok(id) => id,
        Err(error) => {
            running.stop(STOP_GRACE).await;
            cx.journal.process_ended(cx, pgid).await;
            return Err(super::refused(error));
        }
    };
    // Set once; nobody else has it.
    let _ = task.set(id.clone());
    let end = if service {
        "It is ended when you give your final answer."
    } else {
        "A notification follows when it ends."
    };
    let run = CommandRun {
        command: input.command,
        exit_code: None,
        signal: None,
        timed_out: false,
        killed: 0,
        output_bytes: 0,
        duration_ms: 0,
    };
    Ok(Output::new(
        format!("started in the background as task {id}\n{end}"),
        ToolDetail::Command { run, background: Some(id) },
    ))
}
