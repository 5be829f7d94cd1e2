//! The table of compositions, its parameters, and what a scenario file makes of them.

use meshpace_gateway::{Config as GatewayConfig, DupAck};
use meshpace_keys::{Kind, RawValue, Setting, Values};
use meshpace_pacing::{AdaptiveConfig, Aging, GoodputControlConfig, HopSource, Variation};
use meshpace_schemes::{
    Catalogue, FlowEnd, Scheme, SchemeSetting, lookup, names, parameters, places, schema,
};
use meshpace_settings::default_setting;
use meshpace_tcp::control::{Agent, Fixed, InitialWindow, Khd, PacingView, Rules, Tahoe, WirelessKhd};
use meshpace_tcp::{Config, DynamicDelayed, HeaderSize, RtoConfig};
use meshpace_units::Span;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn scheme(name: &str) -> Scheme {
    lookup(name).unwrap_or_else(|| panic!("there is no scheme {name}"))
}

fn settings(lines: &[(&str, &str, RawValue)]) -> Vec<SchemeSetting> {
    let setting = |(scheme, key, value): &(&str, &str, RawValue)| SchemeSetting {
        scheme: (*scheme).to_owned(),
        key: (*key).to_owned(),
        value: value.clone(),
    };
    lines.iter().map(setting).collect()
}

fn flow(from_mesh: bool) -> FlowEnd {
    FlowEnd { segment: 1460, window: 64, from_mesh }
}

/// The parts of an endpoint, configuration and all. Nothing compares controls but tests.
fn written(config: &Config) -> String {
    format!("{config:?}")
}

#[test]
fn the_table() {
    let parts: Vec<_> = names().map(|name| (name, scheme(name).parts())).collect();
    let expected = [
        ("tahoe", "tahoe, none; every; drop-tail; none"),
        ("newreno", "newreno, none; every; drop-tail; none"),
        ("tahoe-rfc", "tahoe, none; delayed; drop-tail; none"),
        ("newreno-rfc", "newreno, none; delayed; drop-tail; none"),
        ("sack-rfc", "sack, none; delayed; drop-tail; none"),
        ("cubic", "cubic, none; delayed; drop-tail; none"),
        ("newreno-delack", "newreno, none; delayed; drop-tail; none"),
        ("newreno-dynack", "newreno, none; dynamic-delayed; drop-tail; none"),
        ("fixed-rate", "newreno, fixed; every; drop-tail; none"),
        ("tcp-ap", "newreno, khd; every; drop-tail; none"),
        ("tcp-ap-ns2-2005", "newreno, agent; every; drop-tail; none"),
        ("tcp-gap", "newreno, wireless-khd; every; drop-tail; pacing+goodput-control"),
        ("tcp-gap-nogc", "newreno, wireless-khd; every; drop-tail; pacing"),
        ("tcp-ap-n1", "newreno, khd; every; drop-tail; none"),
        ("tcp-ap-n2", "newreno, khd; every; drop-tail; none"),
        ("tcp-ap-n3", "newreno, khd; every; drop-tail; none"),
        ("tcp-ap-n4", "newreno, khd; every; drop-tail; none"),
        ("tcp-ap-n5", "newreno, khd; every; drop-tail; none"),
        ("tcp-ap-n6", "newreno, khd; every; drop-tail; none"),
        ("tcp-ap-n7", "newreno, khd; every; drop-tail; none"),
        ("tcp-ap-n8", "newreno, khd; every; drop-tail; none"),
        ("oid", "newreno, oid; every; drop-tail; none"),
        ("few", "few, none; every; drop-tail; none"),
        ("dynack-ap", "newreno, khd; dynamic-delayed; drop-tail; none"),
        ("tcp-daa", "daa, none; daa; drop-tail; none"),
        ("tcp-ada", "newreno, none; ada; drop-tail; none"),
        ("llap", "newreno, none; every; llap; none"),
        ("llap-letter", "newreno, none; every; llap; none"),
        ("split", "newreno, none; every; split; none"),
        ("throttle", "newreno, none; every; throttle; none"),
        ("xcp", "xcp, none; every; xcp; none"),
        ("rcp", "rcp, none; every; rcp; none"),
        ("tcp-ap-winf", "newreno, winf-khd; every; winf; none"),
        ("we-tcp-ap", "newreno, winf-khd; every; winf; none"),
        ("xcp-b", "xcp, none; every; xcp-b; none"),
        ("xcp-winf", "xcp, none; every; xcp-winf; none"),
        ("rcp-winf", "rcp, none; every; rcp-winf; none"),
        ("wcp", "wcp, none; every; wcp; none"),
        ("wcpcap", "wcpcap, none; every; wcpcap; none"),
    ];
    assert_eq!(parts, expected.map(|(name, parts)| (name, parts.to_owned())));
    assert_eq!(lookup("tcp-gab"), None);
}

#[test]
fn the_papers_baseline_is_ns2s_newreno() {
    let newreno = scheme("newreno");
    assert_eq!(written(&newreno.sender(&flow(true))), written(&Config::ns2()));
    assert_eq!(written(&newreno.receiver(&flow(true))), written(&Config::ns2()));
}

#[test]
fn pacing_is_at_the_sender_that_the_scheme_means() {
    let sender = |name: &str, from_mesh| written(&scheme(name).sender(&flow(from_mesh)));
    let endpoint = |name: &str| scheme(name).receiver(&flow(true));
    let gap = WirelessKhd::new(AdaptiveConfig::PAPER, HopSource::Ack);
    assert_eq!(sender("tcp-gap", true), written(&endpoint("tcp-gap").paced_by(gap)));
    assert_eq!(sender("tcp-gap", false), written(&endpoint("tcp-gap")), "no change at wired hosts");
    assert_eq!(
        sender("tcp-ap", true),
        written(&endpoint("tcp-ap").paced_by(Khd::new(AdaptiveConfig::PAPER)))
    );
    let agent = endpoint("tcp-ap-ns2-2005").paced_by(Agent::new(AdaptiveConfig::NS2_2005));
    assert_eq!(sender("tcp-ap-ns2-2005", true), written(&agent));
    // 12,000 bit at 250 kbit/s.
    let fixed = endpoint("fixed-rate").paced_by(Fixed::new(Span::from_millis(48)));
    assert_eq!(sender("fixed-rate", true), written(&fixed));
    // RCP and WCP have a pace instead of a window.
    for name in names().filter(|name| !name.starts_with("rcp") && !name.starts_with("wcp")) {
        assert_eq!(endpoint(name).control.pace(meshpace_units::Instant::ZERO), None, "{name}");
    }
}

#[test]
fn only_tcp_ap_keeps_its_timeout() {
    for name in names() {
        let backs_off = scheme(name).sender(&flow(true)).rto_backoff;
        let adaptive = name.starts_with("tcp-ap") || ["oid", "dynack-ap", "we-tcp-ap"].contains(&name);
        assert_eq!(backs_off, !adaptive, "{name}");
    }
}

#[test]
fn the_rfc_profile_has_real_headers_and_the_receivers_window() {
    let config = scheme("newreno-rfc").sender(&flow(true));
    assert_eq!((config.headers, config.window, config.receive_buffer), (HeaderSize::Real, None, 64 * 1460));
    assert!(matches!(config.rto, RtoConfig::Smoothed(_)) && config.timestamps);
    let tahoe = scheme("tahoe-rfc").sender(&flow(true)).control;
    assert_eq!(format!("{tahoe:?}"), format!("{:?}", Tahoe::new(Rules::RFC)));
}

#[test]
fn every_parameter_of_every_scheme_takes_its_own_value() {
    for name in names() {
        let before = scheme(name);
        let mut after = before.clone();
        for (param, value) in before.parameters() {
            after.set(param.name, &param.kind.raw(&value)).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(after.get(param.name), Some(value), "{name}: {}", param.name);
        }
        assert_eq!(after, before);
    }
}

/// What the rest relies on, of every part there is.
#[test]
fn every_part_keeps_to_the_tables() {
    let mut known: BTreeMap<&str, String> = BTreeMap::new();
    for place in places() {
        let words: Vec<_> = place.choices().iter().map(|choice| choice.word).collect();
        let distinct: BTreeSet<_> = words.iter().collect();
        assert_eq!(distinct.len(), words.len(), "{}: {words:?}", place.key);
        for choice in place.choices() {
            let at = format!("{} = {:?}", place.key, choice.word);
            assert!(choice.doc.ends_with('.') && !choice.source.is_empty(), "{at}");
            for key in choice.keys() {
                let default =
                    default_setting(key).unwrap_or_else(|| panic!("{at}: {} has no default", key.name));
                assert_eq!(
                    Values::defaults(choice.keys()).get(key.name),
                    Some(&default),
                    "{at}: {}",
                    key.name
                );
                // A key that several parts have is one parameter of a scheme: it means the same everywhere.
                let meaning = format!("{:?} {}", key.kind, key.doc);
                assert_eq!(
                    *known.entry(key.name).or_insert_with(|| meaning.clone()),
                    meaning,
                    "{at}: {}",
                    key.name
                );
            }
            for need in choice.needs {
                let other = places().iter().find(|place| place.key == need.key).expect(need.key).choices();
                assert!(
                    need.words.iter().all(|word| other.iter().any(|choice| choice.word == *word)),
                    "{at}: {need:?}"
                );
            }
            let mut scheme = scheme("newreno");
            let needed = choice.needs.iter().map(|need| (need.key, RawValue::from(need.words[0])));
            let settings: Vec<_> = needed.chain([(place.key, RawValue::from(choice.word))]).collect();
            let set = scheme.set_all(settings.iter().map(|(key, value)| (*key, value)));
            set.unwrap_or_else(|(_, error)| panic!("{at}: {error}"));
            assert_eq!(scheme.choice(place.key).word, choice.word);
            let ends =
                [scheme.sender(&flow(true)), scheme.sender(&flow(false)), scheme.receiver(&flow(true))];
            assert!(ends.iter().all(|end| end.mss == 1460), "{at}");
            assert_eq!(scheme.gateway().is_none(), scheme.choice("gateway").word == "none", "{at}");
        }
    }
    let keys: BTreeSet<_> = parameters().map(|param| param.name).collect();
    assert_eq!(keys.len(), parameters().count(), "a parameter stands once");
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
        law: AdaptiveConfig { initial_interval: None, ..law },
        goodput_control: Some(control),
        dupack: DupAck::Literal,
        buffer_total: meshpace_units::Bytes(1 << 20),
        ..GatewayConfig::PAPER
    };
    assert_eq!(gap.gateway(), Some(gateway));
    assert!(
        matches!(gap.sender(&flow(true)).rto, RtoConfig::Ticks(ticks) if ticks.min == Span::from_millis(300))
    );
    assert_eq!(gap.sender(&flow(true)).control.ssthresh(), Some(64.0));

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
         pacing, ack_policy, relay, gateway, rto_initial, rto_min, rto_max, rto_backoff_max, \
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
    assert_eq!(mine.gateway().unwrap().law.alpha, 0.8);
    assert_eq!(mine.get("gc_threshold"), Some(Setting::Real(1.3)));
}

#[test]
fn the_profile_brings_its_whole_law() {
    let catalogue = Catalogue::new(&settings(&[
        ("mine", "base", "tcp-ap".into()),
        ("mine", "alpha", RawValue::Float(0.6)),
        ("mine", "profile", "ns2-2005".into()),
    ]))
    .unwrap();
    let law = AdaptiveConfig { alpha: 0.6, ..AdaptiveConfig::NS2_2005 };
    let mine = catalogue.get("mine").unwrap();
    assert_eq!(mine.choice("pacing").word, "agent");
    assert_eq!(AdaptiveConfig::from_values(&mine.values(mine.choice("pacing"))), law);
    let mut back = scheme("tcp-ap-ns2-2005");
    back.set("profile", &"paper".into()).unwrap();
    assert_eq!(written(&back.sender(&flow(true))), written(&scheme("tcp-ap").sender(&flow(true))));
}

#[test]
fn wifus_profiles_are_parts_with_their_own_defaults() {
    let with = |name: &str, profile: &str| {
        let mut scheme = scheme(name);
        scheme.set("profile", &profile.into()).unwrap();
        scheme
    };
    let paced = with("tcp-ap-n2", "byu-literal");
    let law = AdaptiveConfig { n: 2, ..AdaptiveConfig::WIFU };
    assert_eq!(
        AdaptiveConfig::from_values(&paced.values(paced.choice("pacing"))),
        law,
        "n stays as it was said"
    );
    assert!(paced.sender(&flow(true)).rto_backoff, "WiFu doubles its timeouts");
    assert_eq!(with("dynack-ap", "byu-literal").parts(), "newreno, wifu-khd; wifu-delayed; drop-tail; none");
    assert_eq!(
        with("newreno-dynack", "wifu-head").parts(),
        "newreno, none; wifu-head-delayed; drop-tail; none"
    );
    let mut back = with("dynack-ap", "byu-literal");
    back.set("profile", &"clean".into()).unwrap();
    assert_eq!(written(&back.sender(&flow(true))), written(&scheme("dynack-ap").sender(&flow(true))));
    assert_eq!(scheme("newreno").get("profile"), None, "there is but one of it");
}

#[test]
fn the_tcp_of_the_thesis() {
    let mut tahoe = scheme("tahoe");
    tahoe.set("tcp_profile", &"wifu".into()).unwrap();
    assert_eq!(written(&Config { receive_buffer: 64 * 1460, ..Config::wifu() }), {
        let sender = tahoe.sender(&flow(true));
        written(&Config { reading: Config::wifu().reading, ..sender })
    });
    tahoe.set("wifu_initial_window", &RawValue::Integer(3)).unwrap();
    tahoe.set("wifu_duplicates", &RawValue::Integer(4)).unwrap();
    let rules = Rules { initial_window: InitialWindow::Segments(3.0), duplicate_threshold: 4, ..Rules::WIFU };
    assert_eq!(written_control(&tahoe), format!("{:?}", Tahoe::new(rules)));
}

fn written_control(scheme: &Scheme) -> String {
    format!("{:?}", scheme.sender(&flow(true)).control)
}

#[test]
fn what_the_thesis_compares_has_ranges() {
    for (name, key, value, allowed) in [
        ("few", "few_alpha", RawValue::Float(1.5), "few_alpha: found 1.5; allowed: a number from 0 to 1"),
        ("few", "few_w_min", RawValue::Integer(0), "few_w_min: found 0; allowed: a number from 0.05 to 64"),
        ("few", "few_arithmetic", "bytes".into(), "few_arithmetic: found \"bytes\"; allowed: float, wifu"),
        ("tcp-ap-n8", "n", RawValue::Integer(65), "n: found 65; allowed: a whole number from 1 to 64"),
        ("oid", "oid_hcs", RawValue::Integer(64), "oid_hcs: found 64; allowed: a whole number from 0 to 63"),
        (
            "oid",
            "n",
            RawValue::Integer(4),
            "n: found a parameter of other schemes; allowed: the parameters of oid",
        ),
        (
            "newreno-dynack",
            "ack_steps",
            RawValue::List([1, 3, 2, 4].map(RawValue::Integer).into()),
            "ack_steps: found a list of 4; allowed: a list of 4, ascending, each a whole number from 1 to 1000",
        ),
        (
            "tcp-daa",
            "daa_duplicates",
            RawValue::Integer(0),
            "daa_duplicates: found 0; allowed: a whole number from 1 to 10",
        ),
        ("tcp-ada", "ada_beta", RawValue::Float(0.9), "ada_beta: found 0.9; allowed: a number from 1 to 10"),
        ("fixed-rate", "ap_queue", "yes".into(), "ap_queue: found \"yes\"; allowed: permission, data, all"),
        (
            "tcp-ap",
            "profile",
            "byu".into(),
            "profile: found \"byu\"; allowed: paper, ns2-2005, clean, byu-literal, wifu-head",
        ),
    ] {
        let error = Catalogue::new(&settings(&[(name, key, value)])).expect_err(key).to_string();
        assert!(error.starts_with(&format!("[scheme.{name}]: {allowed}")), "{error}");
    }
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

#[test]
fn the_schema_has_every_parameter_with_its_range_and_default() {
    let schema = schema();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties.len(), parameters().count() + 1);
    for param in parameters() {
        let property = &properties[param.name];
        assert!(
            property["description"].as_str().is_some_and(|text| text.starts_with(param.doc)),
            "{}",
            param.name
        );
        if let Kind::Choice(words) = param.kind {
            assert_eq!(property["enum"].as_array().map(Vec::len), Some(words.len()));
        }
    }
    assert_eq!(properties["gc_interval"]["default"], 5.0);
    assert_eq!(properties["gc_interval"]["anyOf"][0]["minimum"], 1e-6);
    let overhead = properties["ap_overhead_bytes"]["description"].as_str().unwrap();
    assert!(
        overhead.contains(
            "By default: tcp-ap 68, tcp-ap-ns2-2005 112, tcp-gap 68, tcp-gap-nogc 68, tcp-ap-n1 68,"
        ),
        "{overhead}"
    );
}

fn any_value() -> impl Strategy<Value = RawValue> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(RawValue::Bool),
        any::<i64>().prop_map(RawValue::Integer),
        (-5i64..200).prop_map(RawValue::Integer),
        any::<f64>().prop_map(RawValue::Float),
        (0.0f64..3.0).prop_map(RawValue::Float),
        "[0-9.]{1,6}(ms|s|B|kB|Mbps|)".prop_map(RawValue::Text),
        proptest::sample::select(vec![
            "cov", "mad", "off", "rfc", "ns2-2005", "khd", "none", "pacing", "fixed"
        ])
        .prop_map(RawValue::from),
        ".{0,80}".prop_map(RawValue::Text),
    ];
    prop_oneof![
        leaf.clone(),
        proptest::collection::vec((0i64..50).prop_map(RawValue::Integer), 0..5).prop_map(RawValue::List),
        proptest::collection::vec(leaf, 0..4).prop_map(RawValue::List),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// Whatever is set in whatever order: no panic, an accepted value can be read back and set again, a refused one
    /// changes nothing, and the endpoints can be made.
    #[test]
    fn any_setting_is_taken_or_refused(
        start in proptest::sample::select(names().collect::<Vec<_>>()),
        sets in proptest::collection::vec((0usize..parameters().count(), any_value()), 1..20),
    ) {
        let mut scheme = scheme(start);
        for (index, value) in sets {
            let key = parameters().nth(index).map_or("", |param| param.name);
            let before = scheme.clone();
            match scheme.set(key, &value) {
                Err(error) => {
                    prop_assert_eq!(&scheme, &before);
                    prop_assert!(!error.allowed.is_empty());
                }
                Ok(()) => {
                    let read = scheme.get(key);
                    prop_assert!(read.is_some());
                    let mut again = scheme.clone();
                    let kind = parameters().find(|param| param.name == key).unwrap().kind;
                    again.set(key, &kind.raw(&read.unwrap())).unwrap();
                    prop_assert_eq!(&again, &scheme);
                }
            }
            for from_mesh in [false, true] {
                prop_assert_eq!(scheme.sender(&flow(from_mesh)).mss, 1460);
                // RCP and WCP have a pace instead of a window.
                let rated = ["rcp", "wcp", "wcpcap"].contains(&scheme.choice("congestion").word);
                let pacing = scheme.receiver(&flow(from_mesh)).control.pacing();
                prop_assert!(rated || pacing == PacingView::default(), "{:?}", pacing);
            }
            prop_assert!(!scheme.parts().is_empty());
        }
    }
}
