//! What hosts send: whoever sends more than its share while another host wants more is told to go slower, and nobody else is.

use super::finds::FIND;
use super::*;
use meshpace_gateway::{Coming, Echo, Endpoint, FlowKey, Passage, ShareBy, Sign, Uploading};
use meshpace_tcp::{Flags, Options, Segment};
use meshpace_units::Seq;
use proptest::prelude::*;
use std::collections::VecDeque;

const FETCHES: u8 = 1;
const SENDS: u8 = 2;
const SIZE: u64 = 1_500;
const PAYLOAD: u32 = 1_448;
const SCALE: u8 = 7;
/// Instead of a number: an acknowledgement, which takes no turn on the channel.
const ACKNOWLEDGES: u32 = u32::MAX;
/// A receiver's room: 512 segments.
const ROOM: u16 = ((512 * PAYLOAD) >> SCALE) as u16;
const ACK: Flags = Flags { ack: true, ..Flags::NONE };

fn key(host: u8) -> FlowKey {
    let end = |address, port| Endpoint { address, port };
    FlowKey { wireless: end(address(host), 1), wired: end(address(250), 443) }
}

fn syn(answers: bool, scale: Option<u8>) -> Segment {
    let options = Options { mss: Some(PAYLOAD as u16), window_scale: scale, ..Options::default() };
    let flags = Flags { syn: true, ack: answers, ..Flags::NONE };
    let ack = Seq(u32::from(answers));
    Segment { flags, options, window: 65_000, ack, ..Segment::new(1, 443, Seq(0)) }
}

fn data(seq: u32) -> Segment {
    Segment { flags: ACK, payload: PAYLOAD, window: 500, ack: Seq(1), ..Segment::new(1, 443, Seq(seq)) }
}

fn ack(seq: u32, window: u16) -> Segment {
    Segment { flags: ACK, ack: Seq(seq), window, ..Segment::new(443, 1, Seq(1)) }
}

/// A channel that carries 250 packets a second. Packets of host 1, which fetches, wait at the shaper; host 2 sends as far as its window lets it, and
/// has two turns of three on the channel. The Internet answers after 20 ms.
struct Air {
    now: Instant,
    shaper: Shaper<u32>,
    /// Whether packets are put in for host 1.
    wants: bool,
    next: u32,
    waits: VecDeque<u32>,
    turns: u32,
    sent: u32,
    edge: u32,
    acks: VecDeque<(Instant, u32)>,
    /// Packets of each host that were carried, and windows that were changed.
    carried: [u32; 2],
    changed: u32,
}

impl Air {
    fn new(config: ShaperConfig) -> Self {
        let mut shaper = Shaper::new(config);
        let now = Instant::ZERO;
        let first = syn(false, Some(SCALE));
        let coming = |segment| Coming {
            host: address(SENDS),
            size: Bytes(60),
            ecn: Ecn::NotEct,
            segment: Some((Box::leak(Box::new(key(SENDS))), segment)),
        };
        assert_eq!(shaper.comes(now, &coming(&first)), Passage::Passes);
        assert_eq!(shaper.announces(now, address(SENDS), (&key(SENDS), &syn(true, Some(SCALE))), true), None);
        Self {
            now,
            shaper,
            wants: true,
            next: 0,
            waits: VecDeque::new(),
            turns: 0,
            sent: 1,
            edge: 1 + 65_000,
            acks: VecDeque::new(),
            carried: [0; 2],
            changed: 0,
        }
    }

    /// Goes on for so many seconds; what each carried then, in packets a second, and how many windows were changed.
    fn run(&mut self, seconds: u32) -> ([u32; 2], u32) {
        (self.carried, self.changed) = ([0; 2], 0);
        for turn in 0..250 * seconds {
            self.now += Span::from_millis(4);
            self.step(turn);
        }
        (self.carried.map(|packets| packets / seconds), self.changed)
    }

    fn step(&mut self, turn: u32) {
        let now = self.now;
        while self.wants && self.shaper.len() < 12 {
            let (packet, start) = (self.next, Seq(self.next.wrapping_mul(PAYLOAD)));
            self.next += 1;
            let sign = Some(Sign::Segment(key(FETCHES), start, start + PAYLOAD));
            let (host, size, ecn) = (address(FETCHES), Bytes(SIZE), Ecn::NotEct);
            self.shaper
                .handle(now, Parcel { host, flow: flow(FETCHES, 1), size, ecn, sign, packet }, || NEAR);
        }
        while let Some(leaves) = self.shaper.poll(now) {
            if let Shaped::Passes { packet, .. } = leaves
                && packet != ACKNOWLEDGES
            {
                self.waits.push_back(packet);
            }
        }
        let sends = self.edge.wrapping_sub(self.sent) >= PAYLOAD;
        if sends && (self.waits.is_empty() || turn % 3 != 0) {
            self.sends();
        } else if let Some(packet) = self.waits.pop_front() {
            self.carried[0] += 1;
            let end = Seq(packet.wrapping_mul(PAYLOAD)) + PAYLOAD;
            self.shaper.hears(now, Echo::Ack(key(FETCHES), end));
        }
        while let Some(end) = self.due(now) {
            let answer = ack(end, ROOM);
            let field = self.shaper.announces(now, address(SENDS), (&key(SENDS), &answer), true);
            self.changed += u32::from(field.is_some());
            let (host, size, ecn, packet) = (address(SENDS), Bytes(52), Ecn::NotEct, ACKNOWLEDGES);
            let parcel = Parcel { host, flow: flow(SENDS, 1), size, ecn, sign: None, packet };
            self.shaper.handle(now, parcel, || NEAR);
            let edge = end + (u32::from(field.unwrap_or(ROOM)) << SCALE);
            assert!(edge + (1 << SCALE) > self.edge, "taken back: {edge} after {}", self.edge);
            self.edge = edge;
        }
    }

    /// Up to where all is acknowledged now.
    fn due(&mut self, now: Instant) -> Option<u32> {
        let at = self.acks.iter().position(|(at, _)| *at <= now)?;
        self.acks.remove(at).map(|(_, end)| end)
    }

    fn sends(&mut self) {
        let segment = data(self.sent);
        self.sent += PAYLOAD;
        self.carried[1] += 1;
        let of = key(SENDS);
        let (host, size, ecn) = (address(SENDS), Bytes(SIZE), Ecn::NotEct);
        let coming = Coming { host, size, ecn, segment: Some((&of, &segment)) };
        assert_eq!(self.shaper.comes(self.now, &coming), Passage::Passes, "its windows tell it enough");
        // The second is acknowledged at once, one that is alone when the receiver's timer says so.
        self.turns += 1;
        let takes = if self.turns % 2 == 0 { 20 } else { 60 };
        self.acks.retain(|(_, end)| *end + PAYLOAD != self.sent || takes == 60);
        self.acks.push_back((self.now + Span::from_millis(takes), self.sent));
    }
}

fn config(uploads: Uploading) -> ShaperConfig {
    ShaperConfig { find: Some(FIND), uploads, by: ShareBy::Bytes, ..patient() }
}

/// Without it host 2 has two thirds; with it half, as soon as its window is used up, and all of the channel once host 1 wants no more.
#[test]
fn a_host_that_sends_more_than_its_share_goes_slower_while_another_wants_more() {
    let mut free = Air::new(config(Uploading::Free));
    free.run(10);
    let ([fetches, sends], changed) = free.run(10);
    assert!(fetches < 90 && sends > 160 && changed == 0, "{fetches} {sends} {changed}");

    let mut air = Air::new(config(Uploading::Shared));
    air.run(10);
    let ([fetches, sends], changed) = air.run(10);
    assert!((115..=135).contains(&fetches) && (115..=135).contains(&sends), "{fetches} {sends}");
    assert!(changed > 500, "{changed}");
    air.wants = false;
    air.run(5);
    let ([fetches, sends], changed) = air.run(5);
    assert_eq!((fetches, changed), (0, 0), "nobody else wants more");
    assert!(sends > 240, "{sends}");
}

/// A given rate is the operator's, and says nothing of how full the mesh is.
#[test]
fn a_given_rate_holds_nobody_back() {
    let mut air = Air::new(ShaperConfig { find: None, ..config(Uploading::Shared) });
    air.run(10);
    let (_, changed) = air.run(10);
    assert_eq!(changed, 0);
}

/// An air in which host 1 wants more and host 2 sends too much, by what is no TCP or has no SYN that was seen; how many of its packets were
/// marked and dropped in ten seconds.
fn told(size: u64, ecn: Ecn, segment: Option<Segment>) -> (u32, u32) {
    let mut air = Air::new(config(Uploading::Shared));
    let (mut marked, mut dropped) = (0, 0);
    let of = FlowKey { wireless: Endpoint { address: address(SENDS), port: 9 }, ..key(SENDS) };
    for n in 0..2_500 {
        air.now += Span::from_millis(4);
        air.edge = air.sent;
        if n % 3 == 0 {
            air.step(n);
            continue;
        }
        let segment = segment.as_ref().map(|segment| (&of, segment));
        let coming = Coming { host: address(SENDS), size: Bytes(size), ecn, segment };
        match air.shaper.comes(air.now, &coming) {
            Passage::Passes => {}
            Passage::Marked => marked += 1,
            Passage::Dropped => dropped += 1,
        }
    }
    (marked, dropped)
}

/// What keeps to no window that is known is told now and then: marked where it reacts to that. A call's packets pass, however many.
#[test]
fn what_keeps_to_no_window_is_marked_or_dropped_now_and_then() {
    let few = 5..250;
    let (marked, dropped) = told(2_500, Ecn::NotEct, None);
    assert!(marked == 0 && few.contains(&dropped), "{dropped}");
    let (marked, dropped) = told(2_500, Ecn::Ect0, None);
    assert!(dropped == 0 && few.contains(&marked), "{marked}");
    let (_, dropped) = told(2_500, Ecn::NotEct, Some(data(77)));
    assert!(few.contains(&dropped), "its SYN was not seen: {dropped}");
    assert_eq!(told(400, Ecn::NotEct, None), (0, 0));
}

/// Where an end sent no scale there is none: the field counts bytes, and a window of 65,535 may be more than enough.
#[test]
fn a_connection_whose_syn_was_not_seen_keeps_its_windows() {
    let mut air = Air::new(config(Uploading::Shared));
    air.run(10);
    let of = FlowKey { wireless: Endpoint { address: address(SENDS), port: 9 }, ..key(SENDS) };
    for n in 1..50 {
        let answer = ack(n * PAYLOAD, ROOM);
        assert_eq!(air.shaper.announces(air.now, address(SENDS), (&of, &answer), true), None);
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Host 2 sends so many segments, as far as it may.
    Send(u32),
    /// So much of that is acknowledged, with this room, by a packet that may be changed or not.
    Ack(u32, u16, bool),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1u32..12).prop_map(Step::Send),
        4 => (0u32..20_000, 0u16..=u16::MAX, prop::bool::weighted(0.9))
            .prop_map(|(bytes, room, changes)| Step::Ack(bytes, room, changes)),
        1 => (0u64..300).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever comes: an edge is taken back by less than a unit, unless its receiver takes it back; none is further than the receiver's own; a
    /// segment more may be sent, if the receiver has room for it.
    #[test]
    fn no_edge_is_taken_back_and_none_is_beyond_the_receivers(
        scale in 0u8..=14,
        steps in prop::collection::vec(step(), 50..400),
    ) {
        let mut air = Air::new(config(Uploading::Shared));
        air.run(8);
        let of = FlowKey { wireless: Endpoint { address: address(SENDS), port: 9 }, ..key(SENDS) };
        let (first, answer) = (syn(false, Some(scale)), syn(true, Some(scale)));
        let (host, ecn) = (address(SENDS), Ecn::NotEct);
        prop_assert_eq!(air.shaper.comes(air.now, &Coming { host, size: Bytes(60), ecn, segment: Some((&of, &first)) }), Passage::Passes);
        prop_assert_eq!(air.shaper.announces(air.now, host, (&of, &answer), true), None);
        let (mut sent, mut acked, mut told) = (1u32, 1u32, 65_001u32);
        // As far as the receiver itself has let it go.
        let mut offered = told;
        for step in steps {
            match step {
                Step::Wait(ms) => {
                    for n in 0..ms as u32 / 4 {
                        air.now += Span::from_millis(4);
                        air.step(n);
                    }
                }
                Step::Send(segments) => {
                    for _ in 0..segments {
                        if sent + PAYLOAD <= told {
                            let segment = data(sent);
                            let coming = Coming { host, size: Bytes(SIZE), ecn, segment: Some((&of, &segment)) };
                            prop_assert_eq!(air.shaper.comes(air.now, &coming), Passage::Passes);
                            sent += PAYLOAD;
                        }
                    }
                }
                Step::Ack(bytes, room, changes) => {
                    acked = sent.min(acked + bytes);
                    offered = offered.max(acked + (u32::from(room) << scale));
                    let answer = ack(acked, room);
                    let field = air.shaper.announces(air.now, host, (&of, &answer), changes);
                    prop_assert!(changes || field.is_none());
                    let field = field.unwrap_or(room);
                    prop_assert!(field <= room, "{} of {}", field, room);
                    let edge = acked + (u32::from(field) << scale);
                    prop_assert!(field == room || edge + (1 << scale) > told, "taken back: {} after {}", edge, told);
                    prop_assert!(edge >= acked + PAYLOAD.min(u32::from(room) << scale), "{} behind {}", edge, acked);
                    told = told.max(edge);
                }
            }
            prop_assert!(told <= offered);
        }
    }
}
