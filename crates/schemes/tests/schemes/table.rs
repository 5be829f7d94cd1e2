//! What schemes are made of.

use super::{flow, scheme, written};
use meshpace_keys::{RawValue, Values};
use meshpace_pacing::{AdaptiveConfig, HopSource};
use meshpace_schemes::{lookup, names, parameters, places};
use meshpace_settings::default_setting;
use meshpace_tcp::control::{self, Agent, Fixed, Khd, Rules, WirelessKhd};
use meshpace_tcp::{Config, HeaderSize, RtoConfig};
use meshpace_units::Span;
use std::collections::{BTreeMap, BTreeSet};

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
        ("cubic-fq-codel", "cubic, none; delayed; fq-codel; none"),
        ("vegas", "vegas, none; delayed; drop-tail; none"),
        ("westwood", "westwood, none; delayed; drop-tail; none"),
        ("copa", "copa, none; delayed; drop-tail; none"),
        ("ledbat", "ledbat, none; delayed; drop-tail; none"),
        ("bbr", "bbr, none; delayed; drop-tail; none"),
        ("bbr3", "bbr3, none; delayed; drop-tail; none"),
        ("linux-reno", "newreno, none; linux; drop-tail; none"),
        ("linux-cubic", "cubic, none; linux; drop-tail; none"),
        ("linux-bbr", "bbr, none; linux; drop-tail; none"),
        ("calm", "delay-rate, none; thin; drop-tail; none"),
        ("calm-gateway", "cubic, none; linux; drop-tail; delay-rate"),
        ("calm-edge", "cubic, none; thin; drop-tail; delay-rate"),
        ("cubic-thin", "cubic, none; thin; drop-tail; none"),
        ("linux-bbr-thin", "bbr, none; thin; drop-tail; none"),
        ("linux-bbr-tack", "bbr, none; tack; drop-tail; none"),
        ("cubic-cake-acks", "cubic, none; linux; cake-ack-filter; none"),
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
        ("ez-flow", "newreno, none; every; ez-flow; none"),
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
    // RCP and WCP have a pace instead of a window, BBR and calm beside it; so has Copa, once there is a round trip.
    let paced = |name: &&str| {
        name == &"calm" || ["rcp", "wcp", "bbr", "linux-bbr"].iter().any(|paced| name.starts_with(paced))
    };
    for name in names().filter(|name| !paced(name)) {
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
    assert_eq!(format!("{tahoe:?}"), format!("{:?}", control::tahoe(Rules::RFC)));
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
            assert_eq!(scheme.gateway().is_nothing(), scheme.choice("gateway").word == "none", "{at}");
        }
    }
    let keys: BTreeSet<_> = parameters().map(|param| param.name).collect();
    assert_eq!(keys.len(), parameters().count(), "a parameter stands once");
}
