//! TCP headers, with what ns-2's flat one has no place for.

use meshpace_tcp::{Options, Segment};
use meshpace_wire::write_tcp_header;

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
    write_tcp_header(out, &Segment { options: on_the_wire(segment), ..*segment });
}
