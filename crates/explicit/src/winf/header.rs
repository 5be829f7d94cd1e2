//! What packets collect of the links that they pass, for senders: in a header beside TCP's, which the receiver returns
//! (schemes.md 9.2, "Feedback range"; 10.1, `we_scope`).

use super::Pair;

/// What headers of rt-Winf are known by.
pub const KIND: u8 = 3;

/// The least capacity and the least available bandwidth of links so far, each by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Header {
    /// Links passed.
    pub hops: u8,
    /// Of the first link.
    pub first: Option<Pair>,
    /// Of the first four.
    pub four: Option<Pair>,
    /// Of all.
    pub path: Option<Pair>,
    /// The contention count of the nodes passed so far (schemes.md 14); `None`: the sender does not ask.
    pub contention: Option<u8>,
}

impl Header {
    /// Bytes of its fields.
    pub const LENGTH: usize = 14;

    /// One more link.
    pub fn pass(&mut self, pair: Pair) {
        let least = |known: Option<Pair>| {
            Some(known.map_or(pair, |known| Pair {
                capacity: known.capacity.min(pair.capacity),
                available: known.available.min(pair.available),
            }))
        };
        self.hops = self.hops.saturating_add(1);
        self.path = least(self.path);
        if self.hops <= 4 {
            self.four = least(self.four);
        }
        if self.hops == 1 {
            self.first = Some(pair);
        }
    }

    /// Its fields in network order.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[0] = self.hops;
        // 0: not asked; else one more than the count.
        bytes[13] = self.contention.map_or(0, |nodes| nodes.saturating_add(1));
        let pairs = [self.first, self.four, self.path];
        for (pair, bytes) in pairs.into_iter().zip(bytes[1..13].chunks_exact_mut(4)) {
            let [capacity, available] =
                pair.map_or([0; 2], |pair| [units(pair.capacity), units(pair.available)]);
            bytes[..2].copy_from_slice(&capacity.to_be_bytes());
            bytes[2..].copy_from_slice(&available.to_be_bytes());
        }
        bytes
    }

    /// The header of these bytes; `None` if they are none.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::LENGTH] = bytes.try_into().ok()?;
        let pair = |at: usize| {
            let number = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
            let rate = |units: u16| f64::from(units) * UNIT;
            (number(at) > 0).then(|| Pair { capacity: rate(number(at)), available: rate(number(at + 2)) })
        };
        let contention = bytes[13].checked_sub(1);
        Some(Self { hops: bytes[0], first: pair(1), four: pair(5), path: pair(9), contention })
    }
}

/// 16 bits each in units of 10 kbit/s (schemes.md 9.2, "Transport in ACK").
const UNIT: f64 = 10_000.0;

/// In units, rounded to the nearest; one at least, so that what is known is never nothing.
fn units(rate: f64) -> u16 {
    (rate / UNIT + 0.5).clamp(1.0, f64::from(u16::MAX)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_collected_each_value_by_itself() {
        let mut header = Header::default();
        let pair = |capacity: f64, available: f64| Pair { capacity, available };
        for (capacity, available) in [(7e6, 3e6), (6e6, 4e6), (8e6, 2.5e6), (7e6, 3e6), (5e6, 1e6)] {
            header.pass(pair(capacity, available));
        }
        assert_eq!(header.first, Some(pair(7e6, 3e6)));
        assert_eq!(header.four, Some(pair(6e6, 2.5e6)));
        assert_eq!(header.path, Some(pair(5e6, 1e6)));
        assert_eq!((Header::from_bytes(&header.to_bytes()), header.hops), (Some(header), 5));
        assert_eq!(Header::from_bytes(&[0; 12]), None);
        let empty = Header::default();
        assert_eq!(Header::from_bytes(&empty.to_bytes()), Some(empty));
    }

    #[test]
    fn what_does_not_fit_is_put_at_the_edge() {
        let asks = |nodes| Header { contention: nodes, ..Header::default() };
        for nodes in [None, Some(0), Some(5)] {
            assert_eq!(Header::from_bytes(&asks(nodes).to_bytes()), Some(asks(nodes)));
        }
        let mut header = Header::default();
        header.pass(Pair { capacity: 1e12, available: 7.0 });
        let read = Header::from_bytes(&header.to_bytes()).unwrap().first;
        assert_eq!(read, Some(Pair { capacity: 655.35e6, available: 1e4 }));
    }
}
