//! What is set reaches the parts, or is refused by its place.

use super::{flow, scheme, settings};
use meshpace_gateway::{Config as GatewayConfig, DupAck};
use meshpace_keys::{RawValue, Setting};
use meshpace_pacing::{AdaptiveConfig, Aging, GoodputControlConfig, Variation};
use meshpace_schemes::{Catalogue, names};
use meshpace_tcp::{DynamicDelayed, RtoConfig};
use meshpace_units::Span;

/// Of two keys that bound a rate, in whatever order they come; the one that was given is named.
#[test]
fn an_upper_bound_below_the_lower_one_is_refused() {
    let mut hosts = scheme("linux-cubic");
    hosts.set("gateway", &"hosts".into()).expect("it is one of its parts");
    let (low, high) = (RawValue::from("2Mbps"), RawValue::from("1Mbps"));
    let both = [("hosts_rate_max", &high), ("hosts_rate_min", &low)];
    let (index, error) = hosts.set_all(both).expect_err("they are the wrong way round");
    let said = "hosts_rate_max: found \"1Mbps\"; allowed: hosts_rate_min no more than hosts_rate_max, here 2000000 and 1000000";
    assert_eq!((index, error.to_string().as_str()), (0, said));
    let error = hosts.set("hosts_rate_min", &"2Gbps".into()).expect_err("more than the default");
    assert_eq!(error.key, "hosts_rate_min");
    hosts.set_all([("hosts_rate_min", &high), ("hosts_rate_max", &low)]).expect("the right way round");
    assert_eq!(hosts.get("hosts_rate_max"), Some(Setting::Whole(2_000_000)));
}

#[test]
fn settings_reach_the_parts() {
    let mut gap = scheme("tcp-gap");
    for (key, value) in [
        ("alpha", RawValue::Float(0.5)),
        ("n", RawValue::Integer(3)),
        ("ap_variation", "mad".into()),
        ("initial_interval", "20ms".into()),
        ("gc_interval", RawValue::Integer(10)),
        ("gc_aging", "multiplicative".into()),
        ("gap_dupack", "literal".into()),
        ("gap_buffer_total", "1MiB".into()),
        ("rto_min", RawValue::Float(0.3)),
        ("initial_ssthresh", RawValue::Integer(64)),
    ] {
        gap.set(key, &value).unwrap_or_else(|error| panic!("{error}"));
    }
    let law = AdaptiveConfig { alpha: 0.5, n: 3, variation: Variation::Mad, ..AdaptiveConfig::PAPER };
    let sender_law = AdaptiveConfig { initial_interval: Some(Span::from_millis(20)), ..law };
    assert_eq!(AdaptiveConfig::from_values(&gap.values(gap.choice("pacing"))), sender_law);
    let control = GoodputControlConfig {
        interval: Span::from_secs(10),
        aging: Aging::Multiplicative,
        ..GoodputControlConfig::PAPER
    };
    let gateway = GatewayConfig {
        goodput_control: Some(control),
        dupack: DupAck::Literal,
        buffer_total: meshpace_units::Bytes(1 << 20),
        ..GatewayConfig::PAPER
    };
    let made_of = gap.gateway().machine.expect("it acts");
    assert_eq!(made_of.config, gateway);
    let paces = made_of.law.fresh().rate_law().map(|law| *law.config());
    assert_eq!(paces, Some(AdaptiveConfig { initial_interval: None, ..law }));
    assert!(
        matches!(gap.sender(&flow(true)).rto, RtoConfig::Ticks(ticks) if ticks.min == Span::from_millis(300))
    );
    assert_eq!(gap.sender(&flow(true)).control.ssthresh(), Some(64.0));

    // FeW's window is to stay where the last loss put it: no threshold before that (schemes.md 6), whatever the profile.
    let mut few = scheme("few");
    assert_eq!(few.sender(&flow(true)).control.ssthresh(), Some(1e6));
    few.set("tcp_profile", &"rfc".into()).unwrap();
    assert_eq!(few.sender(&flow(true)).control.ssthresh(), None);

    let mut fixed = scheme("fixed-rate");
    for rate in [RawValue::Integer(500_000), RawValue::Float(5e5), "0.5Mbps".into()] {
        fixed.set("fixed_rate", &rate).unwrap();
        assert_eq!(fixed.get("fixed_rate"), Some(Setting::Whole(500_000)));
    }

    let mut acks = scheme("newreno-dynack");
    acks.set("ack_thresholds", &RawValue::List([3, 6, 12].map(RawValue::Integer).into())).unwrap();
    acks.set("ack_delay", &"40ms".into()).unwrap();
    let delay = Span::from_millis(40);
    let policy = DynamicDelayed { thresholds: [3, 6, 12], delay, ..DynamicDelayed::PAPER };
    assert_eq!(format!("{:?}", acks.receiver(&flow(true)).acknowledgements), format!("{policy:?}"));
}

#[test]
fn errors_say_what_was_found_and_what_is_allowed() {
    let error = |name: &str, key: &str, value: RawValue| {
        let mut scheme = scheme(name);
        let before = scheme.clone();
        let error = scheme.set(key, &value).expect_err("not acceptable");
        assert_eq!(scheme, before, "unchanged");
        error.to_string()
    };
    assert_eq!(
        error("tcp-gap", "alpha", RawValue::Float(1.5)),
        "alpha: found 1.5; allowed: a number from 0 to 0.999"
    );
    assert_eq!(
        error("tcp-gap", "gc_interval", "5 m".into()),
        "gc_interval: found \"5 m\"; allowed: a time from 0.000001 s to 3600 s, such as \"200s\""
    );
    assert_eq!(
        error("tcp-gap", "gap_dupack", "Snoop".into()),
        "gap_dupack: found \"Snoop\"; allowed: snoop, literal, off"
    );
    assert_eq!(
        error("tcp-gap", "history", RawValue::Float(2.5)),
        "history: found 2.5; allowed: a whole number from 1 to 10000"
    );
    assert_eq!(
        error("newreno", "gc_interval", RawValue::Integer(5)),
        "gc_interval: found a parameter of other schemes; allowed: the parameters of newreno: congestion, tcp_profile, \
         recovery, pacing, ack_policy, relay, gateway, rto_initial, rto_min, rto_max, rto_backoff_max, \
         initial_ssthresh, window_cut, ecn, ap_rto_backoff"
    );
    assert!(
        error("newreno", "windw", RawValue::Integer(5))
            .starts_with("windw: found no such parameter; allowed:")
    );
    let message = error("tcp-ap-ns2-2005", "tcp_profile", "rfc".into());
    assert_eq!(
        message,
        "tcp_profile: found pacing = \"agent\" beside tcp_profile = \"rfc\"; allowed: tcp_profile = \"ns2\" beside it"
    );
    assert!(
        error("newreno-dynack", "ack_thresholds", RawValue::List(vec![RawValue::Integer(3)]))
            .contains("a list of 3, ascending")
    );
}

#[test]
fn a_scenario_changes_a_scheme_and_makes_new_ones_in_any_order() {
    let catalogue = Catalogue::new(&settings(&[
        ("slower", "alpha", RawValue::Float(0.9)),
        ("slower", "base", "mine".into()),
        ("mine", "gc_interval", "2s".into()),
        ("mine", "base", "tcp-gap".into()),
        ("tcp-gap", "history", RawValue::Integer(20)),
    ]))
    .unwrap();
    let slower = catalogue.get("slower").unwrap();
    assert_eq!(slower.get("alpha"), Some(Setting::Real(0.9)));
    assert_eq!(slower.get("gc_interval"), Some(Setting::Real(2.0)));
    assert_eq!(slower.get("history"), Some(Setting::Whole(20)), "from the changed built-in scheme");
    assert_eq!(catalogue.get("tcp-gap").unwrap().get("gc_interval"), Some(Setting::Real(5.0)));
    assert_eq!(catalogue.iter().count(), names().count() + 2);
    let unknown = catalogue.get("tcp-gab").unwrap_err().to_string();
    assert!(unknown.contains("found scheme \"tcp-gab\"") && unknown.contains("tcp-gap-nogc"), "{unknown}");
}

#[test]
fn a_new_composition_chooses_its_parts_first_whatever_the_order() {
    let catalogue = Catalogue::new(&settings(&[
        ("mine", "gc_threshold", RawValue::Float(1.3)),
        ("mine", "alpha", RawValue::Float(0.8)),
        ("mine", "gateway", "pacing+goodput-control".into()),
        ("mine", "pacing", "wireless-khd".into()),
        ("mine", "congestion", "tahoe".into()),
        ("mine", "base", "newreno".into()),
    ]))
    .unwrap();
    let mine = catalogue.get("mine").unwrap();
    assert_eq!(mine.parts(), "tahoe, wireless-khd; every; drop-tail; pacing+goodput-control");
    assert_eq!(mine.gateway().machine.unwrap().law.fresh().rate_law().unwrap().config().alpha, 0.8);
    assert_eq!(mine.get("gc_threshold"), Some(Setting::Real(1.3)));
}

#[test]
fn a_wrong_setting_is_named_by_its_place() {
    let at = |lines: &[(&str, &str, RawValue)]| {
        let error = Catalogue::new(&settings(lines)).unwrap_err();
        (error.index, error.to_string())
    };
    let (index, message) =
        at(&[("tcp-gap", "alpha", RawValue::Float(0.5)), ("tcp-gap", "alfa", RawValue::Float(0.5))]);
    assert_eq!(index, 1);
    assert!(message.starts_with("[scheme.tcp-gap]: alfa: found no such parameter"), "{message}");
    let (index, message) = at(&[("tcp-ap", "n", RawValue::Integer(3)), ("mine", "n", RawValue::Integer(3))]);
    assert_eq!(index, 1);
    assert!(
        message.contains("base: found no base; allowed: the name of another scheme: tahoe, "),
        "{message}"
    );
    let (index, message) = at(&[("a", "base", "b".into()), ("b", "base", "a".into())]);
    assert_eq!(index, 0);
    assert!(message.contains("found \"b\"; allowed: a scheme that does not depend on this one"), "{message}");
    let (_, message) = at(&[("a", "base", RawValue::Integer(1))]);
    assert!(message.contains("base: found 1"), "{message}");
    let (_, message) = at(&[("tcp-gap", "base", "newreno".into())]);
    assert!(message.contains("base: found no such parameter"), "a built-in scheme is what it is: {message}");
}
