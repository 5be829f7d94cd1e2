//! The later TCP-AP: out-of-interference delay, by the carrier-sensing range in hops.

use super::khd::{INITIAL_INTERVAL, Khd};
use super::part::{KEEPS_RTO, PacingPart};
use alloc::boxed::Box;
use meshpace_keys::{Key, Values};
use meshpace_pacing::AdaptiveConfig;

pub(super) static PART: PacingPart = PacingPart::new(
    "oid",
    "By the out-of-interference delay: a packet is one hop past the carrier-sensing range before the next one leaves.",
    "schemes.md 2.2; ElRakabawy and Lindemann 2011",
    |values, _| Some(Box::new(Khd::new(law(values)))),
)
.keys(&[&RANGE, &LAW, &INITIAL_INTERVAL, &KEEPS_RTO]);

static RANGE: [Key; 1] = [Key::count(
    "oid_hcs",
    (0, 63),
    3,
    "Carrier-sensing range in hops, rounded up: 3 for 550 m and nodes 200 m apart (schemes.md 2.2).",
)];
static LAW: [Key; AdaptiveConfig::KEYS - 1] = AdaptiveConfig::PAPER.keys_but_hops();

/// (2.5) is (1.3) with `n` = H_cs + 1: the rule of 2005 is H_cs = 3.
fn law(values: &Values) -> AdaptiveConfig {
    AdaptiveConfig { n: values.count("oid_hcs") + 1, ..AdaptiveConfig::from_values(values) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_keys::Setting;
    use meshpace_pacing::{RateLaw, Route};
    use meshpace_units::{Bytes, Rate, Span};

    /// The delay of one round trip of 40 ms over `hops` hops of 2 Mbit/s, ms.
    fn delay(hcs: Option<u64>, hops: u32) -> f64 {
        let defaults = Values::defaults(PART.about.keys());
        let values = Values::new(defaults.iter().map(|(name, default)| {
            let said = hcs.filter(|_| name == "oid_hcs").map(Setting::Whole);
            (name, said.unwrap_or_else(|| default.clone()))
        }));
        let mut law = RateLaw::new(law(&values));
        let route = Route::uniform(Some(hops), Rate::bits_per_sec(2_000_000));
        law.on_round_trip(Span::from_millis(40), Bytes(1460), &route).unwrap();
        1e3 * law.k_hop_delay().unwrap()
    }

    #[test]
    fn the_rule_of_2005_is_three_hops_of_carrier_sensing() {
        // schemes.md 2.2: 550 m over 200 m, rounded up; the vector of 1.4.
        assert!((delay(None, 4) - 31.68).abs() < 1e-9);
        // Each hop is (40/4 + 5.84) / 2 = 7.92 ms.
        for (hcs, hops_apart) in [(0, 1.0), (1, 2.0), (2, 3.0), (5, 4.0)] {
            assert!((delay(Some(hcs), 4) - hops_apart * 7.92).abs() < 1e-9, "H_cs {hcs}: min(H_cs + 1, h)");
        }
        assert!((delay(Some(5), 6) - 6.0 * (40.0 / 6.0 + 5.84) / 2.0).abs() < 1e-9);
    }
}
