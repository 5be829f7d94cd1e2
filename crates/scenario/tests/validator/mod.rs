//! As much of JSON Schema (draft 2020-12) as the scenario's schema uses; a keyword it does not know is an error, so
//! that the schema cannot outgrow its test.

use serde_json::Value;

/// Says where and why `value` does not meet `schema`.
pub fn validate(schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    let keywords = schema.as_object().ok_or_else(|| format!("{path}: the schema is no object"))?;
    for (keyword, argument) in keywords {
        let met = match keyword.as_str() {
            "$schema" | "title" | "description" | "default" | "x-unit" | "pattern" => true,
            "type" => has_type(value, argument),
            "enum" => argument.as_array().is_some_and(|words| words.contains(value)),
            "minimum" => compare(value, argument, |a, b| a >= b),
            "maximum" => compare(value, argument, |a, b| a <= b),
            "exclusiveMinimum" => compare(value, argument, |a, b| a > b),
            "minLength" => {
                value.as_str().is_none_or(|text| text.chars().count() as u64 >= argument.as_u64().unwrap())
            }
            "maxLength" => {
                value.as_str().is_none_or(|text| text.chars().count() as u64 <= argument.as_u64().unwrap())
            }
            "minItems" => {
                value.as_array().is_none_or(|items| items.len() as u64 >= argument.as_u64().unwrap())
            }
            "maxItems" => {
                value.as_array().is_none_or(|items| items.len() as u64 <= argument.as_u64().unwrap())
            }
            "required" => {
                let present = |key: &Value| value.get(key.as_str().unwrap()).is_some();
                !value.is_object() || argument.as_array().unwrap().iter().all(present)
            }
            "anyOf" => argument.as_array().unwrap().iter().any(|form| validate(form, value, path).is_ok()),
            "allOf" => {
                argument.as_array().unwrap().iter().try_for_each(|form| validate(form, value, path))?;
                true
            }
            "if" => {
                if validate(argument, value, path).is_ok() {
                    validate(&keywords["then"], value, path)?;
                }
                true
            }
            "then" => true,
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    validate(argument, item, &format!("{path}[{index}]"))?;
                }
                true
            }
            "properties" | "additionalProperties" => {
                check_properties(keywords, value, path)?;
                true
            }
            other => return Err(format!("{path}: unknown keyword {other}")),
        };
        if !met {
            return Err(format!("{path}: {value} fails {keyword} {argument}"));
        }
    }
    Ok(())
}

fn check_properties(
    keywords: &serde_json::Map<String, Value>,
    value: &Value,
    path: &str,
) -> Result<(), String> {
    for (key, item) in value.as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        match (
            keywords.get("properties").and_then(|known| known.get(key)),
            keywords.get("additionalProperties"),
        ) {
            (Some(schema), _) => validate(schema, item, &path)?,
            (None, Some(Value::Bool(false))) => return Err(format!("{path} is not in the schema")),
            (None, Some(schema)) => validate(schema, item, &path)?,
            (None, None) => {}
        }
    }
    Ok(())
}

fn compare(value: &Value, bound: &Value, holds: fn(f64, f64) -> bool) -> bool {
    value.as_f64().is_none_or(|number| holds(number, bound.as_f64().expect("a numeric bound")))
}

fn has_type(value: &Value, names: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("unknown type {other}"),
    };
    match names {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().any(|name| is(name.as_str().expect("a type's name"))),
        other => panic!("not a type: {other}"),
    }
}
