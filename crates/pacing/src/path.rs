//! The wireless part of a path and its k-hop propagation delay.

use alloc::sync::Arc;
use meshpace_keys::words;
use meshpace_units::{Bytes, Rate, Span};

/// The MAC data rates of a path's links. The time that preambles, RTS/CTS, backoff and MAC acknowledgements take
/// is part of the queueing delay, a residual (schemes.md 1.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkRates {
    /// Every link has this rate.
    Uniform(Rate),
    /// One rate a link, in order along the path.
    PerLink(Arc<[Rate]>),
}

words! {
    /// How a TCP-GAP sender learns the hops between itself and the gateway (`gap_h`). The paper says "from the routing
    /// protocol" at the gateway, but not how they get to the sender (schemes.md 1.2).
    pub enum HopSource {
        /// From the acknowledgement: the links over which it came.
        Ack = "ack",
        /// From the gateway's routing table, as it is when the acknowledgement comes.
        Route = "route",
    }
}

/// The wireless way that a flow's packets take, as far as it is known: the one way in which hops and rates reach
/// a rate law.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Wireless hops, if known (schemes.md 1.2).
    pub hops: Option<u32>,
    /// The links' rates; a list, if given, also tells the hops.
    pub rates: LinkRates,
}

impl Route {
    /// `hops` links of one rate.
    #[must_use]
    pub const fn uniform(hops: Option<u32>, rate: Rate) -> Self {
        Self { hops, rates: LinkRates::Uniform(rate) }
    }
}

/// The wireless part of a path between the place that measures and the far end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    hops: Option<u32>,
    data: Bytes,
    ack: Bytes,
    rates: LinkRates,
    measured: Option<Measured>,
}

/// What rt-Winf adds to a path whose links' rate is its capacity C (schemes.md 10.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// AB': data that follow each other on the path cannot take more.
    pub available: Rate,
    /// Equation 3 as printed: the acknowledgement's time on the air is added to the queueing, not taken off.
    pub literal: bool,
}

impl Path {
    /// A path of `hops` links of one rate; `data` and `ack` are the on-air sizes of a data packet and of a pure ACK
    /// (schemes.md 1.1).
    #[must_use]
    pub const fn uniform(hops: Option<u32>, data: Bytes, ack: Bytes, rate: Rate) -> Self {
        Self { hops, data, ack, rates: LinkRates::Uniform(rate), measured: None }
    }

    /// The same path, whose rate is a measured capacity.
    #[must_use]
    pub fn measured(self, measured: Measured) -> Self {
        Self { measured: Some(measured), ..self }
    }

    /// A path whose links have known rates, one an entry; `None` without any link.
    #[must_use]
    pub fn per_link(data: Bytes, ack: Bytes, rates: Arc<[Rate]>) -> Option<Self> {
        let hops = u32::try_from(rates.len()).ok().filter(|&hops| hops > 0)?;
        Some(Self { hops: Some(hops), data, ack, rates: LinkRates::PerLink(rates), measured: None })
    }

    /// Wireless hops; an unknown count is taken as 1 (schemes.md 1.2, edge).
    #[must_use]
    pub fn hops(&self) -> u32 {
        self.hops.unwrap_or(1).max(1)
    }

    /// True if the number of hops is known.
    #[must_use]
    pub const fn is_reliable(&self) -> bool {
        matches!(self.hops, Some(1..))
    }

    /// On-air size of a data packet (`s_data`).
    #[must_use]
    pub const fn data(&self) -> Bytes {
        self.data
    }

    /// On-air size of a pure ACK (`s_ack`).
    #[must_use]
    pub const fn ack(&self) -> Bytes {
        self.ack
    }

    /// The links' rates.
    #[must_use]
    pub const fn rates(&self) -> &LinkRates {
        &self.rates
    }

    /// Seconds one direction's air time adds up to over all links, for packets of `size`.
    fn air_time(&self, size: Bytes) -> f64 {
        match &self.rates {
            LinkRates::Uniform(rate) => f64::from(self.hops()) * seconds(size, *rate),
            LinkRates::PerLink(rates) => rates.iter().map(|&rate| seconds(size, rate)).sum(),
        }
    }

    /// Average queueing and access delay a hop, seconds; negative if the round trip was shorter than the air time.
    ///
    /// `t_q = (RTT - sum over links of (s_data + s_ack)/b_i) / 2h`. Source: schemes.md (1.2) and 1.4.
    #[must_use]
    pub fn queueing_delay(&self, rtt: Span) -> f64 {
        let (data, ack) = (self.air_time(self.data), self.air_time(self.ack));
        let literal = self.measured.is_some_and(|measured| measured.literal);
        let air = if literal { data - ack } else { data + ack };
        (rtt.as_secs_f64() - air) / (2.0 * f64::from(self.hops()))
    }

    /// Time a data packet takes to travel `k` hops when each costs `queueing` seconds besides its air time.
    ///
    /// `KHD = k*t_q + max over every k consecutive links of sum s_data/b_i`: the slowest stretch limits how closely
    /// packets may follow each other. Past the end of the path (`k > h`, the n-hop variant) the whole path's air
    /// time is extended in proportion. Where rt-Winf measured, data take their time at the available bandwidth (10.2). Source:
    /// schemes.md (1.3), 1.4, 2.1.
    #[must_use]
    pub fn k_hop_delay(&self, k: u32, queueing: f64) -> f64 {
        if let Some(measured) = self.measured {
            return f64::from(k) * (queueing + seconds(self.data, measured.available));
        }
        let air = match &self.rates {
            LinkRates::Uniform(rate) => f64::from(k) * seconds(self.data, *rate),
            LinkRates::PerLink(_) if k >= self.hops() => {
                self.air_time(self.data) * f64::from(k) / f64::from(self.hops())
            }
            LinkRates::PerLink(rates) => rates
                .windows(k as usize)
                .map(|stretch| stretch.iter().map(|&rate| seconds(self.data, rate)).sum::<f64>())
                .fold(0.0, f64::max),
        };
        f64::from(k) * queueing + air
    }
}

/// Seconds to serialise `size` at `rate`; infinite at rate zero, which makes the sample one that is rejected.
fn seconds(size: Bytes, rate: Rate) -> f64 {
    size.bits() as f64 / rate.as_bits_per_sec() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DATA: Bytes = Bytes(1460 + 68);
    const ACK: Bytes = Bytes(68);

    fn mbit(n: u64) -> Rate {
        Rate::bits_per_sec(n * 1_000_000)
    }

    fn khd_ms(rtt_ms: u64, hops: u32, rate: Rate) -> f64 {
        let path = Path::uniform(Some(hops), DATA, ACK, rate);
        1e3 * path.k_hop_delay(hops.min(4), path.queueing_delay(Span::from_millis(rtt_ms)))
    }

    #[test]
    fn k_hop_delay_vectors() {
        // schemes.md 1.4 (conformance item 1); s_data - s_ack = 11,680 bit.
        assert!((khd_ms(40, 4, mbit(2)) - 31.68).abs() < 1e-9);
        assert!((khd_ms(80, 8, mbit(2)) - 31.68).abs() < 1e-9);
        assert!((khd_ms(20, 2, mbit(2)) - 15.84).abs() < 1e-9);
        assert!((khd_ms(40, 4, mbit(11)) - 22.123_636_363).abs() < 1e-6);
    }

    /// schemes.md 10.2: C 7.605, AB 4.563, C_extra/W 0.1357, so AB' 3.9438 Mbit/s.
    #[test]
    fn vectors_with_rt_winf() {
        let delay_ms = |rtt_ms: u64, hops: u32, available: u64, literal: bool| {
            let measured = Measured { available: Rate::bits_per_sec(available), literal };
            let path = Path::uniform(Some(hops), DATA, ACK, Rate::bits_per_sec(7_605_000)).measured(measured);
            1e3 * path.k_hop_delay(hops.min(4), path.queueing_delay(Span::from_millis(rtt_ms)))
        };
        let close =
            |got: f64, expected: f64| assert!((got - expected).abs() < 0.002, "{got}, not {expected}");
        close(delay_ms(40, 4, 3_943_801, false), 29.040);
        close(delay_ms(40, 4, 3_943_801, true), 29.327);
        close(delay_ms(40, 4, 4_563_000, false), 27.358);
        close(delay_ms(40, 4, 5_182_199, false), 26.078);
        close(delay_ms(80, 8, 3_943_801, false), 29.040);
    }

    #[test]
    fn the_slowest_stretch_counts() {
        // Links 11, 11, 2, 2, 11 Mbit/s, k = 2: the stretch of the two slow links, 2 * 12224 bit / 2 Mbit/s.
        let rates: Arc<[Rate]> = [11, 11, 2, 2, 11].map(mbit).into();
        let path = Path::per_link(DATA, ACK, rates).unwrap();
        assert!((path.k_hop_delay(2, 0.001) - (0.002 + 0.012_224)).abs() < 1e-12);
    }

    #[test]
    fn unknown_hops_count_as_one_and_are_marked() {
        let path = Path::uniform(None, DATA, ACK, mbit(2));
        assert_eq!((path.hops(), path.is_reliable()), (1, false));
        assert_eq!(Path::per_link(DATA, ACK, Arc::from([])), None);
    }

    proptest! {
        #[test]
        fn equal_links_are_a_uniform_path(hops in 1u32..12, k in 1u32..9, rtt_us in 1u64..2_000_000, rate in 1u64..54) {
            let uniform = Path::uniform(Some(hops), DATA, ACK, mbit(rate));
            let listed = Path::per_link(DATA, ACK, (0..hops).map(|_| mbit(rate)).collect()).unwrap();
            let rtt = Span::from_micros(rtt_us);
            let (a, b) = (uniform.queueing_delay(rtt), listed.queueing_delay(rtt));
            prop_assert!((a - b).abs() < 1e-12);
            prop_assert!((uniform.k_hop_delay(k, a) - listed.k_hop_delay(k, a)).abs() < 1e-9);
        }
    }
}
