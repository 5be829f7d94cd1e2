//! A connection over which a host may upload: how far its sender may go.

use crate::Side;
use crate::sender_window::{Allowed, SenderWindow};
use crate::windows::{Judgement, Windows};
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Instant, Seq, Span};

/// The largest segment on an Ethernet, where a SYN asks for none.
const LARGEST: Bytes = Bytes(1_460);
/// A receiver that acknowledges every second segment would let a single one wait for its timer (RFC 1122, section 4.2.3.2).
const LEAST: u32 = 2;
/// A sender may be ahead of what has come from it by what its rate brings in this time, which is a long round trip in a mesh that is full.
const AHEAD: Span = Span::from_millis(250);
/// What is not used may be used for so long.
const KEPT: Span = Span::from_millis(100);
/// The largest window (RFC 7323, section 2.3).
const MOST: u32 = 1 << 30;
/// With an acknowledgement goes so many times what it acknowledges at the most, as in slow start.
const TIMES: u32 = 2;

/// What a host's senders may still go on by. Its rate fills it, and edges that are moved on empty it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purse {
    /// Bytes a second.
    pub rate: f64,
    bytes: f64,
    since: Instant,
}

impl Purse {
    pub const fn new(now: Instant, rate: f64) -> Self {
        Self { rate, bytes: 0.0, since: now }
    }

    /// Fills at another rate from here on.
    pub const fn at(self, rate: f64) -> Self {
        Self { rate, ..self }
    }

    /// A packet came whose sender keeps to no window that is known here. Whether it is to tell its sender that this is too much: that is so when more
    /// came than may, by what the rate brings in a tenth of a second.
    pub fn pays(&mut self, now: Instant, size: Bytes) -> bool {
        let left = self.holds(now, size) - size.0 as f64;
        let is_too_much = left <= -self.most(size);
        self.bytes = if is_too_much { 0.0 } else { left };
        is_too_much
    }

    /// What there is, of segments of this size.
    fn holds(&mut self, now: Instant, full: Bytes) -> f64 {
        let passed = now.saturating_since(self.since).as_secs_f64();
        let most = self.most(full);
        (self.bytes, self.since) = ((self.bytes + self.rate * passed).clamp(-most, most), now);
        self.bytes
    }

    fn is_deep_in_debt(&self, full: Bytes) -> bool {
        self.bytes < -self.most(full) / 2.0
    }

    /// What it holds, or owes, at the most.
    fn most(&self, full: Bytes) -> f64 {
        (self.rate * KEPT.as_secs_f64()).max(f64::from(LEAST) * full.0 as f64)
    }
}

/// See the module's description.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    windows: Windows,
    sender: SenderWindow,
    /// All before this was acknowledged to the host.
    acked: Option<Seq>,
    /// The largest segment that both ends asked for.
    full: Bytes,
    /// Up to where something of a side was lost that the other has not acknowledged.
    missing: Option<(Side, Seq)>,
    /// When its latest segment came.
    pub seen: Instant,
}

impl Connection {
    /// It begins with this SYN.
    pub fn new(now: Instant, side: Side, syn: &Segment) -> Self {
        let mut windows = Windows::default();
        windows.note(side, syn);
        let full = syn.options.mss.map_or(LARGEST, |mss| Bytes(mss.into()));
        Self { windows, sender: SenderWindow::default(), acked: None, full, missing: None, seen: now }
    }

    /// Whether a segment can be one of it: then it is noted.
    pub fn believes(&mut self, now: Instant, side: Side, segment: &Segment) -> bool {
        match self.windows.judge(side, segment) {
            Judgement::Plausible => {}
            Judgement::Implausible => return false,
            Judgement::Anew => {
                let windows = self.windows.anew(side);
                *self =
                    Self { windows, sender: SenderWindow::default(), acked: None, missing: None, ..*self };
            }
        }
        self.note_missing(side, segment);
        self.windows.note(side, segment);
        self.seen = now;
        if let Some(mss) = segment.options.mss.filter(|_| segment.flags.syn) {
            self.full = self.full.min(Bytes(mss.into()));
        }
        true
    }

    /// What is sent again, or left out, was lost until it is acknowledged. What the wired side leaves out was lost elsewhere.
    fn note_missing(&mut self, side: Side, segment: &Segment) {
        if let Some(next) = self.windows.next(side).filter(|_| segment.sequence_length() > 0) {
            if segment.seq.before(next) {
                self.missing = Some((side, segment.end()));
            } else if segment.seq.after(next) && side == Side::Wireless {
                self.missing = Some((side, segment.seq));
            }
        }
        let ack = segment.flags.ack.then_some(segment.ack);
        self.missing.take_if(|(of, end)| *of != side && ack.is_some_and(|ack| ack.at_or_after(*end)));
    }

    /// Whether something of it was lost that has not been made up for.
    pub const fn misses(&self) -> bool {
        self.missing.is_some()
    }

    /// The window field that a segment which goes to the host is to have in place of its own, if its sender has to keep to a purse. `headers` are those
    /// of a packet.
    pub fn announces(
        &mut self,
        now: Instant,
        segment: &Segment,
        headers: Bytes,
        purse: Option<&mut Purse>,
    ) -> Option<u16> {
        let scale = self.windows.scale(Side::Wired)?;
        let purse = purse.filter(|_| segment.flags.ack && !segment.flags.syn);
        let allowed = purse.map(|purse| Allowed::UpTo(self.edge(now, segment.ack, headers, purse)));
        if segment.flags.ack {
            self.acked = Some(self.acked.map_or(segment.ack, |acked| acked.later(segment.ack)));
        }
        self.sender.on_passing(now, segment, scale, allowed)
    }

    /// Whether its sender keeps to a purse: the unit of its windows is known (RFC 7323, section 2.2).
    pub fn is_bound(&self) -> bool {
        self.windows.scale(Side::Wired).is_some()
    }

    /// How far its sender may go from an acknowledgement on, which is paid for.
    fn edge(&self, now: Instant, ack: Seq, headers: Bytes, purse: &mut Purse) -> Seq {
        let whole = (self.full + headers).0 as f64 / self.full.0.max(1) as f64;
        let bytes = purse.holds(now, self.full) / whole;
        let told = self.sender.told().unwrap_or(ack);
        let acked = self.acked.filter(|acked| ack.after(*acked)).map_or(0, |acked| ack.since(acked));
        let came = self.windows.next(Side::Wireless).map_or(ack, |next| next.later(ack));
        let ahead = came + (purse.rate * AHEAD.as_secs_f64()).min(f64::from(MOST)) as u32;
        let paid = told + acked.saturating_mul(TIMES).min(bytes.max(0.0) as u32);
        let paid = if paid.after(ahead) { ahead } else { paid };
        let least = if purse.is_deep_in_debt(self.full) { 1 } else { LEAST };
        let least = ack + least * self.full.0.min(u64::from(u16::MAX)) as u32;
        let edge = paid.later(least).later(told);
        purse.bytes -= f64::from(edge.since(told)) * whole;
        edge
    }
}
