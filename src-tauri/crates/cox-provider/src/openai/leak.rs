//! Calls that leaked into the text because the model or its chat template knows no tools.
//!
//! Only an answer that is nothing but a call counts: a model that talks about a call is left alone. The call is not
//! run either, since nobody can tell an example from an order.

use cox_protocol::task::ToolDef;
use serde_json::Value;

/// The tool that the text calls, if it does nothing else.
pub(super) fn leaked<'a>(text: &str, tools: &'a [ToolDef]) -> Option<&'a str> {
    let bare = unwrap(text.trim());
    let call: Value = serde_json::from_str(bare).ok()?;
    let call = call.get(0).unwrap_or(&call);
    let call = call.get("function").filter(|inner| inner.is_object()).unwrap_or(call);
    let name = call["name"].as_str()?;
    let has_arguments = ["arguments", "parameters", "input"].iter().any(|key| call.get(*key).is_some());
    tools.iter().map(|tool| tool.name.as_str()).find(|tool| *tool == name && has_arguments)
}

/// The text without the fence or the tags around it.
fn unwrap(text: &str) -> &str {
    let fenced = || {
        let inner = text.strip_prefix("```")?.strip_suffix("```")?;
        // The language ends at the first line break or bracket.
        inner.find(['{', '[']).map(|from| &inner[from..])
    };
    let tagged = || {
        let pairs =
            [("<tool_call>", "</tool_call>"), ("<function_call>", "</function_call>"), ("[TOOL_CALLS]", "")];
        pairs.iter().find_map(|(open, close)| text.strip_prefix(open)?.trim_end().strip_suffix(close))
    };
    tagged().or_else(fenced).unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // R112
    #[test]
    fn only_text_that_is_nothing_but_a_call() {
        let tools = [ToolDef { name: "Read".into(), description: String::new(), input_schema: json!({}) }];
        let call = r#"{"name": "Read", "arguments": {"path": "a"}}"#;
        for text in [
            call.to_owned(),
            format!("```json\n{call}\n```"),
            format!("<tool_call>\n{call}\n</tool_call>"),
            format!("[TOOL_CALLS][{call}]"),
            format!(r#"{{"type": "function", "function": {call}}}"#),
        ] {
            assert_eq!(leaked(&text, &tools), Some("Read"), "{text}");
        }
        for text in [
            format!("Use {call}"),
            r#"{"name": "Other", "arguments": {}}"#.into(),
            r#"{"name": "Read"}"#.into(),
            "``````".into(),
            String::new(),
        ] {
            assert_eq!(leaked(&text, &tools), None, "{text}");
        }
    }
}
