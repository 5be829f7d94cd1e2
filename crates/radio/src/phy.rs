//! Timing and frame durations of each standard.

use crate::coding::Coding;
use crate::propagation::SPEED_OF_LIGHT;
use crate::standard::Standard;
use meshpace_units::{Bytes, Rate, Span};

/// MPDU sizes of the control frames, bytes (IEEE 802.11-2016, 9.3.1).
pub const RTS_BYTES: Bytes = Bytes(20);
/// CTS frame.
pub const CTS_BYTES: Bytes = Bytes(14);
/// Acknowledgement frame.
pub const ACK_BYTES: Bytes = Bytes(14);

/// DSSS preamble and PLCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// 144 + 48 bit at 1 Mbit/s: 192 us.
    Long,
    /// 72 bit at 1 Mbit/s + 48 bit at 2 Mbit/s: 96 us; frames at 1 Mbit/s keep the long one (clause 16.2.2.3).
    Short,
}

/// The range that a backoff is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffRange {
    /// `0..cw-1`, as ns-2 draws it (ns-2.35: random modulo cw).
    Ns2,
    /// `0..=cw` (IEEE 802.11-2016, 10.3.3).
    Standard,
}

/// Everything about the physical layer and the MAC that all stations share.
#[derive(Clone, Debug, PartialEq)]
pub struct Phy {
    /// The standard.
    pub standard: Standard,
    /// DSSS preamble; OFDM has only one.
    pub preamble: Preamble,
    /// Rate of broadcasts, and of control frames under DSSS.
    pub basic_rate: Rate,
    /// Bytes that the MAC adds to a network packet: header, fourth address where modelled, FCS.
    pub mac_overhead: Bytes,
    /// Unicast frames whose MPDU is at least this long are sent after RTS/CTS; `None`: never.
    pub rts_threshold: Option<Bytes>,
    /// Attempts of an RTS, or of a data frame sent without one.
    pub retry_short: u32,
    /// Attempts of a data frame sent after RTS/CTS.
    pub retry_long: u32,
    /// How a backoff is drawn.
    pub backoff_range: BackoffRange,
    /// What the time-outs for an answer allow for the way there and back, beyond SIFS and the answer itself
    /// (`[radio] ack_timeout`). Over links longer than [`Phy::reach`] no answer comes in time.
    pub propagation_allowance: Span,
}

impl Phy {
    /// Twice the largest propagation delay, 2 us, that ns-2.35 allows for in its time-outs.
    pub const NS2_PROPAGATION_ALLOWANCE: Span = Span::from_micros(4);

    /// The longest link, in metres, whose answers come within the time-outs: 600 m with ns-2.35's allowance. An answer
    /// whose last bit arrives in the very nanosecond of the time-out is still in time.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.propagation_allowance.as_secs_f64() * SPEED_OF_LIGHT / 2.0
    }

    /// Slot time.
    #[must_use]
    pub const fn slot(&self) -> Span {
        match self.standard {
            Standard::B | Standard::GNs2 => Span::from_micros(20),
            Standard::A | Standard::G => Span::from_micros(9),
        }
    }

    /// Short interframe space.
    #[must_use]
    pub const fn sifs(&self) -> Span {
        match self.standard {
            Standard::B | Standard::GNs2 | Standard::G => Span::from_micros(10),
            Standard::A => Span::from_micros(16),
        }
    }

    /// DCF interframe space: SIFS + 2 slots (IEEE 802.11-2016, 10.3.7).
    #[must_use]
    pub fn difs(&self) -> Span {
        self.sifs() + self.slot() * 2
    }

    /// Extended interframe space: SIFS + DIFS + an ACK at the lowest rate (10.3.7); 364 us with DSSS.
    #[must_use]
    pub fn eifs(&self) -> Span {
        self.sifs() + self.difs() + self.airtime(ACK_BYTES, self.standard.lowest_rate())
    }

    /// Smallest contention window.
    #[must_use]
    pub const fn cw_min(&self) -> u32 {
        match self.standard {
            Standard::B | Standard::GNs2 => 31,
            Standard::A | Standard::G => 15,
        }
    }

    /// Largest contention window.
    #[must_use]
    pub const fn cw_max(&self) -> u32 {
        1023
    }

    /// Rate of RTS, CTS and ACK that belong to data at `data`: the basic rate with DSSS; with OFDM the highest
    /// mandatory rate (6, 12, 24 Mbit/s) not above the data rate (IEEE 802.11-2016, 10.7.6.5).
    #[must_use]
    pub fn control_rate(&self, data: Rate) -> Rate {
        match self.standard {
            Standard::B | Standard::GNs2 => self.basic_rate,
            Standard::A | Standard::G => Standard::mandatory_up_to(data),
        }
    }

    /// Time on the air of an MPDU of `size` at `rate`, preamble included.
    ///
    /// DSSS: preamble + 8 * size / rate, rounded up to a nanosecond (clause 16.2.3.5 rounds to whole microseconds;
    /// ns-2, which we reproduce, does not). OFDM: 20 us + 4 us a symbol of `N_DBPS` = 4 us * rate bits for 16
    /// service, 6 tail and the data bits (equation 17-29), + 6 us signal extension in the 2.4 GHz band (18.3.2.4).
    ///
    /// # Panics
    /// If `rate` is zero: the scenario's check excludes it.
    #[must_use]
    pub fn airtime(&self, size: Bytes, rate: Rate) -> Span {
        let payload = |rate: Rate| rate.time_to_send(size).unwrap_or_else(|| panic!("{size:?} at {rate:?}"));
        match self.standard {
            Standard::B | Standard::GNs2 => {
                let long = self.preamble == Preamble::Long || rate.as_bits_per_sec() <= 1_000_000;
                Span::from_micros(if long { 192 } else { 96 }) + payload(rate)
            }
            Standard::A | Standard::G => {
                let symbol = Span::from_micros(4);
                let bits_per_symbol = rate.as_bits_per_sec() * symbol.as_nanos() / 1_000_000_000;
                let symbols = (16 + size.bits() + 6).div_ceil(bits_per_symbol);
                let extension = if self.standard == Standard::G { 6 } else { 0 };
                Span::from_micros(20 + extension) + symbol * symbols
            }
        }
    }

    /// How long preamble and header of a frame take, and how their bits are sent. (The short DSSS preamble's header goes at
    /// 2 Mbit/s; it is taken for one at 1 Mbit/s.)
    #[must_use]
    pub const fn header(&self) -> (Span, Coding) {
        match (self.standard, self.preamble) {
            (Standard::B | Standard::GNs2, Preamble::Long) => (Span::from_micros(192), Coding::Dbpsk),
            (Standard::B | Standard::GNs2, Preamble::Short) => (Span::from_micros(96), Coding::Dbpsk),
            (Standard::A | Standard::G, _) => (Span::from_micros(20), Coding::Ofdm6),
        }
    }

    /// MPDU size of a network packet.
    #[must_use]
    pub fn mpdu(&self, packet: Bytes) -> Bytes {
        packet + self.mac_overhead
    }

    /// True if a unicast packet of this size is sent after RTS/CTS.
    #[must_use]
    pub fn needs_rts(&self, packet: Bytes) -> bool {
        self.rts_threshold.is_some_and(|threshold| self.mpdu(packet) >= threshold)
    }

    /// How long the sender of an RTS waits for the CTS, from the start of the RTS (ns-2.35: + twice the largest
    /// propagation delay, 2 us).
    #[must_use]
    pub fn cts_timeout(&self, data: Rate) -> Span {
        let rate = self.control_rate(data);
        self.airtime(RTS_BYTES, rate)
            + self.sifs()
            + self.airtime(CTS_BYTES, rate)
            + self.propagation_allowance
    }

    /// How long the sender of a data frame of this duration waits for the ACK, from the start of the frame.
    #[must_use]
    pub fn ack_timeout(&self, data_airtime: Span, data: Rate) -> Span {
        data_airtime
            + self.sifs()
            + self.airtime(ACK_BYTES, self.control_rate(data))
            + self.propagation_allowance
    }

    /// How long the sender of a CTS waits for the data, from the start of the CTS, given the CTS's duration field
    /// (ns-2.35: CTS + duration - SIFS - ACK + 4 us).
    #[must_use]
    pub fn data_timeout(&self, duration: Span, control: Rate) -> Span {
        let cts = self.airtime(CTS_BYTES, control);
        let after_data = self.sifs() + self.airtime(ACK_BYTES, control);
        cts + duration.saturating_sub(after_data) + self.propagation_allowance
    }

    /// Duration field of an RTS: 3 SIFS + CTS + DATA + ACK in whole microseconds, to nearest (as ns-2).
    #[must_use]
    pub fn rts_duration(&self, data_airtime: Span, data: Rate) -> Span {
        let control = self.control_rate(data);
        let exact = self.sifs() * 3
            + self.airtime(CTS_BYTES, control)
            + data_airtime
            + self.airtime(ACK_BYTES, control);
        whole_micros(exact)
    }

    /// Duration field of a CTS that answers an RTS with this one.
    #[must_use]
    pub fn cts_duration(&self, rts_duration: Span, control: Rate) -> Span {
        rts_duration.saturating_sub(self.sifs() + self.airtime(CTS_BYTES, control))
    }

    /// Duration field of a unicast data frame: SIFS + ACK.
    #[must_use]
    pub fn data_duration(&self, data: Rate) -> Span {
        whole_micros(self.sifs() + self.airtime(ACK_BYTES, self.control_rate(data)))
    }
}

/// Rounded to the nearest microsecond.
#[must_use]
pub fn whole_micros(span: Span) -> Span {
    Span::from_micros((span + Span::from_nanos(500)).as_micros())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// 802.11b as in ns-2.35, RTS before everything.
    pub(crate) fn dsss(overhead: u64) -> Phy {
        Phy {
            standard: Standard::B,
            preamble: Preamble::Long,
            basic_rate: Rate::bits_per_sec(1_000_000),
            mac_overhead: Bytes(overhead),
            rts_threshold: Some(Bytes(0)),
            retry_short: 7,
            retry_long: 4,
            backoff_range: BackoffRange::Ns2,
            propagation_allowance: Phy::NS2_PROPAGATION_ALLOWANCE,
        }
    }

    /// RTS + CTS + DATA + ACK (or DATA + ACK) with the SIFS between them.
    fn exchange(phy: &Phy, packet: u64, rate: Rate, rts: bool) -> f64 {
        let control = phy.control_rate(rate);
        let data = phy.airtime(phy.mpdu(Bytes(packet)), rate) + phy.sifs() + phy.airtime(ACK_BYTES, control);
        let before = phy.airtime(RTS_BYTES, control) + phy.airtime(CTS_BYTES, control) + phy.sifs() * 2;
        (data + if rts { before } else { Span::ZERO }).as_nanos() as f64 / 1000.0
    }

    #[test]
    fn dsss_exchange_times_are_those_of_the_tables() {
        // schemes.md 17.2, both overheads, all rates, data and TCP acknowledgements.
        let table = [
            (28, 2_000_000, [7294.0, 1454.0, 6618.0, 778.0]),
            (28, 5_500_000, [3404.5, 1280.9, 2728.5, 604.9]),
            (28, 11_000_000, [2293.3, 1231.5, 1617.3, 555.5]),
            (34, 2_000_000, [7318.0, 1478.0, 6642.0, 802.0]),
            (34, 5_500_000, [3413.3, 1289.6, 2737.3, 613.6]),
            (34, 11_000_000, [2297.6, 1235.8, 1621.6, 559.8]),
        ];
        for (overhead, bps, want) in table {
            let (phy, rate) = (dsss(overhead), Rate::bits_per_sec(bps));
            let got = [(1500, true), (40, true), (1500, false), (40, false)]
                .map(|(packet, rts)| exchange(&phy, packet, rate, rts));
            for (got, want) in got.into_iter().zip(want) {
                assert!(
                    (got - want).abs() < 0.06,
                    "overhead {overhead}, {bps} bit/s: {got} us, table {want} us"
                );
            }
        }
    }

    #[test]
    fn ofdm_times_are_those_of_the_table() {
        // schemes.md 17.3: 1536-byte data, 76-byte TCP ACK, 14-byte MAC ACK.
        let mut phy = dsss(36);
        phy.standard = Standard::A;
        for (mbps, data, tcp_ack) in [(6, 2072, 128), (12, 1048, 76), (24, 536, 48), (54, 248, 32)] {
            let rate = Rate::bits_per_sec(mbps * 1_000_000);
            assert_eq!(phy.airtime(Bytes(1536), rate), Span::from_micros(data));
            assert_eq!(phy.airtime(Bytes(76), rate), Span::from_micros(tcp_ack));
        }
        for (mbps, ack) in [(6, 44), (12, 32), (24, 28), (54, 28), (18, 32), (9, 44)] {
            let control = phy.control_rate(Rate::bits_per_sec(mbps * 1_000_000));
            assert_eq!(phy.airtime(ACK_BYTES, control), Span::from_micros(ack), "{mbps}");
        }
    }

    #[test]
    fn dsss_control_times() {
        let phy = dsss(34);
        assert_eq!(phy.eifs(), Span::from_micros(364));
        assert_eq!(phy.difs(), Span::from_micros(50));
        let rate = Rate::bits_per_sec(11_000_000);
        let data = phy.airtime(Bytes(1534), rate);
        assert_eq!(phy.rts_duration(data, rate), Span::from_micros(0x79a));
        assert_eq!(phy.data_duration(rate), Span::from_micros(314));
        // 318 us after the end of the RTS, and after the end of the data.
        assert_eq!(phy.cts_timeout(rate), Span::from_micros(352 + 318));
        assert_eq!(phy.ack_timeout(data, rate), data + Span::from_micros(318));
    }

    #[test]
    fn the_short_preamble_spares_96_us_but_not_at_the_lowest_rate() {
        let mut phy = dsss(34);
        phy.preamble = Preamble::Short;
        let at = |bps| phy.airtime(Bytes(100), Rate::bits_per_sec(bps));
        assert_eq!(at(1_000_000), Span::from_micros(192 + 800));
        assert_eq!(at(2_000_000), Span::from_micros(96 + 400));
    }
}
