//! TCP headers (RFC 9293, section 3.1).

use meshpace_tcp::{Options, Segment};
use meshpace_units::Span;

/// Where the checksum is.
pub const CHECKSUM: usize = 16;

/// Option kinds (IANA).
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const EXPERIMENTAL: u8 = 253;
/// What TCP-GAP's option is known by among the experimental ones (RFC 6994; schemes.md 3.2).
const RTT_EXID: [u8; 2] = [0x4d, 0x50];

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

/// The options that have a place in the header: with ns-2's flat 40 bytes only TCP-GAP's, for which the gateway makes
/// the packet longer.
fn on_the_wire(segment: &Segment) -> Options {
    if segment.ns2.is_some() {
        Options { rtt_wired: segment.options.rtt_wired, ..Options::default() }
    } else {
        segment.options
    }
}

/// What the endpoints tell each other although ns-2's header has no place for it.
pub fn beside_the_wire(segment: &Segment) -> Option<String> {
    segment.ns2?;
    let options = &segment.options;
    let mut told = Vec::new();
    told.extend(options.mss.map(|mss| format!("MSS {mss}")));
    told.extend(options.window_scale.map(|shift| format!("window scale {shift}")));
    told.extend(options.sack_permitted.then(|| "SACK permitted".to_owned()));
    told.extend(options.timestamps.map(|stamps| format!("timestamps {} {}", stamps.value, stamps.echo)));
    told.extend(options.sack.iter().flatten().map(|(left, right)| format!("SACK {left:?}-{right:?}")));
    (!told.is_empty()).then(|| format!("outside ns-2's flat header: {}", told.join(", ")))
}

/// Writes the header, its checksum zero.
pub fn header(out: &mut Vec<u8>, segment: &Segment) {
    let start = out.len();
    out.extend(segment.source_port.to_be_bytes());
    out.extend(segment.destination_port.to_be_bytes());
    out.extend(segment.seq.0.to_be_bytes());
    out.extend(if segment.flags.ack { segment.ack.0 } else { 0 }.to_be_bytes());
    out.extend([0, flags(segment)]);
    out.extend(segment.window.to_be_bytes());
    out.extend([0; 4]); // checksum, urgent pointer
    options(out, &on_the_wire(segment));
    let words = (out.len() - start) / 4;
    out[start + 12] = (words as u8) << 4;
}

fn flags(segment: &Segment) -> u8 {
    let flags = &segment.flags;
    [(flags.fin, FIN), (flags.syn, SYN), (flags.rst, RST), (flags.psh, PSH), (flags.ack, ACK)]
        .into_iter()
        .fold(0, |all, (set, bit)| all | if set { bit } else { 0 })
}

/// The layout that [`Segment::options_length`] counts.
fn options(out: &mut Vec<u8>, options: &Options) {
    if let Some(mss) = options.mss {
        out.extend([MSS, 4]);
        out.extend(mss.to_be_bytes());
    }
    if let Some(shift) = options.window_scale {
        out.extend([NOP, WINDOW_SCALE, 3, shift]);
    }
    // Permission takes the place of the padding in front of the timestamps.
    match (options.sack_permitted, options.timestamps) {
        (true, _) => out.extend([SACK_PERMITTED, 2]),
        (false, Some(_)) => out.extend([NOP, NOP]),
        (false, None) => {}
    }
    match (options.sack_permitted, options.timestamps) {
        (_, Some(stamps)) => {
            out.extend([TIMESTAMPS, 10]);
            out.extend(stamps.value.to_be_bytes());
            out.extend(stamps.echo.to_be_bytes());
        }
        (true, None) => out.extend([NOP, NOP]),
        (false, None) => {}
    }
    let blocks = options.sack.iter().flatten().count() as u8;
    if blocks > 0 {
        out.extend([NOP, NOP, SACK, 2 + 8 * blocks]);
        for (left, right) in options.sack.iter().flatten() {
            out.extend(left.0.to_be_bytes());
            out.extend(right.0.to_be_bytes());
        }
    }
    if let Some(rtt) = options.rtt_wired {
        out.extend([EXPERIMENTAL, 6]);
        out.extend(RTT_EXID);
        out.extend(milliseconds(rtt).to_be_bytes());
        out.extend([NOP, NOP]);
    }
}

fn milliseconds(rtt: Span) -> u16 {
    u16::try_from(rtt.as_nanos() / 1_000_000).unwrap_or(u16::MAX)
}
