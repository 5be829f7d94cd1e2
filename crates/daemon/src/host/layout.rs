//! The structs that the program in the kernel and this side share: bpf/include/host.h by offset.

use crate::shared_bytes::{address_at, array, u32_at, u64_at};
use meshpace_units::{Bytes, Instant, Rate, Span};
use std::net::SocketAddr;

/// `sizeof(struct ends)`.
const ENDS: usize = 36;
/// `sizeof(struct connection)`.
pub const CONNECTION: usize = 56;
const CONNECTION_OWN: usize = 36;
const CONNECTION_IN_FORCE: usize = 40;
/// `sizeof(struct order)`.
pub const ORDER: usize = 8;
/// `sizeof(struct settings)`.
pub const SETTINGS: usize = 8;
const REPORT: usize = 72;
const REPORT_ENDS: usize = 16;
const REPORT_RTT: usize = 52;
const REPORT_WIRED: usize = 60;
/// `UNLIMITED`: a limit that is none.
const UNLIMITED: u32 = u32::MAX;

/// `enum counter`, in its order.
pub const COUNTERS: [&str; 12] = [
    "connections",
    "no_place",
    "samples",
    "unmeasured",
    "opaque",
    "options",
    "malformed",
    "unpaired",
    "lost",
    "set",
    "refused",
    "expired",
];

/// Names a connection while its socket lives, and no other after it (`SO_COOKIE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cookie(pub u64);

/// A connection by its ends, IPv4-mapped addresses as the IPv4 addresses they stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// This host's.
    pub local: SocketAddr,
    /// The other host's.
    pub remote: SocketAddr,
}

/// What a report tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportKind {
    /// A connection is followed from now on.
    Opened {
        /// It is older than the program.
        adopted: bool,
    },
    /// An acknowledgement of a timed segment.
    Sample {
        /// The kernel's round-trip sample, of the oldest segment newly acknowledged.
        rtt: Span,
        /// What the gateway's option in this acknowledgement says.
        rtt_wired: Option<Span>,
    },
    /// The connection is over.
    Closed,
}

/// `struct report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// When it happened.
    pub at: Instant,
    /// To whom.
    pub cookie: Cookie,
    /// The connection.
    pub ends: Ends,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// What happened.
    pub told: ReportKind,
}

impl Report {
    /// Reads a report; `None` if it is none (another length, another kind).
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; REPORT] = bytes.try_into().ok()?;
        let wired = u16::from_ne_bytes(array(bytes, REPORT_WIRED));
        let told = match bytes[REPORT_WIRED + 2] {
            0 => ReportKind::Opened { adopted: bytes[REPORT_WIRED + 4] != 0 },
            1 => ReportKind::Sample {
                rtt: Span::from_micros(u64::from(u32_at(bytes, REPORT_RTT))),
                rtt_wired: (bytes[REPORT_WIRED + 3] != 0).then(|| Span::from_millis(u64::from(wired))),
            },
            2 => ReportKind::Closed,
            _ => return None,
        };
        Some(Self {
            at: Instant::from_nanos(u64_at(bytes, 0)),
            cookie: Cookie(u64_at(bytes, 8)),
            ends: Ends::read(&bytes[REPORT_ENDS..]),
            mss: Bytes(u64::from(u32_at(bytes, REPORT_RTT + 4))),
            told,
        })
    }
}

impl Ends {
    fn read(bytes: &[u8]) -> Self {
        let end = |address: usize, port: usize| {
            SocketAddr::new(address_at(bytes, address), u16::from_ne_bytes(array(bytes, port)))
        };
        Self { local: end(0, ENDS - 4), remote: end(16, ENDS - 2) }
    }
}

/// `struct order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Order {
    /// The limit; `None` is none.
    pub limit: Option<Rate>,
    /// Round trips without the option need not be reported.
    pub quiet: bool,
}

impl Order {
    /// As the kernel reads it: whole bytes a second, never more than asked.
    ///
    /// A limit below one byte a second becomes one (0 would stop the socket), one that 32 bits cannot hold the largest that
    /// they can: `SO_MAX_PACING_RATE` through eBPF takes no more, and all ones mean none (net/core/sock.c).
    pub fn to_bytes(self) -> [u8; ORDER] {
        let rate = self.limit.map_or(UNLIMITED, |limit| {
            let bytes = limit.as_bits_per_sec() / 8;
            u32::try_from(bytes).unwrap_or(UNLIMITED).clamp(1, UNLIMITED - 1)
        });
        let mut bytes = [0; ORDER];
        bytes[..4].copy_from_slice(&rate.to_ne_bytes());
        bytes[4] = u8::from(self.quiet);
        bytes
    }
}

/// `struct settings`.
pub fn settings(alive_until: Instant) -> [u8; SETTINGS] {
    alive_until.as_nanos().to_ne_bytes()
}

/// The limit of the socket of this `struct connection`; `None` is none.
pub fn in_force(connection: &[u8; CONNECTION]) -> Option<Rate> {
    let rate = u32_at(connection, CONNECTION_IN_FORCE);
    (rate != UNLIMITED).then(|| Rate::bits_per_sec(u64::from(rate) * 8))
}

/// True if the socket of this `struct connection` has another limit than its application set.
pub fn is_limited(connection: &[u8; CONNECTION]) -> bool {
    u32_at(connection, CONNECTION_IN_FORCE) != u32_at(connection, CONNECTION_OWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv6Addr;

    /// A report as the program writes it.
    fn written(kind: u8, local: Ipv6Addr, remote: Ipv6Addr, wired: Option<u16>) -> [u8; REPORT] {
        let mut bytes = [0; REPORT];
        bytes[..8].copy_from_slice(&123_456_789u64.to_ne_bytes());
        bytes[8..16].copy_from_slice(&77u64.to_ne_bytes());
        bytes[16..32].copy_from_slice(&local.octets());
        bytes[32..48].copy_from_slice(&remote.octets());
        bytes[48..50].copy_from_slice(&5001u16.to_ne_bytes());
        bytes[50..52].copy_from_slice(&443u16.to_ne_bytes());
        bytes[52..56].copy_from_slice(&41_500u32.to_ne_bytes());
        bytes[56..60].copy_from_slice(&1448u32.to_ne_bytes());
        bytes[60..62].copy_from_slice(&wired.unwrap_or(0).to_ne_bytes());
        bytes[62] = kind;
        bytes[63] = u8::from(wired.is_some());
        bytes
    }

    #[test]
    fn a_report_is_read_by_the_programs_offsets() {
        let local: Ipv6Addr = "::ffff:10.1.2.3".parse().unwrap();
        let remote: Ipv6Addr = "2001:db8::1".parse().unwrap();
        let report = Report::read(&written(1, local, remote, Some(20))).unwrap();
        let expected = Report {
            at: Instant::from_nanos(123_456_789),
            cookie: Cookie(77),
            ends: Ends {
                local: "10.1.2.3:5001".parse().unwrap(),
                remote: "[2001:db8::1]:443".parse().unwrap(),
            },
            mss: Bytes(1448),
            told: ReportKind::Sample {
                rtt: Span::from_micros(41_500),
                rtt_wired: Some(Span::from_millis(20)),
            },
        };
        assert_eq!(report, expected);
        let report = Report::read(&written(1, local, remote, None)).unwrap();
        assert_eq!(report.told, ReportKind::Sample { rtt: Span::from_micros(41_500), rtt_wired: None });
    }

    #[test]
    fn a_connections_limits_are_read_by_the_programs_offsets() {
        let mut bytes = [0; CONNECTION];
        bytes[36..40].copy_from_slice(&u32::MAX.to_ne_bytes());
        bytes[40..44].copy_from_slice(&125_000u32.to_ne_bytes());
        assert_eq!((in_force(&bytes), is_limited(&bytes)), (Some(Rate::bits_per_sec(1_000_000)), true));
        bytes[40..44].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert_eq!((in_force(&bytes), is_limited(&bytes)), (None, false));
    }

    #[test]
    fn what_is_no_report_is_refused() {
        let bytes = written(3, Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST, None);
        assert_eq!(Report::read(&bytes), None, "kind 3");
        assert_eq!(Report::read(&bytes[1..]), None, "a byte short");
    }

    #[test]
    fn limits_never_exceed_the_order_and_never_read_as_none() {
        let rate = |limit| u32::from_ne_bytes(array(&Order { limit, quiet: false }.to_bytes(), 0));
        assert_eq!(rate(None), u32::MAX);
        assert_eq!(rate(Some(Rate::bits_per_sec(8_000_007))), 1_000_000);
        assert_eq!(rate(Some(Rate::bits_per_sec(3))), 1);
        assert_eq!(rate(Some(Rate::bits_per_sec(u64::MAX))), u32::MAX - 1);
        assert_eq!(Order { limit: None, quiet: true }.to_bytes()[4], 1);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_report_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..=2 * REPORT)) {
            let report = Report::read(&bytes);
            prop_assert_eq!(report.is_some(), bytes.len() == REPORT && bytes[62] < 3);
        }
    }
}
