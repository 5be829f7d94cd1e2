//! The programs judge a connection's packets as the Rust rules do: the same packets, the same verdicts.

use super::*;
use meshpace_gateway::{Judgement, Side, Windows};

/// A packet of the connection, by distances from where its two streams are.
#[derive(Clone, Copy, Debug)]
struct Step {
    side: Side,
    seq: i32,
    ack: i32,
    payload: u32,
    window: u16,
    flags: Flags,
    scale: Option<u8>,
}

/// The largest distances that the rules know, more or less; half of all numbers; none at all most of the time.
fn distance() -> impl Strategy<Value = i32> {
    let edges = [1, 1_000, 1 << 15, 66_000, 1_000 << 7, 1_000 << 14, 1 << 30, i32::MAX, i32::MIN];
    prop_oneof![
        6 => Just(0),
        2 => -3_000..3_000,
        2 => (prop::sample::select(edges.to_vec()), -1..=1, any::<bool>()).prop_map(|(edge, more, negative)| {
            let edge = edge.wrapping_add(more);
            if negative { edge.wrapping_neg() } else { edge }
        }),
        1 => any::<i32>(),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let flags = prop_oneof![
        10 => Just(ACK),
        1 => Just(Flags::NONE),
        1 => Just(Flags { syn: true, ..Flags::NONE }),
        1 => Just(Flags { syn: true, ..ACK }),
        1 => Just(Flags { fin: true, ..ACK }),
        1 => Just(Flags { rst: true, ..Flags::NONE }),
        1 => Just(Flags { rst: true, ..ACK }),
        1 => any::<[bool; 4]>().prop_map(|[syn, ack, fin, rst]| Flags { syn, ack, fin, rst, ..Flags::NONE }),
    ];
    let side = prop::sample::select(vec![Side::Wired, Side::Wireless]);
    let payload = prop_oneof![Just(0u32), Just(1000), 0..1400u32];
    let window = prop_oneof![2 => Just(1_000u16), 1 => any::<u16>(), 1 => Just(0)];
    let scale = prop::option::of(0..16u8);
    (side, distance(), distance(), payload, window, flags, scale).prop_map(
        |(side, seq, ack, payload, window, flags, scale)| Step {
            side,
            seq,
            ack,
            payload,
            window,
            flags,
            scale,
        },
    )
}

/// The verdicts that the programs are to reach, by the Rust rules. The programs know a connection from its first data
/// on, and of what was before it the offers of the SYNs.
#[derive(Default)]
struct Model {
    windows: Option<Windows>,
    offers: [Option<Option<u8>>; 2],
    fins: [Option<Seq>; 2],
    fins_acked: [bool; 2],
    unbelieved: u64,
}

impl Model {
    /// False if the packet would ask the routing table.
    fn pass(&mut self, side: Side, segment: &Segment) -> bool {
        let Flags { syn, ack, rst, fin, .. } = segment.flags;
        let (own, other) = if side == Side::Wired { (0, 1) } else { (1, 0) };
        let judgement = self.windows.as_mut().map(|windows| windows.judge(side, segment));
        let opens = judgement.is_none_or(|judgement| judgement == Judgement::Anew)
            && segment.payload > 0
            && !syn
            && !rst;
        if opens && side == Side::Wireless {
            return false;
        }
        if syn {
            self.offers = if ack { self.offers } else { [None; 2] };
            self.offers[own] = Some(segment.options.window_scale);
        }
        match judgement {
            Some(Judgement::Implausible) => {
                self.unbelieved += 1;
                return true;
            }
            Some(Judgement::Anew) => self.end(),
            Some(Judgement::Plausible) if rst => self.end(),
            Some(Judgement::Plausible) | None => {}
        }
        if opens {
            let mut windows = Windows::default();
            for (side, offers) in [Side::Wired, Side::Wireless].into_iter().zip(self.offers) {
                offers.into_iter().for_each(|scale| windows.offer(side, scale));
            }
            self.windows = Some(windows);
        }
        let Some(windows) = &mut self.windows else { return true };
        windows.note(side, segment);
        if fin {
            self.fins[own] = Some(segment.end());
        }
        if ack && self.fins[other].is_some_and(|fin| segment.ack.at_or_after(fin)) {
            self.fins_acked[other] = true;
        }
        if self.fins_acked == [true; 2] {
            self.end();
        }
        true
    }

    fn end(&mut self) {
        *self = Self { offers: self.offers, unbelieved: self.unbelieved, ..Self::default() };
    }
}

#[test]
fn the_programs_believe_what_the_rules_of_user_space_do() {
    let Some(bench) = bench() else { return };
    let bench = RefCell::new(bench);
    let opening = any::<bool>();
    let strategy = (opening, prop::collection::vec(step(), 1..40));
    proptest!(ProptestConfig::with_cases(400), |((handshake, steps) in strategy)| {
        let mut bench = bench.borrow_mut();
        // Another connection, of which the kernel knows no SYN either.
        bench.port = bench.port.wrapping_add(1);
        let before = bench.counters().unbelieved;
        let mut model = Model::default();
        // Wired, wireless: the next byte of each.
        let mut next = [START, Seq(7_000)];
        let handshake = handshake.then_some([
            Step { side: Side::Wireless, seq: 0, ack: 0, payload: 0, window: 1_000, scale: Some(7),
                flags: Flags { syn: true, ..Flags::NONE } },
            Step { side: Side::Wired, seq: 0, ack: 0, payload: 0, window: 1_000, scale: Some(3),
                flags: Flags { syn: true, ..ACK } },
        ]);
        let data = Step { side: Side::Wired, seq: 0, ack: 0, payload: 1000, window: 1_000, flags: ACK, scale: None };
        let all = handshake.into_iter().flatten().chain([data]).chain(steps);
        for step in all {
            let (own, other) = if step.side == Side::Wired { (0, 1) } else { (1, 0) };
            let moved = |from: Seq, by: i32| Seq(from.0.wrapping_add_signed(by));
            let segment = Segment {
                flags: step.flags,
                window: step.window,
                options: Options { window_scale: step.scale.filter(|_| step.flags.syn), ..Options::default() },
                ..segment(moved(next[own], step.seq), moved(next[other], step.ack), step.payload)
            };
            if !model.pass(step.side, &segment) {
                continue;
            }
            if step.seq == 0 {
                next[own] = segment.end();
            }
            if step.side == Side::Wired { bench.down(&segment) } else { bench.up(&segment) };
            let key = bench.key();
            prop_assert_eq!(bench.counters().unbelieved - before, model.unbelieved, "{:?}", step);
            prop_assert_eq!(bench.kernel.flow(&key).is_some(), model.windows.is_some(), "{:?}", step);
        }
        bench.told();
    });
}

#[test]
fn one_segment_with_other_numbers_changes_nothing() {
    let Some(mut bench) = bench() else { return };
    let syn = |segment: Segment, ack| Segment { flags: Flags { syn: true, ack, ..Flags::NONE }, ..segment };
    bench.down(&segment(START, 1, 1000));
    bench.up(&segment(1, START + 1000, 0));
    bench.down(&segment(START + 1000, 1, 1000));
    bench.told();
    let known = bench.flow();
    let far = START + 0x4321_0000;
    bench.up(&syn(segment(77, 0, 0), false));
    bench.down(&syn(segment(far, 0, 0), false));
    bench.up(&segment(1, START + 2001, 0));
    bench.down(&segment(far, 1, 1000));
    bench.down(&segment(START + 2000, 500_000_000, 1000));
    bench.up(&segment(500_000_000, START + 2000, 1000));
    assert_eq!((bench.flow(), bench.told(), bench.counters().unbelieved), (known, vec![], 6));
    // They wait for nobody, and nobody for them.
    bench.order(Some(INTERVAL), 100, Treatment::Pace);
    assert_eq!(bench.down(&segment(far, 1, 1000)).departure, None);
    assert!(
        bench
            .down(&segment(START + 2000, 1, 1000))
            .departure
            .is_some_and(|at| at <= monotonic_now() + INTERVAL)
    );
    bench.up(&segment(1, START + 2000, 0));
    assert!(matches!(bench.told()[..], [EventKind::Sample(_)]), "and it is measured as before");
    // Both ends agree on the numbers of another connection.
    bench.down(&segment(far, 500_000_000, 1000));
    bench.up(&segment(500_000_000, far + 1000, 0));
    assert_eq!((bench.told(), bench.flow()), (vec![EventKind::Closed], None));
}
