//! The program's verdicts against the hook's: the same random exchanges, packet by packet.
//!
//! The hook's clock is given. The kernel's is not, so before each packet the times that the program has noted are set as long ago as the
//! hook's clock says they are. Between that and the packet some time passes: all gaps are whole tens of milliseconds, and no
//! bound of the rules lies less than 7 ms above one; if it took longer, the packet is run again in the state before.

use super::*;
use meshpace_hook::{Direction, HOOKS, HookMaker, Hooked, Leaving, Met, Passing};
use meshpace_keys::{Setting, Values};
use meshpace_units::{Bytes, Instant};
use proptest::prelude::*;
use std::cell::RefCell;

const TAIL: Span = Span::from_millis(97);
const WAIT: Span = Span::from_millis(207);
const SLACK: Span = Span::from_millis(6);

/// A packet, by what it says.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Tens of milliseconds since the one before.
    gap: u64,
    connection: u16,
    /// Beyond the newest number of its connection.
    more: i32,
    window: u16,
    payload: u32,
    flags: Flags,
    /// Bits beside those: of the two bytes that hold data offset and flags.
    other_flags: [u8; 2],
    options: &'static [u8],
}

const ACK: Flags = Flags { ack: true, ..Flags::NONE };
static OPTIONS: [&[u8]; 11] = [
    &[],
    &[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2],
    &[253, 6, 0x4d, 0x50, 0, 9, 1, 1],
    &[1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2],
    &[172, 8, 0, 0, 0, 0, 0, 0],
    &[1, 1, 8, 9],
    &[3, 3, 0, 1],
    &[1, 3, 3, 3],
    &[3, 3, 5, 3, 3, 4, 1, 1],
    &[1, 1, 1, 3, 3, 15, 8, 9],
    &[3, 4, 3, 0],
];
/// From here on what a SYN's scale is read of.
const SCALES: usize = 6;

fn step() -> impl Strategy<Value = Step> {
    let gap = prop_oneof![24 => 0u64..2, 3 => 2u64..12, 1 => 12u64..60];
    let more = prop_oneof![
        24 => (1u32..4).prop_map(|n| (n * MSS) as i32),
        2 => (4u32..20).prop_map(|n| (n * MSS) as i32),
        1 => Just(0),
        1 => -20_000..20_000i32,
        1 => prop::sample::select(vec![1, i32::MAX, i32::MIN, 1 << 30]),
    ];
    let window =
        prop_oneof![60 => Just(1_000u16), 1 => Just(500), 1 => Just(499), 1 => Just(0), 1 => any::<u16>()];
    let payload = prop_oneof![40 => Just(0u32), 1 => 1..40u32];
    let flags = prop_oneof![
        120 => Just(ACK),
        1 => Just(Flags { psh: true, ..ACK }),
        1 => Just(Flags { ece: true, ..ACK }),
        1 => Just(Flags { cwr: true, ..ACK }),
        1 => Just(Flags { fin: true, ..ACK }),
        1 => Just(Flags { rst: true, ..ACK }),
        1 => Just(Flags { syn: true, ..Flags::NONE }),
        1 => any::<[bool; 7]>().prop_map(|[syn, ack, fin, rst, psh, ece, cwr]| Flags {
            syn, ack, fin, rst, psh, ece, cwr
        }),
    ];
    let other =
        prop_oneof![60 => Just([0, 0]), 1 => Just([0, 0x20]), 1 => (1u8..16).prop_map(|bits| [bits, 0])];
    let options = prop_oneof![30 => 0..2usize, 1 => 2..OPTIONS.len()].prop_map(|n| OPTIONS[n]);
    ((gap, 0..2u16, more, window), (payload, flags, other, options)).prop_map(
        |((gap, connection, more, window), (payload, flags, other_flags, options))| Step {
            gap,
            connection,
            more,
            window,
            payload,
            flags,
            other_flags,
            options,
        },
    )
}

fn filter() -> Hooked<usize> {
    let part = HOOKS.iter().find(|part| part.about.word == "ack-filter").expect("a hook");
    let values = [
        ("filter_bytes", Setting::Whole(u64::from(16 * MSS))),
        ("filter_share", Setting::Whole(8)),
        ("filter_wait", Setting::Real(WAIT.as_secs_f64())),
        ("filter_tail", Setting::Real(TAIL.as_secs_f64())),
    ];
    Hooked::new(HookMaker::new(part, Values::new(values)).hook().expect("it holds"), 1_000)
}

/// The program's note of a connection, with its times by the hook's clock.
#[derive(Clone, Copy)]
struct Noted {
    flow: c::ThinFlow,
    times: [Instant; 3],
}

/// One connection's two sides.
struct Both<'a> {
    bench: &'a mut Bench,
    noted: [Option<Noted>; 2],
}

impl Both<'_> {
    fn choose(&mut self, connection: u16) {
        self.bench.port = self.bench.port / 2 * 2 + connection;
    }

    /// Runs a frame at `now` by the hook's clock.
    fn run(&mut self, connection: u16, now: Instant, frame: &[u8], mark: u32) -> u32 {
        self.choose(connection);
        let key = self.bench.key();
        let place = usize::from(connection);
        let held = self.bench.kernel.held.get(&key, 0).ok();
        let known = self.noted[place];
        loop {
            let before = self.bench.now();
            let set = known.map(|Noted { flow, times }| {
                let [at, passed_at, half_at] = times.map(|time| {
                    // When the last one passed may lie ahead: a tail after it came, if it was sent late.
                    let since = now.as_nanos() as i64 - time.as_nanos() as i64;
                    before.as_nanos().wrapping_add_signed(-since)
                });
                c::ThinFlow { at, passed_at, half_at, ..flow }
            });
            if let Some(flow) = set {
                self.bench.flows.insert(key, flow.to_bytes(), 0).expect("bpf");
            }
            let verdict = self.bench.run_frame(frame, mark);
            if self.bench.now() - before < SLACK {
                self.note(place, now, before, set);
                return verdict;
            }
            // As if it had not been.
            self.bench.told();
            match &held {
                Some(held) => self.bench.kernel.held.insert(key, *held, 0).expect("bpf"),
                None => drop(self.bench.kernel.held.remove(&key)),
            }
            if known.is_none() {
                let _ = self.bench.flows.remove(&key);
            }
        }
    }

    /// What the program has noted now: a time that it has set is now, or when the newest came, or a tail after that.
    fn note(&mut self, place: usize, now: Instant, before: Instant, set: Option<c::ThinFlow>) {
        let known = self.noted[place];
        let found = self.bench.flows.get(&self.bench.key(), 0).ok();
        self.noted[place] = found.map(|bytes| {
            let flow = c::ThinFlow::of_bytes(bytes);
            let (time, was) = (times_of(&flow), set.map(|set| times_of(&set)));
            let was = |n: usize| was.map(|was| was[n]);
            let old = known.map_or([now; 3], |noted| noted.times);
            let times = [0, 1, 2].map(|n| match time[n] {
                same if Some(same) == was(n) => old[n],
                came if Some(came) == was(0) && n == 2 => old[0],
                tail if was(0).map(|at| at + TAIL.as_nanos()) == Some(tail) && n == 1 => old[0] + TAIL,
                set => {
                    assert!(set >= before.as_nanos(), "{set} was set");
                    now
                }
            });
            Noted { flow, times }
        });
    }
}

/// When the newest came, when the last passed, when a window was found small.
const fn times_of(flow: &c::ThinFlow) -> [u64; 3] {
    [flow.at, flow.passed_at, flow.half_at]
}

/// The waiting acknowledgements that go on, and those that are dropped.
fn left(hook: &mut Hooked<usize>) -> (Vec<usize>, Vec<usize>) {
    let (mut passed, mut dropped) = (Vec::new(), Vec::new());
    while let Some(leaving) = hook.poll() {
        match leaving {
            Leaving::Passes(n, _) => passed.push(n),
            Leaving::Dropped(n) => dropped.push(n),
        }
    }
    (passed, dropped)
}

#[test]
fn the_programs_verdicts_are_the_hooks() {
    let Some(mut bench) = bench(16) else { return };
    bench.act(WAIT, TAIL, Span::from_secs(3_600));
    bench.port = 2;
    let bench = RefCell::new(bench);
    let seen = RefCell::new([0u32; 2]);
    let found_small = RefCell::new(0u32);
    // A SYN or none, enough to come out of slow start, then anything.
    let opening = (prop_oneof![1 => 0..SCALES, 4 => SCALES..OPTIONS.len()], 0u32..60);
    let strategy = (opening, any::<bool>(), prop::collection::vec(step(), 1..60));
    proptest!(ProptestConfig::with_cases(300), |(((options, opening), v6, steps) in strategy)| {
        let opening = opening * 16 * MSS;
        let mut bench = bench.borrow_mut();
        bench.port += 2;
        bench.v6 = v6;
        bench.told();
        // What the exchange before has left takes no place.
        let stale: Vec<_> = bench.kernel.held.keys().filter_map(Result::ok).collect();
        stale.iter().for_each(|ends| bench.kernel.forget(&c::Ends::of_bytes(*ends)));
        let mut both = Both { bench: &mut bench, noted: [None, None] };
        let mut hook = filter();
        let mut now = Instant::ZERO + Span::from_secs(100);
        let mut newest = [Seq(u32::MAX - 60_000), Seq(77)];
        // By packet: its connection and number; of which connection what waits.
        let mut sent: Vec<(u16, Seq)> = Vec::new();
        let mut waits: [Option<usize>; 2] = [None, None];
        let plain = |connection, more: u32| Step {
            gap: 0, connection, more: more as i32, window: 1_000, payload: 0, flags: ACK, other_flags: [0, 0], options: &[],
        };
        let syn = Step { flags: Flags { syn: true, ..Flags::NONE }, options: OPTIONS[options], ..plain(0, 0) };
        let first = [syn, plain(0, 0), plain(0, opening), plain(1, 0), plain(1, opening)];
        for step in first.into_iter().chain(steps) {
            now += Span::from_millis(10 * step.gap);
            hook.handle_timeout(now);
            for n in left(&mut hook).0 {
                // Its deadline has come: user space sends it.
                let connection = sent[n].0;
                prop_assert_eq!(waits[usize::from(connection)].take(), Some(n));
                both.choose(connection);
                let held = both.bench.held().expect("it waits in the kernel, too");
                prop_assert_eq!(held.ack, sent[n].1.0);
                prop_assert_eq!(both.run(connection, now, &held.frame, SENT_MARK), NEXT);
            }
            both.bench.told();
            let place = usize::from(step.connection);
            both.choose(step.connection);
            let number = newest[place] + step.more as u32;
            let segment = Segment { ack: number, flags: step.flags, window: step.window, payload: step.payload, ..ack(0) };
            let mut packet = both.bench.build(&Segment { payload: 0, ..segment });
            let tcp = packet.len() - 20;
            packet.extend(step.options);
            packet.extend(vec![0x5a; step.payload as usize]);
            packet[tcp + 12] += (step.options.len() as u8 / 4) << 4;
            packet[tcp + 12] |= step.other_flags[0];
            packet[tcp + 13] |= step.other_flags[1];
            let at = if v6 { 5 } else { 3 };
            packet[at] += step.options.len() as u8 + step.payload as u8;
            let read = meshpace_wire::parse(&packet).expect("TCP");
            let name = sent.len();
            sent.push((step.connection, number));
            let passing = Passing {
                source: read.source,
                destination: read.destination,
                segment: Some(&read.segment),
                says_more: read.says_more,
                length: read.wire_len,
            };
            let met = hook.handle(now, Direction::Along, &passing, name);
            let (mut passed, dropped) = left(&mut hook);
            if met == Met::Passes(name, Default::default()) {
                passed.push(name);
            }
            let passes = passed.contains(&name);
            let frame = both.bench.framed(&packet);
            let verdict = both.run(step.connection, now, &frame, 0);
            prop_assert_eq!(verdict, if passes { NEXT } else { KEPT }, "{:?} after {:?}", step, sent);
            seen.borrow_mut()[usize::from(passes)] += 1;
            let Flags { ack, syn, rst, .. } = step.flags;
            if !(ack || syn || rst) {
                // It acknowledges nothing and ends nothing: what waits goes on waiting.
                prop_assert_eq!(both.bench.held().map(|held| held.ack), waits[place].map(|n| sent[n].1.0));
                continue;
            }
            // What waited before it.
            let before = waits[place].take();
            let told = both.bench.told();
            if let Some(before) = before {
                prop_assert!(passed.contains(&before) || dropped.contains(&before));
                let waited = sent[before].1;
                let Flags { syn, rst, fin, .. } = step.flags;
                let repeats = number == waited && step.payload == 0 && !fin;
                let stands = syn || rst || !(repeats || number.before(waited));
                if dropped.contains(&before) {
                    prop_assert!(!told.contains(&EventKind::Yields(waited.0)));
                } else {
                    // The hook lets it go first; behind what stands for it, nobody misses it.
                    prop_assert_eq!(told.contains(&EventKind::Yields(waited.0)), !stands, "{:?} after {:?}", step, waited);
                    if !stands {
                        let held = both.bench.held().expect("it still waits");
                        prop_assert_eq!(both.run(step.connection, now, &held.frame, SENT_MARK), NEXT);
                    }
                }
            }
            waits[place] = (!passes).then_some(name);
            prop_assert_eq!(both.bench.held().map(|held| held.ack), waits[place].map(|n| sent[n].1.0));
            if !step.flags.rst && !step.flags.syn && step.flags.ack {
                newest[place] = newest[place].later(number);
            }
            prop_assert_eq!(Bytes(hook.len() as u64), Bytes(waits.iter().flatten().count() as u64));
        }
        let small = |noted: &&Noted| noted.flow.half > 0;
        *found_small.borrow_mut() += both.noted.iter().flatten().filter(small).count() as u32;
    });
    let [kept, passed] = *seen.borrow();
    assert!(kept > 1_000 && passed > 1_000, "both happen: {kept} kept, {passed} passed");
    let small = *found_small.borrow();
    assert!(small > 20, "windows are found small: {small}");
}
