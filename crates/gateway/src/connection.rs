//! One connection: its two halves and what the handshake and the end of it tell.

use crate::budget::Budget;
use crate::down::Down;
use crate::up::Up;
use crate::{FlowKey, Side, TcpView, Traffic, Treatment};
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Instant, Seq};

/// Window scale assumed if the handshake was not seen (schemes.md 3.6).
const SCALE_UNSEEN: u8 = 7;
/// Largest window scale (RFC 7323, section 2.3).
const SCALE_MAX: u8 = 14;
/// How far a RST may lie from the sequence numbers its side uses. A blind one misses this window 65,535 times of
/// 65,536 and forgets no connection (the idea of RFC 5961, section 3; the gateway does not know the exact window).
const RST_WINDOW: u32 = 1 << 15;

/// What is known of one side.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    isn: Option<Seq>,
    /// From its SYN: the window scale it offered, if any.
    offered_scale: Option<u8>,
    /// The next sequence number it uses.
    next: Option<Seq>,
    /// The sequence number after its FIN.
    fin: Option<Seq>,
    fin_acked: bool,
}

#[derive(Debug)]
pub(crate) struct Connection<P> {
    pub key: FlowKey,
    halves: [Half; 2],
    /// Acknowledgement number and window field of the wireless side's latest ACK.
    latest_ack: Option<(Seq, u16)>,
    /// Largest window the wireless side has announced.
    pub window: Option<Bytes>,
    pub up: Option<Up>,
    pub down: Option<Down<P>>,
    /// Payload has been seen.
    pub carries_data: bool,
    pub treatment: Treatment,
    /// By the side that it came from.
    pub traffic: [Traffic; 2],
    pub opened: Instant,
    /// Goodput control knows of it.
    pub controlled: bool,
    pub last_activity: Instant,
}

impl<P: Clone> Connection<P> {
    pub fn new(key: FlowKey, treatment: Treatment, now: Instant) -> Self {
        Self {
            key,
            halves: [Half::default(); 2],
            latest_ack: None,
            window: None,
            up: None,
            down: None,
            carries_data: false,
            treatment,
            traffic: [Traffic::default(); 2],
            opened: now,
            controlled: false,
            last_activity: now,
        }
    }

    /// Sets the treatment; what is held stays so, and leaves by [`Down::hurry`].
    pub fn treat(&mut self, now: Instant, treatment: Treatment, budget: &mut Budget) {
        self.treatment = treatment;
        if let Some(down) = &mut self.down {
            down.treat(now, treatment, budget);
        }
    }

    /// True if `segment` opens another connection with the same addresses and ports.
    pub fn is_reopened_by(&self, side: Side, segment: &Segment) -> bool {
        segment.flags.syn && !segment.flags.ack && self.halves[side.index()].isn != Some(segment.seq)
    }

    /// True if the RST `segment` can be one of this connection.
    pub fn believes_reset(&self, side: Side, segment: &Segment) -> bool {
        self.halves[side.index()]
            .next
            .is_none_or(|next| (segment.seq + RST_WINDOW).since(next) < 2 * RST_WINDOW)
    }

    /// Notes size, sequence numbers, SYN, FIN and what is acknowledged of the other side's FIN.
    pub fn note(&mut self, side: Side, view: &TcpView<'_>) {
        let traffic = &mut self.traffic[side.index()];
        traffic.packets += 1;
        traffic.bytes += view.wire_len;
        let segment = view.segment;
        let half = &mut self.halves[side.index()];
        let end = segment.end();
        half.next = Some(half.next.map_or(end, |next| next.later(end)));
        if segment.flags.syn {
            half.isn = Some(segment.seq);
            half.offered_scale = segment.options.window_scale;
        }
        if segment.flags.fin {
            half.fin = Some(end);
        }
        let other = &mut self.halves[side.other().index()];
        if segment.flags.ack && other.fin.is_some_and(|fin| segment.ack.at_or_after(fin)) {
            other.fin_acked = true;
        }
    }

    /// FINs sent and acknowledged both ways.
    pub fn is_closed(&self) -> bool {
        self.halves.iter().all(|half| half.fin_acked)
    }

    /// Both SYNs were seen.
    fn handshake_seen(&self) -> bool {
        self.halves.iter().all(|half| half.isn.is_some())
    }

    /// Notes the window that a segment of the wireless side announces (RFC 7323, section 2.2: never scaled in a SYN, scaled
    /// only if both offered it).
    pub fn note_window(&mut self, segment: &Segment) {
        let [wired, wireless] = &self.halves;
        let scale = match (wired.offered_scale, wireless.offered_scale) {
            _ if segment.flags.syn => 0,
            _ if !self.handshake_seen() => SCALE_UNSEEN,
            (Some(_), Some(scale)) => scale.min(SCALE_MAX),
            _ => 0,
        };
        self.window = self.window.max(Some(Bytes(u64::from(segment.window) << scale)));
        if let Some(down) = &mut self.down {
            down.window = self.window;
        }
    }

    /// Notes an ACK of the wireless side; true if it is a duplicate that the gateway may answer: it repeats number and
    /// window of the latest one while data is outstanding, and carries nothing (RFC 5681, section 2; schemes.md 3.3,
    /// rule 5). Keep-alives lie below the next sequence number and are none. Without the handshake there is no
    /// duplicate-ACK service (schemes.md 3.6).
    pub fn is_duplicate_ack(&mut self, segment: &Segment) -> bool {
        let named = (segment.ack, segment.window);
        let repeats = self.latest_ack.replace(named) == Some(named);
        let next = self.halves[Side::Wireless.index()].next;
        repeats
            && self.handshake_seen()
            && segment.is_pure_ack()
            && next.is_none_or(|next| segment.seq.at_or_after(next))
            && self.down.as_ref().is_some_and(|down| down.una() == segment.ack && down.outstanding())
    }

    /// Gives back what the halves keep, the queue excepted.
    pub fn release(&mut self, budget: &mut Budget) {
        if let Some(up) = &self.up {
            budget.segments -= up.recorded();
        }
        if let Some(down) = &mut self.down {
            down.release(budget);
        }
    }
}
