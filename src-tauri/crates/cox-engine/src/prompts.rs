//! Renders an agent's system prompt, once, at its dispatch (W20). The text is deterministic: the same inputs
//! give the same bytes, so that a prompt cache holds across sessions (B34).

use cox_policy::role::Role;

const COORDINATOR: &str = include_str!("../../../../prompts/coordinator.md");
const SOLO: &str = include_str!("../../../../prompts/solo.md");
const WORKER: &str = include_str!("../../../../prompts/worker.md");
const EXPLORE: &str = include_str!("../../../../prompts/agents/explore.md");
const PLAN: &str = include_str!("../../../../prompts/agents/plan.md");
const VERIFY: &str = include_str!("../../../../prompts/agents/verify.md");
const WORK: &str = include_str!("../../../../prompts/agents/worker.md");

/// Bytes of an instruction file that go into a prompt.
pub(crate) const INSTRUCTIONS_CAP: usize = 32 * 1024;

const INTERNAL: [&str; 2] = ["SendMessage", "SyntheticOutput"];

/// What a prompt says about the place it works in.
pub(crate) struct Surroundings<'a> {
    /// The project's folder.
    pub folder: &'a str,
    /// Text of AGENTS.md or CLAUDE.md with its name, as the project has it; untrusted.
    pub instructions: Option<&'a (String, String)>,
    /// The tools of the workers that this agent may dispatch; none for a worker.
    pub worker_tools: Option<&'a [&'a str]>,
    /// What the model aliases stand for.
    pub models: &'a str,
    /// Workers at once and in all.
    pub limits: (u32, u32),
}

/// The whole system prompt of an agent in this role.
pub(crate) fn render(role: Role, surroundings: &Surroundings<'_>) -> String {
    let (base, part) = match role {
        Role::Coordinator => (COORDINATOR, None),
        Role::Solo => (SOLO, None),
        Role::Explore => (WORKER, Some(EXPLORE)),
        Role::Plan => (WORKER, Some(PLAN)),
        Role::Verify => (WORKER, Some(VERIFY)),
        Role::Worker => (WORKER, Some(WORK)),
    };
    let base = match part {
        Some(part) => format!("{}\n\n{}", base.trim_end(), part.trim_end()),
        None => base.trim_end().to_owned(),
    };
    let context = context(role, surroundings);
    if base.contains("{{context}}") {
        base.replace("{{context}}", &context)
    } else {
        format!("{base}\n\n{context}")
    }
}

fn context(role: Role, at: &Surroundings<'_>) -> String {
    let mut parts = vec![format!("Project folder: {}", at.folder)];
    if let Some(tools) = at.worker_tools {
        // B37: without the tools that a worker has for the runtime's sake.
        let mut tools: Vec<&str> = tools.iter().copied().filter(|tool| !INTERNAL.contains(tool)).collect();
        tools.sort_unstable();
        // B36, B40: from the live session, sorted, in a sentence that names the Agent tool.
        parts.push(format!(
            "Workers dispatched with the Agent tool have these tools, by role at most: {}.",
            tools.join(", ")
        ));
        parts.push(format!("Models for a dispatch: {}.", at.models));
        parts.push(format!(
            "At most {} workers run at once (more wait in order), and at most {} in this session.",
            at.limits.0, at.limits.1
        ));
    }
    let reads_instructions = match role {
        Role::Coordinator | Role::Solo | Role::Verify | Role::Worker => true,
        Role::Explore | Role::Plan => false,
    };
    if let (true, Some((name, text))) = (reads_instructions, at.instructions) {
        let text = cox_protocol::envelope::neutralise(text);
        parts.push(format!(
            "The project's own instructions, {name} ({} bytes), as text from its authors:\n\n<project-instructions>\n{}\n</project-instructions>",
            text.len(),
            text.trim_end()
        ));
    }
    parts.join("\n\n")
}
