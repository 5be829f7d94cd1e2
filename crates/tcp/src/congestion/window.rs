//! The congestion window and the slow-start threshold.

use super::{Growth, LossBasis, Outstanding, Rules};

/// The smallest slow-start threshold, segments (RFC 5681, equation 4; ns-2).
const MINIMUM_THRESHOLD: f64 = 2.0;

#[derive(Clone, Debug)]
pub(super) struct Window {
    rules: Rules,
    cwnd: f64,
    ssthresh: f64,
    /// Segments acknowledged towards the next increase, with byte counting.
    counted: f64,
    /// Slow start follows a timeout: byte counting is limited to one segment (RFC 3465, section 2.3).
    after_timeout: bool,
}

impl Window {
    pub(super) fn new(rules: Rules) -> Self {
        let ssthresh = rules.initial_ssthresh.unwrap_or(f64::INFINITY);
        Self { rules, cwnd: 1.0, ssthresh, counted: 0.0, after_timeout: false }
    }

    pub(super) const fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(super) const fn cwnd(&self) -> f64 {
        self.cwnd
    }

    pub(super) const fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// The window, widened by `extra` segments, in bytes. Truncation is meant: ns-2's window is `int(cwnd)` segments.
    pub(super) fn bytes(&self, extra: f64, mss: u32) -> u64 {
        let segments = self.cwnd + extra;
        if self.rules.whole_segments {
            segments as u64 * u64::from(mss)
        } else {
            (segments * f64::from(mss)) as u64
        }
    }

    pub(super) fn open(&mut self, syn_lost: bool, mss: u32) {
        self.cwnd = if syn_lost { 1.0 } else { self.rules.initial_window.segments(mss) };
    }

    pub(super) fn grow(&mut self, acked: f64) {
        let slow_start = self.cwnd < self.ssthresh;
        match self.rules.growth {
            Growth::PerAck if slow_start => self.cwnd += acked.min(1.0),
            Growth::PerAck => self.cwnd += 1.0 / self.cwnd,
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

    /// Sets the threshold to half of what the rules halve; `inflation` is what recovery had added to the window.
    /// Returns the window for going on without slow start.
    pub(super) fn cut_threshold(&mut self, inflation: f64, out: &Outstanding) -> f64 {
        match self.rules.loss_basis {
            LossBasis::Window => {
                let half = (self.cwnd + inflation).min(out.limit) / 2.0;
                self.ssthresh = f64::from(half as u32).max(MINIMUM_THRESHOLD);
                half.max(1.0)
            }
            LossBasis::FlightSize => {
                self.ssthresh = (out.flight / 2.0).max(MINIMUM_THRESHOLD);
                self.ssthresh
            }
        }
    }

    pub(super) fn set(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
        self.counted = 0.0;
    }

    /// One segment, the loss window (RFC 5681, section 3.1).
    pub(super) fn collapse(&mut self) {
        self.set(1.0);
        self.after_timeout = true;
    }

    pub(super) fn restart(&mut self, mss: u32) {
        if let Some(window) = self.rules.restart_window {
            self.cwnd = self.cwnd.min(window.segments(mss));
        }
    }

    pub(super) fn rescale(&mut self, factor: f64) {
        self.cwnd = (self.cwnd * factor).max(1.0);
        self.ssthresh = (self.ssthresh * factor).max(MINIMUM_THRESHOLD);
    }
}
