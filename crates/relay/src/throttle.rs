//! Ingress throttling by path length and path density: a source lets its own data go no faster than their part of the
//! load that the shared region carries (schemes.md 4; Osipov and Tschudin 2005).

pub(crate) mod bound;
pub(crate) mod calibration;
pub(crate) mod gate;

pub use bound::{Bound, Counting, Density, Situation};
pub use gate::{Flows, Gate, GateKind};

use meshpace_keys::{Key, Kind, Preset, Real, Setting, Values, Whole};
use meshpace_units::Rate;
use meshpace_units::quantity::{RATE, RATIO};

/// The key of what load counts.
pub const COUNT: &str = "ot_count";
/// The key of the critical load.
pub const CRITICAL: &str = "ot_crit";
/// The key of the load correction factor.
pub const ALPHA: &str = "ot_alpha";
/// The key of the kind of gate.
pub const GATE: &str = "ot_gate";
/// The key of what competes.
pub const DENSITY: &str = "ot_rho";
/// The word for what the shipped tables have.
const TABLE: &str = "table";
/// The word for what the nodes of the way hear of.
const COUNTED: &str = "counted";
/// The word for what the simulator knows of all flows.
const ORACLE: &str = "oracle";

pub(crate) static KEYS: [Key; 7] = [
    Key::word(
        GATE,
        GateKind::WORDS,
        GateKind::Serial.word(),
        "Since when a packet's delay runs: the MAC's completion of the flow's packet before it, or that one's hand-over.",
    ),
    Key::new(
        CRITICAL,
        Kind::ChoiceOrWhole(&[TABLE], Whole { min: 1, max: 100_000_000_000, unit: Some(&RATE) }),
        "Critical load of a flow's data, L_TCP_crit; table: what one flow alone on a path of its length puts on the air at \
         2 Mbit/s, as shipped (1 to 9 hops, segments of 200 to 1,000 bytes; beyond, the nearest entry).",
    )
    .preset(Preset::Word(TABLE)),
    Key::new(
        ALPHA,
        Kind::ChoiceOrReal(&[TABLE], Real { unit: &RATIO, min: 0.0, max: 100.0, above: true }),
        "Load correction factor, alpha; table: with which so many flows of its length side by side load the air as one does, as \
         shipped (1 to 9 hops, 2 to 9 flows, segments of 600 bytes; beyond, the nearest entry); 1: no correction.",
    )
    .preset(Preset::Word(TABLE)),
    Key::new(
        "ot_N",
        Kind::ChoiceOrWhole(&[ORACLE, COUNTED], Whole { min: 1, max: 10_000, unit: None }),
        "Flows that share the region, this one included; oracle: those that go on now with a node of their way on this flow's \
         way or within range of it; counted: those whose data a node of the way sent or was in range of in the last whole 3 s.",
    )
    .preset(Preset::Word(ORACLE)),
    Key::word(
        DENSITY,
        Density::WORDS,
        Density::Own.word(),
        "Competing nodes: h(N - 1), those that send data, or (h + 1)(N - 1), all of the competitors'.",
    ),
    Key::word(
        COUNT,
        Counting::WORDS,
        Counting::Attempts.word(),
        "What load counts: each attempt of the MAC with 34 bytes more than the packet, or each packet once a hop with 28.",
    ),
    Key::flag(
        "ot_shared",
        false,
        "One gate for all flows of a source, so that others can use the part of a silent one.",
    ),
];

/// The gate that these values describe.
pub(crate) fn gate(values: &Values) -> Gate {
    let given = |key: &str| match values.get(key) {
        Some(Setting::Whole(number)) => Some(*number),
        _ => None,
    };
    let flows = match (given("ot_N"), values.get("ot_N")) {
        (Some(flows), _) => {
            Flows::Told(u32::try_from(flows).unwrap_or_else(|_| panic!("ot_N lets {flows} pass")))
        }
        (None, Some(Setting::Text(word))) if word == COUNTED => Flows::Counted,
        _ => Flows::Oracle,
    };
    let alpha = match values.get(ALPHA) {
        Some(Setting::Real(alpha)) => Some(*alpha),
        _ => None,
    };
    Gate {
        kind: values.word(GATE),
        flows,
        shared: values.flag("ot_shared"),
        bound: Bound {
            critical: given(CRITICAL).map(Rate::bits_per_sec),
            alpha,
            density: values.word(DENSITY),
            counting: values.word(COUNT),
        },
    }
}
