//! `[routing]`: made of what the protocols say of themselves (`meshpace_routing::PROTOCOLS`).

use crate::extra;
use meshpace_routing::PROTOCOLS;
use meshpace_settings::{Key, Section};
use std::sync::LazyLock;

/// The key that chooses a protocol.
pub(crate) const PROTOCOL: &str = "protocol";
/// The key that chooses one of a protocol's profiles.
pub(crate) const PROFILE: &str = "profile";

pub(super) static ROUTING: LazyLock<Section> = LazyLock::new(|| Section {
    doc: "The mesh's routing protocol.",
    more: extra::ROUTING,
    keys: [choices(), parameters()].concat().leak(),
});

/// Which protocol, and which of its profiles.
fn choices() -> Vec<Key> {
    let protocols: Vec<_> = PROTOCOLS.iter().map(|part| part.about.word).collect();
    let docs: Vec<_> = PROTOCOLS
        .iter()
        .map(|part| format!("{}: {} Source: {}.", part.about.word, part.about.doc, part.about.source))
        .collect();
    let profiles = || PROTOCOLS.iter().flat_map(|part| part.build.iter().map(move |profile| (part, profile)));
    let mut words: Vec<_> = profiles().filter_map(|(_, profile)| profile.word).collect();
    words.dedup();
    let titles: Vec<_> = profiles()
        .filter_map(|(part, profile)| {
            Some(format!("{}, {}: {}", part.about.word, profile.word?, profile.title))
        })
        .collect();
    let of_profiles = format!(
        "A protocol's profile, the first unless given. {}. The other protocols have one profile.",
        titles.join("; ")
    );
    vec![
        Key::word(PROTOCOL, protocols.leak(), PROTOCOLS[0].about.word, docs.join(" ").leak()),
        Key::word(PROFILE, words.clone().leak(), words[0], of_profiles.leak()),
    ]
}

/// The protocols' parameters, each only with the protocols that have it.
fn parameters() -> Vec<Key> {
    let mut keys: Vec<&Key> = Vec::new();
    for key in PROTOCOLS.iter().flat_map(|part| part.about.keys()) {
        match keys.iter().find(|known| known.name == key.name) {
            None => keys.push(key),
            Some(known) => assert!(std::ptr::eq(*known, key), "two tables declare {}", key.name),
        }
    }
    let having = |name| {
        let has = |part: &&&meshpace_routing::ProtocolPart| part.about.keys().any(|key| key.name == name);
        PROTOCOLS.iter().filter(has).map(|part| part.about.word).collect::<Vec<_>>()
    };
    keys.into_iter().map(|key| key.only(PROTOCOL, having(key.name).leak())).collect()
}
