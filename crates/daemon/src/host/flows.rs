//! What user space does for the connections that the kernel reports, sans I/O: reports in, orders out.
//!
//! The law is a [`FlowLaw`], told the round trips of the wireless part ([`WirelessPart`]): the same code that paces at gateways. Its
//! spacing becomes the rate of a socket; of bursts, windows and marks the kernel's own TCP is in charge.
//! The driver calls [`Flows::handle_report`] for each report, then [`Flows::poll_order`] until `None`.
//!
//! Source: schemes.md 3.2.

use super::exchange::{Cookie, Ends, Order, Report, ReportKind};
use ipnet::IpNet;
use meshpace_pacing::{FlowLaw, LawMaker, RoundTrip, Route, WirelessPart, WirelessSample};
use meshpace_units::{Bytes, Instant, Rate, Span};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The wireless way from this host to the gateway.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayPath {
    /// Hops by this host's address, longest prefix first.
    pub by_address: Vec<(IpNet, u32)>,
    /// Hops where no prefix fits.
    pub hops: u32,
    /// MAC data rate of the links.
    pub rate: Rate,
}

impl GatewayPath {
    /// Hops to the gateway for a connection from `local`.
    #[must_use]
    pub fn hops(&self, local: IpAddr) -> u32 {
        let fitting = self.by_address.iter().find(|(prefix, _)| prefix.contains(&local));
        fitting.map_or(self.hops, |(_, hops)| *hops)
    }
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    /// Its ends.
    pub ends: Ends,
    /// Since when it is followed.
    pub since: Instant,
    /// Its latest report.
    pub active: Instant,
    /// Older than the program.
    pub adopted: bool,
    /// Wireless hops to the gateway.
    pub hops: u32,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// Its law.
    pub law: Box<dyn FlowLaw>,
    /// What is known of its gateway.
    pub part: WirelessPart,
    /// The spacing asked for; `None` asks for none.
    pub interval: Option<Span>,
    /// The latest round trip of the whole path.
    pub rtt: Option<Span>,
    /// The latest wired part that the gateway told.
    pub rtt_wired: Option<Span>,
    /// The latest wireless part.
    pub rtt_wireless: Option<Span>,
    /// Reports of round trips.
    pub reports: u64,
    /// Round trips whose wireless part was not positive.
    pub discarded: u64,
    ordered: Order,
}

impl Connection {
    fn new(report: &Report, adopted: bool, law: &LawMaker, initial_interval: Span, hops: u32) -> Self {
        Self {
            ends: report.ends,
            since: report.at,
            active: report.at,
            adopted,
            hops,
            mss: report.mss,
            // A connection in mid-flight is not slowed down to learn about it.
            interval: (!adopted).then_some(initial_interval),
            law: law.law(),
            part: WirelessPart::default(),
            rtt: None,
            rtt_wired: None,
            rtt_wireless: None,
            reports: 0,
            discarded: 0,
            ordered: Order::default(),
        }
    }

    /// The limit asked for: a full segment's payload an interval. `None` is none.
    ///
    /// The kernel paces payload bytes (`tcp_update_skb_after_send`, net/ipv4/tcp_output.c).
    #[must_use]
    pub fn limit(&self) -> Option<Rate> {
        limit(self.mss, self.interval?)
    }

    fn on_round_trip(&mut self, now: Instant, rtt: Span, rtt_wired: Option<Span>, rate: Rate) {
        self.reports += 1;
        self.rtt = Some(rtt);
        self.rtt_wired = rtt_wired.or(self.rtt_wired);
        match self.part.on_ack(Some(rtt), rtt_wired) {
            WirelessSample::RoundTrip(wireless) => {
                self.rtt_wireless = Some(wireless);
                let route = Route::uniform(Some(self.hops), rate);
                let trip = RoundTrip {
                    now,
                    rtt: wireless,
                    segment: self.mss,
                    route: &route,
                    sharing: 1,
                    answered: None,
                };
                if let Some(pace) = self.law.on_round_trip(&trip) {
                    self.interval = pace.spacing;
                }
            }
            WirelessSample::NoGateway => self.interval = None,
            WirelessSample::Nothing => self.discarded += u64::from(rtt_wired.is_some()),
        }
    }

    fn order(&self) -> Order {
        // Once the gateway is known to be there or not, acknowledgements without its option tell nothing.
        Order { limit: self.limit(), quiet: !matches!(self.part, WirelessPart::Unknown { .. }) }
    }
}

/// `mss` a `interval` as bit/s, rounded down; `None` if it is faster than 64 bits can tell.
fn limit(mss: Bytes, interval: Span) -> Option<Rate> {
    let bit_ns = u128::from(mss.bits()) * 1_000_000_000;
    let bps = bit_ns.checked_div(u128::from(interval.as_nanos()))?;
    u64::try_from(bps).ok().map(Rate::bits_per_sec)
}

/// The connections of this host's applications.
#[derive(Debug)]
pub struct Flows {
    law: LawMaker,
    /// The spacing before a connection's law has answered.
    initial_interval: Span,
    way: GatewayPath,
    flows: BTreeMap<Cookie, Connection>,
    /// What the kernel has not been told yet; of several orders for a connection the latest.
    orders: BTreeMap<Cookie, Order>,
}

impl Flows {
    /// No connections yet.
    #[must_use]
    pub const fn new(law: LawMaker, initial_interval: Span, way: GatewayPath) -> Self {
        Self { law, initial_interval, way, flows: BTreeMap::new(), orders: BTreeMap::new() }
    }

    /// Takes a report of the kernel. One about an unknown connection, whose beginning found the ring full, begins it.
    pub fn handle_report(&mut self, report: &Report) {
        let adopted = match report.told {
            ReportKind::Closed => {
                self.forget(report.cookie);
                return;
            }
            ReportKind::Opened { adopted } => {
                self.forget(report.cookie);
                adopted
            }
            ReportKind::Sample { .. } => true,
        };
        let Self { law, initial_interval, way, flows, orders } = self;
        let new =
            || Connection::new(report, adopted, law, *initial_interval, way.hops(report.ends.local.ip()));
        let flow = flows.entry(report.cookie).or_insert_with(new);
        flow.active = report.at;
        flow.mss = report.mss;
        if let ReportKind::Sample { rtt, rtt_wired } = report.told {
            flow.on_round_trip(report.at, rtt, rtt_wired, way.rate);
        }
        let order = flow.order();
        if order != flow.ordered {
            flow.ordered = order;
            orders.insert(report.cookie, order);
        }
    }

    /// The next order for the kernel.
    #[must_use]
    pub fn poll_order(&mut self) -> Option<(Cookie, Order)> {
        self.orders.pop_first()
    }

    /// The kernel no longer knows the connection: its end found the ring full.
    pub fn forget(&mut self, cookie: Cookie) {
        self.flows.remove(&cookie);
        self.orders.remove(&cookie);
    }

    /// All connections, in the order of their cookies.
    pub fn iter(&self) -> impl Iterator<Item = (Cookie, &Connection)> {
        self.flows.iter().map(|(cookie, flow)| (*cookie, flow))
    }
}

#[cfg(test)]
mod tests;
