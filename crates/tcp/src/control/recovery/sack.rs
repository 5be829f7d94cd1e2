//! Recovery by selective acknowledgements (RFC 6675).

use super::losses::DUPLICATE_THRESHOLD;
use super::{FastRecovery, Progress, Recovery, RecoveryPart, Scoreboard};
use crate::control::{
    Ack, AckKind, Allowance, Asks, Departure, Outstanding, Reaction, Rules, SackRanges, Sent, Window,
};
use alloc::boxed::Box;
use core::ops::Range;
use meshpace_keys::Need;
use meshpace_units::Instant;

pub(super) static PART: RecoveryPart = RecoveryPart::new(
    "sack",
    "By selective acknowledgements: all holes of a window in one round trip.",
    "RFC 6675",
    |_, rules| Box::new(Selective::new(rules)),
)
.needs(&[REPORTS]);

/// The profiles whose TCP offers selective acknowledgements: WiFu's never does.
pub(super) const REPORTS: Need = Need { key: "tcp_profile", words: &["ns2", "rfc", "linux"] };

/// What to do about losses, RFC 6675, section 5. With a peer that reports nothing it is [`FastRecovery`].
#[derive(Clone, Debug)]
pub struct Selective {
    board: Scoreboard,
    /// For peers without selective acknowledgements.
    plain: FastRecovery,
    mss: u32,
    /// The peer reports what it has.
    reports: bool,
    /// The RFC's DupAcks: acknowledgements in a row that reported something new and acknowledged nothing.
    duplicates: u32,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Open,
    /// Until this is acknowledged, the RFC's RecoveryPoint.
    Recovery(u64),
    /// Everything is sent again in order, and no recovery begins before this is acknowledged (section 5.1).
    AfterTimeout(u64),
}

impl Selective {
    /// By these rules; those of NewReno's recovery are for peers without selective acknowledgements.
    #[must_use]
    pub fn new(rules: &Rules) -> Self {
        Self {
            board: Scoreboard::default(),
            plain: FastRecovery::new(rules),
            mss: 0,
            reports: false,
            duplicates: 0,
            phase: Phase::Open,
        }
    }

    /// True while recovery has not ended.
    const fn active(&self) -> bool {
        matches!(self.phase, Phase::Recovery(_))
    }

    /// An acknowledgement arrived; `blocks` is what it reports.
    fn on_report(&mut self, ack: &Ack<'_>, blocks: &SackRanges) -> Progress {
        let Outstanding { una, max, .. } = ack.out;
        self.board.on_sent(max);
        let news = self.board.update(una, blocks.iter().copied().flatten());
        if ack.kind == AckKind::New {
            self.duplicates = 0;
            let recovering = self.active();
            if let Phase::Recovery(point) | Phase::AfterTimeout(point) = self.phase {
                if una >= point {
                    self.phase = Phase::Open;
                    self.board.begin_recovery(); // what was sent again is acknowledged
                }
            }
            // The one that ends recovery acknowledges what was sent in the old window.
            return if recovering { Progress::Hold } else { Progress::Open };
        }
        if news == 0 || self.phase != Phase::Open {
            return Progress::Hold; // a duplicate is what reports something (section 2)
        }
        self.duplicates += 1;
        let lost = self.duplicates >= DUPLICATE_THRESHOLD || self.board.is_lost(una, ack.mss);
        if lost { Progress::Loss { inflation: 0.0 } } else { Progress::Hold }
    }
}

impl Recovery for Selective {
    fn asks(&self) -> Asks {
        Asks { sack: true, ..Asks::default() }
    }

    fn on_connected(&mut self, mss: u32) {
        self.plain.on_connected(mss);
        self.mss = mss;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack<'_>) -> Progress {
        self.reports = ack.sack.is_some();
        match ack.sack {
            Some(blocks) => self.on_report(ack, blocks),
            None => self.plain.on_ack(window, ack),
        }
    }

    /// Steps 4.1 and 4.3; the first segment is resent with the reaction.
    fn begin(&mut self, window: &mut Window, cwnd: f64, out: &Outstanding) -> Reaction {
        if !self.reports {
            return self.plain.begin(window, cwnd, out);
        }
        window.set(cwnd);
        self.phase = Phase::Recovery(out.max);
        self.board.begin_recovery();
        self.board.on_retransmitted(&(out.una..out.max.min(out.una + u64::from(self.mss))), out.max);
        Reaction::FastRetransmit
    }

    /// Section 5.1.
    fn on_timeout(&mut self, now: Instant, out: &Outstanding) -> bool {
        self.board.on_sent(out.max);
        self.board.clear();
        self.duplicates = 0;
        self.phase = Phase::AfterTimeout(out.max);
        self.plain.on_timeout(now, out)
    }

    fn on_departure(&mut self, departure: &Departure) {
        let Sent::Data { start, length, first } = departure.sent else { return };
        let end = start + u64::from(length);
        if first {
            self.board.on_sent(end);
        }
        if matches!(self.phase, Phase::AfterTimeout(_)) {
            self.board.on_sent_again(end);
        }
    }

    fn on_mss_change(&mut self, mss: u32) {
        self.mss = mss;
    }

    /// Steps 3.3 and C let a segment out where the window exceeds the pipe by one.
    fn allowance(&self, window: &Window, mss: u32, new_data: bool) -> Allowance {
        if !self.reports {
            return self.plain.allowance(window, mss, new_data);
        }
        let cwnd = window.allowance(0.0, 0, mss).bytes;
        let (outstanding, pipe) = (self.board.outstanding(), self.board.pipe(mss));
        match self.phase {
            // What leaves for duplicates before a loss is limited transmit.
            Phase::Open => {
                let extension = outstanding.saturating_sub(pipe);
                Allowance { bytes: cwnd.saturating_add(extension), extension }
            }
            Phase::Recovery(_) => {
                let bytes = cwnd.saturating_add(outstanding).saturating_sub(pipe);
                Allowance { bytes, extension: 0 }
            }
            Phase::AfterTimeout(_) => {
                Allowance { bytes: cwnd.saturating_add(self.board.passed_over()), extension: 0 }
            }
        }
    }

    fn burst(&self, rules: &Rules) -> Option<u32> {
        if self.reports { None } else { self.plain.burst(rules) }
    }

    /// Steps C and C.1: if the window has room for a segment.
    fn hole(&self, window: &Window, unsent: bool) -> Option<Range<u64>> {
        let room = self.active() && {
            let cwnd = window.allowance(0.0, 0, self.mss).bytes;
            self.board.pipe(self.mss) + u64::from(self.mss) <= cwnd
        };
        if room { self.board.next_seg(self.mss, unsent)?.hole() } else { None }
    }

    fn on_hole_taken(&mut self, taken: &Range<u64>) {
        if let Phase::Recovery(point) = self.phase {
            self.board.on_retransmitted(taken, point);
        }
    }

    fn missing(&self, range: Range<u64>) -> Range<u64> {
        self.board.missing(&range)
    }
}
