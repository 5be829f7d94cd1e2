//! Pacing at the sender: which segment may leave when, and what acknowledgements change about it.
//!
//! A pacer withholds permission, never segments: what leaves is chosen at departure, retransmissions first
//! (schemes.md 1.5). Only the authors' agent of 2005 queues segments.

mod agent;
mod law;

pub(crate) use agent::Agent;

use law::LawPacer;
use meshpace_pacing::{AdaptiveConfig, LinkRates, Pacer};
use meshpace_units::{Instant, Span};

/// How the sender spaces its segments.
#[derive(Clone, Debug, PartialEq)]
pub enum Pacing {
    /// Not at all: the window alone governs.
    None,
    /// One segment every interval.
    Fixed(Span),
    /// TCP-AP on the whole path; the hops come with the acknowledgements (schemes.md section 2, profile `paper`).
    Adaptive(PacingLaw),
    /// TCP-AP exactly as its authors' agent does it (schemes.md section 2, profile `ns2-2005`). It takes its round trips
    /// from [`Segment::ns2`](crate::Segment::ns2) stamps, hence [`HeaderSize::Flat`](crate::HeaderSize::Flat), or, where
    /// there are none, from timestamps, to the millisecond.
    Ns2Agent(PacingLaw),
    /// TCP-GAP's wireless sender: round trips less the gateway's measured wired part (schemes.md 3.2).
    Wireless {
        /// The rate law.
        law: PacingLaw,
        /// Wireless hops to the gateway, 0 if unknown; see [`Connection::set_path_hops`](crate::Connection::set_path_hops).
        hops: u32,
    },
}

/// A rate law and the links it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct PacingLaw {
    /// Constants and options of the law.
    pub law: AdaptiveConfig,
    /// MAC data rates of the path's links.
    pub rates: LinkRates,
}

/// What an arriving acknowledgement offers the rate law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckSample {
    pub(crate) now: Instant,
    /// Round trips of newly acknowledged data, if any.
    pub(crate) oldest: Option<Span>,
    pub(crate) newest: Option<Span>,
    /// Time since the echoed departure (ns-2's timestamps), also on duplicates.
    pub(crate) echoed: Option<Span>,
    /// Links that the acknowledgement crossed.
    pub(crate) hops: Option<u32>,
    /// TCP-GAP's option.
    pub(crate) rtt_wired: Option<Span>,
    /// Payload of a full segment.
    pub(crate) mss: u32,
}

/// What there is to see of a sender's pacing.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PacingView {
    /// The interval between departures; `None` if nothing is held back.
    pub interval: Option<Span>,
    /// The smoothed k-hop delay, seconds.
    pub k_hop_delay: Option<f64>,
    /// The measure of variation that the law uses.
    pub variation: Option<f64>,
    /// Round-trip samples that the law accepted.
    pub samples: u64,
    /// Samples it rejected.
    pub rejected: u64,
}

/// One sender's pacing.
#[derive(Clone, Debug)]
pub(crate) enum Gate {
    Open,
    Fixed(Pacer),
    Law(LawPacer),
    Agent(Agent),
}

impl Gate {
    pub(crate) fn new(pacing: &Pacing) -> Self {
        match pacing {
            Pacing::None => Self::Open,
            Pacing::Fixed(interval) => Self::Fixed(Pacer::new(Some(*interval))),
            Pacing::Adaptive(law) => Self::Law(LawPacer::whole_path(law)),
            Pacing::Wireless { law, hops } => Self::Law(LawPacer::wireless(law, *hops)),
            Pacing::Ns2Agent(law) => Self::Agent(Agent::new(law)),
        }
    }

    /// True if something may be held back.
    pub(crate) const fn paces(&self) -> bool {
        !matches!(self, Self::Open)
    }

    /// True if every segment waits for a token, so that bursts need no other limit. The agent queues what ns-2 would
    /// send, limits included.
    pub(crate) fn spaces_bursts(&self) -> bool {
        self.pacer().is_some_and(|pacer| pacer.interval().is_some())
    }

    fn pacer(&self) -> Option<&Pacer> {
        match self {
            Self::Open | Self::Agent(_) => None,
            Self::Fixed(pacer) => Some(pacer),
            Self::Law(law) => Some(law.pacer()),
        }
    }

    /// True if a segment that does not bypass the pacer may leave at `now`. The agent is asked about its queue.
    pub(crate) fn ready(&self, now: Instant) -> bool {
        match self {
            Self::Agent(agent) => agent.ready(now),
            _ => self.pacer().is_none_or(|pacer| pacer.ready(now)),
        }
    }

    /// When the next such segment may leave, not before `now`.
    pub(crate) fn release_at(&self, now: Instant) -> Instant {
        match self {
            Self::Agent(agent) => agent.release_at(now),
            _ => self.pacer().map_or(now, |pacer| pacer.release_at(now)),
        }
    }

    /// A data segment left, through the pacer or past it: either takes the token (schemes.md section 2, edge cases).
    pub(crate) fn on_departure(&mut self, now: Instant) {
        match self {
            Self::Open => {}
            Self::Fixed(pacer) => pacer.on_departure(now),
            Self::Law(law) => law.on_departure(now),
            Self::Agent(agent) => agent.on_departure(now),
        }
    }

    pub(crate) fn on_ack(&mut self, sample: &AckSample) {
        match self {
            Self::Open | Self::Fixed(_) => {}
            Self::Law(law) => law.on_ack(sample),
            Self::Agent(agent) => agent.on_ack(sample),
        }
    }

    /// Three duplicates or a timeout: the agent leaves pacing mode.
    pub(crate) fn on_loss(&mut self) {
        if let Self::Agent(agent) = self {
            agent.leave();
        }
    }

    /// The wireless part of the path has `hops` links, whatever acknowledgements say (the agent believes those).
    pub(crate) fn set_hops(&mut self, hops: u32) {
        if let Self::Law(law) = self {
            law.set_hops(hops);
        }
    }

    pub(crate) fn set_rates(&mut self, rates: LinkRates) {
        match self {
            Self::Open | Self::Fixed(_) => {}
            Self::Law(law) => law.set_rates(rates),
            Self::Agent(agent) => agent.set_rates(rates),
        }
    }

    pub(crate) fn view(&self) -> PacingView {
        let law = match self {
            Self::Open => return PacingView::default(),
            Self::Fixed(pacer) => return PacingView { interval: pacer.interval(), ..PacingView::default() },
            Self::Law(law) => law.law(),
            Self::Agent(agent) => agent.law(),
        };
        let interval = self.pacer().map_or_else(|| law.interval(), Pacer::interval);
        PacingView {
            interval,
            k_hop_delay: law.k_hop_delay(),
            variation: law.k_hop_delay().map(|_| law.variation()),
            samples: law.samples(),
            rejected: law.rejected(),
        }
    }
}
