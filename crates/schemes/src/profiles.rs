//! Profiles: several choices under one name, for schemes that exist in more than one version.

use crate::places::Parts;
use meshpace_keys::{Key, Kind};

/// The key that chooses.
pub(crate) const KEY: &str = "profile";

/// A profile, and the parts that it means.
pub(crate) struct Profile {
    pub(crate) word: &'static str,
    pub(crate) parts: &'static [(&'static str, &'static str)],
}

/// TCP-AP's (schemes.md 2, "Profiles").
pub(crate) static PROFILES: [Profile; 2] = [
    Profile { word: "paper", parts: &[("pacing", "khd")] },
    Profile { word: "ns2-2005", parts: &[("pacing", "agent")] },
];

pub(crate) static SELECTOR: Key = Key::new(
    KEY,
    Kind::Choice(&["paper", "ns2-2005"]),
    "TCP-AP as in the paper (pacing = \"khd\"), or exactly as its authors' ns-2 agent does it (\"agent\"; schemes.md 2, \
     \"Profiles\").",
);

/// The profile that a scheme has; `None` if what it has chosen is none.
pub(crate) fn of(parts: &Parts) -> Option<&'static Profile> {
    let word_at = |key: &str| {
        let place = crate::places::PLACES.iter().find(|place| place.key == key);
        place.map(|place| (place.chosen)(parts).word)
    };
    PROFILES.iter().find(|profile| profile.parts.iter().all(|(key, word)| word_at(key) == Some(*word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selector_offers_every_profile() {
        let Kind::Choice(words) = SELECTOR.kind else { panic!("{:?}", SELECTOR.kind) };
        assert!(words.iter().eq(PROFILES.iter().map(|profile| &profile.word)));
    }
}
