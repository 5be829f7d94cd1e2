//! What an acknowledgement policy sees of segments, and what it reports to the sender's control.

use super::script::{MSS, PEER_ISS, Script};
use crate::control::{Ack, Congestion, Feedback, Recovered, Reno, Rules, Window, recovery::FastRecovery};
use crate::{AckPolicy, Arrived, Config, InOrder, Order, Transit, When};
use alloc::boxed::Box;
use alloc::vec::Vec;
use meshpace_units::{Ecn, Instant, Span};

/// Every second segment; reports how many were marked since the last report, and the longest wait on the way beyond the
/// shortest, in milliseconds.
#[derive(Clone, Debug, Default)]
struct Observer {
    marked: u8,
    base: Option<Transit>,
    longest: Span,
}

impl AckPolicy for Observer {
    fn on_segment(&mut self, arrived: &Arrived) {
        self.marked += u8::from(arrived.ecn == Ecn::Ce);
        let transit = arrived.transit.expect("its segments are stamped");
        let base = self.base.map_or(transit, |base| base.shorter(transit));
        self.base = Some(base);
        self.longest = self.longest.max(transit.beyond(base).expect("one clock"));
    }

    fn on_in_order(&mut self, arrived: &InOrder) -> When {
        if arrived.waiting >= 2 { When::Now } else { When::AfterFirst(Span::from_millis(100)) }
    }

    fn report(&mut self, _: Instant) -> Option<Feedback> {
        let said = [core::mem::take(&mut self.marked), (self.longest.as_micros() / 1_000) as u8];
        Feedback::new(77, &said)
    }

    fn report_length(&self) -> Option<u8> {
        Some(4)
    }
}

/// What the acknowledgements since the last call carried.
fn reported(s: &mut Script) -> Vec<Option<Vec<u8>>> {
    s.out.drain(..).map(|(_, out)| out.report.map(|report| report.bytes().to_vec())).collect()
}

/// Segment `n` of the peer's arrives `late` ms after it left.
fn arrive(s: &mut Script, at: u64, n: u64, late: u64, ecn: Ecn) {
    s.ecn = ecn;
    s.peer = s.peer.max(1 + n * MSS);
    let sent = Instant::ZERO + Span::from_millis(at - late);
    s.raw(at, |segment| {
        segment.seq = PEER_ISS + 1 + ((n - 1) * MSS) as u32;
        segment.payload = MSS as u32;
        segment.ns2 = segment.ns2.map(|stamp| crate::Ns2Stamp { sent, ..stamp });
    });
}

#[test]
fn a_policy_sees_order_marks_and_delays_and_reports_them() {
    // 1 (20 ms) . 2 marked (30 ms) -> ACK . 4 early -> dup ACK . 4 again -> dup ACK . 3 fills -> ACK . 1 old -> dup ACK
    let mut s =
        Script::established(Config { acknowledgements: Box::new(Observer::default()), ..Config::ns2() });
    arrive(&mut s, 100, 1, 20, Ecn::Ect0);
    assert_eq!(reported(&mut s), []);
    arrive(&mut s, 110, 2, 30, Ecn::Ce);
    assert_eq!(reported(&mut s), [Some([1, 10].to_vec())]);
    arrive(&mut s, 120, 4, 25, Ecn::Ce);
    assert_eq!(reported(&mut s), [Some([1, 10].to_vec())], "at once, with the mark seen");
    arrive(&mut s, 130, 4, 20, Ecn::NotEct);
    arrive(&mut s, 140, 3, 60, Ecn::NotEct);
    arrive(&mut s, 150, 1, 20, Ecn::NotEct);
    assert_eq!(reported(&mut s), [[0, 10], [0, 40], [0, 40]].map(|said| Some(said.to_vec())));
}

#[test]
fn each_segment_is_placed_among_those_before_it() {
    let orders = alloc::sync::Arc::new(std::sync::Mutex::new(Vec::new()));

    #[derive(Clone, Debug)]
    struct Noting(alloc::sync::Arc<std::sync::Mutex<Vec<(u64, Order)>>>);
    impl AckPolicy for Noting {
        fn on_segment(&mut self, arrived: &Arrived) {
            self.0.lock().unwrap().push((arrived.offset / MSS + 1, arrived.order));
        }

        fn on_in_order(&mut self, _: &InOrder) -> When {
            When::Now
        }
    }

    let policy = Noting(orders.clone());
    let mut s = Script::established(Config { acknowledgements: Box::new(policy), ..Config::ns2() });
    for (at, n) in [(1, 1), (2, 4), (3, 6), (4, 4), (5, 2), (6, 3), (7, 5), (8, 7), (9, 2)] {
        arrive(&mut s, at, n, 0, Ecn::NotEct);
    }
    let gap = |segments: u64| Order::Early { gap: segments * MSS };
    assert_eq!(
        *orders.lock().unwrap(),
        [
            (1, Order::Next),
            (4, gap(2)),
            (6, gap(4)),
            (4, Order::Old),
            (2, Order::Fills),
            (3, Order::Fills),
            (5, Order::Fills),
            (7, Order::Next),
            (2, Order::Old),
        ]
    );
}

/// A window that follows what the receiver reports: a segment less for each mark.
#[derive(Clone, Debug)]
struct Obedient(Window);

impl Congestion for Obedient {
    fn window(&self) -> &Window {
        &self.0
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.0
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let marks = ack.report.and_then(|report| report.read(77, |said| said.first().copied()));
        self.0.set((self.0.cwnd() - f64::from(marks.unwrap_or(0))).max(1.0));
    }

    fn on_progress(&mut self, _: &Ack<'_>) {}
}

#[test]
fn a_control_reads_what_the_receiver_reports() {
    let rules = Rules { initial_window: crate::control::InitialWindow::Segments(6.0), ..Rules::NS2 };
    let control = |window| Recovered::new(window, Box::new(FastRecovery::new(&rules)));
    let obedient: Box<dyn Congestion> = Box::new(Obedient(Window::new(rules)));
    let mut s = Script::established(Config::ns2().controlled_by(control(obedient)));
    s.write_endless(0);
    assert_eq!((s.cwnd(), s.out.len()), (6.0, 6));
    s.report = Feedback::new(77, &[2, 0]);
    s.ack_segment([50], 1);
    assert_eq!(s.cwnd(), 4.0);
    s.report = Feedback::new(78, &[2, 0]);
    s.ack_segment([60], 2);
    assert_eq!(s.cwnd(), 4.0, "of another kind");
    // A control that does not read them is none the worse.
    let mut plain = Script::established(Config::ns2().controlled_by(control(Box::new(Reno::new(rules)))));
    plain.report = Feedback::new(77, &[2, 0]);
    plain.write_endless(0);
    plain.ack_segment([50], 1);
    assert_eq!(plain.cwnd(), 7.0);
}
