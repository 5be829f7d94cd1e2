use super::*;

fn link(mbps: f64, loss: f64, loss_back: f64) -> LinkQuality {
    LinkQuality {
        rate: Some(Rate::bits_per_sec((mbps * 1e6) as u64)),
        loss: Some(loss),
        loss_back: Some(loss_back),
        overhead: Some(Span::from_micros(100)),
    }
}

fn cost(word: &str, link: &LinkQuality) -> u32 {
    metric(word)(link).0.get()
}

/// By hand.
#[test]
fn costs_are_those_of_the_formulas() {
    // (Mbit/s, lost there, lost back): 1 / (df dr) in thousandths; times 8,192 bits over the rate in ns; that and 100 us in 10.24 us.
    for ((mbps, loss, back), etx, ett, airtime) in [
        ((8.192, 0.0, 0.0), 1_000, 1_000_000, 107),
        ((8.192, 0.8, 0.0), 5_000, 5_000_000, 537),
        ((8.192, 0.0, 0.8), 5_000, 5_000_000, 537),
        ((16.384, 0.2, 0.5), 2_500, 1_250_000, 146),
        ((81.92, 0.0005, 0.0), 1_001, 100_050, 20),
        ((81.92, 0.0004, 0.0), 1_000, 100_040, 20),
    ] {
        let link = link(mbps, loss, back);
        let found = ["hops", "etx", "ett", "airtime"].map(|word| cost(word, &link));
        assert_eq!(found, [1, etx, ett, airtime], "{link:?}");
    }
}

#[test]
fn a_link_that_loses_everything_costs_the_most() {
    for (loss, back) in [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0 - 1e-12, 0.0)] {
        for word in ["etx", "ett", "airtime"] {
            assert_eq!(metric(word)(&link(11.0, loss, back)), Cost::MOST, "{word}");
        }
    }
}

/// Protocols that do not know their links count hops by any metric.
#[test]
fn unknown_links_cost_the_same() {
    let unknown = LinkQuality::default();
    let found = ["hops", "etx", "ett", "airtime"].map(|word| cost(word, &unknown));
    assert_eq!(found, [1, 1_000, 8_192_000, 800]);
}

/// A user of the first metric asks for no quality.
#[test]
fn the_first_looks_at_nothing() {
    for link in [link(1.0, 0.9, 0.1), link(600.0, 1.0, 1.0), LinkQuality::default()] {
        assert_eq!((METRICS[0].build)(&link), Cost::ONE);
    }
}

#[test]
fn the_key_tells_all_of_them() {
    for part in METRICS {
        assert!(KEYS[0].doc.contains(part.about.word), "{}", part.about.word);
    }
}
