//! Frames of 802.11 (IEEE 802.11-2020, 9.2 and 9.3): what rt-Winf asks of their headers.

use meshpace_explicit::winf::{Kind, Station};
use meshpace_units::Span;

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the frame is to rt-Winf.
    pub kind: Kind,
    /// Whom it is for; `None`: a group.
    pub receiver: Option<Station>,
    /// Who sent it, if it says.
    pub transmitter: Option<Station>,
    /// How long the medium is reserved after it.
    pub duration: Span,
    /// Bytes before what a data frame carries.
    pub length: usize,
}

const CONTROL: u8 = 1;
const DATA: u8 = 2;
const RTS: u8 = 11;
const CTS: u8 = 12;
const ACK: u8 = 13;
/// Bits of the subtype of a data frame: without data; with quality of service.
const NO_DATA: u8 = 4;
const QOS: u8 = 8;
/// Second byte of frame control.
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const ORDER: u8 = 0x80;

/// The header at the beginning of `bytes`; `None` if it is cut off or of another version.
#[must_use]
pub fn parse(bytes: &[u8]) -> Option<Header> {
    let [control, flags, low, high] = *bytes.first_chunk()?;
    if control & 0x03 != 0 {
        return None;
    }
    let (class, subtype) = (control >> 2 & 0x03, control >> 4);
    // With the highest bit set it is no duration (9.2.4.2).
    let duration = match u16::from_le_bytes([low, high]) {
        duration @ 0..=0x7fff => Span::from_micros(u64::from(duration)),
        _ => Span::ZERO,
    };
    let first = address(bytes, 4)?;
    let receiver = (first >> 40 & 1 == 0).then_some(first);
    let (kind, transmitter, length) = match (class, subtype) {
        (CONTROL, RTS) => (Kind::Rts, Some(transmitter(bytes)?), 16),
        (CONTROL, CTS) => (Kind::Cts, None, 10),
        (CONTROL, ACK) => (Kind::Ack, None, 10),
        (CONTROL, _) => (Kind::Other, None, 10),
        (DATA, _) => {
            let mut length = if flags & (TO_DS | FROM_DS) == TO_DS | FROM_DS { 30 } else { 24 };
            if subtype & QOS != 0 {
                // Policy 0 is an acknowledgement at once; the others have none, or one for several.
                let policy = *bytes.get(length)? >> 5 & 0x03;
                length += if flags & ORDER == 0 { 2 } else { 6 };
                let kind = if policy == 0 { Kind::Data } else { Kind::Other };
                (kind, Some(transmitter(bytes)?), length)
            } else {
                (Kind::Data, Some(transmitter(bytes)?), length)
            }
        }
        _ => (Kind::Other, transmitter(bytes), 24),
    };
    let kind = if class == DATA && subtype & NO_DATA != 0 { Kind::Other } else { kind };
    let kind = if receiver.is_none() { Kind::Other } else { kind };
    Some(Header { kind, receiver, transmitter, duration, length })
}

/// The second address. Its group bit, by which an RTS may tell of wide channels, is none of its station's.
fn transmitter(bytes: &[u8]) -> Option<Station> {
    Some(address(bytes, 10)? & !(1 << 40))
}

/// An address as a number.
fn address(bytes: &[u8], at: usize) -> Option<Station> {
    let bytes = bytes.get(at..at + 6)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | Station::from(*byte)))
}

/// An address in words.
#[must_use]
pub fn shown(station: Station) -> String {
    let bytes = station.to_be_bytes();
    bytes[2..].iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_cut_ones_are_not() {
        let rts = [0xb4, 0, 0x0a, 0x01, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        let header = parse(&rts).unwrap();
        assert_eq!(
            (header.kind, header.receiver, header.transmitter),
            (Kind::Rts, Some(0x0200_0000_0002), Some(0x0200_0000_0001))
        );
        assert_eq!(header.duration, Span::from_micros(266));
        assert_eq!(shown(0x0200_0000_0001), "02:00:00:00:00:01");
        assert_eq!(parse(&rts[..15]), None);
        let mut qos = [0; 36];
        (qos[0], qos[1], qos[4]) = (0x88, TO_DS | FROM_DS, 2); // quality of service, four addresses
        assert_eq!(parse(&qos).map(|header| (header.kind, header.length)), Some((Kind::Data, 32)));
        qos[30] = 0x60; // acknowledged with others
        assert_eq!(parse(&qos).map(|header| header.kind), Some(Kind::Other));
        qos[4] = 3;
        assert_eq!(parse(&qos).and_then(|header| header.receiver), None, "a group");
        assert_eq!(parse(&[0x01; 40]), None, "another version");
    }
}
