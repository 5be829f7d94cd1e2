//! The places, and the tables of parts that may stand there. A table is in the crate of its parts.

use crate::place::Place;
use meshpace_gateway::{Equipment, GATEWAYS, GatewayPart, law_gateways};
use meshpace_keys::{Choice, Values};
use meshpace_pacing::{FLOW_LAWS, FlowLawPart};
use meshpace_relay::{RELAYS, RelayPart};
use meshpace_tcp::{
    ACK_POLICIES, AckPolicyPart, PACINGS, PROFILES, PacingPart, ProfilePart, WINDOWS, WindowPart,
};
use std::ops::Deref;
use std::sync::LazyLock;

/// A gateway's part, with the law of flows that it goes by.
#[derive(Debug)]
pub(crate) struct GatewayByLaw {
    part: &'static GatewayPart,
    law: &'static FlowLawPart,
}

impl GatewayByLaw {
    pub(crate) fn equipment(&self, values: &Values) -> Option<Equipment> {
        (self.part.build)(values, self.law)
    }
}

impl Deref for GatewayByLaw {
    type Target = GatewayPart;

    fn deref(&self) -> &GatewayPart {
        self.part
    }
}

/// The gateways with TCP-GAP's law, then those of each other law.
pub(crate) static ALL_GATEWAYS: LazyLock<Vec<GatewayByLaw>> = LazyLock::new(|| {
    let papers = GATEWAYS.iter().map(|&part| GatewayByLaw { part, law: FLOW_LAWS[0] });
    let others =
        law_gateways().into_iter().map(|(part, law)| GatewayByLaw { part: Box::leak(Box::new(part)), law });
    papers.chain(others).collect()
});

/// The part chosen at each place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) profile: &'static ProfilePart,
    pub(crate) congestion: &'static WindowPart,
    pub(crate) pacing: &'static PacingPart,
    pub(crate) acknowledgements: &'static AckPolicyPart,
    pub(crate) relay: &'static RelayPart,
    pub(crate) gateway: &'static GatewayByLaw,
}

/// A place: its key, what it is, the field of [`Parts`], the table.
macro_rules! place {
    ($key:literal, $field:ident, $table:ident, $doc:literal) => {
        Place {
            key: $key,
            doc: $doc,
            choices: || $table.iter().map(|part| &part.about).collect::<Vec<&'static Choice>>(),
            chosen: |parts| &parts.$field.about,
            choose: |parts, word| {
                let found = $table.iter().find(|part| part.about.word == word);
                parts.$field = found.unwrap_or_else(|| panic!("{} lets {word} pass", $key));
            },
        }
    };
}

/// The places, in the order in which lists name them.
pub(crate) static PLACES: [Place; 6] = [
    place!("congestion", congestion, WINDOWS, "Congestion control of the sender."),
    place!("tcp_profile", profile, PROFILES, "What the TCP of both ends follows."),
    place!("pacing", pacing, PACINGS, "Pacing at the sender."),
    place!("ack_policy", acknowledgements, ACK_POLICIES, "When the receiver acknowledges."),
    place!("relay", relay, RELAYS, "The queue of every mesh node and wired link."),
    place!("gateway", gateway, ALL_GATEWAYS, "What a node between mesh and Internet does."),
];

/// The places, with the parts that may stand there.
#[must_use]
pub fn places() -> &'static [Place] {
    &PLACES
}
