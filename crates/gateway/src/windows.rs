//! Whether a segment can be one of its connection: its numbers against what both ends have sent, acknowledged and announced.
//!
//! An end throws away a packet outside its window. If the gateway believed such a packet, anyone who knows addresses and
//! ports could deceive it. The bounds are those of Linux's connection tracking (net/netfilter/nf_conntrack_proto_tcp.c,
//! tcp_in_window, after G. van Rooij, "Real Stateful TCP Packet Filtering in IP Filter", 2001), for a RST the narrower ones
//! of what its peer can have acknowledged (RFC 5961, section 3), and a SYN is none (RFC 5961, section 4). Where a number is
//! not known yet (a connection met in its middle), it bounds nothing.
//!
//! The whole rule, as a data path of another make has to follow it. A segment of a side whose numbers are `next` (behind the
//! highest byte it sent), `edge` (as far as the other side's acknowledgements and windows let it send) and `acked` (its
//! bytes acknowledged), the other side's being `other.next` and so on:
//!
//! - SYN without ACK: only the one that is not acknowledged yet, once more (`end = next`, no `acked`);
//! - RST: `acked <= seq <= next`; of a side that sent nothing yet, `seq = acked`, or before that an acknowledgement of what
//!   the other side sent;
//! - all others: `seq <= edge`, `end >= next - max(other's largest window, 66,000)`, and with ACK `ack <= other.next` and
//!   `ack >= other.next - max(own largest window, 66,000)`.
//!
//! A packet that fails is passed on and changes nothing. But the latest one of each side is kept beside the connection: if
//! the other side acknowledges it, and that fails too, the connection begins anew with these numbers. So no host that hears
//! only one side can end a connection.

use crate::Side;
use meshpace_tcp::Segment;
use meshpace_units::Seq;

/// Largest window scale (RFC 7323, section 2.3), assumed where the handshake was not seen.
const SCALE_MAX: u8 = 14;
/// How far a sender may lie ahead while its peer has announced no window: the largest one (RFC 7323, section 2.3).
const WINDOW_MAX: u32 = 1 << 30;
/// How far behind what was sent a retransmission or an acknowledgement may lie whatever the window: connection tracking's
/// MAXACKWINCONST.
const SLACK: u32 = 66_000;
/// Windows that may pass unseen. An unscaled one has 45 segments of an Ethernet; where one acknowledgement in twenty is seen, of two
/// segments each, sixteen windows pass between two of them once in 60 million times.
const WINDOWS_UNSEEN: u32 = 16;
/// How far below what its side has sent a RST may lie before the other side has acknowledged anything.
const RESET_SLACK: u32 = 1 << 15;

/// What is to be thought of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It can be one of the connection.
    Plausible,
    /// It cannot: pass it on, believe nothing of it.
    Implausible,
    /// It cannot, but acknowledges what the other side sent just as implausibly: both ends agree on other numbers. It is
    /// another connection between the same ports, or one of which segments went by unseen.
    Anew,
}

/// One side.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    /// Behind the highest byte it sent.
    next: Option<Seq>,
    /// As far as the other side lets it send.
    edge: Option<Seq>,
    /// Of its bytes, what the other side has acknowledged.
    acked: Option<Seq>,
    /// Largest window that it announced.
    window: u32,
    /// The scale that its SYN offered, if one was seen; `None` in it for none.
    offered: Option<Option<u8>>,
    /// What it sent last that was implausible.
    stray: Option<Stray>,
}

/// A segment, or several in a row, that no one believed.
#[derive(Clone, Copy, Debug)]
struct Stray {
    from: Seq,
    to: Seq,
    /// If it is a SYN: the scale that it offers.
    offers: Option<Option<u8>>,
}

impl Half {
    fn slack(&self) -> u32 {
        self.window.max(SLACK)
    }

    /// How far it lets the other side go on unseen.
    fn unseen(&self) -> u32 {
        self.slack().saturating_mul(WINDOWS_UNSEEN).min(WINDOW_MAX)
    }

    /// Whether a RST can be one of it: its peer discards any whose number is not the next byte that it expects, and as
    /// long as it has heard nothing, any that acknowledges nothing of its own (RFC 9293, section 3.10.7.3).
    fn can_reset(&self, other: &Self, segment: &Segment) -> bool {
        let within = |lowest: Seq, highest: Seq, number: Seq| {
            number.at_or_after(lowest) && number.at_or_before(highest)
        };
        let below = |number: Seq| Seq(number.0.wrapping_sub(RESET_SLACK));
        match (self.acked, self.next) {
            (Some(acked), next) => within(acked, next.unwrap_or(acked).later(acked), segment.seq),
            (None, Some(next)) => within(below(next), next, segment.seq),
            (None, None) => other.next.is_none_or(|next| {
                segment.flags.ack && within(other.acked.unwrap_or(below(next)), next, segment.ack)
            }),
        }
    }
}

/// The windows of a connection. See the module's description.
#[derive(Clone, Copy, Debug, Default)]
pub struct Windows {
    halves: [Half; 2],
    /// Segments pass unseen: a side may acknowledge what was not seen, and both may have gone on by some windows since they were seen last.
    pub(crate) sampled: bool,
}

impl Windows {
    /// Judges a segment that came from `side`. One that is [`Judgement::Plausible`] is to be [noted](Self::note) once it is
    /// believed; one that is [`Judgement::Anew`] belongs to [other windows](Self::anew).
    pub fn judge(&mut self, side: Side, segment: &Segment) -> Judgement {
        let (own, other) = (self.halves[side.index()], self.halves[side.other().index()]);
        if segment.flags.rst {
            let can_reset = own.can_reset(&other, segment);
            return if can_reset { Judgement::Plausible } else { Judgement::Implausible };
        }
        if fits(&own, &other, segment, self.sampled) {
            return Judgement::Plausible;
        }
        let agreed = other
            .stray
            .is_some_and(|stray| segment.ack.after(stray.from) && segment.ack.at_or_before(stray.to));
        if segment.flags.ack && agreed {
            return Judgement::Anew;
        }
        let (start, end) = (segment.seq, segment.end());
        if start != end {
            let before = own.stray.filter(|stray| stray.to == start && !segment.flags.syn);
            let offers = segment.flags.syn.then_some(segment.options.window_scale);
            let first = before.unwrap_or(Stray { from: start, to: start, offers });
            self.halves[side.index()].stray = Some(Stray { to: end, ..first });
        }
        Judgement::Implausible
    }

    /// The windows of a connection from which a segment of `side` was judged [`Judgement::Anew`]: the numbers that the
    /// other side sent are known.
    #[must_use]
    pub fn anew(&self, side: Side) -> Self {
        let mut anew = Self { sampled: self.sampled, ..Self::default() };
        if let Some(stray) = self.halves[side.other().index()].stray {
            let other = &mut anew.halves[side.other().index()];
            other.next = Some(stray.to);
            other.offered = stray.offers;
        }
        anew
    }

    /// Notes what a plausible segment from `side` tells. A RST tells nothing.
    pub fn note(&mut self, side: Side, segment: &Segment) {
        if segment.flags.rst {
            return;
        }
        if segment.flags.syn {
            self.offer(side, segment.options.window_scale);
        }
        let scale = if segment.flags.syn { 0 } else { self.scale(side).unwrap_or(SCALE_MAX) };
        let own = &mut self.halves[side.index()];
        let end = segment.end();
        own.next = Some(own.next.map_or(end, |next| next.later(end)));
        if !segment.flags.ack {
            return;
        }
        let window = u32::from(segment.window) << scale;
        own.window = own.window.max(window);
        let other = &mut self.halves[side.other().index()];
        let ack = segment.ack;
        other.next = other.next.map(|next| next.later(ack)); // what is acknowledged has been sent
        other.acked = Some(other.acked.map_or(ack, |acked| acked.later(ack)));
        // A window of nothing is probed with a byte (RFC 9293, section 3.8.6.1).
        let edge = ack + window.max(1);
        other.edge = Some(other.edge.map_or(edge, |before| before.later(edge)));
    }

    /// Notes the window scale that a SYN of `side` offers, if any.
    pub const fn offer(&mut self, side: Side, scale: Option<u8>) {
        self.halves[side.index()].offered = Some(scale);
    }

    /// The next sequence number that `side` uses, as far as is known.
    #[must_use]
    pub const fn next(&self, side: Side) -> Option<Seq> {
        self.halves[side.index()].next
    }

    /// Both sides were heard.
    #[must_use]
    pub fn both_heard(&self) -> bool {
        self.halves.iter().all(|half| half.next.is_some())
    }

    /// By how much the windows of `side` are scaled (RFC 7323, section 2.2: only if both offered it); `None` unless both
    /// SYNs were seen.
    #[must_use]
    pub fn scale(&self, side: Side) -> Option<u8> {
        let (own, other) = (self.halves[side.index()].offered?, self.halves[side.other().index()].offered?);
        Some(own.filter(|_| other.is_some()).map_or(0, |scale| scale.min(SCALE_MAX)))
    }
}

fn fits(own: &Half, other: &Half, segment: &Segment, sampled: bool) -> bool {
    if segment.flags.syn && !segment.flags.ack {
        return own.acked.is_none() && own.next == Some(segment.end());
    }
    let below = |number: Seq, distance: u32| Seq(number.0.wrapping_sub(distance));
    let unseen = |by: &Half| if sampled { by.unseen() } else { 0 };
    let slack = |by: &Half| by.slack().max(unseen(by));
    let limit = own.edge.map(|edge| edge + unseen(other)).or(own.next.map(|next| next + WINDOW_MAX));
    limit.is_none_or(|limit| segment.seq.at_or_before(limit))
        && own.next.is_none_or(|next| segment.end().at_or_after(below(next, slack(other))))
        && other.next.filter(|_| segment.flags.ack).is_none_or(|next| {
            segment.ack.at_or_before(next + unseen(own)) && segment.ack.at_or_after(below(next, slack(own)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Judgement::{Anew, Implausible, Plausible};
    use Side::{Wired, Wireless};
    use meshpace_tcp::{Flags, Options};

    const ACK: Flags = Flags { ack: true, ..Flags::NONE };
    /// Just below the wrap.
    const SERVER: Seq = Seq(u32::MAX - 500);
    const CLIENT: Seq = Seq(7_000);

    fn segment(seq: Seq, ack: Seq, payload: u32) -> Segment {
        Segment { ack, flags: ACK, window: 1_000, payload, ..Segment::new(0, 0, seq) }
    }

    fn syn(seq: Seq, ack: Option<Seq>, scale: Option<u8>) -> Segment {
        Segment {
            flags: Flags { syn: true, ack: ack.is_some(), ..Flags::NONE },
            options: Options { window_scale: scale, ..Options::default() },
            ..segment(seq, ack.unwrap_or(Seq(0)), 0)
        }
    }

    fn reset(seq: Seq) -> Segment {
        Segment { flags: Flags { rst: true, ..Flags::NONE }, ..segment(seq, Seq(0), 0) }
    }

    /// Judges, and notes what is plausible.
    fn pass(windows: &mut Windows, side: Side, segment: &Segment) -> Judgement {
        let judgement = windows.judge(side, segment);
        if judgement == Plausible {
            windows.note(side, segment);
        }
        judgement
    }

    /// A connection of a client in the mesh, whose windows are `1000 << scale`, with 1000 bytes of the server on their way.
    fn connected(scale: Option<u8>) -> Windows {
        let mut windows = Windows::default();
        // Nothing is known before the first SYN: it is the beginning.
        windows.note(Wireless, &syn(CLIENT, None, scale));
        for (side, segment) in [
            (Wired, syn(SERVER, Some(CLIENT + 1), Some(3))),
            (Wireless, segment(CLIENT + 1, SERVER + 1, 0)),
            (Wired, segment(SERVER + 1, CLIENT + 1, 1000)),
        ] {
            assert_eq!(pass(&mut windows, side, &segment), Plausible);
        }
        windows
    }

    #[test]
    fn data_is_believed_up_to_the_window_and_down_to_what_can_be_sent_again() {
        for (scale, window) in [(Some(7), 128_000), (None, 1_000), (Some(15), 1_000 << 14)] {
            let mut windows = connected(scale);
            let edge = SERVER + 1 + window;
            assert_eq!(windows.judge(Wired, &segment(edge, CLIENT + 1, 100)), Plausible);
            assert_eq!(windows.judge(Wired, &segment(edge + 1, CLIENT + 1, 100)), Implausible, "{scale:?}");
            let oldest = Seq((SERVER + 1001).0.wrapping_sub(window.max(SLACK)));
            assert_eq!(windows.judge(Wired, &segment(oldest, CLIENT + 1, 0)), Plausible);
            let older = Seq(oldest.0.wrapping_sub(1));
            assert_eq!(windows.judge(Wired, &segment(older, CLIENT + 1, 0)), Implausible);
        }
    }

    #[test]
    fn an_acknowledgement_is_believed_from_an_old_one_to_what_was_sent() {
        let mut windows = connected(Some(7));
        let sent = SERVER + 1001;
        for (ack, expected) in [
            (sent, Plausible),
            (sent + 1, Implausible),
            (Seq(sent.0.wrapping_sub(128_000)), Plausible),
            (Seq(sent.0.wrapping_sub(128_001)), Implausible),
        ] {
            assert_eq!(windows.judge(Wireless, &segment(CLIENT + 1, ack, 0)), expected, "{ack:?}");
        }
        // What fails is forgotten: the next byte is where it was.
        assert_eq!(windows.judge(Wireless, &segment(CLIENT + 1, sent, 0)), Plausible);
    }

    #[test]
    fn a_reset_is_believed_between_what_was_acknowledged_and_what_was_sent() {
        let mut windows = connected(Some(7));
        for (seq, expected) in
            [(0, Implausible), (1, Plausible), (500, Plausible), (1001, Plausible), (1002, Implausible)]
        {
            assert_eq!(windows.judge(Wired, &reset(SERVER + seq)), expected, "{seq}");
        }
        assert_eq!(windows.judge(Wireless, &reset(CLIENT + 1)), Plausible);
        assert_eq!(windows.judge(Wireless, &reset(CLIENT + 2)), Implausible);
        let mut unknown = Windows::default();
        assert_eq!(unknown.judge(Wireless, &reset(CLIENT)), Plausible, "nothing speaks against it");
        unknown.note(Wireless, &segment(CLIENT, SERVER, 0));
        assert_eq!(unknown.judge(Wired, &reset(SERVER)), Plausible, "a host that has forgotten it");
        assert_eq!(unknown.judge(Wired, &reset(SERVER + 1)), Implausible);
        assert_eq!(unknown.judge(Wireless, &reset(Seq(CLIENT.0.wrapping_sub(RESET_SLACK)))), Plausible);
        assert_eq!(unknown.judge(Wireless, &reset(Seq(CLIENT.0.wrapping_sub(RESET_SLACK + 1)))), Implausible);
        assert_eq!(unknown.judge(Wired, &reset(Seq(SERVER.0.wrapping_sub(1)))), Implausible, "acknowledged");
    }

    #[test]
    fn a_syn_is_repeated_until_it_is_acknowledged() {
        let mut windows = Windows::default();
        windows.note(Wireless, &syn(CLIENT, None, Some(3)));
        assert_eq!(pass(&mut windows, Wireless, &syn(CLIENT, None, Some(3))), Plausible);
        assert_eq!(windows.judge(Wireless, &syn(CLIENT + 1, None, Some(3))), Implausible);
        assert_eq!(connected(Some(3)).judge(Wireless, &syn(CLIENT, None, Some(3))), Implausible);
    }

    #[test]
    fn a_refusal_acknowledges_the_syn() {
        let mut windows = Windows::default();
        windows.note(Wireless, &syn(CLIENT, None, None));
        let refusal =
            |ack| Segment { flags: Flags { rst: true, ack: true, ..Flags::NONE }, ..segment(Seq(0), ack, 0) };
        assert_eq!(windows.judge(Wired, &reset(Seq(0))), Implausible, "acknowledges nothing");
        assert_eq!(windows.judge(Wired, &refusal(CLIENT + 2)), Implausible);
        assert_eq!(windows.judge(Wired, &refusal(CLIENT + 1)), Plausible);
    }

    #[test]
    fn a_syn_begins_nothing_until_the_other_end_takes_it() {
        let mut windows = connected(Some(7));
        assert_eq!(windows.judge(Wireless, &syn(Seq(9_000_099), None, None)), Implausible);
        assert_eq!(pass(&mut windows, Wireless, &segment(CLIENT + 1, SERVER + 1001, 0)), Plausible);
        // The answer to a SYN that does not fit (RFC 5961, section 4) is an ordinary acknowledgement.
        assert_eq!(pass(&mut windows, Wired, &segment(SERVER + 1001, CLIENT + 1, 0)), Plausible);
        assert_eq!(
            windows.judge(Wired, &syn(Seq(5), Some(Seq(9_000_099)), None)),
            Implausible,
            "of another SYN"
        );
        let answer = syn(Seq(5), Some(Seq(9_000_100)), Some(1));
        assert_eq!(windows.judge(Wired, &answer), Anew);
        let mut windows = windows.anew(Wired);
        windows.note(Wired, &answer);
        assert_eq!((windows.scale(Wireless), windows.scale(Wired)), (Some(0), Some(0)), "one offers none");
        assert_eq!(windows.judge(Wireless, &segment(Seq(9_000_100), Seq(6), 10)), Plausible);
        assert_eq!(windows.judge(Wireless, &segment(CLIENT + 1, SERVER + 1001, 0)), Implausible);
    }

    #[test]
    fn ends_that_agree_on_other_numbers_begin_anew_and_one_alone_does_not() {
        let mut windows = connected(Some(7));
        let far = SERVER + 50_000_000;
        for n in 0..3 {
            assert_eq!(windows.judge(Wired, &segment(far + n * 1000, CLIENT + 1, 1000)), Implausible);
        }
        assert_eq!(
            windows.judge(Wireless, &segment(CLIENT + 1, far, 0)),
            Implausible,
            "of nothing that passed"
        );
        assert_eq!(windows.judge(Wireless, &segment(CLIENT + 1, far + 1000, 0)), Anew);
        assert_eq!(windows.judge(Wireless, &segment(CLIENT + 1, far + 3000, 0)), Anew);
        // The latest in a row counts.
        assert_eq!(windows.judge(Wired, &segment(far + 9000, CLIENT + 1, 10)), Implausible);
        assert_eq!(windows.judge(Wireless, &segment(CLIENT + 1, far + 3000, 0)), Implausible);
    }

    #[test]
    fn a_connection_met_in_its_middle_is_believed_and_learns() {
        let mut windows = Windows::default();
        assert_eq!(pass(&mut windows, Wired, &segment(SERVER, CLIENT, 1000)), Plausible);
        assert_eq!(windows.judge(Wired, &segment(SERVER + 1000 + WINDOW_MAX, CLIENT, 1000)), Plausible);
        assert_eq!(windows.judge(Wired, &segment(SERVER + 1001 + WINDOW_MAX, CLIENT, 1000)), Implausible);
        assert_eq!(pass(&mut windows, Wireless, &segment(CLIENT, SERVER + 1000, 0)), Plausible);
        // The scale is unknown: the largest.
        let edge = SERVER + 1000 + (1000 << SCALE_MAX);
        assert_eq!(windows.judge(Wired, &segment(edge, CLIENT, 1000)), Plausible);
        assert_eq!(windows.judge(Wired, &segment(edge + 1, CLIENT, 1000)), Implausible);
    }
}
