//! What a command that ended gives the model: its output, and how it ended.

use crate::context::ToolCx;
use crate::text;
use crate::tool::{Output, ToolError};
use cox_exec::{Ended, Running};
use cox_protocol::ToolDetail;
use cox_protocol::entry::{BlobRef, CommandRun, ResultStatus};

/// Characters of output given to the model.
const OUTPUT_CHARS: usize = 30_000;
/// Bytes of output that are kept as a blob.
const KEPT_BYTES: u64 = 64 * 1024 * 1024;

/// The output, and how it ended in the last line.
pub(super) async fn result(
    running: &Running,
    ended: &Ended,
    timeout_ms: u64,
    violations: Vec<String>,
    cx: &ToolCx,
) -> Result<Output, ToolError> {
    let (mut content, full) = shown(running, ended, cx).await;
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    if ended.killed > 0 && !ended.stopped && !ended.timed_out {
        content.push_str(&format!(
            "({} left running and ended)\n",
            text::counted(u64::from(ended.killed), "process was", "processes were")
        ));
    }
    if !ended.left.is_empty() {
        let left: Vec<String> = ended.left.iter().map(ToString::to_string).collect();
        content.push_str(&format!("(can't be ended: {})\n", left.join(", ")));
    }
    for violation in &violations {
        content.push_str(&format!("(not allowed in this role: {violation})\n"));
    }
    let (status, last) = match (ended.stopped, ended.timed_out, ended.exit_code, ended.signal) {
        (true, ..) => (ResultStatus::Interrupted, "interrupted".to_owned()),
        (_, true, ..) => (ResultStatus::Error, format!("timed out after {} s", seconds(timeout_ms))),
        (.., Some(0), _) => (ResultStatus::Ok, "exit code 0".to_owned()),
        (.., Some(code), _) => (ResultStatus::Error, format!("exit code {code}")),
        (.., None, Some(signal)) => (ResultStatus::Error, format!("killed by signal {signal}")),
        (.., None, None) => (ResultStatus::Error, "ended, and how is not known".to_owned()),
    };
    content.push_str(&last);
    let run = CommandRun {
        command: running.command().to_owned(),
        exit_code: ended.exit_code.filter(|_| !ended.timed_out && !ended.stopped),
        signal: ended.signal,
        timed_out: ended.timed_out,
        killed: ended.killed,
        output_bytes: ended.output.total_bytes,
        duration_ms: ended.duration_ms,
    };
    let detail = ToolDetail::Command { run, background: None };
    if status == ResultStatus::Ok {
        return Ok(Output { full, violations, ..Output::new(content, detail) });
    }
    Err(ToolError::Tell { status, content, detail: Box::new(detail), full, violations })
}

/// The output as far as the model gets it, and the whole where it is cut. What can't be kept is said, and the
/// result stands: the command has run.
async fn shown(running: &Running, ended: &Ended, cx: &ToolCx) -> (String, Option<BlobRef>) {
    let output = ended.output.text(OUTPUT_CHARS);
    if output.cut_chars == 0 {
        return (output.head, None);
    }
    let kept = match running.whole(KEPT_BYTES).await {
        Ok(whole) => cx.journal.blob(whole.bytes).await.map(|blob| (blob, whole.cut)),
        Err(error) => Err(error.to_string()),
    };
    let (note, full) = match (kept, &ended.output.spool_problem) {
        (Ok((blob, _)), Some(problem)) => (format!("only a part is kept: {problem}"), Some(blob)),
        (Ok((blob, true)), None) => (format!("the first {} MB are kept", KEPT_BYTES >> 20), Some(blob)),
        (Ok((blob, false)), None) => ("the whole output is kept".to_owned(), Some(blob)),
        (Err(problem), _) => (format!("the whole could not be kept: {problem}"), None),
    };
    (format!("{}\n… {} characters cut; {note} …\n{}", output.head, output.cut_chars, output.tail), full)
}

fn seconds(ms: u64) -> String {
    if ms.is_multiple_of(1_000) { (ms / 1_000).to_string() } else { format!("{:.1}", ms as f64 / 1_000.0) }
}
