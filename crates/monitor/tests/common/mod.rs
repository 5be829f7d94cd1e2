//! Captures made byte by byte.
#![allow(dead_code, reason = "each test file uses its part")]

use meshpace_monitor::{Options, Report, measure};

/// Bytes of the radiotap header of [`frame`].
pub const RADIOTAP: usize = 22;

/// A radiotap header with the clock, flags, rate and channel, and a frame behind it with its check sequence.
pub fn frame(micros: u64, half_mbps: u8, body: &[u8]) -> (u64, Vec<u8>) {
    let mut bytes = vec![0, 0, RADIOTAP as u8, 0, 0x0f, 0, 0, 0];
    bytes.extend((micros + 192).to_le_bytes()); // after the long preamble
    bytes.extend([0x10, half_mbps]);
    bytes.extend([0x6c, 0x09, 0xa0, 0x00]); // 2412 MHz
    bytes.extend(body);
    bytes.extend(crc32fast::hash(body).to_le_bytes());
    (micros, bytes)
}

/// The same without the radio's clock: the file's, which here too tells when the preamble is over.
pub fn without_clock((micros, bytes): &(u64, Vec<u8>)) -> (u64, Vec<u8>) {
    let mut bytes = bytes.clone();
    (bytes[2], bytes[4]) = (RADIOTAP as u8 - 8, 0x0e);
    bytes.drain(8..16);
    (micros + 192, bytes)
}

const A: [u8; 6] = [2, 0, 0, 0, 0, 1];
const B: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// RTS, CTS, 1,528 bytes of data at 11 Mbit/s and an acknowledgement, 802.11b with long preambles, from `micros` on.
pub fn exchange(micros: u64) -> [(u64, Vec<u8>); 4] {
    exchange_of(micros, 0x08, 314)
}

/// The same, with this kind of data frame and the duration that it tells.
pub fn exchange_of(micros: u64, kind: u8, duration: u16) -> [(u64, Vec<u8>); 4] {
    let body = |control: [u8; 2], duration: u16, rest: &[&[u8]]| {
        let mut body = control.to_vec();
        body.extend(duration.to_le_bytes());
        rest.iter().for_each(|part| body.extend(*part));
        body
    };
    let mut data = body([kind, 0], duration, &[&B, &A, &[2, 0, 0, 0, 0, 9], &[0, 0]]);
    data.resize(1524, 0);
    // 352, 304, 1303.3 and 304 us on the air, 10 us between.
    [
        frame(micros, 2, &body([0xb4, 0], 1942, &[&B, &A])),
        frame(micros + 362, 2, &body([0xc4, 0], 1628, &[&A])),
        frame(micros + 676, 22, &data),
        frame(micros + 1990, 2, &body([0xd4, 0], 0, &[&A])),
    ]
}

/// Ten exchanges, 10 ms apart.
pub fn ten() -> Vec<(u64, Vec<u8>)> {
    (0..10).flat_map(|at| exchange(1_000_000 + at * 10_000)).collect()
}

/// How a file writes its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Little,
    Big,
}

impl Order {
    pub fn of<const N: usize>(self, mut little: [u8; N]) -> [u8; N] {
        if self == Self::Big {
            little.reverse();
        }
        little
    }

    fn words(self, words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| self.of(word.to_le_bytes())).collect()
    }
}

pub fn pcap(frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    pcap_as(Order::Little, false, 127, frames)
}

/// In either order, with times in micro- or nanoseconds, and the link type's field.
pub fn pcap_as(order: Order, nanos: bool, link: u32, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let magic = if nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let mut file = order.words(&[magic]);
    file.extend([order.of(2_u16.to_le_bytes()), order.of(4_u16.to_le_bytes())].concat());
    file.extend(order.words(&[0, 0, 65_535, link]));
    for (micros, bytes) in frames {
        let fraction = (micros % 1_000_000) as u32 * if nanos { 1000 } else { 1 };
        let length = bytes.len() as u32;
        file.extend(order.words(&[(micros / 1_000_000) as u32, fraction, length, length]));
        file.extend(bytes);
    }
    file
}

pub fn pcapng(frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut file = Blocks::new(Order::Little);
    file.interface(127, &[]); // microseconds, as no option says otherwise
    for (micros, bytes) in frames {
        file.packet(0, *micros, bytes);
    }
    file.0
}

/// A pcapng file, block by block.
pub struct Blocks(pub Vec<u8>, Order);

impl Blocks {
    pub fn new(order: Order) -> Self {
        let mut file = Self(Vec::new(), order);
        let version = [order.of(1_u16.to_le_bytes()), [0, 0]].concat();
        file.block(0x0a0d_0d0a, &[&order.words(&[0x1a2b_3c4d])[..], &version, &[0xff; 8]].concat());
        file
    }

    pub fn block(&mut self, kind: u32, body: &[u8]) {
        let mut padded = body.to_vec();
        padded.resize(body.len().next_multiple_of(4), 0);
        let length = 12 + padded.len() as u32;
        self.0.extend(self.1.words(&[kind, length]));
        self.0.extend(padded);
        self.0.extend(self.1.words(&[length]));
    }

    /// Options by their codes, their values in the order of the file.
    pub fn interface(&mut self, link: u16, options: &[(u16, &[u8])]) {
        let mut body = self.1.of(link.to_le_bytes()).to_vec();
        body.extend([0; 6]);
        for (code, value) in options {
            body.extend(self.1.of(code.to_le_bytes()));
            body.extend(self.1.of((value.len() as u16).to_le_bytes()));
            body.extend(*value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        self.block(1, &body);
    }

    pub fn packet(&mut self, interface: u32, ticks: u64, bytes: &[u8]) {
        let length = bytes.len() as u32;
        let head = self.1.words(&[interface, (ticks >> 32) as u32, ticks as u32, length, length]);
        self.block(6, &[&head[..], bytes].concat());
    }
}

pub fn report(file: &[u8]) -> Report {
    measure(file, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
pub fn close(got: f64, expected: f64) {
    assert!((got / expected - 1.0).abs() < 0.001, "{got}, not {expected}");
}
