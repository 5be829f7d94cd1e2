//! The congestion window and the slow-start threshold.

use super::{Ack, Allowance, Growth, Idled, LossBasis, Outstanding, Rules, WindowCut};

/// The smallest slow-start threshold, segments (RFC 5681, equation 4; ns-2).
pub(super) const MINIMUM_THRESHOLD: f64 = 2.0;
/// Of the window, as the threshold after idling where the window is halved then (Linux's `tcp_current_ssthresh`).
const KEPT_BY_IDLING: f64 = 0.75;

/// Congestion window and slow-start threshold by one profile's rules, in segments.
#[derive(Clone, Debug)]
pub struct Window {
    rules: Rules,
    cwnd: f64,
    ssthresh: f64,
    /// The window that a connection begins with.
    initial: f64,
    /// Segments acknowledged towards the next increase, with byte counting.
    counted: f64,
    /// Slow start follows a timeout: byte counting is limited to one segment (RFC 3465, section 2.3).
    after_timeout: bool,
    /// Window and threshold before the latest loss or timeout, until that is taken back.
    before: Option<(f64, f64)>,
    /// Its part alone moves it.
    directed: bool,
    /// A mark was answered when this had been sent: the loss of something before it is not answered by another cut.
    marked: Option<u64>,
}

impl Window {
    /// A connection that has yet to be opened: one segment, the SYN.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        let ssthresh = rules.initial_ssthresh.unwrap_or(f64::INFINITY);
        Self {
            rules,
            cwnd: 1.0,
            ssthresh,
            initial: 1.0,
            counted: 0.0,
            after_timeout: false,
            before: None,
            directed: false,
            marked: None,
        }
    }

    /// The same window, but only its part moves it: recovery leaves it as it is.
    #[must_use]
    pub const fn directed(self) -> Self {
        Self { directed: true, ..self }
    }

    /// True if its part alone moves it.
    #[must_use]
    pub const fn is_directed(&self) -> bool {
        self.directed
    }

    /// The rules.
    #[must_use]
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The congestion window.
    #[must_use]
    pub const fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// The slow-start threshold; infinite until something sets one.
    #[must_use]
    pub const fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// The slow-start threshold; `None` until something sets one.
    #[must_use]
    pub fn known_ssthresh(&self) -> Option<f64> {
        self.ssthresh.is_finite().then_some(self.ssthresh)
    }

    /// The window, widened by `inflation` and by the segments of limited transmit. Truncation is meant: ns-2's window is
    /// `int(cwnd)` segments.
    #[must_use]
    pub fn allowance(&self, inflation: f64, extension: u32, mss: u32) -> Allowance {
        let size = u64::from(mss);
        let segments = self.cwnd + (inflation + f64::from(extension));
        let bytes = if self.rules.whole_segments {
            segments as u64 * size
        } else {
            (segments * f64::from(mss)) as u64
        };
        Allowance { bytes, extension: u64::from(extension) * size }
    }

    /// The handshake is complete: the initial window opens, to one segment if the SYN was lost (RFC 5681, section 3.1;
    /// ns2-behaviour.md 6.1).
    pub fn open(&mut self, syn_lost: bool, mss: u32) {
        self.initial = self.rules.initial_window.segments(mss);
        self.cwnd = if syn_lost { 1.0 } else { self.initial };
    }

    /// Something new was acknowledged: slow start below the threshold, congestion avoidance from it on. Not if a mark is
    /// reported with it (RFC 3168, section 6.1.2).
    pub fn grow(&mut self, ack: &Ack<'_>) {
        if ack.ecn_echo {
            return;
        }
        let acked = ack.segments();
        let slow_start = self.cwnd < self.ssthresh;
        match self.rules.growth {
            Growth::PerAck if slow_start => self.cwnd += acked.min(1.0),
            Growth::PerAck => self.cwnd += 1.0 / self.cwnd,
            Growth::Fraction { always: false, .. } if slow_start && self.cwnd >= 1.0 => {
                self.cwnd += acked.min(1.0);
            }
            Growth::Fraction { alpha, .. } => self.cwnd += alpha / self.cwnd,
            Growth::WholeBytes { always: false, .. } if slow_start => self.cwnd += acked.min(1.0),
            Growth::WholeBytes { alpha, .. } => {
                let mss = f64::from(ack.mss);
                let bytes = libm::round(self.cwnd * mss);
                self.cwnd = (bytes + libm::floor(alpha * mss * mss / bytes)) / mss;
            }
            Growth::Acknowledged => self.grow_in_use(acked, ack.out.flight + acked),
            Growth::Bytes { limit } if slow_start => {
                self.cwnd += acked.min(if self.after_timeout { 1.0 } else { limit });
            }
            Growth::Bytes { .. } => {
                self.counted += acked;
                if self.counted >= self.cwnd {
                    self.counted -= self.cwnd;
                    self.cwnd += 1.0;
                }
            }
        }
        if self.cwnd >= self.ssthresh {
            self.after_timeout = false;
        }
    }

    /// Grows by `acked` segments acknowledged, of `flight` that were out: not where the window did not limit these.
    fn grow_in_use(&mut self, acked: f64, flight: f64) {
        let slow_start = self.cwnd < self.ssthresh;
        let in_use = if slow_start { self.cwnd < 2.0 * flight } else { self.cwnd < flight + 1.0 };
        if !in_use {
            return;
        }
        let past = if slow_start {
            let next = (self.cwnd + acked).min(self.ssthresh);
            let past = acked - (next - self.cwnd);
            self.cwnd = next;
            past
        } else {
            acked
        };
        self.counted += past;
        let more = libm::floor(self.counted / self.cwnd);
        if more >= 1.0 {
            self.counted -= more * self.cwnd;
            self.cwnd += more;
        }
    }

    /// A mark reported with `ack` is answered as a loss would be, once a window of data, with nothing sent again (RFC 3168,
    /// section 6.1.2).
    pub fn heed_mark(&mut self, ack: &Ack<'_>) {
        if ack.ecn_signal {
            let cwnd = self.cut_threshold(0.0, &ack.out);
            self.set(cwnd);
            self.marked = Some(ack.out.max);
        }
    }

    /// Sets the threshold to half of what the rules halve, unless a mark in the same window of data was answered so;
    /// `inflation` is what recovery had added to the window. Returns the window for going on without slow start.
    pub fn cut_threshold(&mut self, inflation: f64, out: &Outstanding) -> f64 {
        if self.marked.is_some_and(|marked| out.una < marked) {
            return self.cwnd;
        }
        match self.rules.loss_basis {
            LossBasis::Window(cut) => {
                let window = (self.cwnd + inflation).min(out.limit);
                let half = match cut {
                    WindowCut::Real => window / 2.0,
                    WindowCut::Integer => f64::from(window as u32 / 2),
                };
                self.ssthresh = f64::from(half as u32).max(MINIMUM_THRESHOLD);
                half.max(1.0)
            }
            LossBasis::FlightSize => {
                self.ssthresh = (out.flight / 2.0).max(MINIMUM_THRESHOLD);
                self.ssthresh
            }
        }
    }

    /// Whatever comes now may prove to be no loss.
    pub const fn remember(&mut self) {
        self.before = Some((self.cwnd, self.ssthresh));
    }

    /// It was none: window and threshold are what they were, or greater if they have become that (Linux's
    /// `tcp_undo_cwnd_reduction`).
    pub fn undo(&mut self) {
        if let Some((cwnd, ssthresh)) = self.before.take() {
            self.set(self.cwnd.max(cwnd));
            self.ssthresh = self.ssthresh.max(ssthresh);
            self.after_timeout = false;
        }
    }

    /// The slow-start threshold becomes `ssthresh`.
    pub const fn set_ssthresh(&mut self, ssthresh: f64) {
        self.ssthresh = ssthresh;
    }

    /// The window becomes `cwnd`.
    pub const fn set(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
        self.counted = 0.0;
    }

    /// The retransmission timer expired, `again` for the same segment: the threshold is cut, and slow start begins from one
    /// segment, the loss window (RFC 5681, section 3.1).
    pub fn time_out(&mut self, again: bool, out: &Outstanding) {
        // RFC 5681, section 3.1: the threshold is held if the same segment times out again. ns-2 cuts every time.
        let exempt = match self.rules.loss_basis {
            LossBasis::Window(_) => false,
            LossBasis::FlightSize => again || out.una == 0,
        };
        self.marked = None;
        if out.una > 0 && out.una == out.max {
            // What was queued never left: nothing was lost, and ns-2 begins again with its initial window (`restart_bugfix_`).
            self.set(self.initial);
            return;
        }
        if !exempt {
            self.cut_threshold(0.0, out);
        }
        self.collapse();
    }

    /// What a loss leaves where it leaves a segment: less only if the rules let the window fall below one, and it is at one
    /// already (schemes.md 6, `few_w_floor`).
    #[must_use]
    pub fn loss_window(&self) -> f64 {
        match self.rules.growth {
            Growth::Fraction { floor, .. } if self.cwnd <= 1.0 => (self.cwnd / 2.0).max(floor).min(1.0),
            _ => 1.0,
        }
    }

    /// The loss window, one segment, and slow start from there (RFC 5681, section 3.1).
    pub fn collapse(&mut self) {
        self.set(self.loss_window());
        self.after_timeout = true;
    }

    /// The connection was idle for a retransmission timeout (RFC 5681, section 4.1).
    pub fn restart(&mut self, idled: &Idled) {
        let Some(window) = self.rules.restart_window else { return };
        let least = self.cwnd.min(window.segments(idled.mss));
        if !self.rules.restart_halves {
            self.cwnd = least;
            return;
        }
        self.ssthresh = self.ssthresh.max(self.cwnd * KEPT_BY_IDLING);
        for _ in 0..idled.timeouts {
            if self.cwnd <= least {
                break;
            }
            self.cwnd = libm::floor(self.cwnd / 2.0);
        }
        self.cwnd = self.cwnd.max(least);
    }

    /// Keeps the window's bytes when the size of a segment changes.
    pub fn rescale(&mut self, old: u32, new: u32) {
        let factor = f64::from(old) / f64::from(new);
        self.cwnd = (self.cwnd * factor).max(1.0);
        self.ssthresh = (self.ssthresh * factor).max(MINIMUM_THRESHOLD);
        self.before = self.before.map(|(cwnd, ssthresh)| (cwnd * factor, ssthresh * factor));
    }
}
