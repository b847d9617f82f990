//! What models are told about the tools.

use cox_tools::Toolbox;
use cox_tools::schema::check_output_schema;
use serde_json::json;

#[test]
fn the_schemas_are_as_reviewed() {
    let toolbox = Toolbox::standard();
    for def in toolbox.defs(&toolbox.names()) {
        insta::assert_json_snapshot!(format!("schema_{}", def.name), def.input_schema);
    }
}

#[test]
fn every_tool_says_what_it_does_and_every_field_what_it_is() {
    let toolbox = Toolbox::standard();
    let defs = toolbox.defs(&toolbox.names());
    assert_eq!(defs.len(), 11, "all but SyntheticOutput, which needs a schema");
    for def in &defs {
        assert!((200..4_000).contains(&def.description.len()), "{}: {}", def.name, def.description.len());
        assert_eq!(def.input_schema["type"], "object", "{}", def.name);
        for (field, schema) in def.input_schema["properties"].as_object().unwrap() {
            assert!(schema["description"].is_string(), "{}.{field}", def.name);
        }
    }
}

// Invariant 11
#[test]
fn definitions_are_the_same_bytes_every_time_and_in_the_order_asked_for() {
    let names = ["Grep", "Read", "Unknown", "SyntheticOutput", "Agent"];
    let bytes = |toolbox: &Toolbox| serde_json::to_string(&toolbox.defs(&names)).unwrap();
    let toolbox = Toolbox::standard();
    assert_eq!(bytes(&toolbox), bytes(&Toolbox::standard()));
    let order: Vec<String> = toolbox.defs(&names).into_iter().map(|def| def.name).collect();
    assert_eq!(order, ["Grep", "Read", "Agent"]);
}

// W39
#[test]
fn synthetic_output_is_offered_with_the_schema_of_the_agent() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    assert_eq!(check_output_schema(&schema), Ok(()));
    let def = Toolbox::synthetic_output(&schema);
    assert_eq!((def.name.as_str(), &def.input_schema), ("SyntheticOutput", &schema));
    assert!(check_output_schema(&json!({ "type": "string" })).is_err());
    assert!(check_output_schema(&json!({ "type": "object", "required": 1 })).is_err());
}
