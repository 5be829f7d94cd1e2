//! Route searches of ns-2.35's AODV (ns2-behaviour 5.3).

use super::table::State;
use super::{NETWORK_DIAMETER, Ns2Aodv};
use crate::{Action, Recipient, Rreq};
use meshpace_units::{Instant, Span};

/// RREQ_RETRIES: more network-wide searches than this without a reply, and a pause follows.
const RREQ_RETRIES: u8 = 3;
/// The pause, and the longest wait for a reply (MAX_RREQ_TIMEOUT).
const MAX_RREQ_TIMEOUT: Span = Span::from_secs(10);
/// TTL_THRESHOLD: after a longer route than this, or a wider ring, the search covers the network.
const TTL_THRESHOLD: u8 = 7;
/// TTL_INCREMENT. (TTL_START = 5 has no use: a fresh entry's last hop count is 255.)
const TTL_INCREMENT: u8 = 2;

impl<P> Ns2Aodv<P> {
    /// Sends a request for the destination of entry `at`, unless the route is up or the last search may still be
    /// answered. After four network-wide searches: drops what waits and pauses.
    pub(super) fn search(&mut self, now: Instant, at: usize, out: &mut Vec<Action<P>>) {
        let entry = &mut self.table[at];
        if entry.state == State::Up || entry.request_until.is_some_and(|until| until > now) {
            return;
        }
        if entry.network_wide > RREQ_RETRIES {
            entry.request_until = Some(now + MAX_RREQ_TIMEOUT);
            entry.network_wide = 0;
            self.buffer.give_up(now, entry.destination, out);
            return;
        }
        let last = entry.last_ttl.max(entry.last_hops);
        let ttl = if last < TTL_THRESHOLD {
            last + TTL_INCREMENT
        } else {
            entry.network_wide += 1;
            NETWORK_DIAMETER
        };
        entry.last_ttl = ttl;
        let rounds = 2 * u64::from(ttl) * u64::from(entry.network_wide.max(1));
        entry.request_until = Some(now + (entry.per_hop_time() * rounds).min(MAX_RREQ_TIMEOUT));
        entry.expires = Instant::ZERO;

        self.seqno = self.seqno.wrapping_add(2);
        let rreq = Rreq {
            id: self.next_request,
            originator: self.me,
            originator_seqno: self.seqno,
            destination: entry.destination,
            destination_seqno: Some(entry.seqno),
            hops: 1,
            sent: now,
            gratuitous: false,
        };
        self.next_request = self.next_request.wrapping_add(1);
        out.push(Action::SendControl {
            message: rreq.into(),
            to: Recipient::Broadcast,
            ttl,
            delay: Span::ZERO,
        });
    }
}
