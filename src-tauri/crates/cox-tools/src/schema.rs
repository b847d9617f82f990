//! How input is described to models, and checked.

use jsonschema::Validator;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Problems listed for one call; more are counted.
const LISTED: usize = 8;

/// The schema that input of a type is checked against: draft 2020-12, everything inline. What is optional may be
/// null, since some models send every field.
pub fn of<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = generator.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(map) = &mut schema {
        // The description of the type is for readers of the code; the tool has its own.
        for key in ["$schema", "title", "description"] {
            map.shift_remove(key);
        }
        map.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

/// The same schema as shown to models: short, and without what strict servers refuse. Optional fields are those
/// that are not required; that they may be null is not said.
pub fn shown(mut schema: Value) -> Value {
    tidy(&mut schema);
    schema
}

fn tidy(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // Keywords only: a property may have any of these names, and its value is then a schema.
            if map.get("format").is_some_and(Value::is_string) {
                map.shift_remove("format");
            }
            if map.get("default").is_some_and(Value::is_null) {
                map.shift_remove("default");
            }
            if let Some(Value::String(description)) = map.get_mut("description") {
                *description = description.replace('\n', " ");
            }
            if let Some(Value::Array(types)) = map.get("type")
                && let [one, Value::String(null)] = types.as_slice()
                && null == "null"
            {
                let one = one.clone();
                map.insert("type".to_owned(), one);
            }
            if let Some(Value::Array(values)) = map.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            map.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What is wrong with a value, one line a problem; empty when nothing is.
pub fn violations(validator: &Validator, value: &Value) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut more = 0;
    for error in validator.iter_errors(value) {
        if lines.len() == LISTED {
            more += 1;
            continue;
        }
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { "the input".to_owned() } else { place };
        lines.push(format!("{place}: {}", crate::text::head(&error.to_string(), 300)));
    }
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// Checks a schema that a result has to meet (W39), before an agent is started with it.
///
/// # Errors
/// It is not a schema, or does not describe an object; the message says which.
pub fn check_output_schema(schema: &Value) -> Result<(), String> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err("the output schema must have \"type\": \"object\" at its top".to_owned());
    }
    compile(schema).map(drop).map_err(|error| format!("the output schema can't be used: {error}"))
}

/// Compiles a schema.
pub(crate) fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::validator_for(schema).map_err(|error| error.to_string())
}
