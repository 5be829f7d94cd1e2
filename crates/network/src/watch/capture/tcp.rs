//! TCP headers, with what ns-2's flat one has no place for.

use meshpace_tcp::{HeaderSize, Options, Segment};
use meshpace_units::Bytes;
use meshpace_wire::write_tcp_header;

/// True if an IP packet of `size` has no place for the options that the segment carries: ns-2's flat header.
fn is_flat(segment: &Segment, size: Bytes) -> bool {
    size < HeaderSize::Real.wire_length(segment)
}

/// The options that have a place in the header: with ns-2's flat 40 bytes only TCP-GAP's, for which the gateway makes
/// the packet longer.
fn on_the_wire(segment: &Segment, size: Bytes) -> Options {
    if is_flat(segment, size) {
        Options { rtt_wired: segment.options.rtt_wired, ..Options::default() }
    } else {
        segment.options
    }
}

/// What the endpoints tell each other although ns-2's header has no place for it.
pub fn beside_the_wire(segment: &Segment, size: Bytes) -> Option<String> {
    if !is_flat(segment, size) {
        return None;
    }
    let options = &segment.options;
    let mut told = Vec::new();
    told.extend(options.mss.map(|mss| format!("MSS {mss}")));
    told.extend(options.window_scale.map(|shift| format!("window scale {shift}")));
    told.extend(options.sack_permitted.then(|| "SACK permitted".to_owned()));
    told.extend(options.timestamps.map(|stamps| format!("timestamps {} {}", stamps.value, stamps.echo)));
    told.extend(options.sack.iter().flatten().map(|(left, right)| format!("SACK {left:?}-{right:?}")));
    (!told.is_empty()).then(|| format!("outside ns-2's flat header: {}", told.join(", ")))
}

/// Writes the header of a segment in an IP packet of `size`, its checksum zero.
pub fn header(out: &mut Vec<u8>, segment: &Segment, size: Bytes) {
    write_tcp_header(out, &Segment { options: on_the_wire(segment, size), ..*segment });
}
