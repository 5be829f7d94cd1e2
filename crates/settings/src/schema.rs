//! Keys as JSON Schema (draft 2020-12), for the description of a file or a part.

use crate::{Value as TomlValue, default_setting};
use meshpace_keys::{Key, Kind, Preset, RawValue, Real, Setting, Whole};
use meshpace_units::quantity::Unit;
use serde_json::{Value, json};

/// The schema of what a key without tables takes.
///
/// # Panics
/// For a table or a list of tables, whose schema is its owner's business.
#[must_use]
pub fn scalar(kind: &Kind) -> Value {
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
        Kind::ChoiceOrReal(words, bounds) => {
            let mut forms = real(bounds);
            forms.push(json!({ "enum": words }));
            one_of(forms)
        }
        Kind::List(item, least, most) => {
            json!({ "type": "array", "items": scalar(item), "minItems": least, "maxItems": most })
        }
        Kind::Ascending(bounds, count) => {
            let item = one_of(whole(*bounds));
            json!({ "type": "array", "items": item, "minItems": count, "maxItems": count })
        }
        Kind::Free(_) => json!({ "type": "object" }),
        Kind::Table(_) | Kind::Tables(_) => panic!("a table is no scalar: {kind:?}"),
    }
}

/// A key's default, if it has one; what is in TOML's notation stays as it is written there.
#[must_use]
pub fn default(key: &Key) -> Option<Value> {
    match key.default? {
        Preset::Toml(text) => TomlValue::parse(text)?.raw().as_ref().map(raw),
        _ => default_setting(key).as_ref().map(plain),
    }
}

/// A value as written, as JSON.
#[must_use]
pub fn raw(value: &RawValue) -> Value {
    match value {
        RawValue::Bool(value) => json!(value),
        RawValue::Integer(value) => json!(value),
        RawValue::Float(value) => json!(value),
        RawValue::Text(value) => json!(value),
        RawValue::List(items) => items.iter().map(raw).collect(),
    }
}

/// A setting as JSON, in the base unit.
#[must_use]
pub fn plain(setting: &Setting) -> Value {
    match setting {
        Setting::Text(text) => json!(text),
        Setting::Flag(flag) => json!(flag),
        Setting::Whole(number) => json!(number),
        Setting::Real(number) => json!(number),
        Setting::List(items) => items.iter().map(plain).collect(),
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
