//! Profiles bring whole laws; the thesis's TCP and what it compares.

use super::{flow, scheme, settings, written};
use meshpace_keys::RawValue;
use meshpace_pacing::AdaptiveConfig;
use meshpace_schemes::{Catalogue, Scheme};
use meshpace_tcp::Config;
use meshpace_tcp::control::{InitialWindow, Rules};

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
    let built = meshpace_tcp::control::tahoe(rules);
    assert_eq!(written_control(&tahoe), format!("{built:?}"));
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
