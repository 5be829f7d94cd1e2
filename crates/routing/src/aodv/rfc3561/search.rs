//! Expanding ring search and local repair (RFC 3561, sections 6.3, 6.4 and 6.12).

use super::{NET_DIAMETER, NET_TRAVERSAL_TIME, NODE_TRAVERSAL_TIME, Rfc3561Aodv};
use crate::{Action, PacketInfo, Recipient, Rreq};
use meshpace_units::{Instant, NodeId, Span};

/// RFC 3561, section 10.
const TTL_START: u8 = 1;
/// RFC 3561, section 10.
const TTL_INCREMENT: u8 = 2;
/// RFC 3561, section 10.
const TTL_THRESHOLD: u8 = 7;
/// RFC 3561, section 10.
const TIMEOUT_BUFFER: u8 = 2;
/// RFC 3561, section 10.
const RREQ_RETRIES: u8 = 2;
/// RFC 3561, section 10.
const LOCAL_ADD_TTL: u8 = 2;

/// A request that may still be answered.
#[derive(Debug)]
pub(super) struct Search {
    destination: NodeId,
    ttl: u8,
    /// Requests sent with the widest ring.
    network_wide: u8,
    /// When to give up the ring, or to send the request that the rate limit holds back.
    pub(super) due: Instant,
    held_back: bool,
    /// A local repair: the hops of the route that broke.
    pub(super) repairs: Option<u8>,
}

impl<P> Rfc3561Aodv<P> {
    /// Starts a search for `destination` unless one is under way. Where a route has been before, the first ring
    /// covers a little more than its length (section 6.4).
    pub(super) fn search(&mut self, now: Instant, destination: NodeId, out: &mut Vec<Action<P>>) {
        if self.searches.iter().any(|search| search.destination == destination) {
            return;
        }
        let known = self.table.get(now, destination).map(|route| route.hops.saturating_add(TTL_INCREMENT));
        self.start(now, destination, within_threshold(known.unwrap_or(TTL_START)), None, out);
    }

    /// Starts a local repair: one request, wide enough for the destination and for half the way back (section 6.12).
    pub(super) fn repair(&mut self, now: Instant, info: &PacketInfo, hops: u8, out: &mut Vec<Action<P>>) {
        // A search of this node's own, begun while the route was down before, is replaced.
        self.end_search(info.destination);
        let half_way_back = u8::try_from(info.travelled / 2).unwrap_or(NET_DIAMETER);
        let ttl = hops.max(half_way_back).saturating_add(LOCAL_ADD_TTL).min(NET_DIAMETER);
        self.start(now, info.destination, ttl, Some(hops), out);
    }

    /// True if a route to `destination` is being repaired here.
    pub(super) fn repairs(&self, destination: NodeId) -> bool {
        self.searches.iter().any(|search| search.destination == destination && search.repairs.is_some())
    }

    pub(super) fn end_search(&mut self, destination: NodeId) -> Option<Search> {
        let at = self.searches.iter().position(|search| search.destination == destination)?;
        Some(self.searches.remove(at))
    }

    fn start(
        &mut self,
        now: Instant,
        destination: NodeId,
        ttl: u8,
        repairs: Option<u8>,
        out: &mut Vec<Action<P>>,
    ) {
        self.searches.push(Search { destination, ttl, network_wide: 0, due: now, held_back: false, repairs });
        self.request(now, self.searches.len() - 1, out);
    }

    pub(super) fn search_timed_out(&mut self, now: Instant, at: usize, out: &mut Vec<Action<P>>) {
        let search = &mut self.searches[at];
        let failed = search.repairs.is_some() || search.network_wide > RREQ_RETRIES;
        if !search.held_back && failed {
            self.give_up(now, at, out);
            return;
        }
        if !search.held_back && search.ttl < NET_DIAMETER {
            search.ttl = within_threshold(search.ttl + TTL_INCREMENT);
        }
        self.request(now, at, out);
    }

    /// No node answered: drops what waits, and after a repair tells the users of the route (section 6.12).
    fn give_up(&mut self, now: Instant, at: usize, out: &mut Vec<Action<P>>) {
        let Search { destination, repairs, .. } = self.searches.remove(at);
        self.buffer.give_up(now, destination, out);
        if repairs.is_none() {
            return;
        }
        let Some(route) = self.table.get(now, destination) else { return };
        let to = std::mem::take(&mut route.precursors);
        let unreachable = vec![(destination, route.seqno.unwrap_or(0))];
        if !to.is_empty() {
            self.send_error(now, unreachable, &to, Span::ZERO, out);
        }
    }

    fn request(&mut self, now: Instant, at: usize, out: &mut Vec<Action<P>>) {
        let search = &mut self.searches[at];
        if let Err(free) = self.requests.admit(now) {
            search.due = free;
            search.held_back = true;
            return;
        }
        search.held_back = false;
        let wait = if search.ttl < NET_DIAMETER || search.repairs.is_some() {
            // RING_TRAVERSAL_TIME (section 10).
            NODE_TRAVERSAL_TIME * 2 * u64::from(search.ttl + TIMEOUT_BUFFER)
        } else {
            // Binary exponential back-off (section 6.3).
            search.network_wide += 1;
            NET_TRAVERSAL_TIME * (1 << (search.network_wide - 1))
        };
        search.due = now + wait;
        let (destination, ttl, gratuitous) = (search.destination, search.ttl, search.repairs.is_none());
        self.seqno = self.seqno.wrapping_add(1);
        self.next_request = self.next_request.wrapping_add(1);
        let rreq = Rreq {
            id: self.next_request,
            originator: self.me,
            originator_seqno: self.seqno,
            destination,
            destination_seqno: self.table.get(now, destination).and_then(|route| route.seqno),
            hops: 1,
            sent: now,
            gratuitous,
        };
        out.push(Action::SendControl {
            message: rreq.into(),
            to: Recipient::Broadcast,
            ttl,
            delay: Span::ZERO,
        });
    }
}

/// A ring past the threshold covers the network (section 6.4).
fn within_threshold(ttl: u8) -> u8 {
    if ttl > TTL_THRESHOLD { NET_DIAMETER } else { ttl }
}
