//! The scenario file as JSON Schema (draft 2020-12), made of the same tables that the checker reads.

use crate::keys::ROOT;
use crate::limits::{FLOWS, NODES};
use meshpace_settings::schema::{default, scalar};
use meshpace_settings::{Key, Kind, Section};
use serde_json::{Map, Value, json};

/// The schema of the scenario file, its keys, units, allowed values and defaults; `scheme` is the schema of one table
/// `[scheme.NAME]`, which this crate does not interpret.
///
/// A schema cannot say that names resolve or that nodes are in range: [`crate::ScenarioFile`] checks more.
#[must_use]
pub fn schema(scheme: Value) -> Value {
    let mut root = table(&ROOT);
    root["properties"]["scheme"]["additionalProperties"] = scheme;
    let head = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "meshpace scenario",
    });
    merge(&mut root, head);
    root
}

fn table(section: &Section) -> Value {
    let properties: Map<_, _> = section.all().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<_> = section.all().filter(|key| key.required).map(|key| key.name).collect();
    let mut out = json!({
        "type": "object",
        "description": section.doc,
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        out["required"] = json!(required);
    }
    let conditions: Vec<_> = section.all().filter_map(|key| condition(section, key)).collect();
    if !conditions.is_empty() {
        out["allOf"] = json!(conditions);
    }
    out
}

/// A key that applies only with certain values of another key: forbidden unless that has one of them.
fn condition(section: &Section, key: &Key) -> Option<Value> {
    let (selector, values) = key.only?;
    let has_one = json!({ "properties": { selector: { "enum": values } } });
    // A missing selector passes `properties`; it must not, if its default is none of the values.
    let default = section.key(selector).and_then(default);
    let by_default = default.is_some_and(|default| values.iter().any(|value| default == *value));
    let applies = if by_default {
        has_one
    } else {
        let mut with_selector = has_one;
        with_selector["required"] = json!([selector]);
        with_selector
    };
    Some(json!({ "if": { "required": [key.name] }, "then": applies }))
}

fn property(key: &Key) -> Value {
    let mut out = kind(&key.kind);
    let mut description = key.doc.to_owned();
    if let Some((selector, values)) = key.only {
        description.push_str(&format!(" Only with {selector} = {}.", values.join(", ")));
    }
    out["description"] = json!(description);
    if let Some(default) = default(key) {
        out["default"] = default;
    }
    out
}

fn kind(kind: &Kind) -> Value {
    match kind {
        Kind::Table(section) => table(section),
        Kind::Tables(section) => {
            json!({ "type": "array", "items": table(section), "maxItems": NODES.max(FLOWS) })
        }
        scalars => scalar(scalars),
    }
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}
