//! How much a wired sender may have on its way: what its flow's pace can use, told in the receiver's stead.
//!
//! A pacing queue is what a sender's window has beyond the pipe (the round trip without the wait here, times the pace). CoDel waits until
//! a queue stands and then takes half of the window; here the queue is not let come about: the acknowledgements that pass to the Internet
//! announce no more than the pipe. So do rate controllers and performance-enhancing proxies (Karandikar, Kalyanaraman, Bagal, Packer,
//! "TCP Rate Control", ACM CCR 30(1), 2000; RFC 3135, section 3.1.1). Nothing has to be dropped, so that no sender waits for its timer.
//!
//! An announced window is never taken back (RFC 9293, section 3.8.6: the right edge moves to the right only), and never exceeds
//! what the receiver has room for. The exception is less than a unit of the window field, as at any receiver: rounded up with
//! acknowledgements of less than a unit each, an edge would move as fast as they do, and the window would never become smaller (RFC
//! 7323, section 2.4).

use crate::{Config, DupAck, Path};
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Instant, Seq, Span};

/// The least window in segments. A receiver that acknowledges every second segment (RFC 1122, section 4.2.3.2) would let a single one
/// wait for its timer; and the first duplicate that the second segment causes is all that the gateway needs to repair the first.
const LEAST: u64 = 2;
/// The same where the gateway repairs nothing: the sender wants three duplicates (RFC 5681, section 3.2).
const LEAST_UNREPAIRED: u64 = 4;
/// The pipe is counted by so much of the round trip more. Round trips vary, and a packet whose acknowledgement comes late leaves the pace
/// idle: where many segments fill the pipe, the half that rounding up adds in the mean is too little for that. The same part of a
/// round trip is the most that packets wait here for it.
const SPARE_PART: u64 = 16;
/// The largest window (RFC 7323, section 2.3).
const MOST: u32 = 1 << 30;

impl Path {
    /// The window that keeps its pace busy and no packet waiting, of such segments; `None` while the pace or the round trip is not known.
    #[must_use]
    pub fn window(&self, segment: Bytes, config: &Config) -> Option<Bytes> {
        let spacing = self.spacing.filter(|spacing| !spacing.is_zero())?;
        self.wireless?;
        let round_trip = self.round_trip();
        let pipe = (round_trip + round_trip / SPARE_PART).as_nanos().div_ceil(spacing.as_nanos());
        (segment > Bytes::ZERO).then(|| segment * pipe.clamp(least_segments(config), MOST.into()))
    }
}

const fn least_segments(config: &Config) -> u64 {
    match config.dupack {
        DupAck::Off => LEAST_UNREPAIRED,
        DupAck::Snoop | DupAck::Literal => LEAST,
    }
}

/// The least window of such segments.
#[must_use]
pub fn least_window(segment: Bytes, config: &Config) -> Bytes {
    segment * least_segments(config)
}

/// What a flow's sender may have on its way at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// So much, where segments are so long.
    Window { window: Bytes, segment: Bytes },
    /// All up to this edge.
    UpTo(Seq),
}

impl Allowed {
    /// The edge to announce with an acknowledgement of so many bytes, after one of `before`. A receiver that acknowledges n segments at
    /// once answers n - 1 spacings later than it could answer the first. During these as many segments more are in the pipe. A single
    /// large acknowledgement may be a hole that closes. So it counts for no more than the one before it brought, and a segment.
    fn edge(self, ack: Seq, acked: u32, before: u32) -> Seq {
        let (window, segment) = match self {
            Self::UpTo(edge) => return edge,
            Self::Window { window, segment } => (window, segment),
        };
        let regular = Bytes(u64::from(acked.min(before)).saturating_sub(segment.0));
        let delayed = Bytes(u64::from(acked).saturating_sub(segment.0)).min(regular.max(segment));
        ack + u32::try_from((window + delayed).0).unwrap_or(MOST).min(MOST)
    }
}

/// The right edge of a receiver's window as its sender has it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SenderWindow {
    /// The rightmost that was told.
    told: Option<Seq>,
    /// The highest acknowledgement, and the edge that it may announce; none in it while nothing but the receiver limits it.
    latest: Option<(Seq, Option<Seq>)>,
    /// The bytes that it acknowledged.
    acked: u32,
    /// What passed last: its acknowledgement, the window field that its receiver had put there, and that with which it passed.
    passed: Option<(Seq, u16, u16)>,
    /// The window announced with the receiver's latest acknowledgement, where it is less than the receiver's
    /// own.
    pub limit: Option<Bytes>,
    /// An edge of this gateway's that the sender has not come to yet, and since when it has had it.
    open: Option<(Seq, Instant)>,
    /// The sender has used up what it was allowed, as far as its latest data tell.
    pub used_up: bool,
}

impl SenderWindow {
    /// A segment from the mesh passes to the sender. Returns the window field that it is to carry, if not its own; windows are scaled
    /// by `scale`.
    pub fn on_passing(
        &mut self,
        now: Instant,
        segment: &Segment,
        scale: u8,
        allowed: Option<Allowed>,
    ) -> Option<u16> {
        if !segment.flags.ack || segment.flags.rst {
            return None;
        }
        if segment.flags.syn {
            // Never scaled (RFC 7323, section 2.2), and there is no pace yet.
            self.tell(segment.ack + u32::from(segment.window));
            return None;
        }
        self.edge(segment.ack, 1 << scale, allowed);
        self.tell_apart(segment, 1 << scale);
        let edge = self.latest.and_then(|(_, edge)| edge);
        let field = edge.map_or(segment.window, |edge| {
            let units = units(segment.ack, edge, 1 << scale);
            u16::try_from(units).unwrap_or(u16::MAX).min(segment.window)
        });
        self.passed = Some((segment.ack, segment.window, field));
        let window = u32::from(field) << scale;
        self.tell(segment.ack + window);
        let limits = field < segment.window;
        self.limit = limits.then_some(Bytes(window.into()));
        if !limits {
            (self.open, self.used_up) = (None, false);
        } else if self.open.is_none() {
            self.open = Some((segment.ack + window, now));
        }
        limits.then_some(field)
    }

    /// Sets the edge that goes with an acknowledgement, announced in such units. Copies of one announce the same, or they would be no
    /// duplicates (RFC 5681, section 2).
    fn edge(&mut self, ack: Seq, unit: u32, allowed: Option<Allowed>) {
        let acked =
            self.latest.map_or(0, |(latest, _)| if ack.after(latest) { ack.since(latest) } else { 0 });
        if self.latest.is_none_or(|(latest, _)| ack.after(latest)) {
            let edge =
                allowed.map(|allowed| self.kept(ack, acked, unit, allowed.edge(ack, acked, self.acked)));
            (self.latest, self.acked) = (Some((ack, edge)), acked);
        } else if allowed.is_none() {
            self.latest = self.latest.map(|(latest, _)| (latest, None));
        }
    }

    /// A receiver whose application has read data says so by an acknowledgement with a larger window. If both acknowledgements
    /// announced one edge, the second would be a duplicate of the first (RFC 5681, section 2), and three duplicates mean a loss. So
    /// the second announces one unit more.
    fn tell_apart(&mut self, segment: &Segment, unit: u32) {
        let Some((ack, own, field)) = self.passed else { return };
        let Some((latest, Some(edge))) = self.latest else { return };
        let update = segment.is_pure_ack() && segment.ack == ack && latest == ack && segment.window > own;
        if update && units(ack, edge, unit) == u32::from(field) {
            self.latest = Some((latest, Some(ack + (u32::from(field) + 1) * unit)));
        }
    }

    /// The edge to announce with an acknowledgement of `acked` bytes: `edge`, or the edge announced before if that lies further on.
    /// An announced edge is not moved on by a part of a unit, which rounding up would add each time.
    fn kept(&self, ack: Seq, acked: u32, unit: u32, edge: Seq) -> Seq {
        let Some(told) = self.told.filter(|told| told.after(edge)) else { return edge };
        let beyond = units(ack, told, unit) > units(ack, edge, unit) && acked < unit;
        if beyond { ack + told.since(ack) / unit * unit } else { told }
    }

    /// The rightmost edge that was told.
    pub const fn told(&self) -> Option<Seq> {
        self.told
    }

    fn tell(&mut self, edge: Seq) {
        self.told = Some(self.told.map_or(edge, |told| told.later(edge)));
    }

    /// Data that end at `end` come from the sender, over a path of this round trip. It has used up its window if what is left of it after
    /// an answer's time is less than a segment.
    pub fn on_data(&mut self, now: Instant, end: Seq, segment: Bytes, round_trip: Span) {
        let Some((edge, since)) = self.open else { return };
        let reaches = (end + u32::try_from(segment.0).unwrap_or(MOST)).after(edge);
        if reaches || now.saturating_since(since) > round_trip * 2 {
            self.used_up = reaches;
            self.open = None;
        }
    }
}

/// How many units of the window field reach from an acknowledgement to an edge, or beyond it.
fn units(ack: Seq, edge: Seq, unit: u32) -> u32 {
    if edge.after(ack) { edge.since(ack).div_ceil(unit) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    mod in_c;

    use crate::CodelConfig;
    use meshpace_tcp::Flags;

    const SEGMENT: Bytes = Bytes(1_000);
    /// Just below the wrap.
    const FIRST: Seq = Seq(u32::MAX - 2_500);
    const SCALE: u8 = 3;
    /// 64,000 bytes.
    const FIELD: u16 = 8_000;

    fn ack(bytes: u32, field: u16) -> Segment {
        let flags = Flags { ack: true, ..Flags::NONE };
        Segment { ack: FIRST + bytes, flags, window: field, ..Segment::new(0, 0, Seq(7)) }
    }

    fn allowed(segments: u64) -> Option<Allowed> {
        Some(Allowed::Window { window: SEGMENT * segments, segment: SEGMENT })
    }

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    /// The window announced, in bytes.
    fn announced(window: &mut SenderWindow, segment: &Segment, allowed: Option<Allowed>) -> u32 {
        u32::from(window.on_passing(ms(0), segment, SCALE, allowed).unwrap_or(segment.window)) << SCALE
    }

    #[test]
    fn it_is_the_pipe_at_least_two_segments_and_four_where_nothing_is_repaired() {
        let config = Config::PAPER;
        let path = |spacing| Path {
            wired: Some(Span::from_millis(200)),
            wireless: Some(Span::from_millis(50)),
            spacing: Some(Span::from_millis(spacing)),
        };
        for (spacing, segments) in [(25, 11), (24, 12), (132, 3), (133, 2), (900, 2)] {
            assert_eq!(path(spacing).window(SEGMENT, &config), Some(SEGMENT * segments), "{spacing} ms");
        }
        let unrepaired = Config { dupack: DupAck::Off, ..config };
        assert_eq!(path(900).window(SEGMENT, &unrepaired), Some(SEGMENT * 4));
        assert_eq!(Path { spacing: None, ..path(1) }.window(SEGMENT, &config), None, "not paced");
        assert_eq!(path(0).window(SEGMENT, &config), None);
        assert_eq!(Path { wireless: None, ..path(9) }.window(SEGMENT, &config), None, "no sample yet");
        assert_eq!(path(9).window(Bytes::ZERO, &config), None, "nothing to measure it by");
        // The target of the queue behind it is of the same round trip.
        let codel = CodelConfig::BY_ROUND_TRIP.of(&path(25));
        assert_eq!(codel.target, path(25).round_trip() / 2);
    }

    #[test]
    fn what_was_told_is_not_taken_back() {
        let mut window = SenderWindow::default();
        assert_eq!(announced(&mut window, &ack(0, FIELD), None), 64_000, "the pace is not known yet");
        assert_eq!(announced(&mut window, &ack(1_000, FIELD), allowed(5)), 63_000);
        assert_eq!(announced(&mut window, &ack(60_000, FIELD), allowed(5)), 6_000, "a stretched one, of two");
        assert_eq!(announced(&mut window, &ack(61_000, FIELD), allowed(5)), 5_000);
        assert_eq!(announced(&mut window, &ack(62_000, FIELD), allowed(3)), 4_000, "a smaller one");
        assert_eq!(announced(&mut window, &ack(63_000, FIELD), allowed(3)), 3_000);
        assert_eq!(announced(&mut window, &ack(64_000, FIELD), allowed(9)), 9_000);
    }

    #[test]
    fn an_update_of_the_receivers_window_is_no_duplicate() {
        let mut window = SenderWindow::default();
        assert_eq!(announced(&mut window, &ack(1_000, 4_000), allowed(3)), 3_000);
        assert_eq!(announced(&mut window, &ack(1_000, 4_000), allowed(3)), 3_000, "a duplicate");
        assert_eq!(announced(&mut window, &ack(1_000, FIELD), allowed(3)), 3_008, "a unit more");
        assert_eq!(announced(&mut window, &ack(1_000, FIELD), allowed(3)), 3_008, "a duplicate of that");
        assert_eq!(announced(&mut window, &ack(1_000, 4_000), allowed(3)), 3_008, "out of order");
        let data = Segment { payload: 10, ..ack(1_000, FIELD) };
        assert_eq!(announced(&mut window, &data, allowed(3)), 3_008, "data are no duplicate anyway");
        assert_eq!(announced(&mut window, &ack(2_000, FIELD), allowed(3)), 3_000);
        assert_eq!(announced(&mut window, &ack(2_000, 375), allowed(3)), 3_000, "all that it has");
        assert_eq!(announced(&mut window, &ack(2_000, 376), allowed(3)), 3_008, "and all again");
    }

    #[test]
    fn acknowledgements_of_less_than_a_unit_let_it_fall_too() {
        for (scale, step) in [(7, 50), (7, 127), (14, 1_000), (14, 1), (14, 16_383)] {
            let unit = 1_u32 << scale;
            let (mut window, mut edge, mut ack) = (SenderWindow::default(), None, FIRST);
            for n in 0..3 * (64 << scale) / step {
                let segment = Segment { ack, window: 64, ..tests::ack(0, 0) };
                let allowed = allowed(if n == 0 { 1 << 20 } else { 2 });
                let field = window.on_passing(ms(0), &segment, scale, allowed).unwrap_or(64);
                assert!(field > 0, "{scale} {step}: closed");
                let told = ack + (u32::from(field) << scale);
                let before = *edge.get_or_insert(told);
                assert!(told.at_or_after(before) || before.since(told) < unit, "{scale} {step}: taken back");
                assert!(told.at_or_after(ack + 2_000), "{scale} {step}");
                edge = Some(told);
                ack += step;
            }
            let left = edge.expect("told").since(ack);
            assert!(left <= 2_000 + unit, "{scale} {step}: {left} bytes of {}", 64 << scale);
        }
    }

    #[test]
    fn never_more_is_told_than_the_receiver_has_room_for() {
        let mut window = SenderWindow::default();
        assert_eq!(announced(&mut window, &ack(0, 0), allowed(5)), 0, "closed");
        assert_eq!(announced(&mut window, &ack(0, 250), allowed(5)), 2_000, "it opens by and by");
        assert_eq!(announced(&mut window, &ack(0, FIELD), allowed(5)), 5_000);
        assert_eq!(
            announced(
                &mut window,
                &ack(1_000, FIELD),
                Some(Allowed::Window { window: Bytes(1 << 40), segment: SEGMENT })
            ),
            64_000
        );
        assert_eq!(window.limit, None);
    }

    #[test]
    fn a_duplicate_looks_like_one_and_an_old_one_changes_nothing() {
        let mut window = SenderWindow::default();
        assert_eq!(announced(&mut window, &ack(1_000, FIELD), allowed(3)), 3_000);
        assert_eq!(announced(&mut window, &ack(1_000, FIELD), allowed(9)), 3_000);
        assert_eq!(
            announced(&mut window, &ack(500, FIELD), allowed(9)),
            3_504,
            "the same edge, in units of 8 bytes"
        );
        assert_eq!(announced(&mut window, &ack(2_000, FIELD), allowed(3)), 3_000);
        assert_eq!(announced(&mut window, &ack(2_000, FIELD), None), 64_000, "only watched from now on");
        assert_eq!(announced(&mut window, &ack(3_000, FIELD), allowed(3)), 63_000, "and paced again");
    }

    #[test]
    fn an_acknowledgement_of_two_segments_allows_one_more() {
        let mut window = SenderWindow::default();
        for (bytes, expected) in [(0, 2_000), (1_000, 2_000), (3_000, 3_000), (3_500, 2_504), (9_000, 3_000)]
        {
            assert_eq!(announced(&mut window, &ack(bytes, FIELD), allowed(2)), expected, "{bytes}");
        }
    }

    #[test]
    fn acknowledgements_of_many_segments_allow_as_many_more() {
        let mut window = SenderWindow::default();
        // Thinned: five at once, again and again. The first may be a hole that closes, and so may the one of sixty.
        let acks =
            [(0, 2_000), (5_000, 3_000), (10_000, 6_000), (15_000, 6_000), (75_000, 6_000), (76_000, 5_000)];
        for (bytes, expected) in acks {
            assert_eq!(announced(&mut window, &ack(bytes, FIELD), allowed(2)), expected, "{bytes}");
        }
        assert_eq!(announced(&mut window, &ack(80_000, FIELD), allowed(2)), 3_000, "after one of a segment");
    }

    #[test]
    fn a_sender_that_stays_below_it_has_not_used_it_up() {
        let mut window = SenderWindow::default();
        let round_trip = Span::from_millis(100);
        let data = |window: &mut SenderWindow, at, end: u32| {
            window.on_data(ms(at), FIRST + end, SEGMENT, round_trip);
            window.used_up
        };
        window.on_passing(ms(0), &ack(1_000, FIELD), SCALE, allowed(3));
        assert!(!data(&mut window, 10, 3_000), "one more would fit");
        assert!(data(&mut window, 20, 3_500));
        window.on_passing(ms(30), &ack(2_000, FIELD), SCALE, allowed(3));
        assert!(data(&mut window, 50, 4_000), "not its time yet");
        assert!(!data(&mut window, 231, 4_000), "it has no more to send");
        window.on_passing(ms(300), &ack(4_000, FIELD), SCALE, allowed(3));
        assert!(data(&mut window, 310, 7_500), "two were acknowledged");
        window.on_passing(ms(320), &ack(7_500, 100), SCALE, allowed(3));
        assert!(!window.used_up, "its receiver holds it back");
    }
}
