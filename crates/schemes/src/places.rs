//! The places, and the table of the parts that may stand at each.

use crate::choices::{ALL_GATEWAYS, ALL_RELAYS, Described};
use crate::place::Place;
use meshpace_keys::Choice;
use meshpace_tcp::{ACK_POLICIES, PACINGS, PROFILES, RECOVERIES, WINDOWS};

/// A place: its key, what it is, the field of [`Parts`](crate::choices::Parts), the table.
macro_rules! place {
    ($key:literal, $field:ident, $table:ident, $doc:literal) => {
        Place {
            key: $key,
            doc: $doc,
            follows: None,
            choices: || $table.iter().map(|part| part.about()).collect::<Vec<&'static Choice>>(),
            chosen: |parts| parts.$field.about(),
            choose: |parts, word| {
                let found = $table.iter().find(|part| part.about().word == word);
                parts.$field = found.unwrap_or_else(|| panic!("{} lets {word} pass", $key));
            },
        }
    };
}

/// The places, in the order in which lists name them.
pub(crate) static PLACES: [Place; 7] = [
    place!("congestion", congestion, WINDOWS, "Congestion control of the sender."),
    place!("tcp_profile", profile, PROFILES, "What the TCP of both ends follows."),
    place!(
        "recovery",
        recovery,
        RECOVERIES,
        "What finds the sender's losses and what it sends again; where nothing is said, what goes with congestion."
    )
    .following("congestion"),
    place!("pacing", pacing, PACINGS, "Pacing at the sender."),
    place!("ack_policy", acknowledgements, ACK_POLICIES, "When the receiver acknowledges."),
    place!("relay", relay, ALL_RELAYS, "The queue of every mesh node and wired link."),
    place!("gateway", gateway, ALL_GATEWAYS, "What a node between mesh and Internet does."),
];

/// The places, with the parts that may stand there.
#[must_use]
pub fn places() -> &'static [Place] {
    &PLACES
}
