//! Profiles: several choices under one name, for schemes that exist in more than one version.

use crate::choices::Parts;
use crate::places::PLACES;
use meshpace_keys::{Key, Kind};

/// The key that chooses.
pub(crate) const KEY: &str = "profile";

/// A profile, and the parts that it means.
pub(crate) struct Profile {
    pub(crate) word: &'static str,
    pub(crate) means: &'static [Means],
}

/// What a profile means at one place, where a scheme has one of the versions there.
pub(crate) struct Means {
    pub(crate) key: &'static str,
    pub(crate) word: &'static str,
    versions: &'static [&'static str],
}

const fn pacing(word: &'static str) -> Means {
    Means { key: "pacing", word, versions: &["khd", "agent", "wifu-khd"] }
}

const fn acknowledgements(word: &'static str) -> Means {
    Means { key: "ack_policy", word, versions: &["dynamic-delayed", "wifu-delayed", "wifu-head-delayed"] }
}

/// TCP-AP's (schemes.md 2, "Profiles"), and those of comparisons with WiFu (schemes.md 5, 7.1).
pub(crate) static PROFILES: [Profile; 5] = [
    Profile { word: "paper", means: &[pacing("khd"), acknowledgements("dynamic-delayed")] },
    Profile { word: "ns2-2005", means: &[pacing("agent")] },
    Profile { word: "clean", means: &[pacing("khd"), acknowledgements("dynamic-delayed")] },
    Profile { word: "byu-literal", means: &[pacing("wifu-khd"), acknowledgements("wifu-delayed")] },
    Profile { word: "wifu-head", means: &[pacing("wifu-khd"), acknowledgements("wifu-head-delayed")] },
];

pub(crate) static SELECTOR: Key = Key::new(
    KEY,
    Kind::Choice(&["paper", "ns2-2005", "clean", "byu-literal", "wifu-head"]),
    "Versions of TCP-AP and of dynamic delayed acknowledgements: as in the papers (clean says the same, as comparisons with WiFu call \
     it), TCP-AP exactly as its authors' ns-2 agent does it, WiFu's as the thesis measured it, or with the thresholds of its \
     published code (schemes.md 2, \"Profiles\"; 5; 7.1). WiFu's TCP is tcp_profile = \"wifu\".",
);

/// The word chosen at a place.
fn chosen(parts: &Parts, key: &str) -> Option<&'static str> {
    PLACES.iter().find(|place| place.key == key).map(|place| (place.chosen)(parts).word)
}

/// What a profile means for a scheme that has chosen this.
pub(crate) fn meant<'a>(profile: &'a Profile, parts: &Parts) -> impl Iterator<Item = &'a Means> {
    profile
        .means
        .iter()
        .filter(|means| chosen(parts, means.key).is_some_and(|word| means.versions.contains(&word)))
}

/// The profile that a scheme has; `None` if what it has chosen is none.
pub(crate) fn of(parts: &Parts) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| {
        let mut meant = meant(profile, parts).peekable();
        meant.peek().is_some() && meant.all(|means| chosen(parts, means.key) == Some(means.word))
    })
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
