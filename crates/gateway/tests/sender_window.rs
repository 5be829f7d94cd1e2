//! The amount that a wired sender may have on its way, as acknowledgements announce it (`gap_window =
//! "pipe"`).

use crate::common::*;
use meshpace_gateway::{Announced, Config, DupAck, Retransmissions, Rewrite, Side, Treatment, Verdict};
use meshpace_pacing::{GoodputControlConfig, Profile};
use meshpace_tcp::{Options, Segment};
use meshpace_units::{Bytes, Instant, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Bytes that a unit of the window field stands for.
const UNIT: u32 = 1 << SCALE;
/// The pipe of a flow after [`Script::sample`]: 40 ms by 31.68 ms are two segments, in whole units.
const PIPE: u32 = (2 * MSS).div_ceil(UNIT) * UNIT;

fn pipe() -> Config {
    Config { announced: Announced::Pipe, retransmissions: Retransmissions::First, ..config() }
}

/// The window in bytes that a segment of the mesh announces behind the gateway.
fn announced(s: &mut Script, segment: &Segment) -> u32 {
    match s.hand_in(Side::Wireless, segment).1 {
        Verdict::Forward(_, Rewrite { window, .. }) => u32::from(window.unwrap_or(segment.window)) * UNIT,
        other => panic!("{other:?}"),
    }
}

/// The segment at `acked` goes down, and what acknowledges it is about to come up, each after 40 ms.
fn next_ack(s: &mut Script, acked: &mut u32) -> Segment {
    s.now += Span::from_millis(40);
    let data = s.down(*acked, MSS, 0);
    s.forwards(Side::Wired, &data);
    *acked += MSS;
    s.now += Span::from_millis(40);
    s.ack(*acked)
}

/// Segments from `base` on go down and are acknowledged one by one, until the window told before there was a pace is used up. Returns
/// what is acknowledged then.
fn used_up(s: &mut Script, base: u32) -> u32 {
    let mut acked = base;
    while acked < base + u32::from(WINDOW) * UNIT {
        let ack = next_ack(s, &mut acked);
        s.hand_in(Side::Wireless, &ack);
    }
    acked
}

#[test]
fn the_window_shrinks_to_the_pipe_as_it_is_used_and_no_edge_goes_back() {
    let mut s = Script::established_by(steady(), pipe());
    let (mut acked, mut edge, mut least) = (0, u32::from(WINDOW) * UNIT, u32::MAX);
    for _ in 0..60 {
        let ack = next_ack(&mut s, &mut acked);
        let window = announced(&mut s, &ack);
        assert!(acked + window >= edge, "{} behind {edge}", acked + window);
        edge = acked + window;
        least = least.min(window);
        assert_eq!(s.stats().window, Some(Bytes(window.into())));
    }
    assert_eq!(least, PIPE);
    assert_eq!(s.gateway.counters().windows_lowered, 60);
    // A data segment of the mesh's announces it, too.
    let data = s.up(0, 100, acked);
    assert_eq!(announced(&mut s, &data), PIPE);
}

#[test]
fn a_hole_is_still_told_by_duplicates_and_repaired() {
    let mut s = Script::established_by(steady(), pipe());
    let base = s.sample(0, 40);
    let base = used_up(&mut s, base);
    for n in 0..2 {
        s.now += Span::from_millis(40);
        let data = s.down(base + n * MSS, MSS, 0);
        s.forwards(Side::Wired, &data);
    }
    s.now += Span::from_millis(40);
    // With a window of two segments one duplicate is all there is.
    let duplicate = s.ack(base);
    s.consumes(&duplicate);
    assert_eq!(s.departures().len(), 1);
    s.now += Span::from_millis(100);
    let all = s.ack(base + 2 * MSS);
    assert_eq!(announced(&mut s, &all), (3 * MSS).div_ceil(UNIT) * UNIT, "two at once");
}

#[test]
fn nothing_is_changed_without_pace_handshake_leave_or_bytes() {
    let unchanged = |mut s: Script, what: &str| {
        let base = s.sample(0, 40);
        let acked = used_up(&mut s, base);
        s.now += Span::from_millis(40);
        let data = s.down(acked, MSS, 0);
        s.hand_in(Side::Wired, &data);
        let ack = s.ack(acked + MSS);
        assert_eq!(announced(&mut s, &ack), u32::from(WINDOW) * UNIT, "{what}");
        assert_eq!((s.stats().window, s.gateway.counters().windows_lowered), (None, 0), "{what}");
    };
    unchanged(
        Script::established_by(steady(), Config { announced: Announced::Receiver, ..pipe() }),
        "the paper's",
    );
    unchanged(Script::by(steady(), pipe()), "met in its middle");
    let mut watched = Script::established_by(steady(), pipe());
    watched.treatment = Treatment::Observe;
    unchanged(watched, "watched");
    let mut cut_off = Script::established_by(steady(), pipe());
    cut_off.whole = false;
    unchanged(cut_off, "not all of its bytes");
    // Before the first round trip.
    let mut s = Script::established_by(steady(), pipe());
    let ack = s.ack(0);
    assert_eq!(announced(&mut s, &ack), u32::from(WINDOW) * UNIT);
}

#[test]
fn a_sender_that_has_to_recover_by_itself_may_have_four_segments() {
    let mut s = Script::established_by(steady(), Config { dupack: DupAck::Off, ..pipe() });
    let base = s.sample(0, 40);
    let acked = used_up(&mut s, base);
    assert_eq!(s.stats().window, Some(Bytes(u64::from((4 * MSS).div_ceil(UNIT) * UNIT))), "{acked}");
}

#[test]
fn who_has_said_little_may_still_send_a_full_segment() {
    const LITTLE: u32 = 50;
    let window_after_a_talk = |mss: Option<u16>| {
        let mut s = Script::by(steady(), pipe());
        s.handshake_with(Span::ZERO, Options { mss, window_scale: Some(SCALE), ..Options::default() });
        let (mut acked, mut window) = (0, 0);
        while acked < u32::from(WINDOW) * UNIT {
            s.now += Span::from_millis(40);
            let data = s.down(acked, LITTLE, 0);
            s.hand_in(Side::Wired, &data);
            acked += LITTLE;
            s.run_until(s.now + Span::from_millis(40));
            let ack = s.ack(acked);
            window = announced(&mut s, &ack);
        }
        window
    };
    let told = window_after_a_talk(Some(1460));
    assert!(
        (2 * MSS..4 * MSS).contains(&told),
        "{told}: two or three segments of the size that both asked for"
    );
    assert!(window_after_a_talk(None) < MSS, "nothing tells of larger ones");
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// This byte offset comes from the sender.
    Data(u32),
    /// The receiver has all before this.
    Ack(u32),
    /// The sender hears of it, and of the edge.
    GoodputFeedback(u32),
}

/// A download of a sender that always has more, or as much as `more` says at a time; the mesh takes 40 ms there and back.
struct Download {
    s: Script,
    events: BTreeMap<(Instant, u32), Event>,
    count: u32,
    /// Of the sender.
    next: u32,
    edge: u32,
    offset_of: BTreeMap<Packet, u32>,
    delivered: u32,
    wired: Span,
    more: fn(Instant) -> u32,
}

impl Download {
    fn new(config: Config, wired: Span, more: fn(Instant) -> u32) -> Self {
        let mut s = Script::by(steady(), config);
        s.handshake_over(wired);
        let (events, offset_of) = (BTreeMap::new(), BTreeMap::new());
        let edge = u32::from(WINDOW) * UNIT;
        Self { s, events, count: 0, next: 0, edge, offset_of, delivered: 0, wired, more }
    }

    fn after(&mut self, span: Span, event: Event) {
        self.count += 1;
        self.events.insert((self.s.now + span, self.count), event);
    }

    fn send(&mut self) {
        while self.next + MSS <= self.edge.min((self.more)(self.s.now)) {
            self.after(self.wired / 2, Event::Data(self.next));
            self.next += MSS;
        }
    }

    fn leaves(&mut self, packet: Packet) {
        self.delivered += MSS;
        let end = self.offset_of[&packet] + MSS;
        self.after(Span::from_millis(40), Event::Ack(end));
    }

    fn run(&mut self, end: Instant) {
        self.send();
        loop {
            let event = self.events.keys().next().map(|&(at, _)| at);
            let timer = self.s.gateway.poll_timeout();
            let Some(at) = event.into_iter().chain(timer).min().filter(|&at| at <= end) else { break };
            self.s.now = self.s.now.max(at);
            self.s.gateway.handle_timeout(self.s.now);
            while let Some(departure) = self.s.gateway.poll_transmit(self.s.now) {
                self.leaves(departure.packet);
            }
            while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= self.s.now) {
                match entry.remove() {
                    Event::Data(offset) => {
                        let data = self.s.down(offset, MSS, 0);
                        let (packet, verdict) = self.s.hand_in(Side::Wired, &data);
                        self.offset_of.insert(packet, offset);
                        if let Verdict::Forward(..) = verdict {
                            self.leaves(packet);
                        }
                    }
                    Event::Ack(ack) => {
                        let segment = self.s.ack(ack);
                        let edge = ack + announced(&mut self.s, &segment);
                        self.after(self.wired / 2, Event::GoodputFeedback(edge));
                    }
                    Event::GoodputFeedback(edge) => {
                        self.edge = self.edge.max(edge);
                        self.send();
                    }
                }
            }
            self.send();
        }
        self.s.now = end;
    }

    /// Whether goodput control takes it for one that wants more than it gets.
    fn wants_more(&self) -> bool {
        let explanation = self.s.gateway.explain(self.s.now, &self.s.key()).expect("the flow is known");
        explanation.standing.expect("goodput control is on").goodput.is_some()
    }
}

fn robust(announced: Announced) -> Config {
    let goodput_control =
        Some(GoodputControlConfig { profile: Profile::Robust, ..GoodputControlConfig::PAPER });
    Config { announced, goodput_control, ..pipe() }
}

#[test]
fn a_download_keeps_its_pace_busy_and_hardly_waits() {
    for wired in [5, 60, 200, 600].map(Span::from_millis) {
        let runs = [Announced::Receiver, Announced::Pipe].map(|which| {
            let mut download = Download::new(robust(which), wired, |_| u32::MAX);
            download.run(ms(30_000));
            let before = download.delivered;
            download.run(ms(60_000));
            (download.delivered - before, download.s.stats(), download.wants_more())
        });
        let [(full, long, _), (got, short, wants_more)] = runs;
        assert!(f64::from(got) > 0.97 * f64::from(full), "{wired:?}: {got} of {full}");
        let spacing = short.interval.expect("paced");
        // A segment to round up, half of one for what comes in pairs, and what is spared for round trips that vary.
        let least = spacing * 3 / 2 + (wired + Span::from_millis(40)) / 16;
        assert!(short.wait.expect("paced") <= least, "{wired:?}: {short:?}");
        assert!(long.wait.expect("paced") > spacing * 10, "{wired:?}: {long:?}");
        assert!(wants_more, "{wired:?}: it is held back by its window");
    }
}

#[test]
fn a_sender_with_little_to_send_does_not_want_more_than_it_gets() {
    // A segment and a half every 200 ms.
    let trickle =
        |now: Instant| ((now.saturating_since(Instant::ZERO).as_nanos() / 200_000_000) as u32 + 1) * MSS;
    let mut download = Download::new(robust(Announced::Pipe), Span::from_millis(60), trickle);
    for second in 1..=400 {
        download.run(ms(second * 100));
    }
    assert!(download.delivered > 190 * MSS, "{}", download.delivered);
    assert!(download.s.stats().window.is_some() && !download.wants_more());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// For any announcement of the receiver and any pace: an announced edge does not go back, unless the receiver's own edge does, and
    /// no edge is beyond the receiver's.
    #[test]
    fn edges_only_advance(steps in prop::collection::vec((0_u32..4, 0_u16..600, 1_u64..400, any::<bool>()), 1..80)) {
        let mut s = Script::established_by(steady(), pipe());
        let mut acked = s.sample(0, 40);
        let mut told = u32::from(WINDOW) * UNIT;
        for (segments, field, pause, again) in steps {
            for _ in 0..segments {
                let data = s.down(acked, MSS, 0);
                s.hand_in(Side::Wired, &data);
                s.run_until(s.now + Span::from_millis(pause));
                acked += MSS;
            }
            let ack = Segment { window: field, ..s.ack(acked) };
            for _ in 0..1 + u32::from(again) {
                match s.hand_in(Side::Wireless, &ack).1 {
                    Verdict::Forward(_, Rewrite { window: Some(window), .. }) => {
                        prop_assert!(window < field);
                        let edge = acked + u32::from(window) * UNIT;
                        prop_assert!(edge >= told, "{} after {}", edge, told);
                        told = edge;
                    }
                    Verdict::Forward(..) => told = told.max(acked + u32::from(field) * UNIT),
                    Verdict::Consumed(_) => {}
                    other => panic!("{other:?}"),
                }
                s.departures();
            }
        }
    }
}
