//! Notices an agent that does the same thing again and again (W17).

use cox_protocol::entry::ToolCall;

/// Counts turns in a row whose calls are the same.
#[derive(Debug, Default)]
pub(super) struct RepeatGuard {
    last: Vec<(String, String)>,
    times: u32,
}

impl RepeatGuard {
    /// Takes a turn's calls. Gives how often in a row they were the same.
    pub(super) fn note<'a>(&mut self, calls: impl Iterator<Item = &'a ToolCall>) -> u32 {
        let calls: Vec<(String, String)> = calls
            .map(|call| (call.name.clone(), call.invalid.clone().unwrap_or_else(|| call.input.to_string())))
            .collect();
        if calls == self.last {
            self.times += 1;
        } else {
            self.last = calls;
            self.times = 1;
        }
        self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(name: &str, command: &str) -> ToolCall {
        ToolCall {
            id: "x".into(),
            name: name.into(),
            input: json!({ "command": command }),
            invalid: None,
            raw: None,
        }
    }

    // W17: the same call counts up, another one begins again.
    #[test]
    fn counts_in_a_row() {
        let mut guard = RepeatGuard::default();
        let (test, build) = (call("Bash", "cargo test"), call("Bash", "cargo build"));
        let times: Vec<u32> = [&test, &test, &build, &test, &test, &test]
            .into_iter()
            .map(|call| guard.note(std::iter::once(call)))
            .collect();
        assert_eq!(times, [1, 2, 1, 1, 2, 3]);
    }
}
