//! Congestion control: how much may be outstanding, and what an acknowledgement or its absence makes the sender do.
//!
//! Windows are real numbers of full-sized segments, as in ns-2. The rules that ns-2 and the RFCs give differently are
//! data ([`Rules`]); what an algorithm does that no other does is in its file.

mod newreno;
mod rules;
mod tahoe;
#[cfg(test)]
mod tests;
mod window;

pub use rules::{Growth, InitialWindow, LossBasis, Rules};

use newreno::Recovery;
use window::Window;

/// Duplicate acknowledgements that signal a loss (RFC 5681, section 3.2; ns-2's `numdupacks_`).
const DUPLICATE_THRESHOLD: u32 = 3;

/// The algorithms to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Slow start from one segment after every loss.
    Tahoe,
    /// Fast recovery that survives several losses in one window (RFC 6582).
    NewReno,
}

/// What is outstanding when something happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outstanding {
    /// First unacknowledged position (0 is the SYN).
    pub(crate) una: u64,
    /// The position after the highest one ever sent.
    pub(crate) max: u64,
    /// Segments in flight: sent, not acknowledged, without those that limited transmit added (RFC 5681, section 3.2).
    pub(crate) flight: f64,
    /// The sender's own window limit in segments (ns-2's `window_`); infinite without one.
    pub(crate) limit: f64,
}

/// What the sender has to do about an acknowledgement, besides sending what the window allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// Nothing.
    Continue,
    /// Resend the first unacknowledged segment and go on from there (Tahoe).
    GoBack,
    /// Resend the first unacknowledged segment, ahead of everything else.
    FastRetransmit,
    /// A partial acknowledgement uncovered the next hole: resend it.
    ResendHole {
        /// The retransmission timer restarts (on the first partial acknowledgement only; RFC 6582, section 3.2, the
        /// "impatient" variant, and ns-2's `newreno_changes1_`).
        restart_timer: bool,
    },
}

#[derive(Clone, Debug)]
enum State {
    Tahoe,
    NewReno(Recovery),
}

/// One connection's congestion control.
#[derive(Clone, Debug)]
pub(crate) struct Congestion {
    window: Window,
    duplicates: u32,
    /// What had been sent at the last loss action: no second fast retransmit below it (RFC 6582, section 3.2, step 1).
    recover: Option<u64>,
    /// First unacknowledged position at the last timeout.
    timed_out: Option<u64>,
    state: State,
}

impl Congestion {
    /// A connection that has yet to be opened: one segment, the SYN.
    pub(crate) fn new(algorithm: Algorithm, rules: Rules) -> Self {
        let state = match algorithm {
            Algorithm::Tahoe => State::Tahoe,
            Algorithm::NewReno => State::NewReno(Recovery::default()),
        };
        Self { window: Window::new(rules), duplicates: 0, recover: None, timed_out: None, state }
    }

    pub(crate) fn rules(&self) -> &Rules {
        self.window.rules()
    }

    /// The congestion window in segments, without what fast recovery adds.
    pub(crate) fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    /// The slow-start threshold in segments; `None` until a loss sets one.
    pub(crate) fn ssthresh(&self) -> Option<f64> {
        let threshold = self.window.ssthresh();
        threshold.is_finite().then_some(threshold)
    }

    /// True while fast recovery has not ended.
    pub(crate) fn recovering(&self) -> bool {
        matches!(&self.state, State::NewReno(recovery) if recovery.active())
    }

    /// True if an acknowledgement of everything before `una` leaves a hole of the current recovery.
    pub(crate) fn is_partial(&self, una: u64) -> bool {
        self.recovering() && self.recover.is_some_and(|recover| una < recover)
    }

    /// Bytes that may be outstanding. `new_data` says that nothing already sent would be sent again.
    pub(crate) fn allowance(&self, mss: u32, new_data: bool) -> u64 {
        let inflation = match &self.state {
            State::Tahoe => 0.0,
            State::NewReno(recovery) => recovery.inflation(),
        };
        let extension = self.extension(new_data);
        self.window.bytes(inflation + f64::from(extension), mss)
    }

    /// Segments that limited transmit adds to the window: one for each of the first two duplicates (RFC 3042).
    pub(crate) fn extension(&self, new_data: bool) -> u32 {
        let rules = self.rules();
        let applies = rules.limited_transmit && (new_data || rules.whole_segments) && !self.recovering();
        if applies && self.duplicates < DUPLICATE_THRESHOLD { self.duplicates } else { 0 }
    }

    /// Segments that may follow the acknowledgement just handled; `None` sets no limit besides the window.
    ///
    /// ns-2's NewReno sends one for each of the first two duplicates and at most two from the third on
    /// (ns2-behaviour.md 6.3 to 6.5). Its Tahoe has no such limit.
    pub(crate) fn burst(&self) -> Option<u32> {
        let limit = self.rules().recovery_burst.filter(|_| matches!(self.state, State::NewReno(_)))?;
        match self.duplicates {
            0 => None,
            n if n < DUPLICATE_THRESHOLD => Some(u32::from(self.rules().limited_transmit)),
            _ => Some(limit),
        }
    }

    /// The handshake is complete: the initial window opens, to one segment if the SYN was lost (RFC 5681, section
    /// 3.1; ns2-behaviour.md 6.1).
    pub(crate) fn on_connected(&mut self, syn_lost: bool, mss: u32) {
        self.window.open(syn_lost, mss);
        self.duplicates = 0;
    }

    /// `acked` segments were newly acknowledged; `out` is the state after that.
    pub(crate) fn on_new_ack(&mut self, acked: f64, out: &Outstanding) -> Reaction {
        let partial = self.is_partial(out.una);
        let mut grows = true;
        if let State::NewReno(recovery) = &mut self.state {
            if partial {
                return recovery.on_partial(&mut self.window, acked);
            }
            if recovery.active() {
                recovery.leave(&mut self.window, out);
                grows = self.window.rules().grows_on_recovery_exit;
            }
        }
        self.duplicates = 0;
        if grows {
            self.window.grow(acked);
        }
        Reaction::Continue
    }

    /// A duplicate acknowledgement arrived.
    pub(crate) fn on_duplicate(&mut self, out: &Outstanding) -> Reaction {
        self.duplicates += 1;
        if self.duplicates == DUPLICATE_THRESHOLD && self.may_fast_retransmit(out) {
            self.recover = Some(out.max);
            return match &mut self.state {
                State::Tahoe => tahoe::on_loss(&mut self.window, out),
                State::NewReno(recovery) => recovery.enter(&mut self.window, out),
            };
        }
        if let State::NewReno(recovery) = &mut self.state {
            if self.duplicates > DUPLICATE_THRESHOLD && recovery.active() {
                recovery.inflate();
            }
        }
        Reaction::Continue
    }

    /// Not twice in one window of data, unless the very first segment after the SYN is the lost one
    /// (ns2-behaviour.md 6.3).
    fn may_fast_retransmit(&self, out: &Outstanding) -> bool {
        self.recover.is_none_or(|recover| out.una > recover) || out.una == 1
    }

    /// The retransmission timer expired: slow start from one segment.
    pub(crate) fn on_timeout(&mut self, out: &Outstanding) {
        // RFC 5681, section 3.1: the threshold is held if the same segment times out again. ns-2 cuts every time.
        let again = self.timed_out == Some(out.una);
        let exempt = match self.rules().loss_basis {
            LossBasis::Window => false,
            LossBasis::FlightSize => again || out.una == 0,
        };
        if !exempt {
            self.window.cut_threshold(0.0, out);
        }
        self.window.collapse();
        self.recover = Some(out.max);
        self.timed_out = Some(out.una);
        self.duplicates = 0;
        if let State::NewReno(recovery) = &mut self.state {
            *recovery = Recovery::default();
        }
    }

    /// The connection was idle for more than the retransmission timeout (RFC 5681, section 4.1).
    pub(crate) fn on_idle(&mut self, mss: u32) {
        self.window.restart(mss);
    }

    /// Keeps the window's bytes when the size of a segment changes.
    pub(crate) fn on_mss_change(&mut self, old: u32, new: u32) {
        self.window.rescale(f64::from(old) / f64::from(new));
    }
}
