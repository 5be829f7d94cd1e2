//! Which flow a packet is of: a hash of addresses, ports and protocol (RFC 8290, section 4.1.1).

use core::net::SocketAddr;

/// A packet's flow, as far as a hash can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowHash(u64);

impl FlowHash {
    /// Of a packet with these ends and IANA's number of its protocol. `salt` perturbs it, so that not the same flows share a queue
    /// everywhere.
    #[must_use]
    pub fn new(salt: u64, source: SocketAddr, destination: SocketAddr, protocol: u8) -> Self {
        let mut hash = salt;
        for end in [source, destination] {
            hash = match end {
                SocketAddr::V4(end) => fnv(hash, &end.ip().octets()),
                SocketAddr::V6(end) => fnv(hash, &end.ip().octets()),
            };
            hash = fnv(hash, &end.port().to_be_bytes());
        }
        Self(fnv(hash, &[protocol]))
    }

    /// The same, with every bit mixed into every other: the output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    ///
    /// FNV-1a moves the last bytes that it read only into the middle of the hash. If the high bits alone choose the queue, many
    /// connections whose ports lie side by side would share one.
    #[must_use]
    pub const fn mixed(self) -> Self {
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(z ^ (z >> 31))
    }

    /// Which of so many queues it is: by the high bits of a product.
    #[must_use]
    pub const fn queue(self, queues: u32) -> u32 {
        ((self.0 as u128 * queues as u128) >> 64) as u32
    }
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a of these pieces, one after the other.
#[must_use]
pub fn salt(pieces: &[&[u8]]) -> u64 {
    pieces.iter().fold(FNV_OFFSET, |hash, piece| fnv(hash, piece))
}

/// FNV-1a, continued.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
