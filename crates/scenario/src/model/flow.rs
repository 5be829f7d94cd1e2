//! Flows and what their applications offer.

use super::Endpoint;
use crate::Location;
use meshpace_units::{Bytes, Dscp, Instant, NodeId, Rate, Span};

/// One flow: an application at `from` that sends to `to`.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name in results: the number of the flow counted from 1, or the `id` given.
    pub id: String,
    /// Where the data come from.
    pub from: Endpoint,
    /// Where the data go.
    pub to: Endpoint,
    /// What is sent.
    pub app: App,
    /// The name of the scheme at sender and receiver; UDP flows carry one too, for the relays and the gateway.
    pub scheme: String,
    /// TCP payload bytes a full segment carries.
    pub segment: Bytes,
    /// The receiver's window in segments.
    pub window: u32,
    /// When the flow starts, its jitter included.
    pub start: Instant,
    /// When the application stops sending; `None`: at the end of the run.
    pub stop: Option<Instant>,
    /// From when until when the application pauses: one after the other, all between `start` and `stop`.
    pub pauses: Vec<(Instant, Instant)>,
    /// The mesh nodes that the data pass, in order, both ends included (a gateway, where an end is wired). `None`: as routing says.
    pub path: Option<Vec<NodeId>>,
    /// Those that what comes back passes, between the same two. `None`: those of `path`, the other way.
    pub path_back: Option<Vec<NodeId>>,
    /// The service class that all its packets ask for, those that come back included.
    pub dscp: Dscp,
    /// Where the file defines it.
    pub at: Location,
}

impl Flow {
    /// The ways that are given: of the data, and of what comes back.
    pub fn ways(&self) -> impl Iterator<Item = &[NodeId]> {
        self.path.as_deref().into_iter().chain(self.path_back.as_deref())
    }
}

/// Where the time of a file begins; it ends when its last byte has arrived in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileClock {
    /// When the application hands it over.
    Write,
    /// When the first packet with data of it is sent: the handshake and the wait for the window before are left out.
    FirstPacket,
}

/// What an application sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum App {
    /// TCP: a file without end.
    Ftp,
    /// TCP: this many bytes, then the connection is closed.
    Transfer {
        /// Payload bytes.
        bytes: Bytes,
    },
    /// TCP: files with Pareto sizes, exponential pauses between (schemes.md 3.7).
    Http {
        /// Mean file size.
        file_mean: Bytes,
        /// Pareto shape, above 1; the smallest file is `mean * (shape - 1) / shape`.
        file_shape: f64,
        /// Mean pause from the end of a file to the start of the next.
        pause_mean: Span,
        /// Each file has a connection of its own, opened for it and closed after it; else one carries them all.
        connection_per_file: bool,
        /// Since when a file's goodput counts.
        clock: FileClock,
        /// Whether the file that is on its way at the end counts, with what has come of it by its age.
        counts_unfinished: bool,
    },
    /// UDP: one packet at the start, then one every `packet * 8 / rate`.
    Cbr {
        /// Offered payload rate.
        rate: Rate,
        /// Payload bytes of a packet.
        packet: Bytes,
        /// Bytes of the UDP header: 8, or 0 as ns-2 has it.
        udp_header: Bytes,
    },
    /// UDP: a request at the start, then one every `interval`; the other end answers each at once with as many bytes.
    Echo {
        /// Payload bytes of a request, and of its answer.
        packet: Bytes,
        /// From one request to the next.
        interval: Span,
        /// Bytes of the UDP header: 8, or 0 as ns-2 has it.
        udp_header: Bytes,
    },
    /// UDP: bursts with Pareto sizes at `rate`, Pareto pauses between; many such flows together are self-similar
    /// (Willinger, Taqqu, Sherman, Wilson 1997).
    SelfSimilar {
        /// Payload rate within a burst.
        rate: Rate,
        /// Payload bytes of a packet.
        packet: Bytes,
        /// Bytes of the UDP header: 8, or 0 as ns-2 has it.
        udp_header: Bytes,
        /// Mean burst size.
        burst_mean: Bytes,
        /// Pareto shape of bursts and pauses, above 1.
        shape: f64,
        /// Mean pause between bursts.
        pause_mean: Span,
    },
}

impl App {
    /// True if the application runs over TCP.
    #[must_use]
    pub const fn is_tcp(&self) -> bool {
        matches!(self, Self::Ftp | Self::Transfer { .. } | Self::Http { .. })
    }
}
