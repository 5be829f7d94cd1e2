//! Timing and frame durations of each standard.

use crate::burst::{Bitmap, Mpdu};
use crate::category::Category;
use crate::frame::Frame;
use crate::propagation::SPEED_OF_LIGHT;
use crate::standard::control_sizes::{ACK_BYTES, BLOCK_ACK_BYTES};
use crate::standard::{Aggregation, BackoffRange, Mode, Portion, Preamble, Standard};
use meshpace_units::{Bytes, Span};

/// Everything about the physical layer and the MAC that all stations share.
#[derive(Clone, Debug, PartialEq)]
pub struct Phy {
    /// The standard.
    pub standard: Standard,
    /// DSSS preamble; OFDM has only one.
    pub preamble: Preamble,
    /// Mode of broadcasts, and of control frames under DSSS.
    pub basic: &'static Mode,
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
        self.standard.slot
    }

    /// Short interframe space.
    #[must_use]
    pub const fn sifs(&self) -> Span {
        self.standard.sifs
    }

    /// DCF interframe space: SIFS + 2 slots (IEEE 802.11-2020, 10.3.7), or as many as the standard has.
    #[must_use]
    pub fn difs(&self) -> Span {
        self.sifs() + self.slot() * u64::from(self.standard.aifsn)
    }

    /// Extended interframe space: SIFS + DIFS + an ACK at the lowest rate (10.3.7); 364 us with DSSS.
    #[must_use]
    pub fn eifs(&self) -> Span {
        self.sifs() + self.difs() + self.airtime(ACK_BYTES, self.standard.lowest())
    }

    /// Slots of idle medium, after a SIFS, before a backoff of this category counts (IEEE 802.11-2020, table 9-155).
    #[must_use]
    pub const fn aifsn(&self, category: Category) -> u8 {
        match category {
            Category::Background => 7,
            Category::BestEffort => self.standard.aifsn,
            Category::Video | Category::Voice => 2,
        }
    }

    /// Smallest and largest contention window of a category (the same table).
    #[must_use]
    pub const fn window(&self, category: Category) -> (u32, u32) {
        let (least, most) = self.standard.contention_window;
        match category {
            Category::Background | Category::BestEffort => (least, most),
            Category::Video => (least.div_ceil(2) - 1, least),
            Category::Voice => (least.div_ceil(4) - 1, least.div_ceil(2) - 1),
        }
    }

    /// Mode of RTS, CTS and ACK that belong to data in `data`: that of broadcasts with DSSS; with OFDM the fastest
    /// mandatory one (6, 12, 24 Mbit/s) not above the data rate (IEEE 802.11-2020, 10.6.6.5).
    #[must_use]
    pub fn answer(&self, data: &'static Mode) -> &'static Mode {
        self.standard.answer(data, self.basic)
    }

    /// Time on the air of a frame of `size`, preamble included ([`Mode::airtime`]).
    #[must_use]
    pub fn airtime(&self, size: Bytes, mode: &Mode) -> Span {
        mode.airtime(size, self.preamble)
    }

    /// Time on the air of a data frame of this size, which has several packets or one.
    #[must_use]
    #[inline]
    pub fn data_airtime(&self, size: Bytes, several: bool, mode: &Mode) -> Span {
        self.airtime(if several { size } else { size + mode.alone }, mode)
    }

    /// Time on the air of an RTS.
    #[must_use]
    #[inline]
    pub const fn rts_airtime(&self, control: &Mode) -> Span {
        control.control(self.preamble).rts
    }

    /// Time on the air of a CTS, or of an acknowledgement of one packet.
    #[must_use]
    #[inline]
    pub const fn answer_airtime(&self, control: &Mode) -> Span {
        control.control(self.preamble).answer
    }

    /// Time on the air of an acknowledgement of this size.
    #[must_use]
    #[inline]
    pub fn ack_airtime(&self, ack: Bytes, control: &Mode) -> Span {
        if ack == ACK_BYTES { self.answer_airtime(control) } else { self.airtime(ack, control) }
    }

    /// MPDU size of a network packet.
    #[must_use]
    pub fn mpdu(&self, packet: Bytes) -> Bytes {
        packet + self.mac_overhead
    }

    /// True if a unicast packet of this size is sent after RTS/CTS, alone in its frame.
    #[must_use]
    pub fn needs_rts(&self, packet: Bytes) -> bool {
        self.protects(self.mpdu(packet))
    }

    /// True if a unicast data frame of this size is sent after RTS/CTS.
    #[must_use]
    pub fn protects(&self, frame: Bytes) -> bool {
        self.rts_threshold.is_some_and(|threshold| frame >= threshold)
    }

    /// Size of a data frame with these packets.
    ///
    /// Packets of one number, which stand together, are one MPDU (an A-MSDU).
    #[must_use]
    #[inline]
    pub fn frame(&self, packets: &[Mpdu]) -> Bytes {
        match packets {
            [one] => self.mpdu(one.packet.size),
            several => self.end(several),
        }
    }

    /// True if an MPDU may have several packets.
    #[must_use]
    #[inline]
    pub fn has_amsdus(&self) -> bool {
        self.standard.aggregation.as_ref().is_some_and(|aggregation| aggregation.amsdu > Bytes::ZERO)
    }

    /// The bytes of a frame of several packets.
    #[inline]
    fn end(&self, packets: &[Mpdu]) -> Bytes {
        let aggregation = self.aggregation();
        if aggregation.amsdu > Bytes::ZERO {
            return aggregation.end(mpdus(packets).map(|mpdu| self.mpdu_of(mpdu)));
        }
        aggregation.end(packets.iter().map(|mpdu| self.mpdu(mpdu.packet.size)))
    }

    /// Where the MPDUs of a frame of several packets lie.
    fn portions<'a>(&'a self, packets: &'a [Mpdu]) -> impl Iterator<Item = Portion> + 'a {
        self.aggregation().portions(mpdus(packets).map(|mpdu| self.mpdu_of(mpdu)))
    }

    /// Size of an MPDU with these packets.
    pub(crate) fn mpdu_of(&self, packets: &[Mpdu]) -> Bytes {
        Aggregation::mpdu(sizes(packets), self.mac_overhead)
    }

    /// When each MPDU of a frame of several is on the air, after the frame's first bit; the preamble comes before all of them.
    pub fn times<'a>(&'a self, frame: &'a Frame) -> impl Iterator<Item = (Span, Span)> + 'a {
        let at = |byte| frame.mode.sent_by(byte, self.preamble);
        self.portions(frame.packets()).map(move |portion| (at(portion.begin), at(portion.end)))
    }

    /// How many of these packets go in one frame in the mode of the first: those of one MPDU at the least.
    #[must_use]
    pub(crate) fn fitting(&self, packets: &[Mpdu]) -> usize {
        let (Some(first), Some(aggregation)) = (packets.first(), &self.standard.aggregation) else {
            return packets.len();
        };
        let most = self.most(aggregation, first);
        let fits = |(place, portion): &(usize, Portion)| *place == 0 || portion.end <= most;
        let count = self.portions(packets).enumerate().take_while(fits).count();
        mpdus(packets).take(count.min(aggregation.packets)).map(<[Mpdu]>::len).sum()
    }

    fn aggregation(&self) -> &Aggregation {
        let aggregation = self.standard.aggregation.as_ref();
        aggregation.unwrap_or_else(|| panic!("{} has one packet a frame", self.standard.word))
    }

    /// The largest packet that a frame with these has room for; `None`: it has none.
    #[must_use]
    pub fn room(&self, packets: &[Mpdu]) -> Option<Bytes> {
        let aggregation = self.standard.aggregation.as_ref()?;
        let first = packets.first()?;
        let count = if self.has_amsdus() { mpdus(packets).count() } else { packets.len() };
        if count >= aggregation.packets || packets.len() >= Bitmap::MOST {
            return None;
        }
        self.behind(self.end(packets), self.most(aggregation, first), aggregation)
    }

    /// The same of a frame in which a packet of this size has become the last MPDU, when it had `room`.
    #[must_use]
    pub(crate) fn room_behind(&self, packets: &[Mpdu], last: Bytes, room: Bytes) -> Option<Bytes> {
        let aggregation = self.standard.aggregation.as_ref()?;
        if packets.len() >= aggregation.packets.min(Bitmap::MOST) {
            return None;
        }
        let most = self.most(aggregation, packets.first()?);
        // Its packet began where the room did.
        self.behind(Bytes(most.0 - room.0) + last, most, aggregation)
    }

    /// The bytes that a frame which begins with this packet may have.
    #[inline]
    fn most(&self, aggregation: &Aggregation, first: &Mpdu) -> Bytes {
        aggregation.bytes.min(first.packet.mode.longest(aggregation.airtime, self.preamble))
    }

    /// The largest packet behind the end of the MPDUs of a frame that may have `most` bytes.
    #[inline]
    fn behind(&self, end: Bytes, most: Bytes, aggregation: &Aggregation) -> Option<Bytes> {
        let around = aggregation.aligned(end) + aggregation.delimiter + self.mac_overhead;
        (most > around).then(|| Bytes(most.0 - around.0))
    }

    /// The largest packet that the last MPDU of a frame with these has room for, as an A-MSDU, within the limits of the frame; `None`:
    /// no further packet goes into it.
    #[must_use]
    pub fn room_inside(&self, packets: &[Mpdu]) -> Option<Bytes> {
        let aggregation = self.standard.aggregation.as_ref().filter(|_| self.has_amsdus())?;
        let (first, last) = (packets.first()?, mpdus(packets).last()?);
        // What has been sent before stays as it is.
        if last.iter().any(|mpdu| mpdu.retry || mpdu.losses > 0) || packets.len() >= Bitmap::MOST {
            return None;
        }
        let before = &packets[..packets.len() - last.len()];
        let begin = aggregation.aligned(self.end(before));
        let most = self.most(aggregation, first);
        let around = begin + aggregation.delimiter + self.mac_overhead;
        // As if it were alone in its MPDU: then it has its LLC/SNAP among what is around.
        let inside = |size: Bytes| Aggregation::mpdu(sizes(last).chain([size]), self.mac_overhead);
        let used = Bytes(inside(Bytes::ZERO).0.saturating_sub(self.mac_overhead.0));
        let left = Bytes(most.0.saturating_sub(around.0 + used.0));
        Some(left.min(aggregation.amsdu_room(sizes(last)))).filter(|room| *room > Bytes::ZERO)
    }

    /// Size of the acknowledgement of a frame of one packet, or of several.
    #[must_use]
    pub fn ack_bytes(&self, several: bool) -> Bytes {
        if !several {
            return ACK_BYTES;
        }
        BLOCK_ACK_BYTES + Bitmap::bytes(self.standard.most_packets())
    }

    /// How long the sender of an RTS waits for the CTS, from the start of the RTS (ns-2.35: + twice the largest
    /// propagation delay, 2 us).
    #[must_use]
    pub fn cts_timeout(&self, data: &'static Mode) -> Span {
        let control = self.answer(data);
        self.rts_airtime(control) + self.sifs() + self.answer_airtime(control) + self.propagation_allowance
    }

    /// How long the sender of a data frame of this duration waits for its acknowledgement, of `ack` bytes, from the start of
    /// the frame.
    #[must_use]
    pub fn ack_timeout(&self, data_airtime: Span, data: &'static Mode, ack: Bytes) -> Span {
        data_airtime + self.sifs() + self.ack_airtime(ack, self.answer(data)) + self.propagation_allowance
    }

    /// How long the sender of a CTS waits for the data, from the start of the CTS, given the CTS's duration field
    /// (ns-2.35: CTS + duration - SIFS - ACK + 4 us). Where a block acknowledgement is to follow, which the duration does not tell
    /// apart, it waits longer by what that has more than an ACK.
    #[must_use]
    pub fn data_timeout(&self, duration: Span, control: &Mode) -> Span {
        let cts = self.answer_airtime(control);
        let after_data = self.sifs() + self.answer_airtime(control);
        cts + duration.saturating_sub(after_data) + self.propagation_allowance
    }

    /// Duration field of an RTS: 3 SIFS + CTS + DATA + ACK, which has `ack` bytes, in whole microseconds, to nearest (as ns-2).
    #[must_use]
    pub fn rts_duration(&self, data_airtime: Span, data: &'static Mode, ack: Bytes) -> Span {
        let control = self.answer(data);
        let exact =
            self.sifs() * 3 + self.answer_airtime(control) + data_airtime + self.ack_airtime(ack, control);
        whole_micros(exact)
    }

    /// Duration field of a CTS that answers an RTS with this one.
    #[must_use]
    pub fn cts_duration(&self, rts_duration: Span, control: &Mode) -> Span {
        rts_duration.saturating_sub(self.sifs() + self.answer_airtime(control))
    }

    /// Duration field of a unicast data frame: SIFS + ACK, which has `ack` bytes.
    #[must_use]
    pub fn data_duration(&self, data: &'static Mode, ack: Bytes) -> Span {
        whole_micros(self.sifs() + self.ack_airtime(ack, self.answer(data)))
    }
}

/// The packets of a frame by MPDU: those of one number are one.
pub fn mpdus(packets: &[Mpdu]) -> impl Iterator<Item = &[Mpdu]> {
    packets.chunk_by(|one, next| one.seq == next.seq)
}

fn sizes(packets: &[Mpdu]) -> impl Iterator<Item = Bytes> + Clone + '_ {
    packets.iter().map(|mpdu| mpdu.packet.size)
}

/// Rounded to the nearest microsecond.
#[must_use]
pub fn whole_micros(span: Span) -> Span {
    Span::from_micros((span + Span::from_nanos(500)).as_micros())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::standard::control_sizes::{CTS_BYTES, RTS_BYTES};
    use meshpace_units::Rate;

    /// The mode of unicast data at so many bit/s.
    fn mode(phy: &Phy, bps: u64) -> &'static Mode {
        let found = phy.standard.data_mode(Rate::bits_per_sec(bps));
        found.unwrap_or_else(|| panic!("{} has no {bps} bit/s", phy.standard.word))
    }

    fn standard(word: &str) -> Standard {
        Standard::named(word).unwrap_or_else(|| panic!("no {word}"))
    }

    /// 802.11b as in ns-2.35, RTS before everything.
    pub(crate) fn dsss(overhead: u64) -> Phy {
        let standard = standard("802.11b");
        Phy {
            standard,
            preamble: Preamble::Long,
            basic: standard.lowest(),
            mac_overhead: Bytes(overhead),
            rts_threshold: Some(Bytes(0)),
            retry_short: 7,
            retry_long: 4,
            backoff_range: BackoffRange::Ns2,
            propagation_allowance: Phy::NS2_PROPAGATION_ALLOWANCE,
        }
    }

    /// RTS + CTS + DATA + ACK (or DATA + ACK) with the SIFS between them.
    fn exchange(phy: &Phy, packet: u64, rate: &'static Mode, rts: bool) -> f64 {
        let control = phy.answer(rate);
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
            let phy = dsss(overhead);
            let rate = mode(&phy, bps);
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
        phy.standard = standard("802.11a");
        for (mbps, data, tcp_ack) in [(6, 2072, 128), (12, 1048, 76), (24, 536, 48), (54, 248, 32)] {
            let rate = mode(&phy, mbps * 1_000_000);
            assert_eq!(phy.airtime(Bytes(1536), rate), Span::from_micros(data));
            assert_eq!(phy.airtime(Bytes(76), rate), Span::from_micros(tcp_ack));
        }
        for (mbps, ack) in [(6, 44), (12, 32), (24, 28), (54, 28), (18, 32), (9, 44)] {
            let control = phy.answer(mode(&phy, mbps * 1_000_000));
            assert_eq!(phy.airtime(ACK_BYTES, control), Span::from_micros(ack), "{mbps}");
        }
    }

    #[test]
    fn dsss_control_times() {
        let phy = dsss(34);
        assert_eq!(phy.eifs(), Span::from_micros(364));
        assert_eq!(phy.difs(), Span::from_micros(50));
        let rate = mode(&phy, 11_000_000);
        let data = phy.airtime(Bytes(1534), rate);
        assert_eq!(phy.rts_duration(data, rate, ACK_BYTES), Span::from_micros(0x79a));
        assert_eq!(phy.data_duration(rate, ACK_BYTES), Span::from_micros(314));
        // 318 us after the end of the RTS, and after the end of the data.
        assert_eq!(phy.cts_timeout(rate), Span::from_micros(352 + 318));
        assert_eq!(phy.ack_timeout(data, rate, ACK_BYTES), data + Span::from_micros(318));
    }

    #[test]
    fn the_short_preamble_spares_96_us_but_not_at_the_lowest_rate() {
        let mut phy = dsss(34);
        phy.preamble = Preamble::Short;
        let at = |bps| phy.airtime(Bytes(100), mode(&phy, bps));
        assert_eq!(at(1_000_000), Span::from_micros(192 + 800));
        assert_eq!(at(2_000_000), Span::from_micros(96 + 400));
    }
}
