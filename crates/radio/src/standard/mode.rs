//! A rate of 802.11, and all that follows from it: modulation and code, preamble, how long so many bytes are on the air.

use super::control_sizes::{ACK_BYTES, RTS_BYTES};
use crate::coding::{
    CCK5_5, CCK11, Coding, DBPSK, DQPSK, OFDM6, OFDM9, OFDM12, OFDM18, OFDM24, OFDM36, OFDM48, OFDM54,
};
use meshpace_units::{Bytes, Rate, Span};

/// Time on the air at the most of a frame of the high-throughput PHY and those that followed it (aPPDUMaxTime; IEEE 802.11-2020, table 19-25 for the
/// HT-mixed format, table 21-29; IEEE 802.11ax-2021, table 27-54).
pub const LONGEST_PPDU: Span = Span::from_micros(5_484);

/// DSSS preamble and PLCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preamble {
    /// 144 + 48 bit at 1 Mbit/s: 192 us.
    Long,
    /// 72 bit at 1 Mbit/s + 48 bit at 2 Mbit/s: 96 us; frames at 1 Mbit/s keep the long one (IEEE 802.11-2020, 16.2.2.3).
    Short,
}

/// How the bits after the preamble go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// One after another, to the nanosecond (clause 16.2.3.5 rounds to whole microseconds; ns-2, which we reproduce, does not).
    Serial,
    /// In whole symbols of `bits` each, `extra` of them taken by service and tail (equation 17-29).
    Symbols {
        /// Length of a symbol.
        length: Span,
        /// All symbols together last a multiple of this: of 4 us even where symbols are shorter (IEEE 802.11-2020, 19.4.3).
        grid: Span,
        /// Data bits of a symbol, `N_DBPS`.
        bits: u64,
        /// Service and tail bits of a frame.
        extra: u64,
    },
}

/// One way to send a frame: a row of [`Standard::modes`](super::Standard::modes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Which row; [`numbered`] counts.
    number: u16,
    /// Data bits a second.
    pub rate: Rate,
    /// The rate that a standard's rule of answers goes by: the rate itself, or of a mode beyond clause 17 its non-HT reference
    /// rate (IEEE 802.11-2020, 10.6.11).
    pub reference: Rate,
    /// Modulation and code of the payload.
    pub coding: &'static Coding,
    /// Preamble and header, long and short.
    pub preambles: [Span; 2],
    /// How the payload goes.
    pub payload: Payload,
    /// Silence that counts as the frame's last part.
    pub extension: Span,
    /// What an MPDU that is alone in its frame has around it: the delimiter of a frame that could have had several.
    pub alone: Bytes,
    /// Which MCS it is; `None`: a mode of clauses 15 to 18.
    pub mcs: Option<Mcs>,
    /// Time on the air of control frames, by preamble: every data frame asks for several of them, so the table has them.
    control: [ControlTimes; 2],
    /// Bytes of the [longest frame](LONGEST_PPDU), which a station looks at whenever a packet joins one; `None`: of no table.
    longest: Option<[Bytes; 2]>,
}

/// A modulation and coding scheme of the high-throughput PHY or one that followed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mcs {
    /// Of which PHY.
    pub format: Format,
    /// Its number; of the high-throughput PHY it says the streams, too: by 8, modulation and code being the rest.
    pub index: u8,
    /// Spatial streams.
    pub streams: u8,
    /// What of the channel it fills.
    pub width: Width,
    /// Guard interval.
    pub guard: Span,
}

impl Mcs {
    /// Modulation and code alone: one number means the same in all formats.
    #[must_use]
    pub const fn scheme(&self) -> u8 {
        match self.format {
            Format::Ht => self.index % 8,
            Format::Vht | Format::He => self.index,
        }
    }
}

/// A PHY whose modes have an MCS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// High throughput, mixed format (IEEE 802.11-2020, clause 19).
    Ht,
    /// Very high throughput, one user (clause 21).
    Vht,
    /// High efficiency, one user (IEEE 802.11ax-2021, clause 27).
    He,
}

/// Width of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// 20 MHz.
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
    /// 160 MHz, in one piece.
    Mhz160,
}

impl Width {
    /// Every one, narrowest first.
    pub const ALL: [Self; 4] = [Self::Mhz20, Self::Mhz40, Self::Mhz80, Self::Mhz160];

    /// In MHz.
    #[must_use]
    pub const fn mhz(self) -> u64 {
        20 << self as u64
    }
}

/// Time on the air of control frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlTimes {
    /// RTS.
    pub rts: Span,
    /// CTS, and acknowledgement: they are of one size.
    pub answer: Span,
}

/// The table of a standard's modes, numbered in their order.
#[must_use]
pub const fn numbered<const N: usize>(mut modes: [Mode; N]) -> [Mode; N] {
    let mut at = 0;
    while at < N {
        modes[at].number = at as u16;
        modes[at].control =
            [modes[at].control_times(Preamble::Long), modes[at].control_times(Preamble::Short)];
        modes[at].longest = Some([
            modes[at].most(LONGEST_PPDU, Preamble::Long),
            modes[at].most(LONGEST_PPDU, Preamble::Short),
        ]);
        at += 1;
    }
    modes
}

impl Mode {
    /// A mode whose answers go by its own rate.
    #[must_use]
    pub const fn new(rate: Rate, coding: &'static Coding, preambles: [Span; 2], payload: Payload) -> Self {
        let control = [ControlTimes { rts: Span::ZERO, answer: Span::ZERO }; 2];
        let (extension, alone, mcs, longest) = (Span::ZERO, Bytes::ZERO, None, None);
        Self {
            number: 0,
            rate,
            reference: rate,
            coding,
            preambles,
            payload,
            extension,
            alone,
            mcs,
            control,
            longest,
        }
    }

    /// Time on the air of control frames.
    #[must_use]
    #[inline]
    pub const fn control(&self, preamble: Preamble) -> &ControlTimes {
        &self.control[preamble as usize]
    }

    const fn control_times(&self, preamble: Preamble) -> ControlTimes {
        ControlTimes { rts: self.airtime(RTS_BYTES, preamble), answer: self.airtime(ACK_BYTES, preamble) }
    }

    /// Which of its standard's.
    #[must_use]
    pub const fn number(&self) -> u16 {
        self.number
    }

    /// Spatial streams.
    #[must_use]
    pub const fn streams(&self) -> u8 {
        match self.mcs {
            Some(mcs) => mcs.streams,
            None => 1,
        }
    }

    /// Preamble and header.
    #[must_use]
    pub const fn preamble(&self, preamble: Preamble) -> Span {
        self.preambles[preamble as usize]
    }

    /// Time on the air of `size` bytes (an MPDU, or several as one frame has them), preamble included.
    ///
    /// # Panics
    /// If the rate is zero, which no mode has.
    #[must_use]
    #[inline]
    pub const fn airtime(&self, size: Bytes, preamble: Preamble) -> Span {
        let around = self.preamble(preamble).as_nanos() + self.extension.as_nanos();
        Span::from_nanos(around + self.payload_time(size).as_nanos())
    }

    /// The most bytes that a frame may have to be on the air no longer than this.
    #[must_use]
    #[inline]
    pub const fn longest(&self, airtime: Span, preamble: Preamble) -> Bytes {
        match self.longest {
            Some(longest) if airtime.as_nanos() == LONGEST_PPDU.as_nanos() => longest[preamble as usize],
            _ => self.most(airtime, preamble),
        }
    }

    const fn most(&self, airtime: Span, preamble: Preamble) -> Bytes {
        let around = self.preamble(preamble).as_nanos() + self.extension.as_nanos();
        let payload = airtime.as_nanos().saturating_sub(around);
        Bytes(match self.payload {
            Payload::Serial => payload.saturating_mul(self.rate.as_bits_per_sec()) / 8 / 1_000_000_000,
            Payload::Symbols { length, grid, bits, extra } => {
                let whole = payload / grid.as_nanos() * grid.as_nanos();
                (whole / length.as_nanos() * bits).saturating_sub(extra) / 8
            }
        })
    }

    /// When, after a frame's first bit, the bit before this byte of the payload has been sent. With whole symbols that is the end
    /// of the symbol that the bit is in.
    #[must_use]
    pub fn sent_by(&self, byte: Bytes, preamble: Preamble) -> Span {
        self.preamble(preamble) + if byte == Bytes::ZERO { Span::ZERO } else { self.payload_time(byte) }
    }

    /// Time on the air of `size` bytes after the preamble.
    #[inline]
    const fn payload_time(&self, size: Bytes) -> Span {
        Span::from_nanos(match self.payload {
            // No frame has the two gigabytes that would not fit.
            Payload::Serial => (size.bits() * 1_000_000_000).div_ceil(self.rate.as_bits_per_sec()),
            Payload::Symbols { length, grid, bits, extra } => {
                let symbols = length.as_nanos() * (extra + size.bits()).div_ceil(bits);
                if grid.as_nanos() == length.as_nanos() {
                    symbols
                } else {
                    symbols.next_multiple_of(grid.as_nanos())
                }
            }
        })
    }
}

/// 1, 2, 5.5 and 11 Mbit/s of clauses 15 and 16.
pub const DSSS: [Mode; 4] = {
    let long = Span::from_micros(192);
    let short = Span::from_micros(96);
    [
        serial(1_000_000, &DBPSK, [long, long]),
        serial(2_000_000, &DQPSK, [long, short]),
        serial(5_500_000, &CCK5_5, [long, short]),
        serial(11_000_000, &CCK11, [long, short]),
    ]
};

/// 6 to 54 Mbit/s of clause 17; `extension`: 6 us in the 2.4 GHz band (18.3.2.4), where a frame ends later by it.
#[must_use]
pub const fn ofdm(extension: Span) -> [Mode; 8] {
    [
        symbols(6_000_000, &OFDM6, extension),
        symbols(9_000_000, &OFDM9, extension),
        symbols(12_000_000, &OFDM12, extension),
        symbols(18_000_000, &OFDM18, extension),
        symbols(24_000_000, &OFDM24, extension),
        symbols(36_000_000, &OFDM36, extension),
        symbols(48_000_000, &OFDM48, extension),
        symbols(54_000_000, &OFDM54, extension),
    ]
}

/// A rate of OFDM with the preamble of DSSS before it and its bits one after another: what ns-2 makes of such a rate
/// (schemes.md 17.3).
#[must_use]
pub const fn behind_dsss(mode: Mode) -> Mode {
    Mode { preambles: DSSS[3].preambles, payload: Payload::Serial, extension: Span::ZERO, ..mode }
}

const fn serial(rate: u64, coding: &'static Coding, preambles: [Span; 2]) -> Mode {
    Mode::new(Rate::bits_per_sec(rate), coding, preambles, Payload::Serial)
}

/// 20 us of preamble and SIGNAL, then symbols of 4 us, 16 service and 6 tail bits in them (17.3.2, equation 17-29).
const fn symbols(rate: u64, coding: &'static Coding, extension: Span) -> Mode {
    let length = Span::from_micros(4);
    let bits = rate * length.as_nanos() / 1_000_000_000;
    let preamble = Span::from_micros(20);
    let payload = Payload::Symbols { length, grid: length, bits, extra: 16 + 6 };
    let mode = Mode::new(Rate::bits_per_sec(rate), coding, [preamble, preamble], payload);
    Mode { extension, ..mode }
}
