//! The parser on arbitrary bytes, against the slow reference; what it read, built again and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meshpace_fuzz::packets::judge;
use meshpace_tcp::Segment;
use meshpace_units::Seq;
use meshpace_wire::{build, checksum_ok, parse, parse_too_big};

fuzz_target!(|bytes: &[u8]| {
    judge::reading(bytes);
    let _ = parse_too_big(bytes);
    let Ok(packet) = parse(bytes) else { return };
    let Some(payload) = packet.payload(bytes) else { return };
    // Laid out anew, options may be longer than they were.
    if packet.segment.options_length() > 40 {
        return;
    }
    let again = build(packet.source, packet.destination, packet.ttl, &packet.segment, payload);
    assert!(checksum_ok(&again));
    let read = parse(&again).unwrap_or_else(|error| panic!("{error}: {again:02x?}"));
    let ack = if packet.segment.flags.ack { packet.segment.ack } else { Seq(0) };
    assert_eq!(read.segment, Segment { ack, ..packet.segment });
    assert_eq!((read.source, read.destination, read.ttl), (packet.source, packet.destination, packet.ttl));
    assert_eq!(read.payload(&again), Some(payload));
});
