//! Controls made outside the crate: whatever a part needs is public, and the sender does what it answers.

use core::ops::Range;
use meshpace_pacing::{LinkRates, Route};
use meshpace_tcp::control::{
    Ack, AckKind, Allowance, Asks, Congestion, Departure, Discipline, Feedback, Fixed, Outstanding, Pace,
    Paced, Progress, Reaction, Recovered, Recovery, Rules, Sent, Window, newreno,
};
use meshpace_tcp::{Arrival, Config, Connection, Control, Flags, Options, Ports, SackOffer, Segment};
use meshpace_units::{Instant, Rate, Seq, Span};
use std::sync::{Arc, Mutex};

const ISS: Seq = Seq(7);
const PEER: Seq = Seq(1_000);
const MSS: u64 = 1460;

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

/// A connection that opened at time 0, with the start and length of what has left since, and when (ms).
struct End {
    tcp: Connection,
    sent: Vec<(u64, u64, u32)>,
}

impl End {
    fn new(control: impl Control + 'static) -> Self {
        let config = Config { sack: SackOffer::Always, ..Config::ns2() }.controlled_by(control);
        let tcp = Connection::connect(config, Ports { local: 1, remote: 2 }, ISS, Instant::ZERO);
        let mut end = Self { tcp, sent: Vec::new() };
        end.drain(0);
        end.segment(0, &Arrival::default(), |segment| {
            segment.flags.syn = true;
            segment.options = Options { mss: Some(1460), sack_permitted: true, ..Options::NONE };
        });
        end.sent.clear();
        end
    }

    fn drain(&mut self, at: u64) {
        while let Some(transmit) = self.tcp.poll_transmit(ms(at)) {
            self.sent.push((at, transmit.offset, transmit.segment.payload));
            assert!(self.sent.len() < 1_000, "no end");
        }
    }

    fn segment(&mut self, at: u64, arrival: &Arrival, shape: impl FnOnce(&mut Segment)) {
        self.until(at);
        let flags = Flags { ack: true, ..Flags::default() };
        let mut segment = Segment { ack: ISS + 1, flags, window: 60_000, ..Segment::new(2, 1, PEER) };
        shape(&mut segment);
        let _ = self.tcp.handle_segment(ms(at), &segment, arrival);
        self.drain(at);
    }

    /// The peer has everything before `bytes`.
    fn ack(&mut self, at: u64, bytes: u64) {
        self.segment(at, &Arrival::default(), |segment| {
            (segment.seq, segment.ack) = (PEER + 1, ISS + 1 + bytes as u32);
        });
    }

    fn write(&mut self, at: u64, bytes: u64) {
        self.tcp.write(bytes).expect("open");
        self.drain(at);
    }

    fn until(&mut self, at: u64) {
        while let Some(due) = self.tcp.poll_timeout().filter(|due| *due <= ms(at)) {
            self.tcp.handle_timeout(due);
            self.drain(due.as_nanos() / 1_000_000);
        }
    }
}

/// FeW's need: half a segment a round trip of 100 ms.
#[derive(Clone, Debug, Default)]
struct HalfWindow {
    last: Option<Instant>,
}

impl Control for HalfWindow {
    fn on_ack(&mut self, _: &Ack<'_>) -> Reaction {
        Reaction::Continue
    }

    fn on_departure(&mut self, departure: &Departure) {
        if matches!(departure.sent, Sent::Data { .. }) {
            self.last = Some(departure.token);
        }
    }

    fn window(&self, mss: u32, _: bool) -> Option<Allowance> {
        Some(Allowance { bytes: u64::from(mss / 2), extension: 0 })
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        let interval = Span::from_millis(200);
        let release = self.last.map_or(now, |last| (last + interval).max(now));
        Some(Pace { release, interval, discipline: Discipline::Permission })
    }
}

#[test]
fn half_a_segment_of_window_is_a_segment_every_other_round_trip() {
    let mut end = End::new(HalfWindow::default());
    end.write(0, 10 * MSS);
    for n in 1..=3 {
        end.ack(200 * n - 100, n * MSS);
        end.until(200 * n);
    }
    let starts: Vec<_> = end.sent.iter().map(|(at, start, _)| (*at, start / MSS)).collect();
    assert_eq!(starts, [(0, 0), (200, 1), (400, 2), (600, 3)]);
    assert_eq!(end.tcp.cwnd(), None, "it tells of no window in segments");
}

#[test]
fn without_a_window_and_a_pace_only_the_peer_limits() {
    #[derive(Clone, Debug)]
    struct Nothing;
    impl Control for Nothing {
        fn on_ack(&mut self, _: &Ack<'_>) -> Reaction {
            Reaction::Continue
        }
    }
    let mut end = End::new(Nothing);
    end.write(0, 100 * MSS);
    assert_eq!(end.sent.len() as u64, 60_000 / MSS);
}

/// Sends again whatever lies below the highest selectively acknowledged position, once.
#[derive(Clone, Debug, Default)]
struct Mender {
    hole: Option<Range<u64>>,
    taken: Arc<Mutex<Vec<Range<u64>>>>,
}

impl Control for Mender {
    fn asks(&self) -> Asks {
        Asks { sack: true, ..Asks::default() }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        if let (AckKind::Duplicate, Some([Some((left, _)), ..])) = (ack.kind, ack.sack) {
            self.hole = Some(ack.out.una + MSS..*left);
        }
        Reaction::Continue
    }

    fn hole(&self, _: bool) -> Option<Range<u64>> {
        self.hole.clone()
    }

    fn on_hole_taken(&mut self, taken: Range<u64>) {
        self.hole = self.hole.take().filter(|hole| taken.end < hole.end).map(|hole| taken.end..hole.end);
        self.taken.lock().expect("one thread").push(taken);
    }
}

#[test]
fn any_range_can_be_sent_again() {
    let mender = Mender::default();
    let taken = mender.taken.clone();
    let mut end = End::new(mender);
    end.write(0, 10 * MSS);
    end.sent.clear();
    // 2 and a half segments, in pieces of a segment; then the rest of a range that was acknowledged meanwhile.
    let sack = |left: u64, right: u64| {
        move |segment: &mut Segment| {
            let at = |bytes: u64| ISS + 1 + bytes as u32;
            segment.seq = PEER + 1;
            segment.options.sack[0] = Some((at(left), at(right)));
        }
    };
    end.segment(50, &Arrival::default(), sack(3 * MSS + 730, 10 * MSS));
    let sent: Vec<_> = end.sent.drain(..).collect();
    assert_eq!(sent, [(50, MSS, 1460), (50, 2 * MSS, 1460), (50, 3 * MSS, 730)]);
    let spans = |ranges: &[Range<u64>]| ranges.iter().map(|r| (r.start - 1, r.end - 1)).collect::<Vec<_>>();
    assert_eq!(spans(&taken.lock().unwrap()), [(MSS, 2 * MSS), (2 * MSS, 3 * MSS), (3 * MSS, 3 * MSS + 730)]);
    // A block above everything sent: what was never sent is not sent by it.
    end.segment(60, &Arrival::default(), sack(20 * MSS, 21 * MSS));
    let ends: Vec<_> = end.sent.iter().map(|(_, start, length)| start + u64::from(*length)).collect();
    assert_eq!(ends.last(), Some(&(10 * MSS)), "{ends:?}");
}

/// Notes what it is told.
#[derive(Clone, Debug, Default)]
struct Listener {
    told: Arc<Mutex<Vec<String>>>,
}

impl Control for Listener {
    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        let Ack { kind, acked, oldest, route, feedback, .. } = ack;
        let hops = route.and_then(|route| route.hops);
        let feedback = feedback.map(|feedback| (feedback.kind(), feedback.bytes()));
        self.told.lock().unwrap().push(format!("{kind:?} {acked} {oldest:?} {hops:?} {feedback:?}"));
        Reaction::Continue
    }

    fn on_timeout(&mut self, now: Instant, out: &Outstanding) {
        self.told.lock().unwrap().push(format!("timeout {now:?} {} {} {}", out.una, out.nxt, out.max));
    }
}

#[test]
fn what_comes_with_an_acknowledgement_is_told() {
    let listener = Listener::default();
    let told = listener.told.clone();
    let mut end = End::new(Paced::new(Box::new(listener), Box::new(Fixed::new(Span::from_millis(1_000)))));
    told.lock().unwrap().clear();
    end.write(0, 2 * MSS);
    let rates = LinkRates::Uniform(Rate::bits_per_sec(2_000_000));
    let feedback = Feedback::new(3, &[1, 2]);
    assert_eq!(Feedback::new(3, &[0; 33]), None, "too long");
    let arrival = Arrival { route: Some(Route { hops: Some(5), rates }), feedback, ..Arrival::default() };
    end.segment(40, &arrival, |segment| (segment.seq, segment.ack) = (PEER + 1, ISS + 1 + MSS as u32));
    end.ack(50, MSS);
    // Nobody asked for round trips.
    assert_eq!(
        told.lock().unwrap().drain(..).collect::<Vec<_>>(),
        ["New 1460 None Some(5) Some((3, [1, 2]))", "Other 0 None None None"]
    );
    assert_eq!(end.sent.len(), 1, "the pace is the other part's");
    end.until(1_000);
    assert_eq!(end.sent.len(), 2);
    end.until(7_000);
    // It waits for the pace after a timeout, too: the second finds it still to be sent.
    let timeouts: Vec<_> = told.lock().unwrap().drain(..).collect();
    assert!(timeouts[0].starts_with("timeout") && timeouts[0].ends_with("1461 2921 2921"), "{timeouts:?}");
    assert!(timeouts[1].starts_with("timeout") && timeouts[1].ends_with("1461 1461 2921"), "{timeouts:?}");
}

#[test]
fn until_something_is_written_only_the_acknowledgement_of_the_syn_is_told() {
    let listener = Listener::default();
    let told = listener.told.clone();
    let mut end = End::new(listener);
    let told = || told.lock().unwrap().drain(..).count();
    assert_eq!(told(), 1);
    let data = |number: u32| {
        move |segment: &mut Segment| (segment.seq, segment.payload) = (PEER + 1 + number * 100, 100)
    };
    end.segment(10, &Arrival::default(), data(0));
    end.segment(20, &Arrival::default(), |segment| segment.seq = PEER + 101);
    assert_eq!((told(), end.tcp.delivered()), (0, 100));
    end.write(30, MSS);
    end.segment(40, &Arrival::default(), data(1));
    let acknowledges =
        |segment: &mut Segment| (segment.seq, segment.ack) = (PEER + 201, ISS + 1 + MSS as u32);
    end.segment(50, &Arrival::default(), acknowledges);
    assert_eq!((told(), end.tcp.delivered()), (2, 200));
}

/// A window that is nothing but a number: three segments, two after a loss.
#[derive(Clone, Debug)]
struct Steady(Window);

impl Congestion for Steady {
    fn window(&self) -> &Window {
        &self.0
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.0
    }

    fn on_connected(&mut self, _: bool, _: u32) {
        self.0.set(3.0);
    }

    fn on_progress(&mut self, _: &Ack<'_>) {}

    fn on_loss(&mut self, _: f64, _: &Outstanding) -> f64 {
        2.0
    }
}

/// Loss detection by time alone: what is not acknowledged `patience` after the latest news is lost.
#[derive(Clone, Debug)]
struct Impatient {
    patience: Span,
    due: Option<Instant>,
}

impl Recovery for Impatient {
    fn asks(&self) -> Asks {
        Asks { deadlines: true, ..Asks::default() }
    }

    fn on_ack(&mut self, _: &mut Window, ack: &Ack<'_>) -> Progress {
        self.due = (ack.out.una < ack.out.max).then_some(ack.now + self.patience);
        if ack.is_new() { Progress::Open } else { Progress::Hold }
    }

    fn begin(&mut self, window: &mut Window, cwnd: f64, _: &Outstanding) -> Reaction {
        window.set(cwnd);
        Reaction::FastRetransmit
    }

    fn on_timeout(&mut self, _: Instant, _: &Outstanding) -> bool {
        self.due = None;
        false
    }

    fn on_departure(&mut self, departure: &Departure) {
        self.due = self.due.or(Some(departure.now + self.patience));
    }

    fn deadline(&self) -> Option<Instant> {
        self.due
    }

    fn on_deadline(&mut self, _: &mut Window, now: Instant, _: &Outstanding) -> Progress {
        self.due = Some(now + self.patience * 2);
        Progress::Loss { inflation: 0.0 }
    }

    fn allowance(&self, window: &Window, mss: u32, _: bool) -> Allowance {
        window.allowance(0.0, 0, mss)
    }
}

#[test]
fn a_window_and_loss_detection_with_a_deadline_of_its_own() {
    let parts = || -> (Box<dyn Congestion>, Box<dyn Recovery>) {
        let impatient = Impatient { patience: Span::from_millis(60), due: None };
        (Box::new(Steady(Window::new(Rules::NS2))), Box::new(impatient))
    };
    let (window, recovery) = parts();
    let mut end = End::new(Recovered::new(window, recovery));
    end.write(0, 4 * MSS);
    end.ack(40, MSS);
    end.until(300);
    // Three at once, the fourth with the acknowledgement; 60 ms after it the second again, and 120 ms after that once more.
    let at = |n: u64| n * MSS;
    assert_eq!(
        end.sent,
        [
            (0, 0, 1460),
            (0, at(1), 1460),
            (0, at(2), 1460),
            (40, at(3), 1460),
            (100, at(1), 1460),
            (220, at(1), 1460)
        ]
    );
    assert_eq!((end.tcp.cwnd(), end.tcp.counters().fast_retransmits), (Some(2.0), 2));
    end.ack(310, 4 * MSS);
    end.until(500);
    assert_eq!(end.sent.len(), 6, "nothing is outstanding, and no deadline is left");
    // Beside a pacing part it wakes as well.
    let (window, recovery) = parts();
    let fixed = Fixed::new(Span::from_millis(1));
    let mut paced = End::new(Paced::new(Box::new(Recovered::new(window, recovery)), Box::new(fixed)));
    paced.write(0, MSS);
    paced.until(100);
    assert_eq!(paced.sent, [(0, 0, 1460), (60, 0, 1460)]);
}

#[test]
fn of_two_answers_the_tighter_one_holds() {
    let mut end = End::new(Paced::new(Box::new(newreno(Rules::NS2)), Box::new(HalfWindow::default())));
    end.write(0, 10 * MSS);
    end.until(199);
    assert_eq!((end.sent.len(), end.tcp.cwnd()), (1, Some(2.0)), "half a segment of two");
}
