//! The radiotap header (radiotap.org): fields in the order of their bits, little-endian, aligned to their size.

/// What is read of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Radiotap {
    /// Bytes of the header.
    pub length: usize,
    /// Microseconds of the radio's clock at the first bit of the frame, after the preamble.
    pub tsft: Option<u64>,
    /// The frame failed its check sequence.
    pub bad: bool,
    /// The check sequence is at the end of the frame.
    pub has_check: bool,
    /// Between header and payload stand bytes that were not sent, up to a multiple of four.
    pub padded: bool,
    /// Short preamble of 802.11b.
    pub short_preamble: bool,
    /// bit/s, where the rate is that of a or b or g.
    pub rate: Option<u64>,
    /// Centre, MHz.
    pub frequency: Option<u16>,
    /// 802.11n.
    pub mcs: Option<Mcs>,
    /// One of several frames in one transmission (A-MPDU), which is acknowledged as a whole.
    pub aggregate: bool,
}

/// A modulation and coding scheme of 802.11n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mcs {
    /// 0 to 31: eight for each number of streams.
    pub index: u8,
    /// 40 MHz instead of 20.
    pub wide: bool,
    /// Guard interval of 400 ns instead of 800.
    pub short_guard: bool,
    /// Greenfield preamble.
    pub greenfield: bool,
}

const FLAG_SHORT_PREAMBLE: u8 = 0x02;
const FLAG_HAS_CHECK: u8 = 0x10;
const FLAG_PADDED: u8 = 0x20;
const FLAG_BAD_CHECK: u8 = 0x40;
/// Of the RX flags: the header of the physical layer failed its own check.
const RX_BAD_PLCP: u16 = 0x0002;

/// Size and alignment of the fields 0 to 20 of a presence word. Fields after that do not matter here.
const FIELDS: [(usize, usize); 21] = [
    (8, 8), // TSFT
    (1, 1), // flags
    (1, 1), // rate
    (4, 2), // channel
    (2, 2), // FHSS
    (1, 1), // signal, dBm
    (1, 1), // noise, dBm
    (2, 2), // lock quality
    (2, 2), // attenuation
    (2, 2), // attenuation, dB
    (1, 1), // transmit power
    (1, 1), // antenna
    (1, 1), // signal, dB
    (1, 1), // noise, dB
    (2, 2), // RX flags
    (2, 2), // TX flags
    (1, 1), // RTS retries
    (1, 1), // data retries
    (8, 4), // XChannel
    (3, 1), // MCS
    (8, 4), // A-MPDU status
];

/// The header at the beginning of `bytes`; `None` if it is none or is cut off.
#[must_use]
pub fn parse(bytes: &[u8]) -> Option<Radiotap> {
    let length = usize::from(u16::from_le_bytes([*bytes.get(2)?, *bytes.get(3)?]));
    let header = bytes.get(..length).filter(|_| bytes[0] == 0)?;
    let word = |at: usize| Some(u32::from_le_bytes(header.get(at..at + 4)?.try_into().ok()?));
    let present = word(4)?;
    // Bit 31: another word of fields follows, which come after those of this one.
    let mut at = 8;
    let mut more = present;
    while more & (1 << 31) != 0 {
        more = word(at)?;
        at += 4;
    }
    let mut radiotap = Radiotap { length, ..Radiotap::default() };
    for (bit, (size, alignment)) in FIELDS.iter().enumerate() {
        if present & (1 << bit) == 0 {
            continue;
        }
        at = at.next_multiple_of(*alignment);
        radiotap.field(bit, header.get(at..at + size)?);
        at += size;
    }
    Some(radiotap)
}

impl Radiotap {
    fn field(&mut self, bit: usize, field: &[u8]) {
        match *field {
            [a, b, c, d, e, f, g, h] if bit == 0 => {
                self.tsft = Some(u64::from_le_bytes([a, b, c, d, e, f, g, h]));
            }
            [flags] if bit == 1 => {
                self.bad = flags & FLAG_BAD_CHECK != 0;
                self.has_check = flags & FLAG_HAS_CHECK != 0;
                self.padded = flags & FLAG_PADDED != 0;
                self.short_preamble = flags & FLAG_SHORT_PREAMBLE != 0;
            }
            [rate] if bit == 2 => self.rate = (rate > 0).then(|| u64::from(rate) * 500_000),
            [low, high, _, _] if bit == 3 => self.frequency = Some(u16::from_le_bytes([low, high])),
            [low, high] if bit == 14 => self.bad |= u16::from_le_bytes([low, high]) & RX_BAD_PLCP != 0,
            // XChannel: flags, centre, number, highest power.
            [_, _, _, _, low, high, _, _] if bit == 18 => {
                self.frequency.get_or_insert(u16::from_le_bytes([low, high]));
            }
            [known, flags, index] if bit == 19 && known & 0x02 != 0 => {
                self.mcs = Some(Mcs {
                    index,
                    wide: known & 0x01 != 0 && flags & 0x03 == 1,
                    short_guard: known & 0x04 != 0 && flags & 0x04 != 0,
                    greenfield: known & 0x08 != 0 && flags & 0x08 != 0,
                });
            }
            _ if bit == 20 => self.aggregate = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_where_their_alignment_puts_them() {
        // Flags, rate, channel, signal, MCS, and a second word of fields.
        let mut bytes = vec![0, 0, 0, 0];
        bytes.extend((1_u32 << 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 19 | 1 << 31).to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend([0x52, 22]); // flags: bad, check, short preamble; 11 Mbit/s
        bytes.extend([0x6c, 0x09, 0xa0, 0x00]); // 2412 MHz
        bytes.extend([0xd0, 0x07, 0x05, 7]); // signal; MCS known: width, index, guard; 40 MHz, short; 7
        bytes[2] = bytes.len() as u8;
        let expected = Radiotap {
            length: bytes.len(),
            bad: true,
            has_check: true,
            short_preamble: true,
            rate: Some(11_000_000),
            frequency: Some(2412),
            mcs: Some(Mcs { index: 7, wide: true, short_guard: true, greenfield: false }),
            ..Radiotap::default()
        };
        assert_eq!(parse(&bytes), Some(expected));
        for end in 0..bytes.len() {
            assert_eq!(parse(&bytes[..end]), None, "cut off after {end}");
        }
    }

    #[test]
    fn rx_flags_and_xchannel_are_read() {
        let mut bytes = vec![0, 0, 24, 0];
        bytes.extend((1_u32 << 1 | 1 << 14 | 1 << 18).to_le_bytes());
        bytes.extend([0x20, 0, 0x02, 0]); // padded; aligned to two: a bad PLCP header
        bytes.extend([0x40, 0x01, 0, 0, 0x3c, 0x14, 36, 20]); // 5180 MHz
        bytes.extend([0; 4]);
        let expected =
            Radiotap { length: 24, bad: true, padded: true, frequency: Some(5180), ..Radiotap::default() };
        assert_eq!(parse(&bytes), Some(expected));
    }

    #[test]
    fn the_clock_is_aligned_to_eight() {
        let mut bytes = vec![0, 0, 24, 0];
        bytes.extend((1_u32 | 1 << 31).to_le_bytes());
        bytes.extend(0_u32.to_le_bytes()); // ends at 12: the clock stands at 16
        bytes.extend([0xff; 4]);
        bytes.extend(77_u64.to_le_bytes());
        assert_eq!(parse(&bytes).and_then(|radiotap| radiotap.tsft), Some(77));
        // A presence word that always announces another one ends with the header.
        assert_eq!(parse(&[0, 0, 12, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
