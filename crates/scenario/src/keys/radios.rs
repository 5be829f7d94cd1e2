//! The channel of a radio, and the radios of a node.

use crate::limits::{MAX_RATE, MIN_RATE};
use meshpace_settings::{Key, Kind, Section, real_number as real, whole};
use meshpace_units::quantity::{FREQUENCY, RATE};

/// 1 to 14 in the band of 2.4 GHz, 32 to 177 in that of 5 GHz.
const CHANNEL: Kind = whole(1, 177);
static ONE_CHANNEL: Kind = CHANNEL;

pub(super) const OF_RADIO: Key = Key::new(
    "channel",
    CHANNEL,
    "Channel of the first radio of every mesh node, by its number: 1 to 14 at 2.4 GHz, from 32 on at 5 GHz; from 802.11n on instead of frequency. \
     By default 1 or 36; where it is not given, nor frequency, a node with [[node.radio]] has those radios alone.",
);

pub(super) const OF_LINK: [Key; 2] = [
    Key::new(
        "channel",
        CHANNEL,
        "The channel that this holds on, by number; by default, every one that both nodes have a radio on.",
    ),
    Key::new(
        "frequency",
        real(&FREQUENCY, 2.4e9, 7.2e9),
        "The same by the channel's centre, in whole MHz; instead of channel.",
    ),
];

pub(super) const OF_CHAIN: Key = Key::new(
    "channels",
    Kind::List(&ONE_CHANNEL, 1, 16),
    "Channels of the hops in turn, from n0 on: a node has a radio on that of the hop behind it and, unless they are the same, one on that of \
     the hop before it, whatever [radio] says. By default all are on the channel of [radio].",
);

pub(super) const NODE_RADIO_DOC: &str = "Radios of this node: further ones where [radio] gives a channel or frequency, else all that it has. \
     Radios on different channels, adjacent ones included, do not hear each other.";

pub(super) static NODE_RADIO: Section = Section {
    doc: "A radio of the node, on a channel of its own. What its table does not say is as [radio] says.",
    more: &[],
    keys: &[
        Key::new("channel", CHANNEL, "Its channel by number, or frequency says it."),
        Key::new(
            "frequency",
            real(&FREQUENCY, 2.4e9, 7.2e9),
            "Centre of its channel, in whole MHz; radios at the same one are on one channel.",
        ),
        Key::new("rate", real(&RATE, MIN_RATE, MAX_RATE), "Rate of its unicast data."),
        Key::new(
            "mcs",
            whole(0, 255),
            "Modulation, code and streams of its unicast data, where the standard has mcs.",
        ),
        Key::new("streams", whole(1, 8), "Its spatial streams, where the standard has streams."),
        Key::new(
            "width",
            Kind::Text,
            "Width of its channel, the same for all radios there, where the standard has width.",
        ),
    ],
};
