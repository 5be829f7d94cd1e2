//! What the engine knows, as JSON: the tables of schemes and of routing protocols.

use meshpace_mesh::parameters;
use meshpace_routing::{PROTOCOLS, Profile, ProtocolPart};
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

/// Every routing protocol in each of its profiles. The first profile goes by the protocol's word, the others by their own.
pub fn routings() -> Value {
    let row = |part: &ProtocolPart, at: usize, profile: &Profile| {
        json!({
            "word": profile.word.filter(|_| at > 0).unwrap_or(part.about.word),
            "protocol": part.about.word,
            "profile": profile.word,
            "title": profile.title,
            "doc": part.about.doc,
            "source": part.about.source,
        })
    };
    let rows = |part: &&ProtocolPart| {
        let profiles = part.build.iter().enumerate();
        profiles.map(|(at, profile)| row(part, at, profile)).collect::<Vec<_>>()
    };
    PROTOCOLS.iter().flat_map(rows).collect()
}
