//! How long control frames are: MPDU sizes, bytes (IEEE 802.11-2020, 9.3.1).

use meshpace_units::Bytes;

/// Request to send.
pub const RTS_BYTES: Bytes = Bytes(20);
/// Clear to send.
pub const CTS_BYTES: Bytes = Bytes(14);
/// Acknowledgement, of the size of a CTS ([`ControlTimes`](super::mode::ControlTimes)).
pub const ACK_BYTES: Bytes = CTS_BYTES;
/// A compressed block acknowledgement without its bitmap (9.3.1.8).
pub const BLOCK_ACK_BYTES: Bytes = Bytes(24);
/// A request for a compressed block acknowledgement (9.3.1.7).
pub const BLOCK_ACK_REQ_BYTES: Bytes = Bytes(24);
