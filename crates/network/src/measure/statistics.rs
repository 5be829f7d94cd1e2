//! Statistics of packets, wherever they are.

use super::lost::LostPackets;
use super::{HopDelays, Loss, LossCause, LossPlace, Queues};
use meshpace_relay::packet::{Account, Class, Packet};
use meshpace_units::{Instant, NodeId, Span};

/// Statistics of packets on their way: where they wait, how long they take, where they end. Recording them changes nothing.
pub(crate) struct Statistics {
    lost: LostPackets,
    /// If the scenario measures them.
    hop_delays: Option<Box<HopDelays>>,
    /// If the scenario measures them.
    queues: Option<Box<Queues>>,
}

impl Statistics {
    /// Nothing noted yet; what waits in the queues of so many nodes, and delays over the next hops, if they are wanted.
    pub(crate) fn new(queues: Option<usize>, hop_delays: bool) -> Self {
        Self {
            lost: LostPackets::default(),
            hop_delays: hop_delays.then(Box::default),
            queues: queues.map(|nodes| Box::new(Queues::new(nodes))),
        }
    }

    /// Everything is counted afresh from now on.
    pub(crate) fn begin_counting(&mut self, now: Instant) {
        if let Some(delays) = &mut self.hop_delays {
            delays.begin_counting();
        }
        if let Some(queues) = &mut self.queues {
            queues.begin_counting(now);
        }
        self.lost.reset();
    }

    /// Brings what waits in queues up to `end`.
    pub(crate) fn settle(&mut self, end: Instant) {
        if let Some(queues) = &mut self.queues {
            queues.settle(end);
        }
    }

    /// What was measured of delays.
    pub(crate) fn hop_delays(&self) -> Option<&HopDelays> {
        self.hop_delays.as_deref()
    }

    /// What waited.
    pub(crate) fn queues(&self) -> Option<&Queues> {
        self.queues.as_deref()
    }

    /// The packets of accounts that were lost since counting began, in the order of accounts, places and causes.
    pub(crate) fn losses(&self) -> impl Iterator<Item = Loss> + '_ {
        self.lost.rows()
    }

    /// The data packets and acknowledgements of an account that were lost since time 0.
    pub(crate) fn lost_of(&self, account: Account) -> [u64; 2] {
        self.lost.of(account)
    }

    /// A packet of such an account and class goes no further.
    pub(crate) fn lose(
        &mut self,
        account: Option<Account>,
        class: Class,
        place: LossPlace,
        cause: LossCause,
    ) {
        self.lost.count(account, class, place, cause);
    }

    /// True if the scenario measures what waits in queues.
    #[inline]
    pub(crate) const fn wants_queues(&self) -> bool {
        self.queues.is_some()
    }

    /// A packet comes to a node's queue, or has left it.
    pub(crate) fn wait(&mut self, now: Instant, node: NodeId, packet: &Packet, comes: bool) {
        if let Some(queues) = &mut self.queues {
            queues.note(now, node, packet, comes);
        }
    }

    /// True if the scenario measures delays over the next hops.
    #[inline]
    pub(crate) const fn wants_delays(&self) -> bool {
        self.hop_delays.is_some()
    }

    /// The MAC of a node takes a packet, and the node's relay expects so much of it.
    pub(crate) fn take(
        &mut self,
        now: Instant,
        node: NodeId,
        packet: &mut Packet,
        expects: impl FnOnce(&Packet) -> Option<Span>,
    ) {
        if let Some(delays) = &mut self.hop_delays {
            delays.take(now, node, packet, expects);
        }
    }

    /// A packet has come to a node by radio.
    pub(crate) fn arrive(&mut self, now: Instant, node: NodeId, packet: &mut Packet) {
        if let Some(delays) = &mut self.hop_delays {
            delays.arrive(now, node, packet);
        }
    }
}
