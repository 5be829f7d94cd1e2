//! UDP datagrams.

/// Length of a header.
pub const HEADER: u64 = 8;

/// Appends a UDP packet, its checksum zero (RFC 768).
pub fn datagram(
    out: &mut Vec<u8>,
    source_port: u16,
    destination_port: u16,
    payload: impl FnOnce(&mut Vec<u8>),
) {
    let start = out.len();
    out.extend(source_port.to_be_bytes());
    out.extend(destination_port.to_be_bytes());
    out.extend([0; 4]);
    payload(out);
    let length = (out.len() - start) as u16;
    out[start + 4..start + 6].copy_from_slice(&length.to_be_bytes());
}
