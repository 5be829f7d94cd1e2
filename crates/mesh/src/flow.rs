//! A flow at run time.

use crate::ends::FlowEnds;
use crate::measure::{Baseline, Moments};
use crate::schemes::FlowScheme;
use meshpace_pacing::LinkRates;
use meshpace_relay::packet::{Account, Host, PathId};
use meshpace_scenario::{self as scenario, App, FileClock};
use meshpace_tcp::{Connection, Ports};
use meshpace_units::random::Stream;
use meshpace_units::{Bytes, Instant, Seq, Span};

/// One flow of the scenario, running.
pub struct RunningFlow<'a> {
    /// What the scenario says.
    pub spec: &'a scenario::Flow,
    /// Where the data come from.
    pub from: Host,
    /// Where they go.
    pub to: Host,
    /// Addresses and ports of both.
    pub ends: FlowEnds,
    /// What its packets pass in the mesh, and what those that come back do; `None`: as routing says.
    pub paths: Option<[PathId; 2]>,
    /// What its packets are accounted under, both ways; `None` before the start.
    pub account: Option<Account>,
    /// The transport.
    pub transport: Transport,
    /// The application.
    pub application: Application,
}

/// A flow's transport.
pub enum Transport {
    /// Datagrams.
    Udp(UdpFlow),
    /// A TCP connection.
    Tcp(Box<TcpFlow>),
}

/// Both ends of a flow of datagrams.
pub struct UdpFlow {
    /// Packets that the sender has sent so far.
    pub sent: u64,
    /// Bytes of the UDP header.
    pub header: Bytes,
    /// From the latest request that was answered until its answer; `None` before, and where the other end does not answer.
    pub round_trip: Option<Span>,
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
    /// Where further connections come from.
    pub source: ConnectionSource,
}

/// What a flow's connections are made of.
pub struct ConnectionSource {
    /// The scheme.
    pub scheme: FlowScheme,
    /// Initial sequence numbers and clock phases.
    pub draw: Stream,
    /// What the senders of earlier connections counted.
    pub past: Baseline,
}

impl ConnectionSource {
    /// Both ends of a connection that opens at `now`.
    pub fn open(&mut self, ends: &FlowEnds, now: Instant) -> [Connection; 2] {
        let ports = Ports { local: ends.sender.port(), remote: ends.receiver.port() };
        let (iss, peer_iss) = (Seq(self.draw.bits() as u32), Seq(self.draw.bits() as u32));
        let phase = self.draw.unit();
        let sender = Connection::connect(self.scheme.sender(phase), ports, iss, now);
        [sender, Connection::listen(self.scheme.receiver(), ports.remote, peer_iss)]
    }
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
    /// When the first packet with data of the current file was sent.
    pub first_packet: Option<Instant>,
    /// Bytes of the current file or burst (a burst: that are left).
    pub size: u64,
    /// When a finite transfer was complete.
    pub completed: Option<Instant>,
    /// Pauses of the scenario that are over.
    pub pauses_over: usize,
    /// When the next packet is due; a wake-up at another time is left over from before a pause.
    pub wakes: Option<Instant>,
    /// The next file waits for the connection of the one before to close.
    pub waits_for_close: bool,
}

impl Application {
    /// An application that has not started.
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            stopped: false,
            written: 0,
            started: Instant::ZERO,
            first_packet: None,
            size: 0,
            completed: None,
            pauses_over: 0,
            wakes: None,
            waits_for_close: false,
        }
    }

    /// When the time of the current file began.
    pub fn file_began(&self, clock: FileClock) -> Instant {
        match clock {
            FileClock::Write => self.started,
            FileClock::FirstPacket => self.first_packet.unwrap_or(self.started),
        }
    }
}

impl RunningFlow<'_> {
    /// Since when the flow has been active without interruption, for fairness; `None`: it is not active now.
    ///
    /// Web traffic is active through its pauses: how little it asks for is the same for all flows.
    pub fn active_since(&self, now: Instant) -> Option<Instant> {
        let over = self.application.completed.is_some() || self.spec.stop.is_some_and(|stop| stop < now);
        let begun = self.spec.pauses.iter().rev().find(|(from, _)| *from < now);
        let since = begun.map_or(self.spec.start, |(_, to)| *to);
        (!over && since <= now).then_some(since)
    }

    /// Whether its application sends from now on: it has started, and neither pauses nor is through.
    pub fn is_on(&self, now: Instant) -> bool {
        let over = self.application.completed.is_some() || self.spec.stop.is_some_and(|stop| stop <= now);
        let pauses = self.spec.pauses.iter().any(|(from, to)| (*from..*to).contains(&now));
        self.spec.start <= now && !over && !pauses
    }

    /// The goodputs of the files that count when the run ends: those that were `complete`, and, if the scenario counts it,
    /// the one on its way, with what has come of it.
    pub fn files(&self, complete: &Moments, measured: bool, stopped: Instant) -> Moments {
        let mut files = *complete;
        let application = &self.application;
        if let (App::Http { clock, counts_unfinished: true, .. }, Transport::Tcp(tcp)) =
            (self.spec.app, &self.transport)
            && measured
            && application.size > 0
        {
            let age = stopped.saturating_since(application.file_began(clock)).as_secs_f64();
            let came = application.size - (application.written - tcp.received).min(application.size);
            if age > 0.0 {
                files.add(came as f64 * 8.0 / age);
            }
        }
        files
    }

    /// The time over which a finite transfer is measured: within `[from, to]`, from its start to its end.
    pub fn active_within(&self, from: Instant, to: Instant) -> Span {
        let end = self.application.completed.unwrap_or(to);
        end.saturating_since(from.max(self.spec.start))
    }
}
