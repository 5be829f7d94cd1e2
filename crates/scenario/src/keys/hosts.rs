//! Real hosts on the simulated mesh.

use super::{COORDINATE, TIME_FROM_0};
use meshpace_settings::{Key, Kind, Section};

pub(super) static EMULATE: Section = Section {
    doc: "Real hosts, for `meshpace emulate`.",
    more: &[],
    keys: &[
        Key::new(
            "host",
            Kind::Tables(&EMULATED_HOST),
            "A node that is a host of its own, and a command that runs on it; several of one node are several commands.",
        ),
        Key::new(
            "node",
            Kind::Tables(&EMULATED_NODE),
            "A mesh node whose kernel forwards: its device carries Ethernet frames to and from its neighbours; and a command that runs there.",
        ),
        Key::new("event", Kind::Tables(&EMULATED_EVENT), "What happens to a mesh node, and when."),
    ],
};

static EMULATED_EVENT: Section = Section {
    doc: "A mesh node is switched off or on (off, its radios hear nobody and nobody hears them), or goes to another place.",
    more: &[],
    keys: &[
        Key::new("at", TIME_FROM_0, "When, from time 0.").required(),
        Key::new("node", Kind::Text, "The node's id.").required(),
        Key::new("radios", Kind::Choice(&["off", "on"]), "What they are from then on."),
        Key::new("x", COORDINATE, "Where it goes: metres to the east. Only where all nodes have places."),
        Key::new("y", COORDINATE, "Metres to the north."),
        Key::new("takes", TIME_FROM_0, "How long it is on its way, straight and at one speed.").default("0"),
    ],
};

static EMULATED_HOST: Section = Section {
    doc: "A node that becomes a network namespace, and what runs there.",
    more: &[],
    keys: &[NODE.required(), RUN, START, COLLECT],
};

static EMULATED_NODE: Section = Section {
    doc: "A mesh node that becomes a network namespace with an Ethernet device for each of its radios, and what runs there.",
    more: &[],
    keys: &[NODE.required(), RUN, START, COLLECT],
};

const NODE: Key = Key::new("node", Kind::Text, "The node's id.");
const RUN: Key = Key::new("run", Kind::Prose, "A command for the shell; by default none.");
const START: Key = Key::new("start", TIME_FROM_0, "When the command starts, from time 0.").default("0");
const COLLECT: Key = Key::new(
    "collect",
    Kind::Choice(&["no", "output", "iperf3"]),
    "What of the command's output goes into the result: nothing, all of it, or the flows that `iperf3 -J` says it measured.",
)
.default("\"no\"");
