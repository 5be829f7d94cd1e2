//! A shaper of hosts, and no machine beside it.

use super::{Behaviour, GatewayPart};
use crate::{Find, ShaperConfig, ShareBy, Uploading};
use meshpace_keys::{Key, Preset, Values, real, words};
use meshpace_units::quantity::TIME;
use meshpace_units::{Rate, Span};

pub(super) static PART: GatewayPart = GatewayPart::new(
    "hosts",
    "What goes into the mesh is shaped by mesh host, whatever it is: hosts share by air time or bytes, in turn, and their flows wait \
     in fair queues under CoDel.",
    "docs/hosts.md; RFC 8290; Hoiland-Jorgensen et al. 2017, 2018",
    |values, _| Behaviour { shaper: Some(config(values)), ..Behaviour::default() },
)
.keys(&[&KEYS])
.bounds(&[("hosts_rate_min", "hosts_rate_max")]);

const USUAL: ShaperConfig = ShaperConfig::at(Rate::bits_per_sec(1_000_000));

/// The bounds of a rate that is found, and how long packets may wait in the mesh then.
const FOUND: Find = Find {
    least: Rate::bits_per_sec(200_000),
    most: Rate::bits_per_sec(1_000_000_000),
    stands: Span::from_millis(20),
    probes: 0,
};

words! {
    /// Where the rate comes from (`hosts_find`): docs/hosts.md.
    enum Finds {
        /// It is hosts_rate, and stays.
        Given = "given",
        /// It begins at hosts_rate and goes by how long packets wait in the mesh.
        Delay = "delay",
    }
}

static KEYS: [Key; 16] = [
    Key::rate(
        "hosts_rate",
        1_000_000_000_000,
        USUAL.rate,
        "What a shaper of hosts lets into the mesh, all hosts together; with hosts_by = \"airtime\" of a host one hop away over links of \
         hosts_link (docs/hosts.md).",
    ),
    Key::word(
        "hosts_find",
        Finds::WORDS,
        Finds::Given.word(),
        "Where that rate comes from: it is given, or begins there and goes by the mesh's own delay (docs/hosts.md).",
    ),
    Key::rate(
        "hosts_rate_min",
        1_000_000_000_000,
        FOUND.least,
        "With hosts_find = \"delay\": it is no lower.",
    ),
    Key::rate(
        "hosts_rate_max",
        1_000_000_000_000,
        FOUND.most,
        "With hosts_find = \"delay\": it is no higher.",
    ),
    Key::time(
        "hosts_stands",
        Span::from_secs(10),
        FOUND.stands,
        "With hosts_find = \"delay\": how long packets may wait in the mesh a hop, where that is more than four packets take.",
    ),
    Key::word(
        "hosts_by",
        ShareBy::WORDS,
        USUAL.by.word(),
        "What hosts share: the air, of which a byte takes the more the more hops it goes and the slower they are, or bytes.",
    ),
    Key::word(
        "hosts_uploads",
        Uploading::WORDS,
        USUAL.uploads.word(),
        "With hosts_find = \"delay\": what is done where a host sends more than its share, while another one wants more. Its senders' windows \
         move on no faster than the share, or nothing (docs/hosts.md).",
    ),
    Key::rate(
        "hosts_link",
        1_000_000_000_000,
        USUAL.reference,
        "With hosts_by = \"airtime\": rate of the links that a byte costs one byte over.",
    ),
    Key::size("hosts_overhead", (0, 10_000), USUAL.overhead, "Bytes that a packet costs beside its own."),
    Key::count(
        "hosts_quantum",
        (64, 65_535),
        USUAL.quantum as u64,
        "What a host, and a flow of it, may send in its turn, in bytes: the largest packet (RFC 8290, section 5.2.3).",
    ),
    Key::time(
        "hosts_target",
        Span::from_secs(10),
        USUAL.target,
        "Standing wait of a flow that is acceptable; at least one and a half of the time between its packets at its share (RFC 8289, \
         section 4.4).",
    ),
    Key::time(
        "hosts_interval",
        Span::from_secs(100),
        USUAL.interval,
        "How long it may stand; at least two targets (RFC 8289, section 4.3).",
    ),
    Key::time(
        "hosts_longest",
        Span::from_secs(100),
        USUAL.longest,
        "All that waits leaves within this time, a sender's first packets apart: the host with the most loses what is too much.",
    ),
    Key::new("hosts_burst", real(&TIME, 0.0, 1.0), "Lateness of departures that the next ones make up for.")
        .preset(Preset::Time(USUAL.burst)),
    Key::count("hosts_packets_max", (16, 1 << 24), USUAL.packets_max as u64, "Most packets that wait."),
    Key::count(
        "hosts_known_max",
        (1, 1 << 24),
        USUAL.hosts_max as u64,
        "Most hosts that are remembered while nothing of them waits.",
    ),
];

fn config(values: &Values) -> ShaperConfig {
    let find = Find {
        least: values.rate("hosts_rate_min"),
        most: values.rate("hosts_rate_max"),
        stands: values.span("hosts_stands"),
        probes: FOUND.probes,
    };
    ShaperConfig {
        rate: values.rate("hosts_rate"),
        find: (values.word::<Finds>("hosts_find") == Finds::Delay).then_some(find),
        by: values.word("hosts_by"),
        uploads: values.word("hosts_uploads"),
        reference: values.rate("hosts_link"),
        overhead: values.bytes("hosts_overhead"),
        quantum: values.count("hosts_quantum"),
        target: values.span("hosts_target"),
        interval: values.span("hosts_interval"),
        longest: values.span("hosts_longest"),
        burst: values.span("hosts_burst"),
        packets_max: values.size("hosts_packets_max"),
        hosts_max: values.size("hosts_known_max"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_pacing::FLOW_LAWS;

    #[test]
    fn the_defaults_are_the_shapers_own() {
        let behaviour = (PART.build)(&Values::defaults(PART.about.keys()), FLOW_LAWS[0]);
        assert_eq!(behaviour.shaper, Some(USUAL));
        assert!(behaviour.machine.is_none() && behaviour.hook.is_none());
    }
}
