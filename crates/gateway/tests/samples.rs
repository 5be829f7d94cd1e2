//! A gateway that only watches, and is shown a part of the packets: what it tells is of all, within the error that it states.

use crate::common::*;
use meshpace_gateway::{Config, FlowStats, Side, Treatment};
use meshpace_tcp::Segment;
use meshpace_units::{Rate, Span};

/// From the gateway to the mesh host and back.
const TRIP_MS: u64 = 20;
const SECONDS: u64 = 60;

fn sampled() -> Config {
    Config { sampled: true, ..config() }
}

/// One in so many packets is shown, drawn by the generator of Numerical Recipes (chapter 7.1).
struct Draw(u32, u32);

impl Draw {
    fn shows(&mut self) -> bool {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 16) % self.1 == 0
    }
}

/// A download of a segment each millisecond; every second segment is acknowledged. The gateway is shown one in `part` packets. Some
/// segments pass a second time half a round trip later, as from a sender that was too hasty. Each second `look` gets the gateway's
/// figures and the true ones.
fn download(config: Config, part: u32, mut look: impl FnMut(&Script, FlowStats)) -> Script {
    let mut s = Script::established(config);
    s.treatment = Treatment::Observe;
    let mut draw = Draw(1, part);
    let show = |s: &mut Script, draw: &mut Draw, side: Side, segment: &Segment| {
        if draw.shows() {
            let _ = s.hand_in(side, segment);
        }
    };
    for n in 1..=SECONDS * 1_000 {
        s.now = ms(n);
        let segment = s.down(n as u32 * MSS, MSS, 0);
        show(&mut s, &mut draw, Side::Wired, &segment);
        if n % 50 == 0 && n > TRIP_MS / 2 {
            let again = s.down((n - TRIP_MS / 2) as u32 * MSS, MSS, 0);
            show(&mut s, &mut draw, Side::Wired, &again);
        }
        if n > TRIP_MS && n % 2 == 0 {
            let ack = s.ack((n - TRIP_MS + 1) as u32 * MSS);
            show(&mut s, &mut draw, Side::Wireless, &ack);
        }
        if n % 1_000 == 0 && n > 2_000 {
            look(&s, s.stats());
        }
    }
    s
}

#[test]
fn goodput_of_a_sample_is_right_within_its_error() {
    let truth = Rate::bits_per_sec(u64::from(MSS) * 8_000).as_bits_per_sec() as f64;
    for (part, most) in [(1, 0.01), (5, 0.05), (25, 0.3)] {
        let (mut looks, mut outside) = (0, 0);
        let s = download(sampled(), part, |s, stats| {
            let goodput = stats.goodput_down.unwrap();
            let (told, error) = (goodput.rate(s.now).unwrap(), goodput.error(s.now).unwrap());
            assert!(error < most, "one in {part}: {error}");
            let off = (told.as_bits_per_sec() as f64 / truth - 1.0).abs();
            looks += 1;
            outside += u32::from(off > error);
        });
        assert!(outside * 10 <= looks, "one in {part}: {outside} of {looks} looks outside");
        assert_eq!(s.gateway.counters().implausible, 0, "one in {part}");
        let total = s.stats().goodput_down.unwrap().total().0;
        let sent = SECONDS * 1_000 * u64::from(MSS);
        assert!(total > sent * 99 / 100 && total <= sent, "one in {part}: {total}");
    }
}

/// A round trip is measured from a segment that was shown to an acknowledgement that was: it is too long by what lies between two of
/// each. It is hardly ever too short: a segment whose first passage was not shown is known for one that may have passed before, unless
/// nothing behind it was shown either.
#[test]
fn round_trips_of_a_sample_are_too_long_by_its_gaps_at_the_most() {
    for part in [1, 5, 25] {
        let s = download(sampled(), part, |_, stats| {
            let rtt = stats.wireless_rtt.unwrap();
            let gaps = Span::from_millis(3 * u64::from(part - 1) + 2);
            assert!(rtt < Span::from_millis(TRIP_MS) + gaps * 3, "one in {part}: {rtt:?}");
        });
        let trips = s.gateway.round_trips().wireless;
        let short = trips
            .buckets()
            .filter(|(bound, _)| bound.is_some_and(|bound| bound < Span::from_millis(TRIP_MS)));
        let short = short.map(|(_, n)| n).sum::<u64>();
        assert!(short * 100 <= trips.count(), "one in {part}: {short} of {}", trips.count());
        assert!(
            trips.count() > SECONDS * 1_000 / u64::from(part * part * 8),
            "one in {part}: {}",
            trips.count()
        );
    }
}

/// The other direction: the Internet host acknowledges what the mesh host sent.
#[test]
fn an_upload_of_a_sample_has_a_wired_round_trip_and_a_goodput() {
    let mut s = Script::established(sampled());
    s.treatment = Treatment::Observe;
    let mut draw = Draw(7, 5);
    for n in 1..=10_000u64 {
        s.now = ms(n);
        let data = s.up(n as u32 * MSS, MSS, 0);
        if draw.shows() {
            s.forwards(Side::Wireless, &data);
        }
        let ack = s.down(0, 0, n.saturating_sub(30) as u32 * MSS);
        if n > 31 && draw.shows() {
            s.forwards(Side::Wired, &ack);
        }
    }
    let stats = s.stats();
    let rate = stats.goodput_up.unwrap().rate(s.now).unwrap().as_bits_per_sec() as f64;
    assert!((rate / (f64::from(MSS) * 8_000.0) - 1.0).abs() < 0.1, "{rate}");
    let rtt = stats.wired_rtt.unwrap();
    assert!((Span::from_millis(29)..Span::from_millis(60)).contains(&rtt), "{rtt:?}");
}

/// Of the four segments that end a connection the acknowledgements may pass unseen.
#[test]
fn a_connection_ends_with_both_fins() {
    for (config, left) in [(sampled(), 0), (config(), 1)] {
        let mut s = Script::established(config);
        s.treatment = Treatment::Observe;
        for side in [Side::Wired, Side::Wireless] {
            let plain = if side == Side::Wired { s.down(0, 0, 0) } else { s.up(0, 0, 0) };
            let fin = Segment { flags: meshpace_tcp::Flags { fin: true, ..plain.flags }, ..plain };
            s.forwards(side, &fin);
        }
        assert_eq!(s.gateway.flow_count(), left);
    }
}

/// Where all packets come what was never sent is not believed to have been.
#[test]
fn without_samples_what_is_acknowledged_must_have_passed() {
    let s = download(config(), 5, |_, _| {});
    assert!(s.gateway.counters().implausible > 100);
}
