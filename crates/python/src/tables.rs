//! What the engine knows, as JSON: the table of schemes.

use meshpace_schemes::{Value as Parameter, lookup, names};
use serde_json::{Map, Value, json};

/// Every built-in scheme with all its parameters.
pub fn schemes() -> Value {
    let row = |scheme: meshpace_schemes::Scheme| {
        let parameters: Map<String, Value> =
            scheme.parameters().map(|(parameter, value)| (parameter.key.to_owned(), plain(&value))).collect();
        json!({
            "name": scheme.name,
            "summary": scheme.summary,
            "source": scheme.source,
            "parameters": parameters,
        })
    };
    names().filter_map(lookup).map(row).collect()
}

fn plain(value: &Parameter) -> Value {
    match value {
        Parameter::Bool(value) => json!(value),
        Parameter::Integer(value) => json!(value),
        Parameter::Float(value) => json!(value),
        Parameter::Text(value) => json!(value),
        Parameter::List(items) => items.iter().map(plain).collect(),
    }
}
