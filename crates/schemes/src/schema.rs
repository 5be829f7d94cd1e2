//! The parameters of schemes as JSON Schema (draft 2020-12), made of what the parts say of themselves.

use crate::compositions::{lookup, names};
use crate::parameters;
use meshpace_keys::{Key, Setting};
use meshpace_settings::schema::{plain, scalar};
use serde_json::{Map, Value as Json, json};

/// The schema of one table `[scheme.NAME]`.
///
/// It cannot say which parameters a scheme has: [`crate::Scheme::set`] checks that.
#[must_use]
pub fn schema() -> Json {
    let built_in: Vec<_> = names().collect();
    let mut properties: Map<String, Json> =
        parameters().map(|key| (key.name.to_owned(), property(key))).collect();
    let base = format!("What a new scheme is made from: {} or another new one.", built_in.join(", "));
    properties.insert("base".to_owned(), json!({ "type": "string", "description": base }));
    json!({
        "type": "object",
        "description": "A scheme's parameters, or a new scheme.",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn property(key: &Key) -> Json {
    let mut out = scalar(&key.kind);
    let schemes = names().filter_map(lookup);
    let values: Vec<(String, Setting)> =
        schemes.filter_map(|scheme| Some((scheme.name.clone(), scheme.get(key.name)?))).collect();
    let mut description = key.doc.to_owned();
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
