//! A flow at run time.

use crate::ends::FlowEnds;
use meshpace_pacing::LinkRates;
use meshpace_packet::Host;
use meshpace_random::Stream;
use meshpace_scenario as scenario;
use meshpace_tcp::Connection;
use meshpace_units::{Bytes, Instant, Span};

/// One flow of the scenario, running.
pub struct Flow {
    /// What the scenario says.
    pub spec: scenario::Flow,
    /// Where the data come from.
    pub from: Host,
    /// Where they go.
    pub to: Host,
    /// Addresses and ports of both.
    pub ends: FlowEnds,
    /// The transport.
    pub transport: Transport,
    /// The application.
    pub application: Application,
}

/// A flow's transport.
pub enum Transport {
    /// Datagrams.
    Udp {
        /// Packets sent so far.
        sent: u64,
        /// Bytes of the UDP header.
        header: Bytes,
    },
    /// A TCP connection.
    Tcp(Box<TcpFlow>),
}

/// Both ends of a TCP connection.
pub struct TcpFlow {
    /// The end that sends the data.
    pub sender: Connection,
    /// The end that receives them.
    pub receiver: Connection,
    /// Stream bytes that the receiving application has.
    pub received: u64,
    /// Rates of the wireless links ahead of a sender in the mesh, as routing knew them last.
    pub rates: LinkRates,
}

/// What the application is doing.
pub struct Application {
    /// Sizes and pauses.
    pub stream: Stream,
    /// It offers nothing new from now on.
    pub stopped: bool,
    /// Bytes written to the connection so far.
    pub written: u64,
    /// When the current file or burst started.
    pub started: Instant,
    /// Bytes of the current file or burst (a burst: that are left).
    pub size: u64,
    /// When a finite transfer was complete.
    pub completed: Option<Instant>,
}

impl Application {
    /// An application that has not started.
    pub fn new(stream: Stream) -> Self {
        Self { stream, stopped: false, written: 0, started: Instant::ZERO, size: 0, completed: None }
    }
}

impl Flow {
    /// Since when the flow has been active without interruption, for fairness; `None`: it is not active now.
    ///
    /// Web traffic is active through its pauses: how little it asks for is the same for all flows.
    pub fn active_since(&self, now: Instant) -> Option<Instant> {
        let over = self.application.completed.is_some() || self.spec.stop.is_some_and(|stop| stop < now);
        (!over && self.spec.start <= now).then_some(self.spec.start)
    }

    /// The time over which a finite transfer is measured: within `[from, to]`, from its start to its end.
    pub fn active_within(&self, from: Instant, to: Instant) -> Span {
        let end = self.application.completed.unwrap_or(to);
        end.saturating_since(from.max(self.spec.start))
    }
}
