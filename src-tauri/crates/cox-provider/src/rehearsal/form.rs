//! A result of a fixed form (W39). Rules have one value to give, the report; a schema that asks for anything else
//! can't be met without inventing it.

use super::answer::{Answer, Call};
use cox_protocol::task::ToolDef;
use serde_json::{Map, Value};

/// The report as the last word, handed in where a form is wanted and can be filled.
pub(super) fn last_word(tools: &[ToolDef], report: String) -> Answer {
    let Some(def) = tools.iter().find(|tool| tool.name == "SyntheticOutput") else {
        return Answer::last_word(report);
    };
    match filled(&def.input_schema, &report) {
        Some(input) => Answer { text: report, calls: vec![Call { tool: "SyntheticOutput", input }] },
        None => Answer::last_word(format!(
            "{report}\nA result of a fixed form was wanted. Rules can only fill in text, and this form asks for more, so it stays empty.\n"
        )),
    }
}

/// The report in every text that the schema requires.
fn filled(schema: &Value, report: &str) -> Option<Value> {
    let properties = schema["properties"].as_object()?;
    let required: Vec<&str> = match schema["required"].as_array() {
        Some(names) => names.iter().filter_map(Value::as_str).collect(),
        None => properties.keys().map(String::as_str).take(1).collect(),
    };
    let mut value = Map::new();
    for name in required {
        let property = properties.get(name)?.as_object()?;
        let is_free = property.keys().all(|key| ["type", "description", "title"].contains(&key.as_str()));
        if property.get("type")? != "string" || !is_free {
            return None;
        }
        value.insert(name.to_owned(), report.into());
    }
    Some(Value::Object(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fills_texts_and_nothing_else() {
        let text = json!({ "type": "object", "properties": { "a": { "type": "string" }, "n": {} }, "required": ["a"] });
        assert_eq!(filled(&text, "r"), Some(json!({ "a": "r" })));
        let number = json!({ "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        assert_eq!(filled(&number, "r"), None);
    }
}
