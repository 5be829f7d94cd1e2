//! What the engine knows, as JSON: the table of schemes.

use meshpace_mesh::parameters;
use meshpace_schemes::{lookup, names};
use serde_json::{Value, json};

/// Every built-in scheme with all its parameters.
pub fn schemes() -> Value {
    let row = |scheme: meshpace_schemes::Scheme| {
        json!({
            "name": scheme.name,
            "summary": scheme.summary,
            "source": scheme.source,
            "reconstructed": scheme.reconstructed(),
            "parameters": parameters(&scheme),
        })
    };
    names().filter_map(lookup).map(row).collect()
}
