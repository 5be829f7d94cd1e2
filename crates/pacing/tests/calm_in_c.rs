//! The law of rate by delay stands twice: here, and in integers for the kernel (`bpf/include/calm.h`). Told the same, both have the same
//! rate to one part in a thousand.
//!
//! The C is compiled for this machine: it is the text that clang makes eBPF of, without a kernel in between.

#[path = "../../../bpf/compiled.rs"]
mod compiled;

use compiled::compiled;
use meshpace_pacing::{DelayRate, DelayRateConfig, TrainsInFlight};
use meshpace_units::{Instant, Span};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// As many trains as a kernel's congestion control counts.
const MOST_TRAINS: u32 = 0xffff;
/// A rate that is raised so much, in 2^-25 of its logarithm, is no power of two of what it was. The start doubles four packets, or one
/// train, a round trip: whether 256 of them are more than 256, and 2 trains are two, would be what rounding makes of it in either law.
/// No path here takes so long, some 600 ms, that a train a round trip with the shortest queue, raised so much, is one an empty round trip.
const A_LITTLE: f64 = 809.0;

/// The wait of a wire's packets, microseconds: less than the 10 us that clocks distinguish. Where they wait longer it is for far longer:
/// the mean is never 10 us exactly, which rounding would make more or less.
const WIRE: u64 = 9;
const LATE: u64 = 2_000;
/// Before so many it finds nothing in its way, so that the start comes to the rates at which a wire is known for one.
const START: usize = 60;

/// The law in C, as a program.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    compiled(env!("CARGO_MANIFEST_DIR"), "tests/calm_in_c.c", Path::new(env!("CARGO_TARGET_TMPDIR")))
});

/// What the program says of each line.
fn in_c(told: &str) -> Vec<[f64; 4]> {
    let mut child = Command::new(&*PROGRAM)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it was compiled");
    let mut input = child.stdin.take().expect("piped");
    let lines = told.to_owned();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let done = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads all");
    assert!(done.status.success());
    let words = |line: &str| {
        let mut numbers = line.split(' ').map(|word| word.parse().expect("a number"));
        std::array::from_fn(|_| numbers.next().expect("four"))
    };
    String::from_utf8(done.stdout).expect("text").lines().map(words).collect()
}

/// The law in Rust, as a sender drives it (crates/tcp, control/delay_rate); the unit is given, not learned.
struct Sender {
    law: DelayRate,
    trains: TrainsInFlight,
    /// The trains that the rate had on its way when a round trip was last reported.
    paced: f64,
    unit: u32,
    now: u64,
}

impl Sender {
    fn new(unit: u32, burst: u32) -> Self {
        let mut law = DelayRate::new(DelayRateConfig::CALM).friendly(1.3, 0.006).on_host();
        law.set_unit(Instant::ZERO, unit);
        law.set_burst(f64::from(burst));
        Self { law, trains: TrainsInFlight::new(), paced: 0.0, unit, now: 0 }
    }

    fn at(&self) -> Instant {
        Instant::ZERO + Span::from_micros(self.now)
    }

    fn keep_one(&mut self) {
        if let Some(base) = self.law.base().filter(|_| self.unit > 1) {
            self.law.raise(f64::from(self.unit) / (base + self.law.queue().unwrap_or(0.0)));
        }
    }

    fn set_unit(&mut self, unit: u32) {
        self.law.set_unit(self.at(), unit);
        (self.unit, self.trains) = (unit, TrainsInFlight::new());
    }

    fn on_arrived(&mut self, packets: f64) {
        self.law.on_arrived(packets);
        self.trains.on_arrived(packets / f64::from(self.unit));
    }

    fn on_round_trip(&mut self, rtt: u64, nothing_out: bool) {
        let rtt = Span::from_micros(rtt);
        let known = self.law.base().map(|base| Span::from_secs_f64(base + self.law.queue().unwrap_or(0.0)));
        let rtt = known.filter(|known| nothing_out && *known < rtt).unwrap_or(rtt);
        let now = self.at();
        self.law.on_round_trip(now, rtt);
        if let Some(base) = self.law.base().filter(|_| self.unit > 1) {
            let unit = f64::from(self.unit);
            self.paced = self.law.rate() * base / unit;
            if self.trains.follow(now, self.paced, base) {
                self.law.bound(0.999 * unit / base);
            }
        }
        self.keep_one();
    }

    fn on_timeout(&mut self) {
        self.law.on_timeout(self.at());
        self.keep_one();
    }

    fn told(&self) -> Told {
        let count = self.trains.count().min(MOST_TRAINS);
        Told {
            rate: self.law.rate(),
            pace: self.pace(),
            trains: Trains { count, paced: self.paced },
            window: self.window(),
        }
    }

    /// Packets a second: one train alone leaves as soon as the one before it is acknowledged.
    fn pace(&self) -> f64 {
        let alone = self.law.base().filter(|_| self.unit > 1 && self.trains.count() == 1);
        alone.map_or(self.law.rate(), |base| self.law.rate().max(f64::from(self.unit) / base))
    }

    /// Of whole segments, five of them in flight.
    fn window(&self) -> Option<f64> {
        let unit = f64::from(self.unit);
        let most = f64::from(self.trains.count()) * unit;
        let most = most.min(f64::from(MOST_TRAINS * self.unit));
        let one = || self.law.base().map(|base| 2.0 * self.law.rate() * base + 16.0);
        if self.unit == 1 { one() } else { Some(if 5.0 <= most - unit { most } else { most.min(5.0) }) }
    }
}

/// What a flow says after an event: packets a second, by the rate and as they leave, trains, and the window.
#[derive(Clone, Copy, Debug)]
struct Told {
    rate: f64,
    pace: f64,
    trains: Trains,
    window: Option<f64>,
}

/// How many trains may be on their way, and how many the rate has, whose whole ones count.
#[derive(Clone, Copy, Debug)]
struct Trains {
    count: u32,
    paced: f64,
}

impl Trains {
    /// Whether they are as many. Where a part in a thousand decides the number it may be one more or less.
    fn is(self, found: f64) -> bool {
        let off = (found - f64::from(self.count)).abs();
        off == 0.0 || off == 1.0 && (self.paced - self.paced.round()).abs() < 1e-3 * self.paced
    }
}

/// An event of a flow, with the time since the event before, microseconds.
#[derive(Clone, Copy, Debug)]
struct Stimulus {
    gap: u64,
    /// Of the empty path's round trip and what varies, shares that make a round trip.
    path: f64,
    queue: f64,
    /// What arrived, in what the rate sends meanwhile.
    arrived: f64,
    nothing_out: bool,
    /// Of a wire: something else was in the way.
    late: bool,
    loss: bool,
    timeout: bool,
    /// The unit changes, if there is another.
    changes: bool,
}

fn told() -> impl Strategy<Value = Stimulus> {
    let share = 0.0..1.0f64;
    (0.0..1.0f64, share.clone(), share, 0.05..1.6f64, any::<u8>()).prop_map(
        |(gap, path, queue, arrived, chance)| Stimulus {
            gap: (gap * 1e6) as u64,
            path,
            queue,
            arrived,
            nothing_out: chance % 8 == 0,
            late: chance % 32 == 3,
            loss: chance % 16 < 2,
            timeout: chance == 255,
            changes: chance == 254,
        },
    )
}

/// A path: its round trip and what it may wait beside that, in microseconds, and the pace of acknowledgements in round trips.
fn path() -> impl Strategy<Value = (u64, u64, f64)> {
    prop_oneof![
        // A mesh: milliseconds, and queues of as many; a wire, whose queue is no longer than clocks tell; a long way; one that takes
        // seconds, so that the least round trip is forgotten.
        (2_000..200_000u64, 500..300_000u64, 0.05..1.5f64),
        (100..3_000u64, Just(WIRE), 0.2..1.5f64),
        (50_000..400_000u64, 100..20_000u64, 0.05..1.5f64),
        (1_000_000..2_000_000u64, 500_000..4_000_000u64, 0.1..1.5f64),
    ]
}

/// `other`: the unit that it changes to, and back.
fn compare(
    unit: u32,
    mut other: u32,
    burst: u32,
    (empty, varies, pace): (u64, u64, f64),
    all: &[Stimulus],
) -> Result<(), TestCaseError> {
    let mut sender = Sender::new(unit, burst);
    let mut lines = format!("u {unit} 0 0\nb {burst} 0 0\n");
    let mut expected = vec![Some(sender.told()); 2];
    for (number, told) in all.iter().enumerate() {
        let gap = 1 + (told.gap as f64 / 1e6 * pace * empty as f64) as u64;
        sender.now += gap;
        let packets = (told.arrived * sender.law.rate() * gap as f64 / 1e6).round();
        if told.timeout {
            sender.on_timeout();
            writeln!(lines, "t {} 0 0", sender.now).expect("a string");
        } else if told.loss {
            sender.law.on_loss();
            lines.push_str("l 0 0 0\n");
        } else {
            let late = if varies == WIRE && told.late && number > START { LATE } else { 0 };
            let rtt = empty + (told.path * told.path * told.queue * varies as f64) as u64 + late;
            sender.on_arrived(packets);
            writeln!(lines, "a {packets} 0 0").expect("a string");
            expected.push(Some(sender.told()));
            if told.changes && other != sender.unit {
                let before = std::mem::replace(&mut other, sender.unit);
                sender.set_unit(before);
                writeln!(lines, "u {before} 0 0").expect("a string");
                // The kernel's finds that out when the next round trip is measured.
                expected.push(None);
            }
            sender.on_round_trip(rtt, told.nothing_out);
            writeln!(lines, "r {} {rtt} {}", sender.now, u8::from(told.nothing_out)).expect("a string");
        }
        expected.push(Some(sender.told()));
        sender.law.raise(sender.law.rate() * (A_LITTLE / f64::from(1 << 25)).exp2());
        writeln!(lines, "f {A_LITTLE} 0 0").expect("a string");
        expected.push(Some(sender.told()));
    }
    let found = in_c(&lines);
    prop_assert_eq!(found.len(), expected.len());
    for ((line, [rate, trains, window, pace]), known) in lines.lines().zip(found).zip(expected) {
        let Some(known) = known else { continue };
        let rate = (rate / f64::from(1 << 25)).exp2();
        prop_assert!(
            (rate / known.rate - 1.0).abs() < 1e-3,
            "{line}: {rate} instead of {} packets/s\n{lines}",
            known.rate
        );
        prop_assert!((pace / (known.pace * 1448.0) - 1.0).abs() < 2e-3, "{line}: {pace} bytes/s");
        prop_assert!(known.trains.is(trains), "{line}: {trains}, {known:?}\n{lines}");
        // The window is of so many trains.
        let alike = trains == f64::from(known.trains.count);
        if let Some(allowed) = known.window.filter(|_| window > 0.0 && alike) {
            prop_assert!(
                (window - allowed).abs() < f64::from(unit.max(other)) + 1e-3 * allowed,
                "{line}: {window}, {allowed}"
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packet_by_packet_both_have_the_same_rate(path in path(), all in prop::collection::vec(told(), 1..400)) {
        compare(1, 1, 1, path, &all)?;
    }

    #[test]
    fn and_where_the_host_hands_down_bursts(burst in 2u32..45, path in path(), all in prop::collection::vec(told(), 1..400)) {
        compare(1, 1, burst, path, &all)?;
    }

    #[test]
    fn train_by_train_too(
        (unit, other, burst) in (4u32..17, prop_oneof![Just(1u32), 4u32..17], 1u32..45),
        path in path(),
        all in prop::collection::vec(told(), 1..400)
    ) {
        compare(unit, other, burst, path, &all)?;
    }
}

/// Where the queue asks for 1.1 trains an empty round trip of 20 ms, ones that bring nothing, again and again; then ones that do until the
/// queue is too long.
#[test]
fn a_second_train_waits_as_long_in_both() {
    let told = |arrived: f64, queue: f64| Stimulus {
        gap: 500_000,
        path: 1.0,
        queue,
        arrived,
        nothing_out: false,
        late: false,
        loss: false,
        timeout: false,
        changes: false,
    };
    let empty = || [told(0.5, 0.0); 4];
    let mut all = Vec::new();
    for _ in 0..4 {
        all.extend(empty());
        all.extend([told(0.8, 0.38); 1_000]);
    }
    for _ in 0..8 {
        all.extend(empty());
        all.extend([told(1.2, 0.38); 300]);
        all.extend([told(1.2, 0.6); 50]);
    }
    compare(8, 8, 1, (20_000, 40_000, 1.0), &all).expect("alike");
}

/// Lines that report round trips, each with its time after the one before, microseconds, and with the number of packets that
/// arrive.
fn round_trips(arrive: u32, rtts: &[(u64, u64)]) -> String {
    let mut now = 0;
    let mut lines = String::new();
    for (gap, rtt) in rtts {
        now += gap;
        writeln!(lines, "a {arrive} 0 0\nr {now} {rtt} 0").expect("a string");
    }
    lines
}

#[test]
fn clocks_that_wrap_and_long_silence_stop_nothing() {
    // 71 minutes and 36 s are 2^32 us, 68 h the wrap of the least round trip's parts.
    for silence in [4_294_967_296u64, 4_294_967_290, 245_760_000_000, 30_000_000, 33_750_000] {
        let told: Vec<_> = (0..40).map(|n| (if n == 20 { silence } else { 50_000 }, 40_000)).collect();
        let found = in_c(&round_trips(100_000, &told));
        let rates: Vec<f64> = found.iter().map(|[rate, ..]| *rate).collect();
        assert!(rates[79] > rates[41], "{silence}: {rates:?}");
    }
}

#[test]
fn a_delay_of_minutes_is_the_longest_that_is_known() {
    let told: Vec<_> =
        (0..400).map(|n| (3_000_000, if n % 4 == 0 { 40_000 } else { 4_000_000_000 })).collect();
    // Nothing arrives, or the queue would be drained by what does.
    let found = in_c(&round_trips(0, &told));
    let [rate, _, window, pace] = found[799];
    assert_eq!((rate, window, pace), (-77_910_978.0, 16.0, 289.0), "a packet in five seconds");
}
