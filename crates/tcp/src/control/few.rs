//! TCP-FeW: a window that opens by a fraction of a segment a round trip, and may be less than one.

use super::law_pacer::take_token;
use super::part::{OWN_RECOVERY, SenderPart, Surroundings, WindowPart};
use super::{
    Ack, Allowance, Asks, Control, Departure, Discipline, Growth, Idled, Outstanding, Pace, PacingView,
    Reaction, Rules, newreno, tahoe,
};
use alloc::boxed::Box;
use meshpace_keys::{Key, Values, words};
use meshpace_pacing::Pacer;
use meshpace_units::{Instant, Span};

pub(super) static PART: WindowPart = WindowPart::new(
    "few",
    "Opens its window by a fraction of a segment a round trip; below one segment it spaces them.",
    "schemes.md 6; Nahm, Helmy and Kuo 2005; Lee 2012",
    |values, surroundings| {
        SenderPart::Whole(Box::new(Few::new(&FewConfig::from_values(values), surroundings)))
    },
)
// Whose answer to losses it has, `few_base` says.
.brings(&[OWN_RECOVERY])
.keys(&[&KEYS]);

static KEYS: [Key; 6] = [
    Key::number(
        "few_alpha",
        (0.0, 1.0),
        0.01,
        "Segments that congestion avoidance adds a round trip; 1 is standard TCP (schemes.md 6.1).",
    ),
    Key::number(
        "few_w_min",
        (0.05, 64.0),
        1.0,
        "Least usable window, segments; below 1 a window of less than a segment spaces them (schemes.md 6.2, 6.3).",
    ),
    Key::number(
        "few_w_floor",
        (0.01, 1.0),
        0.1,
        "Where timeouts cease to halve a window of less than a segment, if few_w_min lets it be (schemes.md 6).",
    ),
    Key::flag(
        "few_in_slow_start",
        false,
        "Whether slow start, too, opens the window by fractions (schemes.md 6).",
    ),
    Key::word(
        "few_arithmetic",
        Arithmetic::WORDS,
        Arithmetic::Float.word(),
        "Windows as real numbers of segments, or in whole bytes as WiFu's, which never fall below a segment (schemes.md 6).",
    ),
    Key::word(
        "few_base",
        Base::WORDS,
        Base::NewReno.word(),
        "The TCP whose answer to losses it has: the original's NewReno, or Tahoe as in the thesis (schemes.md 5, 6).",
    ),
];

words! {
    /// How the window is computed (`few_arithmetic`).
    pub enum Arithmetic {
        /// Real numbers of segments.
        Float = "float",
        /// Whole bytes.
        Wifu = "wifu",
    }
}

words! {
    /// Whose answer to losses it has (`few_base`).
    pub enum Base {
        /// [`newreno`](super::newreno()).
        NewReno = "newreno",
        /// [`tahoe`](super::tahoe()).
        Tahoe = "tahoe",
    }
}

/// TCP-FeW's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FewConfig {
    /// Segments a round trip, 0 to 1.
    pub alpha: f64,
    /// Least usable window, segments.
    pub w_min: f64,
    /// Least window, segments.
    pub w_floor: f64,
    /// Whether slow start is left out.
    pub in_slow_start: bool,
    /// How it computes.
    pub arithmetic: Arithmetic,
    /// Whose answer to losses.
    pub base: Base,
}

impl FewConfig {
    fn from_values(values: &Values) -> Self {
        Self {
            alpha: values.real("few_alpha"),
            w_min: values.real("few_w_min"),
            w_floor: values.real("few_w_floor"),
            in_slow_start: values.flag("few_in_slow_start"),
            arithmetic: values.word("few_arithmetic"),
            base: values.word("few_base"),
        }
    }

    /// Whether a window of less than a segment spaces them (6.3): WiFu's class has no such mode.
    fn spaces(&self) -> bool {
        self.w_min < 1.0 && self.arithmetic == Arithmetic::Float
    }

    fn growth(&self) -> Growth {
        let (alpha, always) = (self.alpha, self.in_slow_start);
        // Where nothing is spaced less than a segment would mean nothing: 1 is the least, and alpha 1 is the base TCP.
        let floor = if self.spaces() { self.w_floor } else { 1.0 };
        match self.arithmetic {
            Arithmetic::Float => Growth::Fraction { alpha, always, floor },
            Arithmetic::Wifu => Growth::WholeBytes { alpha, always },
        }
    }
}

/// TCP-FeW (schemes.md 6).
#[derive(Clone, Debug)]
pub struct Few {
    base: Box<dyn Control>,
    w_min: f64,
    spacing: Option<Spacing>,
}

impl Few {
    /// With these parameters.
    #[must_use]
    pub fn new(config: &FewConfig, surroundings: &Surroundings) -> Self {
        let rules = Rules { growth: config.growth(), whole_segments: true, ..surroundings.rules };
        let base: Box<dyn Control> = match config.base {
            Base::NewReno => Box::new(newreno(rules)),
            Base::Tahoe => Box::new(tahoe(rules)),
        };
        Self { base, w_min: config.w_min, spacing: config.spaces().then(Spacing::default) }
    }

    fn respace(&mut self, now: Instant) {
        if let (Some(spacing), Some(window)) = (&mut self.spacing, self.base.cwnd()) {
            spacing.follow(now, window);
        }
    }
}

/// One segment every RTT/W seconds while W < 1 (6.3).
#[derive(Clone, Debug)]
struct Spacing {
    pacer: Pacer,
    /// Smoothed round trip and its variation, by RFC 6298's gains: the timer's own is in ns-2's whole ticks.
    rtt: Option<(f64, f64)>,
}

impl Default for Spacing {
    fn default() -> Self {
        Self { pacer: Pacer::new(None), rtt: None }
    }
}

impl Spacing {
    fn on_round_trip(&mut self, rtt: Span) {
        let rtt = rtt.as_secs_f64();
        self.rtt = Some(match self.rtt {
            None => (rtt, rtt / 2.0),
            Some((smoothed, variation)) => {
                (0.875 * smoothed + 0.125 * rtt, 0.75 * variation + 0.25 * libm::fabs(smoothed - rtt))
            }
        });
    }

    /// The window became `window`.
    fn follow(&mut self, now: Instant, window: f64) {
        let interval = self.rtt.filter(|_| window < 1.0).map(|(rtt, _)| Span::from_secs_f64(rtt / window));
        if interval != self.pacer.interval() {
            self.pacer.set_interval(now, interval);
        }
    }

    /// The timer must not expire because segments are far apart: at least RTT/W + 4 rttvar.
    fn least_timeout(&self) -> Option<Span> {
        let (interval, (_, variation)) = (self.pacer.interval()?, self.rtt?);
        Some(interval + Span::from_secs_f64(4.0 * variation))
    }
}

impl Control for Few {
    fn asks(&self) -> Asks {
        Asks { round_trips: self.spacing.is_some(), ..self.base.asks() }
    }

    fn on_connected(&mut self, syn_lost: bool, mss: u32) {
        self.base.on_connected(syn_lost, mss);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) -> Reaction {
        if let (Some(spacing), Some(rtt)) = (&mut self.spacing, ack.oldest) {
            spacing.on_round_trip(rtt);
        }
        let reaction = self.base.on_ack(ack);
        self.respace(ack.now);
        reaction
    }

    fn on_timeout(&mut self, now: Instant, out: &Outstanding) {
        self.base.on_timeout(now, out);
        self.respace(now);
    }

    fn on_idle(&mut self, idled: &Idled) {
        self.base.on_idle(idled);
    }

    fn on_departure(&mut self, departure: &Departure) {
        if let Some(spacing) = &mut self.spacing {
            take_token(&mut spacing.pacer, departure);
        }
    }

    fn on_mss_change(&mut self, old: u32, new: u32) {
        self.base.on_mss_change(old, new);
    }

    /// (6.2): whole segments, and `w_min` at least.
    fn window(&self, mss: u32, new_data: bool) -> Option<Allowance> {
        let allowance = self.base.window(mss, new_data)?;
        let least = (self.w_min * f64::from(mss)) as u64;
        Some(Allowance { bytes: allowance.bytes.max(least), ..allowance })
    }

    fn burst(&self) -> Option<u32> {
        self.base.burst()
    }

    fn pace(&self, now: Instant) -> Option<Pace> {
        let pacer = &self.spacing.as_ref()?.pacer;
        let interval = pacer.interval()?;
        Some(Pace { release: pacer.release_at(now), interval, discipline: Discipline::Permission })
    }

    fn timeout(&self, rto: Span) -> Span {
        let least = self.spacing.as_ref().and_then(Spacing::least_timeout);
        least.map_or(rto, |least| rto.max(least))
    }

    fn cwnd(&self) -> Option<f64> {
        self.base.cwnd()
    }

    fn ssthresh(&self) -> Option<f64> {
        self.base.ssthresh()
    }

    fn pacing(&self) -> PacingView {
        let interval = self.spacing.as_ref().and_then(|spacing| spacing.pacer.interval());
        PacingView { interval, ..PacingView::default() }
    }
}

#[cfg(test)]
mod tests;
