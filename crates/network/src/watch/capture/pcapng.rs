//! The blocks of a pcapng file (draft-ietf-opsawg-pcapng, section 4), little-endian, appended to a buffer.

use std::net::Ipv4Addr;

/// `LINKTYPE_IEEE802_11_RADIOTAP`.
const RADIOTAP: u16 = 127;
/// `if_tsresol`: timestamps count 10^-9 s.
const NANOSECONDS: u8 = 9;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const NAME_RESOLUTION: u32 = 4;
const ENHANCED_PACKET: u32 = 6;

const COMMENT: u16 = 1;
const USER_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_DESCRIPTION_TEXT: u16 = 3;
const INTERFACE_TIMESTAMP_RESOLUTION: u16 = 9;
const IPV4_NAME: u16 = 1;

/// The section header: the file's beginning. It names neither machine nor time of writing: equal runs give equal bytes.
pub fn section_header(out: &mut Vec<u8>, application: &str, comment: &str) {
    block(out, SECTION_HEADER, |out| {
        out.extend(0x1a2b_3c4d_u32.to_le_bytes()); // byte-order magic
        out.extend([1, 0, 0, 0]); // version 1.0
        out.extend(u64::MAX.to_le_bytes()); // length of the section: not given
        text(out, COMMENT, comment);
        text(out, USER_APPLICATION, application);
        end_of_options(out);
    });
}

/// An interface of the file: they are numbered from 0 as they stand there.
pub fn interface(out: &mut Vec<u8>, name: &str, description: &str) {
    block(out, INTERFACE_DESCRIPTION, |out| {
        out.extend(RADIOTAP.to_le_bytes());
        out.extend([0, 0]); // reserved
        out.extend([0; 4]); // frames are never cut
        text(out, INTERFACE_NAME, name);
        text(out, INTERFACE_DESCRIPTION_TEXT, description);
        option(out, INTERFACE_TIMESTAMP_RESOLUTION, &[NANOSECONDS]);
        end_of_options(out);
    });
}

/// What the addresses are called.
pub fn names<'a>(out: &mut Vec<u8>, names: impl Iterator<Item = (Ipv4Addr, &'a str)>) {
    block(out, NAME_RESOLUTION, |out| {
        // A record ends its name with a zero byte, so a name that has one cannot be written; the address stands then.
        for (address, name) in names.filter(|(_, name)| !name.contains('\0')) {
            let mut record = address.octets().to_vec();
            record.extend(cut(name, 255).as_bytes());
            record.push(0);
            option(out, IPV4_NAME, &record);
        }
        end_of_options(out); // ends the records; there are no options
    });
}

/// A frame of an interface, `nanos` after the epoch.
pub fn packet(out: &mut Vec<u8>, interface: u32, nanos: u64, frame: &[u8], comment: Option<&str>) {
    block(out, ENHANCED_PACKET, |out| {
        let length = (frame.len() as u32).to_le_bytes();
        out.extend(interface.to_le_bytes());
        out.extend(((nanos >> 32) as u32).to_le_bytes());
        out.extend((nanos as u32).to_le_bytes());
        out.extend(length); // captured
        out.extend(length); // in all
        out.extend_from_slice(frame);
        pad(out, frame.len());
        if let Some(comment) = comment {
            text(out, COMMENT, comment);
            end_of_options(out);
        }
    });
}

fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    body(out);
    let length = ((out.len() - start + 4) as u32).to_le_bytes();
    out[start + 4..start + 8].copy_from_slice(&length);
    out.extend(length);
}

/// An option, or a record of a name resolution block, which looks the same.
fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    out.extend_from_slice(value);
    pad(out, value.len());
}

fn text(out: &mut Vec<u8>, code: u16, value: &str) {
    option(out, code, cut(value, usize::from(u16::MAX)).as_bytes());
}

fn end_of_options(out: &mut Vec<u8>) {
    option(out, 0, &[]);
}

/// Blocks and options are filled up to multiples of four bytes.
fn pad(out: &mut Vec<u8>, length: usize) {
    out.resize(out.len() + length.wrapping_neg() % 4, 0);
}

/// The beginning of a text, at most `limit` bytes.
fn cut(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_padded_and_framed_by_its_length() {
        let mut out = Vec::new();
        packet(&mut out, 3, 0x1_0000_0002, &[0xaa; 5], Some("abc"));
        let expected = [
            [6, 0, 0, 0],
            [52, 0, 0, 0],
            [3, 0, 0, 0],
            [1, 0, 0, 0],
            [2, 0, 0, 0],
            [5, 0, 0, 0],
            [5, 0, 0, 0],
            [0xaa; 4],
            [0xaa, 0, 0, 0],
            [1, 0, 3, 0],
            [b'a', b'b', b'c', 0],
            [0, 0, 0, 0],
            [52, 0, 0, 0],
        ];
        assert_eq!(out, expected.concat());
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("aé", 3), "aé");
        assert_eq!(cut("aé", 9), "aé");
        let mut out = Vec::new();
        interface(&mut out, &"é".repeat(40_000), "");
        assert_eq!(u16::from_le_bytes([out[18], out[19]]), 65_534);
        assert_eq!(out.len() % 4, 0);
    }

    #[test]
    fn a_name_that_the_format_cannot_hold_is_left_out() {
        let address = Ipv4Addr::new(10, 77, 0, 2);
        let (mut with, mut without) = (Vec::new(), Vec::new());
        names(&mut with, [(address, "a\0b")].into_iter());
        names(&mut without, std::iter::empty());
        assert_eq!(with, without);
    }
}
