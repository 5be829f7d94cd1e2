//! What the shaper of hosts reads of whatever is on its way: outlines of packets, echoes' answers, QUIC's spin bit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use meshpace_wire::protocol::UDP;
use meshpace_wire::{Echo, outline, parse, spin};

fuzz_target!(|bytes: &[u8]| {
    let read = outline(bytes);
    if let Ok(read) = read {
        let length = usize::try_from(read.length.0).expect("a length of 16 bits and a header's");
        assert!(length <= bytes.len(), "{read:?} of {} bytes", bytes.len());
        // What is behind the packet says nothing of it, and a part of it is none.
        assert_eq!(outline(&bytes[..length]), Ok(read));
        if let Some(less) = length.checked_sub(1) {
            assert!(outline(&bytes[..less]).is_err(), "{read:?} of {less} bytes");
        }
    }
    if let Ok(packet) = parse(bytes)
        && packet.wire_len.0 as usize <= bytes.len()
    {
        let read = read.unwrap_or_else(|error| panic!("{error}, but TCP: {packet:?}"));
        assert_eq!((read.source, read.destination), (packet.source, packet.destination));
        assert_eq!(read.ports, (packet.segment.source_port, packet.segment.destination_port));
        assert_eq!((read.ecn, read.length), (packet.ecn(), packet.wire_len));
    }
    if spin(bytes).is_some()
        && let Ok(read) = read
    {
        assert!(read.protocol == UDP && (read.ports.0 == 443 || read.ports.1 == 443), "{read:?}");
    }
    for v6 in [false, true] {
        if let Some(echo) = Echo::reply(bytes, v6) {
            // The request that it answers differs in type and checksum.
            let request = echo.request(v6);
            assert_eq!((request.len(), &request[4..]), (bytes.len(), &bytes[4..]));
        }
    }
});
