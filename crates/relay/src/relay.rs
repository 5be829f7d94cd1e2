//! The contract.

use crate::here::Here;
use crate::packet::{Handle, Packet};
use crate::report::{Heard, Report};
use meshpace_explicit::winf::Pair;
use meshpace_radio::Peer;
use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::fmt;

/// What a relay wants to learn beside its packets. It is asked once; what is not asked for costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    /// Every frame that the node's station reads: [`Relay::heard`]. Listening costs an event for every frame in range.
    pub frames: bool,
    /// The data frames among them that are for others, and nothing else: [`Relay::heard`], for a quarter of the events.
    pub data_frames: bool,
    /// What becomes of the packets at the MAC: [`Relay::reported`].
    pub reports: bool,
    /// That packets contend in the categories of their codepoints: it has queues for each. From others all packets go as best effort.
    pub categories: bool,
    /// How long the medium was busy: [`NodeView::busy_time`](crate::NodeView::busy_time).
    pub busy_time: bool,
    /// How many conversations share the medium:
    /// [`NodeView::conversations_beside`](crate::NodeView::conversations_beside). When one begins or ends,
    /// [`Relay::handle_timeout`] is called.
    pub conversations: bool,
    /// How many conversations the nodes of a way hear of:
    /// [`NodeView::conversations_counted`](crate::NodeView::conversations_counted).
    pub counted: bool,
    /// Each conversation's share of the air, worked out anew after each epoch of this length:
    /// [`NodeView::share`](crate::NodeView::share).
    pub shares: Option<Span>,
}

/// What measures beside a queue, and changes nothing there.
pub trait Listener {
    /// Something happened at the MAC to a packet that was given out.
    fn reported(&mut self, here: &mut Here<'_>, report: &Report);

    /// A frame was read.
    fn heard(&mut self, here: &mut Here<'_>, heard: &Heard<'_>);

    /// The relay's measurement of the link from a neighbour ([`Relay::tells`]).
    fn tells(&self, now: Instant, to: NodeId) -> Option<Pair>;
}

/// A queue in front of a transmitter, and whatever else acts between link layer and MAC. At a wired link the transmitter
/// is the wire; there is no MAC that reports, and nothing to overhear.
///
/// The driver's side of the contract:
/// - Whenever the transmitter is free and something may have changed (a packet came, one is through, a deadline has
///   passed, a frame was heard), it asks [`dequeue`](Self::dequeue), and sends what it gets. Where packets contend in categories, the
///   transmitter is free for [some of them](Here::takes), and takes packets of those alone.
/// - After each call it frees the packets given to [`Here::drop`], then reads [`poll_timeout`](Self::poll_timeout), and
///   calls [`handle_timeout`](Self::handle_timeout) at that time. Early or repeated calls are harmless.
///
/// The relay's side: every packet that it was given comes out exactly once, by `dequeue` or by [`Here::drop`]; what
/// [`purge`](Self::purge) names is dropped. It may add packets of its own for the next node ([probes](Packet::is_probe)) to the store, and
/// give them out. A packet that waits may be changed ([`Here::packets`]), its `next_hop` not: purges and
/// counters go by it.
pub trait Relay: fmt::Debug + Send {
    /// What it wants to be told.
    fn asks(&self) -> Asks {
        Asks::default()
    }

    /// A packet is to wait. If [`Here::is_free`], the driver asks for a packet right afterwards: one that is given out then
    /// never waits, so it is to be taken however short the queue.
    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle);

    /// The packet to send now; `None`: nothing waits, or what waits is held back until a deadline or a report.
    #[must_use]
    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle>;

    /// The packet that [`dequeue`](Self::dequeue) would give now. `None` also from a relay whose law is about packets one by one: it
    /// spaces them, or measures how long each takes.
    #[must_use]
    fn head(&self, _here: &Here<'_>) -> Option<Handle> {
        None
    }

    /// The packet to send in one frame with others for the neighbour `to`, if the next one is for it, of that priority where the relay
    /// [asks](Asks::categories) for categories, and no larger than `room`. It is asked where the standard has frames of several packets; a
    /// relay without a [`head`](Self::head) gives them one by one.
    #[must_use]
    fn dequeue_to(&mut self, here: &mut Here<'_>, to: Peer, room: Bytes) -> Option<Handle> {
        let head = here.packets.get(self.head(here)?);
        if head.next_hop == Some(to.node) && head.size <= room { self.dequeue(here) } else { None }
    }

    /// Routing takes these packets back, for example because their next hop is gone: they are to be dropped, in the order
    /// in which they would have gone out as far as that is known.
    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool);

    /// Packets that wait, held back or not.
    fn len(&self) -> usize;

    /// True if none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The listener that gets reports and frames, and answers for acknowledgements, where the relay itself has no use for
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

    /// How long it expects a packet to take from the MAC here over the next four hops, or as many as there are to its
    /// egress; for results.
    fn k_hop_delay(&self, _packet: &Packet) -> Option<Span> {
        None
    }

    /// The relay's counters so far, by name, for results. Names and order never change.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called next. A time that is not ahead is none: what is due now
    /// is done now, and what waits for the transmitter is asked for when that is free.
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
