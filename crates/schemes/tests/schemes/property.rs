//! Whatever is set.

use super::{flow, scheme};
use meshpace_keys::RawValue;
use meshpace_schemes::{names, parameters};
use meshpace_tcp::control::PacingView;
use proptest::prelude::*;

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
                // RCP and WCP have a pace instead of a window, calm one beside it from the first segment on.
                let rated = ["rcp", "wcp", "wcpcap", "delay-rate"].contains(&scheme.choice("congestion").word);
                let pacing = scheme.receiver(&flow(from_mesh)).control.pacing();
                prop_assert!(rated || pacing == PacingView::default(), "{:?}", pacing);
            }
            prop_assert!(!scheme.parts().is_empty());
        }
    }
}
