//! What is known of one way of a connection, and which acknowledgement of it has to pass.

use crate::Ticket;
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Instant, Seq, Span};

/// A connection that acknowledged nothing for so many waits for the tail begins anew: its sender's window may be small.
const ANEW: u64 = 4;
/// A sender's window that was found small counts as such for so many waits for the tail, at first and at last; twice as many each time
/// that it is found again, within as many. To find it takes two. BBR's is small for 200 ms of ten seconds only (its ProbeRTT).
const SMALL: (u8, u8) = (8, 64);
/// The largest scale of window fields (RFC 7323, section 2.3).
const SCALE_MAX: u8 = 14;

/// The values of the keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) bytes: Bytes,
    pub(super) share: u32,
    pub(super) wait: Span,
    pub(super) tail: Span,
}

/// One way of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// The newest acknowledgement.
    pub(super) newest: Seq,
    pub(super) at: Instant,
    /// The newest that passed.
    passed: Seq,
    passed_at: Instant,
    /// Bytes acknowledged since the sender began.
    since: u64,
    /// The newest window field, and that of the newest that passed.
    pub(super) window: u16,
    passed_window: u16,
    /// By how many bits both are scaled; `None`: its SYN was not seen.
    scale: Option<u8>,
    /// Nothing but its SYN was seen.
    pub(super) begins: bool,
    /// What the last one brought that waited for its tail. 0: since then one has passed by what it brings, or by the wait.
    stuck: u32,
    /// Half of a sender's window that was found small, when, and for how many waits for the tail it counts; 0: none was.
    half: u32,
    half_at: Instant,
    lasts: u8,
    pub(super) held: Option<Ticket>,
}

impl Flow {
    /// With its first acknowledgement. The SYN's scale, if it was seen.
    pub(super) const fn new(segment: &Segment, scale: Option<u8>, now: Instant) -> Self {
        Self {
            newest: segment.ack,
            at: now,
            passed: segment.ack,
            passed_at: now,
            since: 0,
            window: segment.window,
            passed_window: segment.window,
            scale,
            begins: false,
            stuck: 0,
            half: 0,
            half_at: now,
            lasts: 0,
            held: None,
        }
    }

    /// The flow begins with its SYN. Without the window scale option nothing is scaled. With it all fields are, unless the SYN
    /// of the other end, which goes the other way, has no such option (RFC 7323, section 2.2). Then the window is taken for
    /// larger than it is, and tails tell that.
    pub(super) fn beginning(syn: &Segment, now: Instant) -> Self {
        let scale = syn.options.window_scale.unwrap_or(0).min(SCALE_MAX);
        Self { begins: true, ..Self::new(syn, Some(scale), now) }
    }

    /// Its first acknowledgement has come.
    pub(super) const fn begun(&self, first: &Segment, now: Instant) -> Self {
        Self::new(first, self.scale, now)
    }

    /// Everything up to here has passed.
    pub(super) const fn pass(&mut self, now: Instant) {
        (self.passed, self.passed_at, self.passed_window) = (self.newest, now, self.window);
    }

    /// The newest has waited for its tail, and passed. If that happens twice, and no acknowledgement passes by another rule
    /// meanwhile, the sender waits for the filter: the larger of what the two brought is all that it may have on its way.
    pub(super) fn waited(&mut self, tail: Span) {
        let brought = self.newest.since(self.passed);
        if self.stuck > 0 {
            let again = self.at.saturating_since(self.half_at) < tail * (2 * u64::from(self.lasts));
            self.lasts = if again { (2 * self.lasts).min(SMALL.1) } else { SMALL.0 };
            (self.half, self.half_at) = ((self.stuck.max(brought) / 2).max(1), self.at);
        }
        self.stuck = brought;
        self.pass(self.at + tail);
    }

    /// One that says more has arrived. True if it passes.
    pub(super) fn on_more(&mut self, ack: Seq, rules: &Rules, now: Instant) -> bool {
        let silence = now.saturating_since(self.at);
        if silence > rules.tail * ANEW {
            self.since = 0;
        }
        self.since += u64::from(ack.since(self.newest));
        (self.newest, self.at) = (ack, now);
        let counts = u64::from(ack.since(self.passed)) >= self.enough(rules, now);
        // Acknowledgements that come so seldom are thin already: they have passed a filter before.
        let seldom = silence >= rules.tail;
        let long = !seldom && now.saturating_since(self.passed_at) >= rules.wait;
        if counts || long {
            self.stuck = 0;
        }
        let passes = counts || long || seldom || closes_or_opens(self.passed_window, self.window);
        if passes {
            self.pass(now);
        }
        passes
    }

    /// What an acknowledgement has to bring to pass: not more than half of a window, or its sender has to stop. Fields whose scale is
    /// unknown say nothing: taken as they stand they would be a hundredth of most windows, and every acknowledgement would pass.
    fn enough(&self, rules: &Rules, now: Instant) -> u64 {
        let enough = rules.bytes.0.min(self.since / u64::from(rules.share));
        let offered = self.scale.map(|scale| (u64::from(self.passed_window) << scale) / 2);
        let lasts = self.half > 0 && now.saturating_since(self.half_at) < rules.tail * u64::from(self.lasts);
        let small = lasts.then_some(u64::from(self.half));
        offered.into_iter().chain(small).fold(enough, u64::min)
    }
}

/// Whether a window field has more than halved or doubled since the last that its sender saw: it may have to stop, or be able to go
/// on, now. A window of nothing is the extreme.
const fn closes_or_opens(before: u16, now: u16) -> bool {
    let (before, now) = (before as u32, now as u32);
    2 * now < before || 2 * before < now
}
