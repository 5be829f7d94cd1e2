//! The contract of a relay: the queue in front of a transmitter.

use crate::here::Here;
use crate::packet::{Handle, Packet};
use crate::report::{Heard, Report};
use meshpace_explicit::winf::Pair;
use meshpace_radio::Peer;
use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::fmt;

/// The reports that a relay wants beside its packets. The driver asks for them once; a report that is not
/// wanted costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    /// Every frame that the node's station reads, by [`Relay::heard`]. This costs an event for every frame in range.
    pub frames: bool,
    /// Only those of the frames that carry data for other nodes, by [`Relay::heard`]. This costs a quarter of the
    /// events.
    pub data_frames: bool,
    /// The MAC's reports about packets, by [`Relay::reported`].
    pub reports: bool,
    /// Packets contend in the categories of their codepoints: the relay has a queue for each category. Without this all packets go as
    /// best effort.
    pub categories: bool,
    /// The time for which the medium was busy: [`NodeView::busy_time`](crate::NodeView::busy_time).
    pub busy_time: bool,
    /// The number of conversations that share the medium:
    /// [`NodeView::conversations_beside`](crate::NodeView::conversations_beside). When a conversation begins
    /// or ends, the driver calls [`Relay::handle_timeout`].
    pub conversations: bool,
    /// The number of conversations of which the nodes of a way hear:
    /// [`NodeView::conversations_counted`](crate::NodeView::conversations_counted).
    pub counted: bool,
    /// Each conversation's share of the air, worked out anew after each epoch of this length:
    /// [`NodeView::share`](crate::NodeView::share).
    pub shares: Option<Span>,
}

/// A measurement beside a queue. It changes nothing in the queue.
pub trait Listener {
    /// Something happened at the MAC to a packet that was given out.
    fn reported(&mut self, here: &mut Here<'_>, report: &Report);

    /// A frame was read.
    fn heard(&mut self, here: &mut Here<'_>, heard: &Heard<'_>);

    /// The relay's measurement of the link from a neighbour ([`Relay::tells`]).
    fn tells(&self, now: Instant, to: NodeId) -> Option<Pair>;
}

/// A queue in front of a transmitter, with everything else that acts between link layer and MAC. At a wired link the
/// transmitter is the wire: no MAC reports, and no frame is overheard.
///
/// The driver's side of the contract:
/// - Whenever the transmitter is free and something may have changed (a packet came, one is through, a deadline has
///   passed, a frame was heard), it asks [`dequeue`](Self::dequeue), and sends what it gets. Where packets contend in categories, the
///   transmitter is free for [some of them](Here::takes), and takes packets of those alone.
/// - After each call it frees the packets given to [`Here::drop`], then reads [`poll_timeout`](Self::poll_timeout), and
///   calls [`handle_timeout`](Self::handle_timeout) at that time. Early or repeated calls are harmless.
///
/// The relay's side of the contract: every packet that it was given comes out exactly once, by `dequeue` or by [`Here::drop`]; the packets
/// that [`purge`](Self::purge) names are dropped. A relay may add packets of its own for the next node ([probes](Packet::is_probe)) to the
/// store, and give them out. It may change a waiting packet ([`Here::packets`]), but not the packet's `next_hop`: purges and counters go
/// by that.
pub trait Relay: fmt::Debug + Send {
    /// The reports that this relay wants.
    fn asks(&self) -> Asks {
        Asks::default()
    }

    /// A packet is to wait. If [`Here::is_free`], the driver asks for a packet right afterwards. A packet given out then
    /// never waits, so the relay takes it however short the queue is.
    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle);

    /// The packet to send now; `None`: no packet waits, or the waiting packets are held back until a deadline
    /// or a report.
    #[must_use]
    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle>;

    /// The packet that [`dequeue`](Self::dequeue) would give now. A relay that treats packets one by one (spaces them, or measures
    /// how long each takes) answers `None` always.
    #[must_use]
    fn head(&self, _here: &Here<'_>) -> Option<Handle> {
        None
    }

    /// The next packet, to be sent in one frame with other packets for the neighbour `to`. The relay gives it if it is for that neighbour,
    /// no larger than `room` and, where the relay [asks](Asks::categories) for categories, of that priority. The driver asks where the
    /// standard has frames of several packets; a relay without a [`head`](Self::head) gives its packets one by one.
    #[must_use]
    fn dequeue_to(&mut self, here: &mut Here<'_>, to: Peer, room: Bytes) -> Option<Handle> {
        let head = here.packets.get(self.head(here)?);
        if head.next_hop == Some(to.node) && head.size <= room { self.dequeue(here) } else { None }
    }

    /// Routing takes these packets back, for example because their next hop is gone. The relay drops them in the order in
    /// which they would have gone out, as far as that order is known.
    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool);

    /// The number of waiting packets, held back or not.
    fn len(&self) -> usize;

    /// True if no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The listener that gets reports and frames, and answers for acknowledgements, where the relay itself does not use
    /// them.
    fn listener(&mut self) -> Option<&mut dyn Listener> {
        None
    }

    /// Something happened at the MAC to a packet that was given out, if [`Asks::reports`].
    fn reported(&mut self, here: &mut Here<'_>, report: &Report) {
        if let Some(listener) = self.listener() {
            listener.reported(here, report);
        }
    }

    /// What this node measured of the link from a neighbour by rt-Winf: its MAC acknowledgements to that neighbour tell it
    /// ([`Exchange::told`](crate::Exchange::told)).
    fn tells(&mut self, now: Instant, to: NodeId) -> Option<Pair> {
        self.listener()?.tells(now, to)
    }

    /// A frame was read, if [`Asks::frames`] or [`Asks::data_frames`].
    fn heard(&mut self, here: &mut Here<'_>, heard: &Heard<'_>) {
        if let Some(listener) = self.listener() {
            listener.heard(here, heard);
        }
    }

    /// The expected time that a packet takes from the MAC here over the next four hops, or over the hops to its
    /// egress if those are fewer; for results.
    fn k_hop_delay(&self, _packet: &Packet) -> Option<Span> {
        None
    }

    /// The relay's counters so far, by name, for results. Names and order never change.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// The next time at which [`handle_timeout`](Self::handle_timeout) is due. A time that does not lie ahead counts as none: work that is
    /// due now is done now, and the driver asks for waiting packets when the transmitter is free.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// A deadline has come, or may have.
    fn handle_timeout(&mut self, _here: &mut Here<'_>) {}
}

/// Of a [`Relay`] whose packets all wait in its field `queue`, a relay itself: what it says of them.
macro_rules! waits_in_queue {
    () => {
        fn head(&self, here: &$crate::Here<'_>) -> Option<crate::packet::Handle> {
            self.queue.head(here)
        }

        fn purge(
            &mut self,
            here: &mut $crate::Here<'_>,
            wanted: &mut dyn FnMut(&crate::packet::Packet) -> bool,
        ) {
            self.queue.purge(here, wanted);
        }

        fn len(&self) -> usize {
            self.queue.len()
        }
    };
}
pub(crate) use waits_in_queue;
