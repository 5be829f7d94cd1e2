//! The scenario file as JSON Schema (draft 2020-12), made of the same tables that the checker reads.

use crate::keys::ROOT;
use crate::limits::{FLOWS, NODES};
use meshpace_settings::{Key, Kind, Real, Section, Value as TomlValue, Whole};
use meshpace_units::quantity::Unit;
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
    let properties: Map<_, _> = section.keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<_> = section.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let mut out = json!({
        "type": "object",
        "description": section.doc,
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        out["required"] = json!(required);
    }
    let conditions: Vec<_> = section.keys.iter().filter_map(|key| condition(section, key)).collect();
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

fn default(key: &Key) -> Option<Value> {
    fn convert(value: TomlValue) -> Value {
        match value {
            TomlValue::Text(text) => json!(text),
            TomlValue::Integer(number) => json!(number),
            TomlValue::Float(number) => json!(number),
            TomlValue::Bool(flag) => json!(flag),
            TomlValue::List(items) => items.into_iter().map(|item| convert(item.value)).collect(),
            other => panic!("no default is {other:?}"),
        }
    }
    TomlValue::parse(key.default?).map(convert)
}

fn kind(kind: &Kind) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string", "minLength": 1, "maxLength": 255 }),
        Kind::Prose => json!({ "type": "string" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Whole(bounds) => one_of(whole(*bounds)),
        Kind::Real(bounds) => one_of(real(bounds)),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::ChoiceOrWhole(words, bounds) => {
            let mut forms = whole(*bounds);
            forms.push(json!({ "enum": words }));
            one_of(forms)
        }
        Kind::List(item, least, most) => {
            json!({ "type": "array", "items": self::kind(item), "minItems": least, "maxItems": most })
        }
        Kind::Table(section) => table(section),
        Kind::Tables(section) => {
            json!({ "type": "array", "items": table(section), "maxItems": NODES.max(FLOWS) })
        }
        Kind::Free(_) => json!({ "type": "object" }),
    }
}

fn whole(bounds: Whole) -> Vec<Value> {
    let number = json!({ "type": "integer", "minimum": bounds.min, "maximum": bounds.max });
    match bounds.unit {
        Some(unit) => vec![with_unit(number, unit), text(unit)],
        None => vec![number],
    }
}

fn real(bounds: &Real) -> Vec<Value> {
    let minimum = if bounds.above { "exclusiveMinimum" } else { "minimum" };
    let number = json!({ "type": "number", minimum: bounds.min, "maximum": bounds.max });
    if bounds.unit.suffixes.is_empty() {
        return vec![number];
    }
    vec![with_unit(number, bounds.unit), text(bounds.unit)]
}

fn with_unit(mut number: Value, unit: &Unit) -> Value {
    number["x-unit"] = json!(unit.base);
    number
}

/// A number with a suffix of the unit, as text.
fn text(unit: &Unit) -> Value {
    let suffixes: Vec<_> = unit.suffixes.iter().map(|(suffix, _, _)| *suffix).collect();
    json!({ "type": "string", "pattern": format!(r"^\s*[-+]?[0-9.]+\s*({})\s*$", suffixes.join("|")) })
}

fn one_of(mut forms: Vec<Value>) -> Value {
    if forms.len() == 1 { forms.remove(0) } else { json!({ "anyOf": forms }) }
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}
