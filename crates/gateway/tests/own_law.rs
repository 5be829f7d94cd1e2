//! A law of the driver's in place of the configured one: the queue, the repairs and goodput control's cap stay.

use crate::common::*;
use meshpace_gateway::{Config, OwnLaw, OwnLawFactory, Side, Spacing, WirelessTrip};
use meshpace_units::Span;
use std::sync::Arc;

/// Answers by the round trip alone: short ones change nothing, long ones unpace.
#[derive(Debug)]
struct Half;

impl OwnLaw for Half {
    fn on_round_trip(&mut self, trip: &WirelessTrip<'_>) -> Spacing {
        assert_eq!((trip.route.hops, trip.segment.0), (Some(4), u64::from(MSS)));
        match trip.rtt.as_nanos() / 1_000_000 {
            0..30 => Spacing::AsBefore,
            30..100 => Spacing::Every(trip.rtt / 2),
            _ => Spacing::Unpaced,
        }
    }
}

fn script(config: Config) -> Script {
    let mut script = Script::new(config);
    script.gateway.pace_by(OwnLawFactory(Arc::new(|| Box::new(Half))));
    script.handshake();
    script
}

#[test]
fn its_answers_are_the_pace_and_the_configured_law_hears_nothing() {
    let mut s = script(config());
    let base = s.sample(0, 40);
    let stats = s.stats();
    assert_eq!(stats.interval, Some(Span::from_millis(20)));
    assert_eq!((stats.k_hop_delay, stats.samples), (None, (0, 0)), "unknown, not the built-in law's");
    assert_eq!(stats.wireless_rtt, Some(Span::from_millis(40)), "measured all the same");
    // The token is back at 20 ms, so the first packet passes at 40 ms and the others leave 20 ms apart.
    let packets: Vec<_> = (0..3).map(|i| s.down(base + i * MSS, MSS, 0)).collect();
    s.forwards(Side::Wired, &packets[0]);
    let held: Vec<_> = packets[1..].iter().map(|p| s.holds(p)).collect();
    assert_eq!(s.run_until(ms(200)), [(ms(60), held[0]), (ms(80), held[1])]);
}

#[test]
fn it_may_say_nothing_or_hold_nothing_back() {
    let mut s = script(Config {
        law: meshpace_pacing::AdaptiveConfig {
            initial_interval: Some(Span::from_millis(50)),
            ..config().law
        },
        ..config()
    });
    let base = s.sample(0, 20);
    assert_eq!(s.stats().interval, Some(Span::from_millis(50)), "the configured one until it speaks");
    s.now = ms(100);
    let base = s.sample(base, 40);
    assert_eq!(s.stats().interval, Some(Span::from_millis(20)));
    s.now = ms(300);
    s.sample(base, 150);
    assert_eq!(s.stats().interval, None);
}
