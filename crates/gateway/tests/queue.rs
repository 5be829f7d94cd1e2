//! Pacing queues under CoDel (RFC 8289), and what is told of waits.

use crate::common::*;
use meshpace_gateway::{Action, CodelConfig, Config, DiscardReason, DupAck, Path, Side};
use meshpace_tcp::{Options, Segment};
use meshpace_units::{Ecn, Instant, Seq, Span};

/// One packet each 31.68 ms after a sample of 40 ms ([`Script::sample`]), so the target is two of these spacings.
const SPACING: Span = Span::from_micros(31_680);

/// RFC 8289's own parameters (section 4.3, section 4.4).
const RFC_8289: CodelConfig =
    CodelConfig { target: Some(Span::from_millis(5)), interval: Some(Span::from_millis(100)) };

fn codel() -> Config {
    Config { codel: Some(RFC_8289), dupack: DupAck::Off, ..config() }
}

/// Both by the flow's round trip.
fn by_round_trip() -> Config {
    Config { codel: Some(CodelConfig::BY_ROUND_TRIP), ..codel() }
}

/// `count` segments that come at once behind one that leaves: when which packet left, and how.
fn burst(config: Config, count: u32, ecn: Ecn) -> (Script, Vec<(Instant, Action)>) {
    burst_on(Script::established_by(steady(), config), count, ecn)
}

/// The same on a connection.
fn burst_on(mut s: Script, count: u32, ecn: Ecn) -> (Script, Vec<(Instant, Action)>) {
    s.ecn = ecn;
    let base = s.sample(0, 40);
    let data = s.down(base, MSS, 0);
    let (_, verdict) = s.hand_in(Side::Wired, &data);
    let mut left = Vec::new();
    if verdict != meshpace_gateway::Verdict::Held {
        left.push((s.now, Action::Release { strip: false, mark: false }));
    }
    for n in 1..count {
        let data = s.down(base + n * MSS, MSS, 0);
        s.holds(&data);
    }
    while let Some(at) = s.gateway.poll_timeout().filter(|at| *at < s.now + Span::from_secs(20)) {
        s.now = s.now.max(at);
        s.gateway.handle_timeout(s.now);
        left.extend(core::iter::from_fn(|| s.gateway.poll_transmit(s.now)).map(|d| (d.due, d.action)));
        if s.gateway.held() == 0 {
            break;
        }
    }
    (s, left)
}

fn count(left: &[(Instant, Action)], wanted: Action) -> usize {
    left.iter().filter(|(_, action)| *action == wanted).count()
}

const DROPPED: Action = Action::Discard(DiscardReason::Waited);
const RELEASED: Action = Action::Release { strip: false, mark: false };
const MARKED: Action = Action::Release { strip: false, mark: true };

#[test]
fn a_queue_that_stands_is_kept_short_by_drops_and_no_turn_is_lost() {
    let (s, left) = burst(codel(), 40, Ecn::NotEct);
    let (dropped, released) = (count(&left, DROPPED), count(&left, RELEASED));
    assert_eq!(dropped + released, 40, "{left:?}");
    // The target is two spacings, 63.36 ms, which the packet of 103.36 ms has waited; the interval twice that. So the first goes
    // at 230.08 ms, the next at 356.80, + 126.72/sqrt(2) = 446.40, + 126.72/sqrt(3) = 519.57: at the turns that follow.
    let gone: Vec<_> = left.iter().filter(|(_, a)| *a == DROPPED).map(|(at, _)| *at).collect();
    let turn = |n: u64| ms(40) + SPACING * n;
    assert_eq!(gone[..4], [turn(6), turn(10), turn(13), turn(16)]);
    let times: Vec<_> = left.iter().filter(|(_, a)| *a == RELEASED).map(|(at, _)| *at).collect();
    assert!(
        times.windows(2).all(|pair| pair[1] - pair[0] == SPACING),
        "a drop takes nobody's turn: {times:?}"
    );
    assert_eq!(s.stats().aqm_drops, dropped as u64);
    assert_eq!(s.gateway.counters().aqm_drops, dropped as u64);
    assert_eq!((s.gateway.held(), s.gateway.counters().aqm_marks), (0, 0));
}

#[test]
fn where_ecn_was_negotiated_packets_are_marked_and_none_is_lost() {
    let (s, left) = burst(codel(), 40, Ecn::Ect0);
    assert_eq!((count(&left, DROPPED), count(&left, MARKED) + count(&left, RELEASED)), (0, 40));
    let marked = count(&left, MARKED) as u64;
    assert!(marked >= 4, "{left:?}");
    assert_eq!((s.stats().aqm_marks, s.gateway.counters().aqm_marks), (marked, marked));
}

#[test]
fn the_papers_queue_lets_all_of_them_wait() {
    let (s, left) = burst(Config { dupack: DupAck::Off, ..config() }, 40, Ecn::Ect0);
    assert_eq!(count(&left, RELEASED), 40);
    let longest = s.gateway.waits().0.max();
    assert_eq!(longest, SPACING * 39);
    assert_eq!(s.gateway.waits().0.count(), 41, "the sample's packet, which waited for no time, is one");
}

/// As many packets as the target allows stand in the queue for good and none is touched, whatever the configured target: a
/// packet more than that is one too many.
#[test]
fn two_spacings_may_stand_whatever_the_target() {
    for (ahead, signals) in [(2, false), (4, true)] {
        let mut s = Script::established_by(steady(), codel());
        let base = s.sample(0, 40);
        let first = s.down(base, MSS, 0);
        s.forwards(Side::Wired, &first);
        let mut offset = base + MSS;
        for _ in 0..ahead {
            let data = s.down(offset, MSS, 0);
            s.holds(&data);
            offset += MSS;
        }
        // One comes as one goes, within the window that the receiver has announced.
        for _ in 0..24 {
            let at = s.gateway.poll_timeout().expect("packets wait");
            s.now = at;
            s.gateway.handle_timeout(at);
            while s.gateway.poll_transmit(at).is_some() {}
            while s.gateway.held() < ahead {
                let data = s.down(offset, MSS, 0);
                s.holds(&data);
                offset += MSS;
            }
        }
        assert_eq!(s.stats().aqm_drops > 0, signals, "{ahead} wait: {:?}", s.stats());
    }
}

#[test]
fn a_change_to_the_papers_queue_and_back_loses_nothing() {
    let mut s = Script::established_by(steady(), codel());
    let base = s.sample(0, 40);
    let first = s.down(base, MSS, 0);
    s.forwards(Side::Wired, &first);
    for n in 1..6 {
        let data = s.down(base + n * MSS, MSS, 0);
        s.holds(&data);
    }
    s.gateway.set_config(s.now, Config { codel: None, ..codel() });
    let left = s.run_until(s.now + Span::from_secs(1));
    assert_eq!(left.len(), 5);
    assert_eq!(s.stats().wait.map(|wait| wait > SPACING), Some(true), "{:?}", s.stats().wait);
}

/// When the first packet is dropped of a queue that stands, counted from when the packet before the burst left; the wireless
/// round trip is 40 ms.
fn first_drop(s: Script) -> Span {
    let start = s.now + Span::from_millis(40);
    let (_, left) = burst_on(s, 40, Ecn::NotEct);
    let (at, _) = left.iter().find(|(_, action)| *action == DROPPED).expect("a packet is dropped");
    *at - start
}

/// Above the target R/2, or two spacings, from the first turn on that comes later; dropped at the first turn that comes R, the
/// target and three spacings after that.
fn expected(round_trip: u64) -> Span {
    let turn = |at: Span| SPACING * at.as_nanos().div_ceil(SPACING.as_nanos());
    let round_trip = Span::from_millis(round_trip);
    let target = (round_trip / 2).max(SPACING * 2);
    turn(turn(target) + round_trip + target + SPACING * 3)
}

#[test]
fn the_handshake_of_either_side_tells_the_round_trip_by_which_a_queue_is_kept_short() {
    let opened_by = |opener: Side, repeats: bool| {
        let mut s = Script::by(steady(), by_round_trip());
        let of = |s: &Script, side| if side == Side::Wireless { s.up(0, 0, 0) } else { s.down(0, 0, 0) };
        let (answerer, isn, answer) = match opener {
            Side::Wireless => (Side::Wired, WIRELESS_ISN, WIRED_ISN),
            Side::Wired => (Side::Wireless, WIRED_ISN, WIRELESS_ISN),
        };
        let options = Options { window_scale: Some(SCALE), ..Options::default() };
        let syn = Segment { flags: SYN, seq: Seq(isn), options, ..of(&s, opener) };
        let syn_ack = Segment { flags: SYN_ACK, seq: Seq(answer), options, ..of(&s, answerer) };
        let ack = of(&s, opener);
        // The wired part takes 240 ms, the mesh 30 ms more. What the mesh host sends in the handshake it may send twice.
        let times = if repeats { 2 } else { 1 };
        match opener {
            Side::Wireless => (0..times).for_each(|_| _ = s.forwards(opener, &syn)),
            Side::Wired => _ = s.forwards(opener, &syn),
        }
        s.now = ms(if opener == Side::Wireless { 240 } else { 30 });
        match opener {
            Side::Wireless => _ = s.forwards(answerer, &syn_ack),
            Side::Wired => (0..times).for_each(|_| _ = s.forwards(answerer, &syn_ack)),
        }
        s.now = ms(270);
        s.forwards(opener, &ack);
        s
    };
    for opener in [Side::Wireless, Side::Wired] {
        assert_eq!(first_drop(opened_by(opener, false)), expected(240 + 40), "{opener:?}");
        // It is not known which of the two was answered (Karn's rule): 100 ms are assumed.
        assert_eq!(first_drop(opened_by(opener, true)), expected(100 + 40), "{opener:?}");
    }
}

#[test]
fn data_to_the_internet_tells_the_round_trip_of_a_connection_met_in_its_middle() {
    let met = || Script::by(steady(), by_round_trip());
    assert_eq!(first_drop(met()), expected(100 + 40));
    let mut s = met();
    for (number, rtt) in [300, 60, 150].into_iter().enumerate() {
        let request = s.up(100 * number as u32, 100, 0);
        s.forwards(Side::Wireless, &request);
        s.now += Span::from_millis(rtt);
        let answered = s.down(0, 0, 100 * (number as u32 + 1));
        let (_, verdict) = s.hand_in(Side::Wired, &answered);
        assert!(matches!(verdict, meshpace_gateway::Verdict::Forward(..)));
    }
    assert_eq!(first_drop(s), expected(60 + 40), "the shortest counts");
}

#[test]
fn a_slow_pace_has_room_for_two_packets_and_time_for_three_duplicates() {
    let of = |spacing, wired| {
        let path = Path {
            wired: Some(Span::from_millis(wired)),
            wireless: Some(Span::from_millis(60)),
            spacing: Some(Span::from_millis(spacing)),
        };
        let law = CodelConfig::BY_ROUND_TRIP.of(&path);
        (law.target, law.interval)
    };
    let ms = Span::from_millis;
    assert_eq!(of(20, 240), (ms(150), ms(300 + 150 + 60)));
    assert_eq!(of(200, 240), (ms(400), ms(300 + 400 + 600)));
    assert_eq!(of(20, 2), (ms(40), ms(62 + 40 + 60)));
    let fixed = CodelConfig { interval: Some(ms(100)), ..CodelConfig::BY_ROUND_TRIP };
    let path = Path { wired: Some(ms(240)), ..Path::default() };
    assert_eq!(fixed.of(&path).interval, ms(240), "two targets at least");
}
