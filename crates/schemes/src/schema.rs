//! The parameters of schemes as JSON Schema (draft 2020-12), made of the table that the checker reads.

use crate::compositions::{lookup, names};
use crate::params::{Kind, Param, parameters};
use crate::value::Value;
use meshpace_units::quantity::Unit;
use serde_json::{Map, Value as Json, json};

/// The schema of one table `[scheme.NAME]`.
///
/// It cannot say which parameters a scheme has: [`crate::Scheme::set`] checks that.
#[must_use]
pub fn schema() -> Json {
    let built_in: Vec<_> = names().collect();
    let mut properties: Map<String, Json> =
        parameters().map(|param| (param.key.to_owned(), property(param))).collect();
    let base = format!("What a new scheme is made from: {} or another new one.", built_in.join(", "));
    properties.insert("base".to_owned(), json!({ "type": "string", "description": base }));
    json!({
        "type": "object",
        "description": "A scheme's parameters, or a new scheme.",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn property(param: &Param) -> Json {
    let mut out = kind(&param.kind);
    let schemes = names().filter_map(lookup);
    let values: Vec<(String, Value)> =
        schemes.filter_map(|scheme| Some((scheme.name.clone(), param.value_in(&scheme)?))).collect();
    let mut description = param.doc.to_owned();
    // One default if every scheme that has the parameter agrees, else the value of each.
    match values.as_slice() {
        [(_, first), rest @ ..] if rest.iter().all(|(_, value)| value == first) => {
            out["default"] = plain(first);
        }
        _ => {
            let each: Vec<_> = values.iter().map(|(name, value)| format!("{name} {value}")).collect();
            description.push_str(&format!(" By default: {}.", each.join(", ")));
        }
    }
    out["description"] = json!(description);
    out
}

fn kind(kind: &Kind) -> Json {
    match kind {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Whole { min, max, unit } => {
            let number = json!({ "type": "integer", "minimum": min, "maximum": max });
            match unit {
                Some(unit) => json!({ "anyOf": [with_unit(number, unit), text(unit)] }),
                None => number,
            }
        }
        Kind::Real { min, max, above, unit } => {
            let minimum = if *above { "exclusiveMinimum" } else { "minimum" };
            let number = json!({ "type": "number", minimum: min, "maximum": max });
            if unit.suffixes.is_empty() {
                return number;
            }
            json!({ "anyOf": [with_unit(number, unit), text(unit)] })
        }
        Kind::Ascending { count, min, max } => json!({
            "type": "array",
            "items": { "type": "integer", "minimum": min, "maximum": max },
            "minItems": count,
            "maxItems": count,
        }),
    }
}

fn with_unit(mut number: Json, unit: &Unit) -> Json {
    number["x-unit"] = json!(unit.base);
    number
}

/// A number with a suffix of the unit, as text.
fn text(unit: &Unit) -> Json {
    let suffixes: Vec<_> = unit.suffixes.iter().map(|(suffix, _, _)| *suffix).collect();
    json!({ "type": "string", "pattern": format!(r"^\s*[-+]?[0-9.]+\s*({})\s*$", suffixes.join("|")) })
}

fn plain(value: &Value) -> Json {
    match value {
        Value::Bool(flag) => json!(flag),
        Value::Integer(number) => json!(number),
        Value::Float(number) => json!(number),
        Value::Text(text) => json!(text),
        Value::List(items) => items.iter().map(plain).collect(),
    }
}
