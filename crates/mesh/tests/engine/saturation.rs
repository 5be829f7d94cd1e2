//! What one saturated hop carries, against the closed form: DIFS, mean backoff, the exchange.

use super::support::{cbr, chain, close, measure, run};

/// Bytes of the packet at IP.
const IP: f64 = 1500.0;

/// 200 m at the speed of light, us.
const AIR: f64 = 200.0 / 299.792_458;

/// Timing of a standard, us.
struct Timing {
    sifs: f64,
    difs: f64,
    mean_backoff: f64,
    /// Airtime of so many bytes, a data frame or a control frame.
    data: fn(bytes: f64, mbps: f64) -> f64,
    control: fn(bytes: f64, mbps: f64) -> f64,
    overhead: f64,
}

impl Timing {
    /// Payload rate of 1472-byte datagrams, bit/s.
    fn saturated(&self, mbps: f64, rts: bool) -> f64 {
        let data = (self.data)(IP + self.overhead, mbps);
        let control = |bytes| (self.control)(bytes, mbps);
        let mut exchange = data + self.sifs + control(14.0) + 2.0 * AIR;
        if rts {
            exchange += control(20.0) + self.sifs + control(14.0) + self.sifs + 2.0 * AIR;
        }
        1472.0 * 8.0 / ((self.difs + self.mean_backoff + exchange) * 1e-6)
    }
}

const LONG: Timing = Timing {
    sifs: 10.0,
    difs: 50.0,
    mean_backoff: 15.0 * 20.0,
    data: |bytes, mbps| 192.0 + 8.0 * bytes / mbps,
    control: |bytes, _| 192.0 + 8.0 * bytes,
    overhead: 34.0,
};

/// 802.11b sends nothing at 1 Mb/s after a short preamble: control frames at that rate keep the long one.
const SHORT: Timing = Timing { data: |bytes, mbps| 96.0 + 8.0 * bytes / mbps, ..LONG };

/// schemes.md 17.3.
fn ofdm(bytes: f64, mbps: f64) -> f64 {
    20.0 + 4.0 * ((16.0 + 8.0 * bytes + 6.0) / (4.0 * mbps)).ceil()
}

/// Control frames use the highest mandatory rate not above the data rate.
fn mandatory(mbps: f64) -> f64 {
    if mbps >= 24.0 {
        24.0
    } else if mbps >= 12.0 {
        12.0
    } else {
        6.0
    }
}

const A: Timing = Timing {
    sifs: 16.0,
    difs: 34.0,
    mean_backoff: 7.0 * 9.0,
    data: ofdm,
    control: |bytes, mbps| ofdm(bytes, mandatory(mbps)),
    overhead: 28.0,
};

const G: Timing = Timing {
    sifs: 10.0,
    difs: 28.0,
    mean_backoff: 7.0 * 9.0,
    data: |bytes, mbps| ofdm(bytes, mbps) + 6.0,
    control: |bytes, mbps| ofdm(bytes, mandatory(mbps)) + 6.0,
    overhead: 28.0,
};

#[track_caller]
fn agrees(radio: &str, timing: &Timing, mbps: f64, rts: bool) {
    let protection = if rts { "always" } else { "never" };
    let radio = format!("[radio]\n{radio}\nrate = \"{mbps}Mbps\"\nrts = \"{protection}\"\n");
    let text = format!(
        "[defaults]\nscheme = \"newreno\"\n{}{radio}{}{}",
        measure(8.0, 1.0),
        chain(1),
        cbr("n0", "n1", 6e7, 1472)
    );
    let result = run(&text);
    let what = format!("{radio} {protection}");
    close(&what, result.flows[0].goodput_bps, timing.saturated(mbps, rts), 0.01);
}

#[test]
fn dsss_with_a_long_preamble() {
    for rts in [true, false] {
        for mbps in [1.0, 2.0, 5.5, 11.0] {
            agrees("", &LONG, mbps, rts);
        }
    }
}

#[test]
fn dsss_with_a_short_preamble() {
    for rts in [true, false] {
        agrees("preamble = \"short\"", &SHORT, 11.0, rts);
        agrees("preamble = \"short\"", &SHORT, 2.0, rts);
        agrees("preamble = \"short\"", &LONG, 1.0, rts);
        let control = Timing { control: |bytes, _| 96.0 + 8.0 * bytes / 2.0, ..SHORT };
        agrees("preamble = \"short\"\nbasic_rate = \"2Mbps\"", &control, 11.0, rts);
    }
}

#[test]
fn ofdm_at_5_and_at_2_4_ghz() {
    for rts in [true, false] {
        for mbps in [6.0, 24.0, 54.0] {
            agrees("standard = \"802.11a\"", &A, mbps, rts);
            agrees("standard = \"802.11g\"", &G, mbps, rts);
        }
    }
}

#[test]
fn what_ns2_makes_of_54_mbps() {
    for rts in [true, false] {
        agrees("standard = \"802.11g-ns2\"", &LONG, 54.0, rts);
    }
}

#[test]
fn backoff_range_overhead_basic_rate_and_threshold_are_heeded() {
    agrees("backoff_range = \"standard\"", &Timing { mean_backoff: 15.5 * 20.0, ..LONG }, 11.0, false);
    agrees("mac_overhead = 28", &Timing { overhead: 28.0, ..LONG }, 2.0, true);
    let fast: Timing = Timing { control: |bytes, _| 192.0 + 8.0 * bytes / 2.0, ..LONG };
    agrees("basic_rate = \"2Mbps\"", &fast, 11.0, true);
    // The threshold compares the MPDU: 1534 bytes.
    for (threshold, rts) in [(1534, true), (1535, false)] {
        let radio = format!("[radio]\nrts = {threshold}\n");
        let text = format!(
            "[defaults]\nscheme = \"newreno\"\n{}{radio}{}{}",
            measure(8.0, 1.0),
            chain(1),
            cbr("n0", "n1", 2e7, 1472)
        );
        close(&radio, run(&text).flows[0].goodput_bps, LONG.saturated(11.0, rts), 0.01);
    }
}

#[test]
fn a_link_has_its_own_rate() {
    let rates = "[radio]\nlink_rates = [{ from = \"n0\", rate = \"5.5Mbps\" }, { from = \"n0\", to = \"n1\", rate = \"2Mbps\" }]\n";
    let saturated = |from: &str, to: &str| {
        let text = format!(
            "[defaults]\nscheme = \"newreno\"\n{}{rates}[topology]\nkind = \"grid\"\nrows = 1\ncols = 2\nspacing = 200\n[[node]]\nid = \"n0\"\nx = 100\ny = 100\n[[node]]\nid = \"n1\"\nx = 100\ny = 300\n[routing]\nprotocol = \"static\"\n{}",
            measure(8.0, 1.0),
            cbr(from, to, 2e7, 1472)
        );
        run(&text).flows[0].goodput_bps
    };
    close("its link's", saturated("n0", "n1"), LONG.saturated(2.0, true), 0.01);
    close("its own", saturated("n0", "g0_0"), LONG.saturated(5.5, true), 0.01);
    close("the common one", saturated("n1", "n0"), LONG.saturated(11.0, true), 0.01);
}
