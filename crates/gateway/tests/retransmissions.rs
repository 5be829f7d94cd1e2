//! Data that the wired sender sends again while its flow's packets wait (`gap_retransmissions = "first"`).

use crate::common::*;
use meshpace_gateway::{Action, CodelConfig, Config, DiscardReason, DupAck, Retransmissions, Side, Verdict};
use meshpace_tcp::{Flags, Segment};
use meshpace_units::{Instant, Span};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// RFC 8289's own parameters (section 4.3, section 4.4).
const RFC_8289: CodelConfig =
    CodelConfig { target: Some(Span::from_millis(5)), interval: Some(Span::from_millis(100)) };

fn first() -> Config {
    Config { retransmissions: Retransmissions::First, dupack: DupAck::Off, ..config() }
}

/// A paced flow of whose segments number 0 was acknowledged, number 1 passed and the next `waiting` wait. The receiver has
/// `acked` bytes.
struct Flow {
    s: Script,
    waiting: Vec<Packet>,
}

impl Flow {
    fn new(config: Config, waiting: u32) -> Self {
        let mut s = Script::established(config);
        let base = s.sample(0, 40);
        let passed = s.down(base, MSS, 0);
        s.forwards(Side::Wired, &passed);
        let mut flow = Self { s, waiting: Vec::new() };
        for n in 2..2 + waiting {
            let (packet, verdict) = flow.data(n);
            assert_eq!(verdict, Verdict::Held);
            flow.waiting.push(packet);
        }
        flow
    }

    /// Segment number `n` comes.
    fn data(&mut self, n: u32) -> (Packet, Verdict<Packet>) {
        let data = self.s.down(n * MSS, MSS, 0);
        self.s.hand_in(Side::Wired, &data)
    }

    fn acknowledge(&mut self, segments: u32) {
        let ack = self.s.ack(segments * MSS);
        self.s.forwards(Side::Wireless, &ack);
    }

    /// What leaves until then, in order.
    fn left(&mut self, until: Instant) -> Vec<Packet> {
        self.s.run_until(until).into_iter().map(|(_, packet)| packet).collect()
    }
}

#[test]
fn what_the_receiver_misses_goes_before_new_data() {
    for retransmissions in [Retransmissions::First, Retransmissions::InTurn] {
        let mut flow = Flow::new(Config { retransmissions, ..first() }, 5);
        let (again, verdict) = flow.data(1); // lost behind the gateway
        assert_eq!(verdict, Verdict::Held);
        let left = flow.left(ms(10_000));
        let place = left.iter().position(|&packet| packet == again);
        let expected = if retransmissions == Retransmissions::First { 0 } else { 5 };
        assert_eq!(place, Some(expected), "{left:?}");
        assert_eq!(left.len(), 6, "{left:?}");
        assert_eq!(flow.s.stats().duplicates, 0);
    }
}

/// A sender with RACK (RFC 8985) takes for lost what it sent before a segment that has arrived: what SACK blocks made it send
/// again must not overtake the queue.
#[test]
fn what_sack_blocks_told_the_sender_of_keeps_its_turn() {
    for (silent_ms, expected) in [(0, 5), (1_500, 0)] {
        let mut flow = Flow::new(first(), 5);
        let mut ack = flow.s.ack(MSS);
        ack.options.sack[0] = Some((flow.s.down(2 * MSS, MSS, 0).seq, flow.s.down(3 * MSS, MSS, 0).seq));
        flow.s.forwards(Side::Wireless, &ack);
        flow.s.now += Span::from_millis(silent_ms);
        let (again, verdict) = flow.data(1);
        assert_eq!(verdict, Verdict::Held);
        let (copy, verdict) = flow.data(1);
        assert_eq!(verdict, Verdict::Duplicate(copy));
        let (new, _) = flow.data(7);
        let left = flow.left(ms(60_000));
        assert_eq!(left.iter().position(|&packet| packet == again), Some(expected), "{left:?}");
        assert_eq!((left.len(), left.last()), (7, Some(&new)), "{left:?}");
        assert_eq!(flow.s.gateway.held(), 0);
    }
}

#[test]
fn what_keeps_its_turn_keeps_it_when_the_rule_changes() {
    let mut flow = Flow::new(first(), 5);
    let mut ack = flow.s.ack(MSS);
    ack.options.sack[0] = Some((flow.s.down(2 * MSS, MSS, 0).seq, flow.s.down(3 * MSS, MSS, 0).seq));
    flow.s.forwards(Side::Wireless, &ack);
    let (again, verdict) = flow.data(1);
    assert_eq!(verdict, Verdict::Held);
    let now = flow.s.now;
    flow.s.gateway.set_config(now, Config { retransmissions: Retransmissions::InTurn, ..first() });
    let (copy, verdict) = flow.data(3);
    assert_eq!(verdict, Verdict::Held);
    let expected: Vec<Packet> = flow.waiting.iter().copied().chain([again, copy]).collect();
    assert_eq!(flow.left(ms(60_000)), expected);
    assert_eq!(flow.s.gateway.held(), 0);
}

#[test]
fn copies_of_what_waits_go_nowhere() {
    let mut flow = Flow::new(first(), 5);
    for n in 2..7 {
        let (packet, verdict) = flow.data(n);
        assert_eq!(verdict, Verdict::Duplicate(packet), "segment {n}");
    }
    // In other pieces: the second half of 2 with the first of 3.
    let straddling = flow.s.down(2 * MSS + MSS / 2, MSS, 0);
    assert!(matches!(flow.s.hand_in(Side::Wired, &straddling).1, Verdict::Duplicate(_)));
    // What ends with a FIN says more than what waits.
    let fin = Segment { flags: Flags { fin: true, ..ACK }, ..flow.s.down(6 * MSS, MSS, 0) };
    let (fin, verdict) = flow.s.hand_in(Side::Wired, &fin);
    assert_eq!(verdict, Verdict::Held);
    let mut expected = flow.waiting.clone();
    expected.push(fin);
    assert_eq!(flow.left(ms(10_000)), expected);
    assert_eq!((flow.s.stats().duplicates, flow.s.gateway.counters().duplicates), (6, 6));
    assert_eq!(flow.s.gateway.held(), 0);
}

#[test]
fn a_copy_that_is_acknowledged_while_it_waits_takes_no_turn() {
    let mut flow = Flow::new(first(), 2);
    let (again, verdict) = flow.data(1);
    assert_eq!(verdict, Verdict::Held);
    flow.acknowledge(2); // it was only late
    flow.s.now = flow.s.gateway.poll_timeout().expect("two wait");
    let released = (flow.waiting[0], Action::Release { strip: false, mark: false });
    assert_eq!(flow.s.departures(), [(again, Action::Discard(DiscardReason::Duplicate)), released]);
}

#[test]
fn a_queue_of_nothing_but_copies_ends_in_silence() {
    let mut flow = Flow::new(first(), 0);
    let (again, verdict) = flow.data(1);
    assert_eq!(verdict, Verdict::Held);
    flow.acknowledge(2);
    flow.s.now = flow.s.gateway.poll_timeout().expect("one waits");
    assert_eq!(flow.s.departures(), [(again, Action::Discard(DiscardReason::Duplicate))]);
    assert_eq!(flow.s.gateway.held(), 0);
    let next = flow.s.gateway.poll_timeout();
    assert!(next.is_none_or(|next| next > flow.s.now), "{next:?} is due at {:?}", flow.s.now);
}

/// The acknowledgement may be lost on its way to the sender: what that sends for a second time, or after a second, passes.
#[test]
fn nobody_waits_for_ever_for_an_acknowledgement_that_was_lost() {
    let mut flow = Flow::new(first(), 0);
    flow.s.now += Span::from_millis(100);
    flow.acknowledge(2);
    let (packet, verdict) = flow.data(0);
    assert_eq!(verdict, Verdict::Duplicate(packet));
    let (packet, verdict) = flow.data(1); // one after the other, as go-back-N sends them
    assert_eq!(verdict, Verdict::Duplicate(packet));
    assert!(matches!(flow.data(0).1, Verdict::Forward(..)), "it insists");
    flow.s.now += Span::from_millis(1_100);
    let keep_alive = flow.s.down(2 * MSS - 1, 1, 0);
    assert!(matches!(flow.s.hand_in(Side::Wired, &keep_alive).1, Verdict::Forward(..)));
}

#[test]
fn a_repair_is_no_part_of_the_queue_that_codel_keeps_short() {
    let codel = Some(RFC_8289);
    let mut flow = Flow::new(Config { codel, ..first() }, 40);
    let mut repairs = Vec::new();
    let mut dropped = 0;
    while let Some(at) = flow.s.gateway.poll_timeout().filter(|_| flow.s.gateway.held() > 0) {
        flow.s.now = at;
        flow.s.gateway.handle_timeout(at);
        for (packet, action) in flow.s.departures() {
            let waited = matches!(action, Action::Discard(DiscardReason::Waited));
            assert!(!waited || !repairs.contains(&packet), "{packet} is a repair");
            dropped += u32::from(waited);
        }
        if repairs.len() < 10 {
            repairs.push(flow.data(1).0);
        }
    }
    // As many as without repairs: their own short waits do not end the bout.
    assert!(dropped >= 5, "{dropped}");
}

/// The receiver's window is the bound of everything: a sender that goes back to its first byte finds its copies gone and
/// what it waits for next in line.
#[test]
fn going_back_to_the_first_byte_costs_one_turn() {
    let mut flow = Flow::new(first(), 20);
    let (again, _) = flow.data(1);
    let copies = (2..22).filter(|&n| matches!(flow.data(n).1, Verdict::Duplicate(_))).count();
    assert_eq!(copies, 20);
    let left = flow.left(ms(10_000));
    assert_eq!((left.len(), left[0]), (21, again));
}

/// Both ends of a flow whose mesh loses nothing: a sender with 40 segments on their way that sends again what three duplicates
/// name, once, and a receiver that answers every segment.
struct Ends {
    sack: bool,
    next: u32,
    una: u32,
    /// Below it losses are of the window that was halved last (RFC 6582).
    recover: u32,
    duplicates: u32,
    /// Segments that have arrived and are not yet acknowledged in order, and the first that has not.
    beyond: BTreeSet<u32>,
    awaited: u32,
}

impl Ends {
    const WINDOW: u32 = 40;

    /// What the receiver says when segment `n` has arrived.
    fn arrive(&mut self, s: &Script, n: u32) -> Segment {
        if n >= self.awaited {
            self.beyond.insert(n);
        }
        while self.beyond.remove(&self.awaited) {
            self.awaited += 1;
        }
        let mut ack = s.ack(self.awaited * MSS);
        if self.sack && self.beyond.contains(&n) {
            let mut ends = (n, n + 1);
            while self.beyond.contains(&(ends.0 - 1)) {
                ends.0 -= 1;
            }
            while self.beyond.contains(&ends.1) {
                ends.1 += 1;
            }
            let at = |n: u32| s.down(n * MSS, 0, 0).seq;
            ack.options.sack[0] = Some((at(ends.0), at(ends.1)));
        }
        ack
    }

    /// What the sender sends when an acknowledgement of so many segments comes through.
    fn hear(&mut self, acked: u32) -> Vec<u32> {
        let mut sends = Vec::new();
        if acked > self.una {
            (self.una, self.duplicates) = (acked, 0);
            sends.extend((acked < self.recover).then_some(acked)); // a partial acknowledgement
        } else {
            self.duplicates += 1;
            if self.duplicates == 3 && acked >= self.recover {
                self.recover = self.next;
                sends.push(acked);
            }
        }
        while self.next < self.una + Self::WINDOW {
            sends.push(self.next);
            self.next += 1;
        }
        sends
    }
}

/// Twenty seconds of such a flow: segments that CoDel dropped, and repairs by the gateway. The mesh loses what is in
/// `lost`, the first time.
fn twenty_seconds(sack: bool, codel: Option<CodelConfig>, lost: &[u32]) -> (u64, u64) {
    const CROSSES: Span = Span::from_millis(40);
    let mut s = Script::established_by(steady(), Config { codel, dupack: DupAck::Snoop, ..first() });
    s.sample(0, 40);
    let mut ends =
        Ends { sack, next: 1, una: 1, recover: 0, duplicates: 0, beyond: BTreeSet::new(), awaited: 1 };
    let (mut names, mut crossings) = (BTreeMap::new(), BTreeMap::new());
    let mut arrivals: VecDeque<(Instant, u32)> = VecDeque::new();
    let mut sends = ends.hear(1);
    while s.now < ms(20_000) {
        for n in sends.drain(..) {
            let data = s.down(n * MSS, MSS, 0);
            let (packet, verdict) = s.hand_in(Side::Wired, &data);
            names.insert(packet, n);
            if matches!(verdict, Verdict::Forward(..)) {
                arrivals.push_back((s.now + CROSSES, n));
            }
        }
        for (packet, action) in s.departures() {
            let n = names[&packet];
            let crossed = crossings.entry(n).or_insert(0);
            if !matches!(action, Action::Discard(_)) {
                *crossed += 1;
                if *crossed > 1 || !lost.contains(&n) {
                    arrivals.push_back((s.now + CROSSES, n));
                }
            }
        }
        let due = s.gateway.poll_timeout();
        let arrival = arrivals.front().map(|&(at, _)| at);
        let Some(at) =
            [due, arrival].into_iter().flatten().min().filter(|_| s.gateway.held() + arrivals.len() > 0)
        else {
            s.now += Span::from_secs(1); // its timer
            sends.push(ends.una);
            continue;
        };
        s.now = s.now.max(at);
        s.gateway.handle_timeout(s.now);
        while let Some((_, n)) = arrivals.front().copied().filter(|(at, _)| *at <= s.now) {
            arrivals.pop_front();
            let ack = ends.arrive(&s, n);
            let acked = ends.awaited;
            if matches!(s.hand_in(Side::Wireless, &ack).1, Verdict::Forward(..)) {
                sends.extend(ends.hear(acked));
            }
        }
    }
    assert!(ends.una > 300, "{} of some 630 acknowledged", ends.una);
    (s.stats().aqm_drops, s.stats().local_retransmissions)
}

/// The sender halves its window for what CoDel drops, and sends it again: a second copy from here would cross the mesh for
/// nothing.
#[test]
fn what_codel_drops_is_the_senders_to_send_again() {
    for sack in [true, false] {
        let (dropped, repairs) = twenty_seconds(sack, Some(RFC_8289), &[]);
        assert!(dropped >= 20, "{dropped}");
        assert_eq!(repairs, 0, "of {dropped} dropped, SACK {sack}");
    }
}

#[test]
fn what_the_mesh_loses_is_repaired_beside_it() {
    for sack in [true, false] {
        let lost = [20, 80, 81, 150, 200];
        let (_, repairs) = twenty_seconds(sack, None, &lost);
        assert_eq!(repairs, lost.len() as u64, "SACK {sack}");
    }
}

/// One packet makes the receiver acknowledge; a window of copies at a slow pace makes it do so for as long as it takes them all to
/// leave. The latest acknowledgement is long past, so that none of them is known for that.
#[test]
fn of_a_window_of_copies_one_leaves() {
    let mut flow = Flow::new(first(), 0);
    for n in 2..12 {
        flow.data(n);
    }
    flow.left(ms(10_000));
    for n in 1..12 {
        flow.s.now += Span::from_micros(1);
        assert!(!matches!(flow.data(n).1, Verdict::Dropped(_)), "segment {n}");
    }
    let lost_again = flow.s.gateway.held() as u32;
    flow.acknowledge(12); // of their first passages, on its way for long
    flow.s.now += Span::from_secs(2);
    flow.s.gateway.handle_timeout(flow.s.now);
    assert!(lost_again >= 10, "{lost_again} wait");
    let departures = flow.s.departures();
    let gone =
        departures.iter().filter(|(_, action)| *action == Action::Discard(DiscardReason::Duplicate)).count();
    assert_eq!((departures.len() as u32, gone as u32), (lost_again, lost_again - 1), "{departures:?}");
    assert_eq!(flow.s.gateway.held(), 0);
}
