//! Parameters of parts.

use super::forms::{
    aging, bits, bytes, divisor, dupack, flag, real, samples, short_path, size, span, three, variation, whole,
};
use super::places::{
    ack_delay, control, delayed, fixed, gateway, initial, law, rto, sender, ssthresh, thresholds,
};
use super::{Kind, Param};
use meshpace_units::quantity::{RATE, RATIO, SIZE, TIME};

/// A parameter that is a field of a part: where the part is, how the field becomes a value and back.
macro_rules! row {
    ($part:ident, $key:literal, $kind:expr, $field:ident as $form:ident, $doc:literal) => {
        Param {
            key: $key,
            kind: $kind,
            doc: $doc,
            get: |scheme| Some($form::to($part::of(scheme)?.$field)),
            set: |scheme, value| {
                let value = $form::from(&value);
                $part::each(scheme, |part| part.$field = value);
                Ok(())
            },
        }
    };
}

pub(super) static ROWS: [Param; 37] = [
    row!(
        rto,
        "rto_initial",
        time(60.0),
        initial as span,
        "Retransmission timeout before the first round trip (schemes.md 16)."
    ),
    row!(
        rto,
        "rto_min",
        time(60.0),
        min as span,
        "Least retransmission timeout, before back-off (schemes.md 16)."
    ),
    row!(rto, "rto_max", time(3600.0), max as span, "Largest retransmission timeout (schemes.md 16)."),
    row!(
        sender,
        "ap_rto_backoff",
        Kind::Flag,
        rto_backoff as flag,
        "Whether a timeout doubles the next; not in TCP-AP (schemes.md 2, \"RTO back-off\")."
    ),
    row!(
        ssthresh,
        "initial_ssthresh",
        ratio(2.0, 1e6),
        segments as real,
        "Slow-start threshold before the first loss, segments; with tcp_profile = \"rfc\" there is none (schemes.md 16)."
    ),
    row!(
        delayed,
        "ack_segments",
        count(1, 1_000),
        segments as whole,
        "In-order segments for one delayed acknowledgement (RFC 1122, section 4.2.3.2)."
    ),
    row!(
        thresholds,
        "ack_thresholds",
        Kind::Ascending { count: 3, min: 1, max: 1 << 40 },
        thresholds as three,
        "Segment numbers from which on 2, 3 and 4 segments share an acknowledgement (schemes.md 7.1)."
    ),
    row!(
        ack_delay,
        "ack_delay",
        time(10.0),
        delay as span,
        "Longest wait of a delayed acknowledgement (schemes.md 7.1, 16)."
    ),
    row!(
        fixed,
        "fixed_rate",
        Kind::Whole { min: 1, max: 100_000_000_000, unit: Some(&RATE) },
        rate as bits,
        "The fixed rate; default: BYU's estimate for 5 flows on 9 hops (schemes.md 2.1, 5)."
    ),
    row!(
        fixed,
        "fixed_mtu",
        Kind::Whole { min: 1, max: 65_535, unit: Some(&SIZE) },
        mtu as bytes,
        "Bytes that every packet counts as, whatever its size (schemes.md 2.1)."
    ),
    row!(
        law,
        "alpha",
        Kind::Real { min: 0.0, max: 0.999, above: false, unit: &RATIO },
        alpha as real,
        "Weight of the old smoothed k-hop delay (schemes.md 2.2)."
    ),
    row!(
        law,
        "n",
        count(1, 64),
        n as whole,
        "Hops between a flow's packets: 4 for a carrier sensing range of 2.75 hops, H_cs + 1 in general (schemes.md 1.4, 2.2)."
    ),
    row!(
        law,
        "history",
        count(1, 10_000),
        history as size,
        "Samples for the variation (schemes.md 2, \"Constants\")."
    ),
    row!(
        law,
        "ap_short_path",
        Kind::Choice(&["h-hop", "one-hop", "n-hop"]),
        short_path as short_path,
        "The k-hop delay on a path of h < n hops: k = h, 1 or n (schemes.md 2, \"h < 4\")."
    ),
    row!(
        law,
        "ap_variation",
        Kind::Choice(&["cov", "mad"]),
        variation as variation,
        "Standard or mean absolute deviation, over the mean (schemes.md 2, \"cov estimator\")."
    ),
    row!(
        law,
        "ap_divisor",
        Kind::Choice(&["n-1", "n"]),
        divisor as divisor,
        "Divisor of the deviation, n being the samples held (schemes.md 2, \"cov estimator\")."
    ),
    row!(
        law,
        "ap_samples",
        Kind::Choice(&["rtt", "khd"]),
        samples as samples,
        "What the variation is of: round trips or k-hop delays (schemes.md 2, \"cov estimator\")."
    ),
    row!(
        law,
        "ap_clamp_queueing",
        Kind::Flag,
        clamp_queueing as flag,
        "Whether a negative queueing delay counts as zero (schemes.md 1.3, rule 5)."
    ),
    row!(
        law,
        "delaybound",
        time(60.0),
        delay_bound as span,
        "Samples with a k-hop delay from here on are rejected (schemes.md 1.3, rule 4)."
    ),
    row!(
        initial,
        "initial_interval",
        time(60.0),
        interval as span,
        "The sender's interval before the first sample (schemes.md 1.5)."
    ),
    row!(
        law,
        "ap_overhead_bytes",
        Kind::Whole { min: 0, max: 10_000, unit: Some(&SIZE) },
        overhead as bytes,
        "Header bytes on the air, also the size of a pure ACK (schemes.md 1.1)."
    ),
    row!(
        control,
        "gc_interval",
        time(3600.0),
        interval as span,
        "Time between two runs of goodput control (schemes.md 3.5)."
    ),
    row!(
        control,
        "gc_threshold",
        ratio(1.0, 1_000.0),
        threshold as real,
        "Share of the mean goodput above which a flow is throttled (schemes.md 3.5)."
    ),
    row!(
        control,
        "gc_aging",
        Kind::Choice(&["additive", "multiplicative"]),
        aging as aging,
        "How caps are relaxed (schemes.md 3.5)."
    ),
    row!(
        control,
        "gc_aging_factor",
        Kind::Real { min: 0.0, max: 1_000.0, above: true, unit: &RATIO },
        aging_factor as real,
        "The factor of the aging formula (schemes.md 3.5)."
    ),
    row!(
        control,
        "gc_improvement",
        ratio(1.0, 1_000.0),
        improvement as real,
        "Growth of the slow flows' goodput that justifies a cap (schemes.md 3.5)."
    ),
    row!(
        control,
        "gc_hold_off",
        count(0, 1_000_000),
        hold_off as whole,
        "Intervals without throttling after a useless one; doubles each time (schemes.md 3.5)."
    ),
    row!(
        control,
        "gc_hold_off_max",
        count(0, 1_000_000),
        hold_off_max as whole,
        "Most intervals without throttling (schemes.md 3.5)."
    ),
    row!(
        gateway,
        "gap_dupack",
        Kind::Choice(&["snoop", "literal", "off"]),
        dupack as dupack,
        "Duplicate ACKs from the mesh: repair from the cache, the paper to the letter, or forward (schemes.md 3.3)."
    ),
    row!(
        gateway,
        "gap_buffer_windows",
        count(1, 1_000),
        buffer_windows as whole,
        "Buffer of a flow in receiver windows, queue and cache together (schemes.md 3.1)."
    ),
    row!(
        gateway,
        "gap_buffer_total",
        Kind::Whole { min: 0, max: 1 << 50, unit: Some(&SIZE) },
        buffer_total as bytes,
        "Bytes in all queues and caches (schemes.md 3.1)."
    ),
    row!(gateway, "gap_held_max", count(0, 1 << 32), held_max as size, "Packets in all queues."),
    row!(gateway, "gap_flows_max", count(0, 1 << 31), flows_max as size, "Connections known."),
    row!(
        gateway,
        "gap_segments_max",
        count(0, 1 << 31),
        segments_max as size,
        "Segments remembered of one flow."
    ),
    row!(
        gateway,
        "gap_segments_total",
        count(0, 1 << 40),
        segments_total as size,
        "Segments remembered of all flows."
    ),
    row!(
        gateway,
        "gap_idle",
        time(1e6),
        idle as span,
        "Silence after which a flow is forgotten (schemes.md 3.1)."
    ),
    row!(
        gateway,
        "gap_late_tolerance",
        Kind::Real { min: 0.0, max: 1.0, above: false, unit: &TIME },
        late_tolerance as span,
        "Lateness of a departure that the next one makes up for (schemes.md 3.6)."
    ),
];

/// A time of at least a microsecond: shorter ones are typing errors, and zero would stop the clock.
const fn time(max: f64) -> Kind {
    Kind::Real { min: 1e-6, max, above: false, unit: &TIME }
}

const fn ratio(min: f64, max: f64) -> Kind {
    Kind::Real { min, max, above: false, unit: &RATIO }
}

const fn count(min: u64, max: u64) -> Kind {
    Kind::Whole { min, max, unit: None }
}
