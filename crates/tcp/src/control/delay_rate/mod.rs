//! Rate by delay at a sender: the law's pace, and a window that only keeps an open loop from running away (docs/law.md).

mod trains;

use super::law_pacer::{gate, take_token};
use super::limiter::Waiting;
use super::part::WindowPart;
use super::{
    Ack, Asks, Congestion, Departure, Idled, InitialWindow, Outstanding, Pace, PacingView, Rules, Window,
};
use core::num::NonZeroU32;
use meshpace_keys::{Brings, Key, Need};
use meshpace_pacing::{DelayRate, DelayRateConfig, Pacer, Unit};
use meshpace_units::{Instant, Span};
use trains::Trains;

pub(super) static PART: WindowPart = WindowPart::new(
    "delay-rate",
    "A rate at which a certain number of the flow's packets waits on the way, by the delay alone.",
    "docs/law.md; its target: Arun and Balakrishnan 2018 (Copa), equation 1",
    |values, surroundings| {
        let config = DelayRateConfig {
            delta_trains: values.real("dr_delta_trains"),
            ..DelayRateConfig::from_values(values)
        };
        let law = DelayRate::new(config).friendly(values.real("dr_friendly"), values.real("dr_lossy"));
        let mut sender = Sender::new(law, surroundings.rules);
        sender.room = values.real("dr_room");
        sender.slack = values.real("dr_slack");
        let burst = NonZeroU32::new(values.count("dr_burst")).unwrap_or(NonZeroU32::MIN);
        sender.pacer.set_burst(burst);
        sender.trains = Trains::new(Unit::new(values.count("dr_unit")), burst);
        sender.into()
    },
)
.keys(&[&LAW, &KEYS])
.brings(&[Brings { key: "recovery", word: Some("rack") }])
.needs(&[Need { key: "recovery", words: &["rack"] }]);

static LAW: [Key; DelayRateConfig::KEYS.len()] = DelayRateConfig::KEYS;

static KEYS: [Key; 7] = [
    Key::number("dr_room", (1.0, 1_000.0), 2.0, "The window, in what the rate has on its way (docs/law.md)."),
    Key::number(
        "dr_slack",
        (0.0, 100_000.0),
        16.0,
        "The window has room for so many segments beside that (docs/law.md).",
    ),
    Key::number(
        "dr_friendly",
        (0.0, 100.0),
        1.3,
        "Law delay-rate: beside flows that fill queues it keeps so much of what a TCP flow has at its losses (docs/law.md).",
    ),
    Key::number(
        "dr_lossy",
        (0.0, 1.0),
        0.006,
        "Law delay-rate: losses more frequent than so many a packet tell of such flows (docs/law.md).",
    ),
    Key::count("dr_burst", (1, 1_000), 1, "Segments that leave together (docs/law.md)."),
    Key::count(
        "dr_unit",
        (1, 1_000),
        16,
        "Law delay-rate: segments of a train at the most where one access carries many; 1: packets go one by one (docs/law.md).",
    ),
    Key::number(
        "dr_delta_trains",
        (0.001, 1_000.0),
        DelayRateConfig::CALM.delta_trains,
        "Law delay-rate: where one access carries many packets, 1/delta trains of each flow wait (docs/law.md).",
    ),
];

/// The law, its pacer and its window.
#[derive(Clone, Debug)]
struct Sender {
    law: DelayRate,
    pacer: Pacer,
    window: Window,
    trains: Trains,
    room: f64,
    slack: f64,
}

impl Sender {
    fn new(law: DelayRate, rules: Rules) -> Self {
        let rules = Rules { initial_window: InitialWindow::Rfc6928, whole_segments: false, ..rules };
        Self {
            pacer: Pacer::new(Some(law.spacing())),
            law,
            window: Window::new(rules).directed(),
            trains: Trains::new(Unit::new(1), NonZeroU32::MIN),
            room: 2.0,
            slack: 16.0,
        }
    }

    fn follow(&mut self, now: Instant) {
        let spacing = self.trains.spacing(&self.law);
        if self.pacer.interval() != Some(spacing) {
            self.pacer.set_interval(now, Some(spacing));
        }
        if let Some(whole) = self.trains.window() {
            self.window.set(whole);
        } else if let Some(base) = self.law.base() {
            self.window.set(self.room * self.law.rate() * base + self.slack);
        }
    }
}

impl Congestion for Sender {
    fn asks(&self) -> Asks {
        Asks { round_trips: true, ..Asks::default() }
    }

    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn on_connected(&mut self, _: bool, mss: u32) {
        self.window.open(false, mss);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if ack.is_new() {
            self.law.on_arrived(ack.segments());
        }
        self.trains.on_ack(ack, &mut self.law, &mut self.pacer);
        let took = self.trains.ends(ack.out.una);
        // While a hole is open nothing new is acknowledged, but what arrives behind it is reported. Over lossy paths a hole is open nearly
        // always, and a law that waited would keep a rate that is far too high. A report within a train tells nothing.
        let reported = ack.sample.filter(|_| !ack.is_new() && self.trains.buffer() == 0);
        if let Some(rtt) = ack.newest.or(reported).zip(took).map(|(rtt, took)| rtt + took) {
            // Where nothing is out any more, the last segment may have waited for the receiver's timer, and less than a packet of
            // the rate is on its way: no sign of a queue longer than the one that is known. A train is answered when it is whole.
            let known =
                self.law.base().map(|base| Span::from_secs_f64(base + self.law.queue().unwrap_or(0.0)));
            let whole = self.trains.came_at_once();
            let waited = ack.out.una >= ack.out.max && !(whole && self.trains.buffer() > 0);
            let rtt = known.filter(|known| waited && *known < rtt).unwrap_or(rtt);
            if whole {
                self.law.on_round_trip(ack.now, rtt);
            } else if let Some(base) = self.law.base() {
                self.law.on_round_trip_over(ack.now, Span::from_secs_f64(base), rtt);
            }
            self.trains.follow(ack, &mut self.law);
        }
        self.follow(ack.now);
    }

    fn on_progress(&mut self, _: &Ack<'_>) {}

    /// What is lost is sent again at the rate.
    fn on_loss(&mut self, _: f64, _: &Outstanding) -> f64 {
        self.law.on_loss();
        self.window.cwnd()
    }

    fn on_undo(&mut self) {}

    fn on_timeout(&mut self, now: Instant, _: bool, _: &Outstanding) {
        self.law.on_timeout(now);
        self.trains.on_timeout(&mut self.law);
        self.follow(now);
    }

    fn on_idle(&mut self, _: &Idled) {}

    fn on_departure(&mut self, departure: &Departure) {
        let left = self.pacer.left();
        take_token(&mut self.pacer, departure);
        self.trains.on_departure(departure, left, &mut self.pacer);
    }

    fn pushes(&self, last: bool) -> bool {
        self.trains.pushes(&self.pacer, last)
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        gate(&self.pacer, now, Waiting::Permission)
    }

    fn pacing(&self) -> PacingView {
        PacingView {
            interval: Some(self.law.spacing()),
            together: self.trains.buffer(),
            ..PacingView::default()
        }
    }
}
