//! A law other than TCP-GAP's: the reports that it gets, and that the gateway carries out its answers. The queue, the repairs and
//! goodput control's cap stay.

use crate::common::*;
use core::num::NonZeroU32;
use meshpace_gateway::{Action, Config, DupAck, Kept, Rewrite, Side, Verdict};
use meshpace_pacing::{AdaptiveConfig, FlowLaw, FlowPace, LawMaker, Progress, RoundTrip};
use meshpace_tcp::Segment;
use meshpace_units::{Bytes, Ecn, Instant, Span};

/// Answers by the round trip alone: short ones change nothing, long ones unpace.
#[derive(Clone, Debug)]
struct Half;

impl FlowLaw for Half {
    fn on_round_trip(&mut self, trip: &RoundTrip<'_>) -> Option<FlowPace> {
        assert_eq!((trip.route.hops, trip.segment.0), (Some(4), u64::from(MSS)));
        match trip.rtt.as_nanos() / 1_000_000 {
            0..30 => None,
            30..100 => Some(FlowPace::every(trip.rtt / 2)),
            _ => Some(FlowPace::UNPACED),
        }
    }

    fn take_parameters(&mut self, _: &dyn FlowLaw) -> bool {
        false
    }

    fn boxed(&self) -> Box<dyn FlowLaw> {
        Box::new(self.clone())
    }
}

/// A law that goes by reports of deliveries: after each retransmission it halves its rate, and after each mark it holds the window
/// down.
#[derive(Clone, Debug)]
struct Careful {
    answer: FlowPace,
    acked: Bytes,
}

impl FlowLaw for Careful {
    fn on_round_trip(&mut self, trip: &RoundTrip<'_>) -> Option<FlowPace> {
        let spacing = self.answer.spacing.map(|spacing| spacing * u64::from(trip.sharing));
        Some(FlowPace { spacing, ..self.answer })
    }

    fn on_progress(&mut self, progress: &Progress) -> Option<FlowPace> {
        self.acked += progress.acked;
        let spacing = self.answer.spacing.map(|spacing| spacing * (1 << progress.again.min(8)));
        let window = self.answer.window.or(progress.marked.then_some(self.acked));
        let answer = FlowPace { spacing, window, ..self.answer };
        (std::mem::replace(&mut self.answer, answer) != answer).then_some(answer)
    }

    fn take_parameters(&mut self, fresh: &dyn FlowLaw) -> bool {
        let fresh = (fresh as &dyn std::any::Any).downcast_ref::<Self>();
        fresh.is_some_and(|fresh| {
            self.answer = fresh.answer;
            true
        })
    }

    fn boxed(&self) -> Box<dyn FlowLaw> {
        Box::new(self.clone())
    }
}

/// A packet each 20 ms.
const SPACING: Span = Span::from_millis(20);

fn careful(answer: FlowPace) -> LawMaker {
    LawMaker::own(Careful { answer, acked: Bytes::ZERO })
}

fn script(config: Config) -> Script {
    Script::established_by(LawMaker::own(Half), config)
}

#[test]
fn its_answers_are_the_pace() {
    let mut s = script(config());
    let base = s.sample(0, 40);
    let stats = s.stats();
    assert_eq!(stats.interval, Some(SPACING));
    assert_eq!((stats.k_hop_delay, stats.samples), (None, (0, 0)), "unknown, not TCP-GAP's");
    assert_eq!(stats.wireless_rtt, Some(Span::from_millis(40)), "measured all the same");
    // The token is back at 20 ms, so the first packet passes at 40 ms and the others leave 20 ms apart.
    let packets: Vec<_> = (0..3).map(|i| s.down(base + i * MSS, MSS, 0)).collect();
    s.forwards(Side::Wired, &packets[0]);
    let held: Vec<_> = packets[1..].iter().map(|p| s.holds(p)).collect();
    assert_eq!(s.run_until(ms(200)), [(ms(60), held[0]), (ms(80), held[1])]);
}

#[test]
fn it_may_say_nothing_or_hold_nothing_back() {
    let mut s = script(Config { initial_interval: Some(Span::from_millis(50)), ..config() });
    let base = s.sample(0, 20);
    assert_eq!(s.stats().interval, Some(Span::from_millis(50)), "the configured one until it speaks");
    s.now = ms(100);
    let base = s.sample(base, 40);
    assert_eq!(s.stats().interval, Some(SPACING));
    s.now = ms(300);
    s.sample(base, 150);
    assert_eq!(s.stats().interval, None);
}

/// `count` segments that come behind a first round trip: when each leaves, and how.
fn leaving(s: &mut Script, count: u32) -> Vec<(Instant, Action)> {
    let base = s.sample(0, 40);
    let mut left = Vec::new();
    for i in 0..count {
        let data = s.down(base + i * MSS, MSS, 0);
        let (_, verdict) = s.hand_in(Side::Wired, &data);
        left.extend(matches!(verdict, Verdict::Forward(..)).then_some((s.now, AT_ONCE)));
    }
    while let Some(at) = s.gateway.poll_timeout().filter(|&at| at <= ms(1000)) {
        s.now = at;
        left.extend(s.departures().into_iter().map(|(_, action)| (at, action)));
        s.gateway.handle_timeout(at);
    }
    left
}

const AT_ONCE: Action = Action::Release { strip: false, mark: false };

#[test]
fn a_burst_leaves_together() {
    let burst = NonZeroU32::new(3).unwrap();
    let mut s = Script::established_by(careful(FlowPace { burst, ..FlowPace::every(SPACING) }), config());
    let times: Vec<Instant> = leaving(&mut s, 7).into_iter().map(|(at, _)| at).collect();
    // The sample's own packet left at 0, as a burst of its own.
    assert_eq!(times, [60, 60, 60, 120, 120, 120, 180].map(ms));
    assert_eq!(s.stats().interval, Some(SPACING), "the mean");
}

#[test]
fn what_waits_longer_than_it_says_is_marked_where_it_may_be() {
    let mark_after = Some(Span::from_millis(35));
    for (ecn, marks) in [(Ecn::Ect0, 2), (Ecn::NotEct, 0)] {
        let law = careful(FlowPace { mark_after, ..FlowPace::every(SPACING) });
        let mut s = Script::established_by(law, config());
        s.ecn = ecn;
        let left = leaving(&mut s, 4); // they wait for 0, 20, 40 and 60 ms
        let marked = left.iter().filter(|(_, how)| matches!(how, Action::Release { mark: true, .. })).count();
        assert_eq!((left.len(), marked, s.stats().aqm_marks), (4, marks, marks as u64), "{ecn:?}");
    }
}

#[test]
fn its_window_is_what_the_wired_sender_is_told() {
    let told = |s: &mut Script, ack: Segment| match s.hand_in(Side::Wireless, &ack).1 {
        Verdict::Forward(_, Rewrite { window, .. }) => window.map(|window| u32::from(window) << SCALE),
        other => panic!("{other:?}"),
    };
    let window = Some(Bytes(5 * 1460));
    let mut s = Script::established_by(careful(FlowPace { window, ..FlowPace::every(SPACING) }), config());
    let base = s.sample(0, 40);
    s.now = ms(200);
    let data = s.down(base, MSS, 0);
    s.forwards(Side::Wired, &data);
    s.now = ms(240);
    let ack = s.ack(base + MSS);
    // The window that the sender got before the law spoke is not taken back; from then on the law sets it, in whole
    // units.
    assert!(told(&mut s, ack).is_some_and(|window| window < u32::from(WINDOW) << SCALE));
    assert_eq!(s.gateway.counters().windows_lowered, 2);
    // Fewer than two segments would wait for a receiver's delayed acknowledgement.
    let narrow = FlowPace { window: Some(Bytes(1)), ..FlowPace::every(SPACING) };
    let mut s = Script::established_by(careful(narrow), config());
    let mut base = s.sample(0, 40);
    let mut least = u32::MAX;
    for at in 1..60 {
        s.now = ms(1000 * at);
        let data = s.down(base, MSS, 0);
        s.hand_in(Side::Wired, &data);
        base += MSS;
        let ack = s.ack(base);
        least = least.min(told(&mut s, ack).expect("lowered"));
    }
    assert!((2 * MSS..3 * MSS).contains(&least), "{least}");
}

#[test]
fn it_is_told_of_deliveries_retransmissions_and_marks() {
    let mut s =
        Script::established_by(careful(FlowPace::every(SPACING)), Config { dupack: DupAck::Off, ..config() });
    let base = s.sample(0, 40);
    assert_eq!(s.stats().interval, Some(SPACING));
    // The sender sends one segment three times: known by the next acknowledgement.
    for at in [100, 200, 300] {
        s.now = ms(at);
        let data = s.down(base, MSS, 0);
        s.forwards(Side::Wired, &data);
    }
    s.now = ms(340);
    let ack = s.ack(base + MSS);
    s.forwards(Side::Wireless, &ack);
    assert_eq!(s.stats().interval, Some(SPACING * 4));
    s.now = ms(700);
    let data = s.down(base + MSS, MSS, 0);
    s.forwards(Side::Wired, &data);
    let mut echo = s.ack(base + 2 * MSS);
    echo.flags.ece = true;
    // Three segments were delivered: as much as a mark now allows its sender, were that not told of more before.
    let verdict = s.hand_in(Side::Wireless, &echo).1;
    assert!(matches!(verdict, Verdict::Forward(_, Rewrite { window: Some(_), .. })), "{verdict:?}");
}

#[test]
fn one_law_of_a_host_knows_how_many_flows_share_it() {
    let mut s = Script::by(careful(FlowPace::every(SPACING)), Config { kept: Kept::Host, ..config() });
    s.host = Some(9);
    for flow in [1, 2] {
        s.flow = flow;
        s.handshake();
    }
    let waiting = s.down(0, MSS, 0);
    s.forwards(Side::Wired, &waiting); // flow 2 has data on their way
    s.flow = 1;
    s.sample(0, 40);
    for flow in [1, 2] {
        s.flow = flow;
        assert_eq!(s.stats().interval, Some(SPACING * 2), "flow {flow}");
    }
}

#[test]
fn another_law_begins_anew_and_the_pace_stays_until_it_speaks() {
    let mut s = Script::established_by(careful(FlowPace::every(SPACING)), config());
    let base = s.sample(0, 40);
    s.gateway.set_law(khd(AdaptiveConfig::PAPER));
    assert_eq!(s.stats().interval, Some(SPACING));
    s.now = ms(500);
    s.sample(base, 40);
    assert_eq!(s.stats().interval, Some(Span::from_micros(31_680)));
    assert_eq!(s.stats().samples, (1, 0));
}
