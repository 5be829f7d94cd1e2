//! Scripted reports against the plain formulas.

use super::*;
use meshpace_pacing::{AdaptiveConfig, RateLaw};
use proptest::prelude::*;

const MBIT: u64 = 1_000_000;

fn way() -> GatewayPath {
    GatewayPath {
        by_address: vec![("10.1.2.0/24".parse().unwrap(), 2)],
        hops: 4,
        rate: Rate::bits_per_sec(2 * MBIT),
    }
}

fn flows() -> Flows {
    Flows::new(LawMaker::own(RateLaw::new(AdaptiveConfig::PAPER)), Span::from_millis(50), way())
}

fn report(cookie: u64, ms: u64, told: ReportKind) -> Report {
    Report {
        at: Instant::from_nanos(ms * 1_000_000),
        cookie: Cookie(cookie),
        ends: Ends { local: "10.1.9.9:1000".parse().unwrap(), remote: "192.0.2.1:80".parse().unwrap() },
        mss: Bytes(1460),
        told,
    }
}

const OPENED: ReportKind = ReportKind::Opened { adopted: false };

fn sample(rtt_ms: u64, wired_ms: Option<u64>) -> ReportKind {
    ReportKind::Sample { rtt: Span::from_millis(rtt_ms), rtt_wired: wired_ms.map(Span::from_millis) }
}

/// The order to the kernel after this report: bytes a second, and whether the flow is to be quiet.
fn order(flows: &mut Flows, report: &Report) -> Option<(Option<u64>, bool)> {
    flows.handle_report(report);
    let order = flows.poll_order();
    assert_eq!(flows.poll_order(), None, "one order a report");
    order.map(|(cookie, order)| {
        assert_eq!(cookie, report.cookie);
        (order.limit.map(|limit| limit.as_bits_per_sec() / 8), order.quiet)
    })
}

#[test]
fn the_initial_interval_and_then_the_law() {
    let mut flows = flows();
    // schemes.md 1.5: 0.05 s a packet of 1,460 bytes.
    assert_eq!(order(&mut flows, &report(1, 0, OPENED)), Some((Some(29_200), false)));
    // schemes.md 1.4: RTT_wireless 40 ms, h = 4, b = 2 Mbit/s: FHD = 31.68 ms; 1460 bytes / 31.68 ms.
    assert_eq!(order(&mut flows, &report(1, 60, sample(60, Some(20)))), Some((Some(46_085), true)));
    // The same again: the same rate, nothing to order.
    assert_eq!(order(&mut flows, &report(1, 120, sample(60, Some(20)))), None);
}

#[test]
fn without_a_gateway_the_third_acknowledgement_lifts_the_limit() {
    let mut flows = flows();
    order(&mut flows, &report(1, 0, OPENED));
    assert_eq!(order(&mut flows, &report(1, 50, sample(50, None))), None);
    assert_eq!(order(&mut flows, &report(1, 100, sample(50, None))), None);
    assert_eq!(order(&mut flows, &report(1, 150, sample(50, None))), Some((None, true)));
    assert_eq!(order(&mut flows, &report(1, 200, sample(50, None))), None);
    // A gateway that appears later is believed.
    assert_eq!(order(&mut flows, &report(1, 250, sample(60, Some(20)))), Some((Some(46_085), true)));
}

#[test]
fn differences_that_are_not_positive_and_impossible_delays_change_nothing() {
    let mut flows = flows();
    order(&mut flows, &report(1, 0, OPENED));
    order(&mut flows, &report(1, 60, sample(60, Some(20))));
    for wired in [60, 61, 65_535] {
        assert_eq!(order(&mut flows, &report(1, 120, sample(60, Some(wired)))), None);
    }
    // 2 s over 4 hops: FHD = 1.01 s, above the bound of 0.5 s (schemes.md 1.3, rule 4).
    assert_eq!(order(&mut flows, &report(1, 2_000, sample(2_000, Some(0)))), None);
    let (_, flow) = flows.iter().next().unwrap();
    assert_eq!(
        {
            let law = flow.law.rate_law().expect("TCP-GAP's");
            (flow.discarded, law.rejected(), law.samples())
        },
        (3, 1, 1)
    );
}

#[test]
fn connections_that_are_older_are_not_slowed_down_to_learn_about_them() {
    let mut flows = flows();
    assert_eq!(order(&mut flows, &report(1, 0, ReportKind::Opened { adopted: true })), None);
    // The opening of connection 2 found the ring full.
    assert_eq!(order(&mut flows, &report(2, 60, sample(60, Some(20)))), Some((Some(46_085), true)));
    assert!(flows.iter().all(|(_, flow)| flow.adopted));
}

#[test]
fn the_hops_are_those_of_this_hosts_address() {
    let mut flows = flows();
    let mut near = report(1, 0, OPENED);
    near.ends.local = "10.1.2.3:1000".parse().unwrap();
    order(&mut flows, &near);
    near.told = sample(40, Some(20));
    // schemes.md 1.4: RTT_wireless 20 ms, h = 2: KHD = 15.84 ms.
    assert_eq!(order(&mut flows, &near), Some((Some(92_171), true)));
}

#[test]
fn an_end_ends_it() {
    let mut flows = flows();
    order(&mut flows, &report(1, 0, OPENED));
    order(&mut flows, &report(2, 0, OPENED));
    assert_eq!(order(&mut flows, &report(1, 10, ReportKind::Closed)), None);
    flows.forget(Cookie(2));
    assert_eq!(flows.iter().count(), 0);
}

proptest! {
    /// Whatever a gateway, or a host that pretends to be one, writes: the limit stays between what the law's bounds allow.
    #[test]
    fn nonsense_is_bounded(samples in proptest::collection::vec((1u64..4_000_000, proptest::option::of(0u64..=65_535)), 1..200)) {
        let mut flows = flows();
        flows.handle_report(&report(1, 0, OPENED));
        for (rtt_us, wired_ms) in samples {
            let told = ReportKind::Sample {
                rtt: Span::from_micros(rtt_us),
                rtt_wired: wired_ms.map(Span::from_millis),
            };
            flows.handle_report(&report(1, 0, told));
            let (_, flow) = flows.iter().next().unwrap();
            // Not faster than four transmissions of the segment, schemes.md 1.3 rule 5: 4 * 12,224 bit / 2 Mbit/s.
            // Not slower than 0.5 s * (1 + 2 cov), and the cov of 50 positive samples is at most sqrt(50).
            if let Some(limit) = flow.limit() {
                prop_assert!(limit.as_bits_per_sec() <= 1460 * 8 * 1_000_000 / 24_448, "{limit:?}");
                prop_assert!(limit.as_bits_per_sec() >= 1460 * 8 * 10 / 76, "{limit:?}");
            } else {
                prop_assert!(!matches!(flow.part, WirelessPart::Unknown { .. }), "lifted only after three without");
            }
        }
    }

    #[test]
    fn limits_are_rounded_down(mss in 1u64..65_536, ns in 1u64..10_000_000_000) {
        let rate = limit(Bytes(mss), Span::from_nanos(ns)).unwrap();
        let bits = u128::from(rate.as_bits_per_sec()) * u128::from(ns);
        let exact = u128::from(mss) * 8 * 1_000_000_000;
        prop_assert!(bits <= exact && exact < bits + u128::from(ns));
    }
}
