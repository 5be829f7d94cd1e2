//! What the host's program and user space tell each other: the types that stand for the structs of [`shared::host`](crate::shared::host).

use crate::shared::host as c;
use meshpace_units::{Bytes, Instant, Rate, Span};
use std::net::SocketAddr;
use zerocopy::FromBytes;

/// `enum counter`, in its order.
pub const COUNTERS: [&str; c::COUNTERS] = [
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
        let report = c::Report::read_from_bytes(bytes).ok()?;
        let told = match report.kind {
            0 => ReportKind::Opened { adopted: report.adopted != 0 },
            1 => ReportKind::Sample {
                rtt: Span::from_micros(report.rtt.into()),
                rtt_wired: (report.has_wired != 0).then(|| Span::from_millis(report.wired.into())),
            },
            2 => ReportKind::Closed,
            _ => return None,
        };
        Some(Self {
            at: Instant::from_nanos(report.at),
            cookie: Cookie(report.cookie),
            ends: report.ends.into(),
            mss: Bytes(report.mss.into()),
            told,
        })
    }
}

impl From<c::Ends> for Ends {
    fn from(ends: c::Ends) -> Self {
        Self {
            local: SocketAddr::new(ends.local.into(), ends.local_port),
            remote: SocketAddr::new(ends.remote.into(), ends.remote_port),
        }
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

impl From<Order> for c::Order {
    /// As the kernel reads it: whole bytes a second, never more than asked.
    ///
    /// A limit below one byte a second becomes one (0 would stop the socket), one that 32 bits cannot hold the largest that
    /// they can: `SO_MAX_PACING_RATE` through eBPF takes no more, and all ones mean none (net/core/sock.c).
    fn from(order: Order) -> Self {
        let rate = order.limit.map_or(c::UNLIMITED, |limit| {
            let bytes = limit.as_bits_per_sec() / 8;
            u32::try_from(bytes).unwrap_or(c::UNLIMITED).clamp(1, c::UNLIMITED - 1)
        });
        Self { rate, quiet: order.quiet.into(), unused: [0; 3] }
    }
}

/// The limit of this connection's socket; `None` is none.
pub fn in_force(connection: &c::Connection) -> Option<Rate> {
    let rate = connection.in_force;
    (rate != c::UNLIMITED).then(|| Rate::bits_per_sec(u64::from(rate) * 8))
}

/// True if this connection's socket has another limit than its application set.
pub fn is_limited(connection: &c::Connection) -> bool {
    connection.in_force != connection.own
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::IpAddr;
    use zerocopy::IntoBytes;

    /// A report as the program writes it.
    fn written(kind: u8, wired: Option<u16>) -> c::Report {
        let address = |text: &str| text.parse::<IpAddr>().unwrap().into();
        c::Report {
            at: 123_456_789,
            cookie: 77,
            ends: c::Ends {
                local: address("10.1.2.3"),
                remote: address("2001:db8::1"),
                local_port: 5001,
                remote_port: 443,
            },
            rtt: 41_500,
            mss: 1448,
            wired: wired.unwrap_or(0),
            kind,
            has_wired: wired.is_some().into(),
            adopted: 0,
            unused: [0; 7],
        }
    }

    #[test]
    fn a_report_is_read() {
        let report = Report::read(written(1, Some(20)).as_bytes()).unwrap();
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
        let report = Report::read(written(1, None).as_bytes()).unwrap();
        assert_eq!(report.told, ReportKind::Sample { rtt: Span::from_micros(41_500), rtt_wired: None });
    }

    #[test]
    fn a_connections_limits_are_read() {
        let mut connection = c::Connection { own: u32::MAX, in_force: 125_000, ..c::Connection::default() };
        assert_eq!(
            (in_force(&connection), is_limited(&connection)),
            (Some(Rate::bits_per_sec(1_000_000)), true)
        );
        connection.in_force = u32::MAX;
        assert_eq!((in_force(&connection), is_limited(&connection)), (None, false));
    }

    #[test]
    fn what_is_no_report_is_refused() {
        assert_eq!(Report::read(written(3, None).as_bytes()), None, "kind 3");
        assert_eq!(Report::read(&written(2, None).as_bytes()[1..]), None, "a byte short");
    }

    #[test]
    fn limits_never_exceed_the_order_and_never_read_as_none() {
        let rate = |limit| c::Order::from(Order { limit, quiet: false }).rate;
        assert_eq!(rate(None), u32::MAX);
        assert_eq!(rate(Some(Rate::bits_per_sec(8_000_007))), 1_000_000);
        assert_eq!(rate(Some(Rate::bits_per_sec(3))), 1);
        assert_eq!(rate(Some(Rate::bits_per_sec(u64::MAX))), u32::MAX - 1);
        assert_eq!(c::Order::from(Order { limit: None, quiet: true }).quiet, 1);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_report_or_none(
            bytes in proptest::collection::vec(any::<u8>(), 0..=2 * c::Report::SIZE),
        ) {
            let kind = std::mem::offset_of!(c::Report, kind);
            prop_assert_eq!(Report::read(&bytes).is_some(), bytes.len() == c::Report::SIZE && bytes[kind] < 3);
        }
    }
}
