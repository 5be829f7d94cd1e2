use super::super::{AckKind, InitialWindow};
use super::*;
use crate::tests::bare;

const MSS: u32 = 1448;
const RTT: Span = Span::from_millis(100);

fn few(config: &FewConfig, initial: f64) -> Few {
    let rules =
        Rules { initial_window: InitialWindow::Segments(initial), initial_ssthresh: Some(2.0), ..Rules::NS2 };
    let mut few = Few::new(config, &Surroundings { rules, segment: MSS, from_mesh: true });
    few.on_connected(false, MSS);
    few
}

fn window(control: &dyn Control) -> f64 {
    control.cwnd().expect("a window")
}

fn original() -> FewConfig {
    FewConfig::from_values(&Values::defaults(PART.about.keys()))
}

fn out(una: u64) -> Outstanding {
    let max = una + 10 * u64::from(MSS);
    Outstanding { queued: false, una, nxt: max, max, flight: 10.0, limit: 64.0 }
}

fn ack(kind: AckKind, una: u64, acked: u64) -> Ack<'static> {
    let oldest = Some(RTT).filter(|_| kind == AckKind::New);
    Ack { now: Instant::ZERO + Span::from_secs(1), acked, oldest, ..bare(kind, out(una), MSS) }
}

fn acknowledge(few: &mut dyn Control, n: u64) {
    for i in 1..=n {
        let _: Reaction = few.on_ack(&ack(AckKind::New, 1 + i * u64::from(MSS), u64::from(MSS)));
    }
}

/// schemes.md 21, item 6.
#[test]
fn a_fraction_of_a_segment_a_round_trip() {
    let mut few = few(&original(), 10.0);
    acknowledge(&mut few, 10);
    assert!((window(&few) - 10.01).abs() < 1e-5, "{}", window(&few));
    let allowed = few.window(MSS, true).map(|allowance| allowance.bytes);
    assert_eq!(allowed, Some(10 * u64::from(MSS)), "(6.2): whole segments");
}

/// schemes.md 21, item 6, and 6.3.
#[test]
fn below_a_segment_they_are_spaced() {
    let config = FewConfig { w_min: 0.1, ..original() };
    let mut few = few(&config, 10.0);
    acknowledge(&mut few, 30);
    let timed_out = |few: &mut Few| few.on_timeout(Instant::ZERO + Span::from_secs(2), &out(50_000));
    timed_out(&mut few);
    assert_eq!((window(&few), few.pacing().interval), (1.0, None), "a first timeout leaves a segment");
    timed_out(&mut few);
    assert_eq!((window(&few), few.pacing().interval), (0.5, Some(RTT * 2)));
    assert!(few.timeout(Span::from_millis(150)) >= RTT * 2, "the timer waits for the next one");
    assert_eq!(few.timeout(Span::from_secs(3)), Span::from_secs(3));
    acknowledge(&mut few, 1);
    assert!((window(&few) - 0.52).abs() < 1e-12, "(6.1)");
    for _ in 0..9 {
        timed_out(&mut few);
    }
    assert_eq!((window(&few), few.pacing().interval), (0.1, Some(RTT * 10)), "the floor");
    acknowledge(&mut few, 100);
    assert!(window(&few) >= 1.0 && few.pacing().interval.is_none(), "back to (6.2)");
}

#[test]
fn with_the_default_the_window_ends_at_a_segment() {
    let mut few = few(&original(), 10.0);
    for _ in 0..5 {
        few.on_timeout(Instant::ZERO, &out(50_000));
    }
    assert_eq!((window(&few), few.pace(Instant::ZERO)), (1.0, None));
    assert_eq!(few.timeout(RTT), RTT);
}

/// alpha = 1 is standard TCP (schemes.md 6): the same windows, bit for bit.
#[test]
fn alpha_one_is_the_base_tcp() {
    for base in [Base::NewReno, Base::Tahoe] {
        let rules = Rules { whole_segments: true, ..Rules::RFC };
        let surroundings = Surroundings { rules, segment: MSS, from_mesh: true };
        let mut few = Few::new(&FewConfig { alpha: 1.0, base, ..original() }, &surroundings);
        let mut plain: Box<dyn Control> = match base {
            Base::NewReno => Box::new(newreno(rules)),
            Base::Tahoe => Box::new(tahoe(rules)),
        };
        let both: [&mut dyn Control; 2] = [&mut few, &mut *plain];
        let seen = both.map(|control| {
            control.on_connected(false, MSS);
            acknowledge(control, 40);
            let grown = window(control);
            let at = 1 + 41 * u64::from(MSS);
            for _ in 0..3 {
                let _: Reaction = control.on_ack(&ack(AckKind::Duplicate, at, 0));
            }
            let after_loss = window(control);
            control.on_timeout(Instant::ZERO, &out(at));
            acknowledge(control, 60);
            [grown, after_loss, window(control)].map(f64::to_bits)
        });
        assert_eq!(seen[0], seen[1], "{base:?}");
    }
}

/// schemes.md 6, "WiFu's class": with alpha 0.01 a window of more than 14 segments gains less than a byte an acknowledgement.
#[test]
fn wifus_whole_bytes() {
    let config = FewConfig { arithmetic: Arithmetic::Wifu, w_min: 0.1, ..original() };
    let mut at_fourteen = few(&config, 14.0);
    acknowledge(&mut at_fourteen, 1);
    assert!((window(&at_fourteen) * f64::from(MSS) - f64::from(14 * MSS + 1)).abs() < 1e-6);
    let mut above = few(&config, 15.0);
    acknowledge(&mut above, 1_000);
    assert_eq!(window(&above), 15.0);
    for _ in 0..3 {
        above.on_timeout(Instant::ZERO, &out(50_000));
    }
    assert_eq!((window(&above), above.pace(Instant::ZERO)), (1.0, None), "no mode below a segment");
}

#[test]
fn slow_start_is_as_usual_unless_told_otherwise() {
    let start = |in_slow_start| {
        let mut few = few(&FewConfig { in_slow_start, alpha: 0.5, ..original() }, 1.0);
        acknowledge(&mut few, 1);
        window(&few)
    };
    assert_eq!([start(false), start(true)], [2.0, 1.5]);
}
