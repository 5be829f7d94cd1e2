//! The fastest mode that the link bears, by knowing how strong a frame will be at its receiver.
//!
//! A mode is allowed if noise alone loses an MPDU of the frame's size with a probability of `ideal_error` at most. The fastest allowed mode
//! is taken, and of several as fast the one that loses least. If no mode is allowed, the one that loses least is taken. ns-3's
//! `IdealWifiManager` (ns-3.37, src/wifi/model/rate-control/ideal-wifi-manager.cc) compares the ratio of the previous frame, which arrives
//! with its acknowledgement, with a threshold for each mode, at which one bit in 10^6 is lost. Here the ratio is that of the frame itself,
//! and the error that of its MPDU. Interference is not considered.

use super::{Ask, Exchange, Maker, RateControl, RateControlPart, Series, Site};
use crate::standard::{Mode, Refused};
use core::cmp::Ordering;
use meshpace_keys::Key;
use meshpace_units::{Bytes, Instant, NodeId};

pub(super) static PART: RateControlPart = RateControlPart::new(
    "ideal",
    "The fastest mode that loses few enough MPDUs to noise at the strength that the frame will have at its receiver.",
    "after IdealWifiManager of ns-3.37",
    Maker {
        suits: |there| {
            let allowed = "fixed or minstrel-ht, without reception = \"sinr\" and error_model = \"curve\"";
            if there.curve { Ok(()) } else { Err(Refused::new(super::KEY, allowed)) }
        },
        make: |site| Some(Box::new(Ideal::new(site))),
    },
)
.keys(&[&KEYS]);

static KEYS: [Key; 1] = [Key::number(
    "ideal_error",
    (1e-6, 0.9),
    0.1,
    "The share of MPDUs that may be lost to noise in the mode that is chosen.",
)
.only(super::KEY, &["ideal"])];

#[derive(Debug)]
struct Ideal {
    error: f64,
    modes: Vec<&'static Mode>,
    /// The mode found last for each neighbour, sorted: strengths change far less often than frames are sent.
    found: Vec<(NodeId, Found)>,
}

#[derive(Clone, Copy, Debug)]
struct Found {
    mpdu: Bytes,
    ratio: Option<f64>,
    mode: &'static Mode,
}

impl Ideal {
    fn new(site: Site<'_>) -> Self {
        Self { error: site.values.real("ideal_error"), modes: site.modes, found: Vec::new() }
    }

    fn best(&self, mpdu: Bytes, ratio: Option<f64>) -> &'static Mode {
        let bits = mpdu.0 as f64 * 8.0;
        let arrives = |mode: &Mode| libm::exp(bits * mode.coding.ln_success(ratio.unwrap_or(0.0)));
        let better = |(mode, arrives): &(&'static Mode, f64), (other, others): &(&'static Mode, f64)| {
            let [good, as_good] = [*arrives, *others].map(|share| 1.0 - share <= self.error);
            let by_rate = if good && as_good { mode.rate.cmp(&other.rate) } else { Ordering::Equal };
            // The slower one of two that lose as much: it is what the table has first.
            good.cmp(&as_good).then(by_rate).then(arrives.total_cmp(others)).then(other.rate.cmp(&mode.rate))
        };
        let found = self.modes.iter().map(|mode| (*mode, arrives(mode))).max_by(better);
        found.unwrap_or_else(|| panic!("no mode to choose from")).0
    }
}

impl RateControl for Ideal {
    fn series(&mut self, _: Instant, ask: &Ask<'_>) -> Series {
        let (mpdu, ratio) = (ask.mpdu, (ask.ratio)());
        let place = self.found.binary_search_by_key(&ask.to, |entry| entry.0);
        if let Ok(place) = place {
            let known = &self.found[place].1;
            if (known.mpdu, known.ratio) == (mpdu, ratio) {
                return Series::all_in(known.mode);
            }
        }
        let mode = self.best(mpdu, ratio);
        let found = Found { mpdu, ratio, mode };
        match place {
            Ok(place) => self.found[place].1 = found,
            Err(place) => self.found.insert(place, (ask.to, found)),
        }
        Series::all_in(mode)
    }

    fn ended(&mut self, _: Instant, _: &Exchange) {}

    fn expects(&self, to: NodeId) -> Option<&'static Mode> {
        let found = self.found.binary_search_by_key(&to, |entry| entry.0);
        found.ok().map(|place| self.found[place].1.mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_control::usable;
    use crate::standard::Standard;
    use meshpace_keys::Values;
    use meshpace_units::random::Stream;

    fn ideal(word: &str) -> Ideal {
        let standard = Standard::named(word).expect("a row");
        let site = Site {
            values: &Values::defaults(KEYS.iter()),
            modes: usable(&standard, standard.default_mode),
            tries: 7,
            stream: Stream::new(1, "rates", 0),
        };
        Ideal::new(site)
    }

    fn chosen(control: &mut Ideal, decibel: Option<f64>, bytes: u64) -> &'static Mode {
        let ratio = || decibel.map(|decibel| libm::pow(10.0, decibel / 10.0));
        let ask = Ask { to: NodeId(1), mpdu: Bytes(bytes), ratio: &ratio };
        control.series(Instant::ZERO, &ask).mode(0)
    }

    /// Every mode below the one chosen loses no more than it may, and none above it loses as little.
    #[test]
    fn the_fastest_that_loses_little_enough_is_chosen() {
        for word in ["802.11n", "802.11a", "802.11b", "802.11g"] {
            let mut control = ideal(word);
            for tenth in (-50..400).step_by(3) {
                let (decibel, bytes) = (f64::from(tenth) / 10.0, 1_536);
                let ratio = libm::pow(10.0, decibel / 10.0);
                let lost = |mode: &Mode| 1.0 - libm::exp(mode.coding.ln_success(ratio) * bytes as f64 * 8.0);
                let mode = chosen(&mut control, Some(decibel), bytes);
                let faster = control.modes.iter().filter(|other| other.rate > mode.rate);
                assert!(faster.clone().all(|other| lost(other) > 0.1), "{word}, {decibel} dB: {mode:?}");
                let any = control.modes.iter().any(|other| lost(other) <= 0.1);
                assert_eq!(any, lost(mode) <= 0.1, "{word}, {decibel} dB: {mode:?}");
            }
        }
    }

    /// 802.11n with one stream, 1,536 bytes: MCS 4 (16-QAM 3/4) bears 17 dB (`ofdm_is_the_nist_model`), 64-QAM 2/3 does not. Nobody who
    /// hears nothing is sent anything fast.
    #[test]
    fn known_ratios_have_known_modes() {
        let mut control = ideal("802.11n");
        let mut index = |decibel| chosen(&mut control, decibel, 1_536).mcs.map(|mcs| mcs.index);
        assert_eq!(index(Some(17.0)), Some(4));
        assert_eq!(index(Some(30.0)), Some(7));
        assert_eq!(index(Some(-10.0)), Some(0));
        assert_eq!(index(None), Some(0));
    }

    #[test]
    fn a_longer_frame_goes_more_slowly() {
        let mut control = ideal("802.11n");
        // At 24 dB 2,000 bytes arrive with 0.930 in MCS 7, which is enough, and 4,000 with 0.865, which is not.
        assert_eq!(chosen(&mut control, Some(24.0), 2_000).mcs.map(|mcs| mcs.index), Some(7));
        assert_eq!(chosen(&mut control, Some(24.0), 4_000).mcs.map(|mcs| mcs.index), Some(6));
        assert_eq!(control.expects(NodeId(1)).and_then(|mode| mode.mcs).map(|mcs| mcs.index), Some(6));
        assert_eq!(control.expects(NodeId(2)), None);
    }
}
