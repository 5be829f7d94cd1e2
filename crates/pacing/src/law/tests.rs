use super::*;
use crate::{ShortPath, path::LinkRates};
use alloc::vec::Vec;
use meshpace_units::Rate;
use proptest::prelude::*;

const MBIT_2: Rate = Rate::bits_per_sec(2_000_000);

fn law(config: AdaptiveConfig) -> RateLaw {
    RateLaw::new(config)
}

fn paper_path(hops: u32) -> Path {
    AdaptiveConfig::PAPER.path(Bytes(1460), &Route::uniform(Some(hops), MBIT_2)).unwrap()
}

#[test]
fn the_variation_vector() {
    // schemes.md section 2, test vector: 10, 12, 14 ms.
    let samples: VecDeque<f64> = [0.010, 0.012, 0.014].into();
    let cov = variation(&samples, Variation::Cov, Divisor::SamplesLessOne);
    assert!((cov - 1.0 / 6.0).abs() < 1e-12);
    assert!((1.0 + 2.0 * cov - 4.0 / 3.0).abs() < 1e-12);
    let mad = variation(&samples, Variation::Mad, Divisor::Samples);
    assert!((mad - (0.004 / 3.0) / 0.012).abs() < 1e-12);
}

#[test]
fn the_smoothing_vector() {
    // schemes.md section 2: FHD_hat 30 ms, then FHD 40 ms, gives 33 ms. Over 4 hops at 2 Mbit/s
    // FHD = 2 * (RTT/4 + 5.84 ms), so the round trips are 36.64 and 56.64 ms.
    let mut law = law(AdaptiveConfig::PAPER);
    assert_eq!(law.interval(), Some(Span::from_millis(50)), "the initial interval");
    assert_eq!(law.on_sample(Span::from_micros(36_640), &paper_path(4)), Ok(Span::from_millis(30)));
    law.on_sample(Span::from_micros(56_640), &paper_path(4)).unwrap();
    assert!((law.k_hop_delay().unwrap() - 0.033).abs() < 1e-12);
    // cov of 36.64 and 56.64: 14.142136 / 46.64; the interval is 33 ms * (1 + 2 cov).
    assert!((law.interval().unwrap().as_secs_f64() - 0.033 * (1.0 + 2.0 * 0.303_219_041)).abs() < 1e-9);
}

#[test]
fn short_paths() {
    let k = |short_path, hops| AdaptiveConfig { short_path, ..AdaptiveConfig::PAPER }.k(hops);
    assert_eq!([1, 2, 3, 4, 9].map(|h| k(ShortPath::HHop, h)), [1, 2, 3, 4, 4]);
    assert_eq!([1, 2, 3, 4, 9].map(|h| k(ShortPath::OneHop, h)), [1, 1, 1, 4, 4]);
    assert_eq!([1, 2, 3, 4, 9].map(|h| k(ShortPath::NHop, h)), [4, 4, 4, 4, 4]);
}

#[test]
fn a_round_trip_shorter_than_the_air_time_counts_as_no_queueing() {
    let mut law = law(AdaptiveConfig::PAPER);
    law.on_sample(Span::from_micros(1), &paper_path(4)).unwrap();
    // k * s_data / b = 4 * 12224 bit / 2 Mbit/s.
    assert!((law.k_hop_delay().unwrap() - 0.024_448).abs() < 1e-12);
}

#[test]
fn samples_out_of_bounds_change_nothing() {
    let mut law = law(AdaptiveConfig::PAPER);
    law.on_sample(Span::from_millis(40), &paper_path(4)).unwrap();
    let before = (law.interval(), law.k_hop_delay(), law.history.clone());
    assert_eq!(law.on_sample(Span::ZERO, &paper_path(4)), Err(Rejected::NoDelay));
    assert!(matches!(law.on_sample(Span::from_secs(2), &paper_path(4)), Err(Rejected::OutOfBounds { .. })));
    let dead_link =
        AdaptiveConfig::PAPER.path(Bytes(1460), &Route::uniform(Some(4), Rate::bits_per_sec(0))).unwrap();
    assert!(matches!(law.on_sample(Span::from_millis(40), &dead_link), Err(Rejected::OutOfBounds { .. })));
    assert_eq!((law.interval(), law.k_hop_delay(), law.history.clone()), before);
    assert_eq!((law.samples(), law.rejected(), law.unreliable()), (1, 3, 0));
}

#[test]
fn the_last_step_tells_the_formulas_numbers() {
    // The smoothing vector again: FHD 30 ms, then 40 ms.
    let mut law = law(AdaptiveConfig::PAPER);
    assert_eq!(law.last(), None);
    law.on_sample(Span::from_micros(36_640), &paper_path(4)).unwrap();
    assert_eq!(law.last().unwrap().smoothed_before, None);
    law.on_sample(Span::from_micros(56_640), &paper_path(4)).unwrap();
    let last = law.last().unwrap().clone();
    assert_eq!((last.rtt, last.k, last.path.hops()), (Span::from_micros(56_640), 4, 4));
    assert!((last.k_hop_delay - 0.040).abs() < 1e-12);
    assert!((last.smoothed_before.unwrap() - 0.030).abs() < 1e-12);
    // (1.2): (56.64 ms / 4 - 8 * (1528 + 68) bit / 2 Mbit/s) / 2.
    assert!((last.queueing_delay - (0.014_16 - 0.006_384) / 2.0).abs() < 1e-12);
    assert_eq!(law.history().collect::<Vec<_>>(), [0.036_64, 0.056_64]);
    law.on_sample(Span::from_secs(2), &paper_path(4)).unwrap_err();
    assert_eq!(law.last(), Some(&last), "a rejected sample is not a step");
}

#[test]
fn unknown_hops_are_counted() {
    let mut law = law(AdaptiveConfig::PAPER);
    law.on_sample(Span::from_millis(20), &paper_path(0)).unwrap();
    assert_eq!(law.unreliable(), 1);
}

#[test]
fn a_round_trip_over_a_route_is_a_sample_of_its_path() {
    let (rtt, payload) = (Span::from_micros(36_640), Bytes(1460));
    let per_link = |rates: &[Rate]| Route { hops: Some(9), rates: LinkRates::PerLink(rates.into()) };
    let mut a = law(AdaptiveConfig::PAPER);
    assert_eq!(a.on_round_trip(rtt, payload, &Route::uniform(Some(4), MBIT_2)), Ok(Span::from_millis(30)));
    // A list of links tells the hops, whatever else is said.
    let mut b = law(AdaptiveConfig::PAPER);
    assert_eq!(b.on_round_trip(rtt, payload, &per_link(&[MBIT_2; 4])), Ok(Span::from_millis(30)));
    assert_eq!(b.on_round_trip(rtt, payload, &per_link(&[])), Err(Rejected::NoLinks));
    assert_eq!((b.samples(), b.rejected(), b.unreliable()), (1, 0, 0));
    b.on_round_trip(rtt, payload, &Route::uniform(None, MBIT_2)).unwrap();
    assert_eq!(b.unreliable(), 1);
}

proptest! {
    /// Whatever arrives, the smoothed delay stays within the accepted samples, the coefficient of variation of N
    /// positive numbers within sqrt(N), the history within its size.
    #[test]
    fn the_estimator_is_bounded(
        history in 1usize..60,
        alpha in 0.0f64..0.99,
        samples in proptest::collection::vec((0u64..3_000_000, 0u32..12), 1..200),
    ) {
        let config = AdaptiveConfig { history, alpha, ..AdaptiveConfig::PAPER };
        let mut law = law(config);
        let (mut low, mut high) = (f64::MAX, 0.0f64);
        for (rtt_us, hops) in samples {
            let (rtt, path) = (Span::from_micros(rtt_us), paper_path(hops));
            let before = law.interval();
            match law.on_sample(rtt, &path) {
                Ok(interval) => {
                    let delay = path.k_hop_delay(path.hops().min(4), path.queueing_delay(rtt).max(0.0));
                    low = low.min(delay);
                    high = high.max(delay);
                    let smoothed = law.k_hop_delay().unwrap();
                    prop_assert!(smoothed >= low - 1e-12 && smoothed <= high + 1e-12);
                    prop_assert!(law.variation() <= libm::sqrt(history as f64) + 1e-9);
                    prop_assert!(interval.as_secs_f64() >= smoothed - 1e-9);
                    prop_assert!(interval < Span::from_secs(9));
                }
                Err(_) => prop_assert_eq!(law.interval(), before),
            }
            prop_assert!(law.history.len() <= history);
        }
    }
}

#[test]
fn the_agent_s_queueing_delays() {
    // 8 hops at 2 Mbit/s: t_q = (RTT/8 - 8 (1460 + 224)/b)/2, KHD = 2 (RTT/8 + 5.84 ms).
    let path = AdaptiveConfig::NS2_2005.path(Bytes(1460), &Route::uniform(Some(8), MBIT_2)).unwrap();
    let rtt = |per_hop: f64| Span::from_secs_f64(8.0 * per_hop);
    let queueing = |per_hop: f64| 0.5 * (per_hop - 8.0 * 1684.0 / 2e6);
    let mut agent = law(AdaptiveConfig::NS2_2005);
    // Rejected for its k-hop delay of 0.61 s, and smoothed all the same.
    assert!(matches!(agent.on_sample(rtt(0.3), &path), Err(Rejected::OutOfBounds { .. })));
    let smoothed = 0.5 * queueing(0.3);
    assert!((agent.queueing_delay() - smoothed).abs() < 1e-9, "{}", agent.queueing_delay());
    // A queueing delay of more than half a second: the smoothed one in its place, and the sample counts.
    agent.on_sample(rtt(1.2), &path).unwrap();
    assert_eq!((agent.samples(), agent.rejected()), (1, 1));
    assert!((agent.queueing_delay() - smoothed).abs() < 1e-9);
    assert!((agent.k_hop_delay().unwrap() - path.k_hop_delay(4, smoothed)).abs() < 1e-9);
    // The paper's law rejects both, and touches nothing.
    let mut paper = law(AdaptiveConfig::PAPER);
    assert!([0.3, 1.2].iter().all(|per_hop| paper.on_sample(rtt(*per_hop), &path).is_err()));
    assert_eq!(paper.queueing_delay(), 0.0);
}

#[test]
fn wifus_estimator() {
    // schemes.md 2.1, 5: n hops on a path of one, no bounds, the data packet's size left out. RTT 40 ms, 24 Mbit/s.
    let rate = Rate::bits_per_sec(24_000_000);
    let one_hop = AdaptiveConfig::WIFU.path(Bytes(1448), &Route::uniform(Some(1), rate)).unwrap();
    let mut wifu = law(AdaptiveConfig::WIFU);
    assert_eq!(wifu.interval(), None, "nothing is held back before the first sample");
    wifu.on_sample(Span::from_millis(40), &one_hop).unwrap();
    let expected = 2.0 * (0.040 - 8.0 * 52.0 / 24e6);
    assert!((wifu.k_hop_delay().unwrap() - expected).abs() < 1e-12, "{:?}", wifu.k_hop_delay());
    // The same with the packet's size, as P1 of the catalogue: 1.3 with k = 4.
    let sized = AdaptiveConfig { counts_data: true, ..AdaptiveConfig::WIFU };
    let path = sized.path(Bytes(1448), &Route::uniform(Some(1), rate)).unwrap();
    let mut with_data = law(sized);
    with_data.on_sample(Span::from_millis(40), &path).unwrap();
    assert!((with_data.k_hop_delay().unwrap() - 2.0 * (0.040 + 8.0 * 1448.0 / 24e6)).abs() < 1e-12);
    // No delay is too long, and a sum of squares over N', not N' - 1: 40 and 4,000 ms deviate by 1,980 ms from 2,020 ms.
    wifu.on_sample(Span::from_secs(4), &one_hop).unwrap();
    assert!((wifu.cov() - 1980.0 / 2020.0).abs() < 1e-9, "{}", wifu.cov());
    wifu.on_sample(Span::MAX, &one_hop).unwrap();
    assert!(wifu.interval().is_some(), "however long");
}

#[test]
fn without_a_measure_of_variation_the_interval_is_the_delay() {
    let mut plain = law(AdaptiveConfig { variation: Variation::None, ..AdaptiveConfig::PAPER });
    for ms in [40, 80] {
        plain.on_sample(Span::from_millis(ms), &paper_path(4)).unwrap();
    }
    let delay = plain.k_hop_delay().map(Span::from_secs_f64);
    assert_eq!((plain.interval(), plain.variation()), (delay, 0.0));
    assert!(plain.cov() > 0.1);
}
