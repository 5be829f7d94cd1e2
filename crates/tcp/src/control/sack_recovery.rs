//! Recovery by selective acknowledgements (RFC 6675), for every window part that recovers so.

use super::losses::DUPLICATE_THRESHOLD;
use super::{Ack, AckKind, Allowance, Departure, Outstanding, SackRanges, Scoreboard, Sent, Window};
use core::ops::Range;

/// What to do about losses, RFC 6675, section 5. By how much a loss cuts the window is the part's business.
#[derive(Clone, Debug, Default)]
pub struct SackRecovery {
    board: Scoreboard,
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

/// What an acknowledgement means to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackProgress {
    /// It acknowledges something outside recovery: the window opens.
    Open,
    /// Nothing.
    Hold,
    /// A loss: cut the window, then [`enter`](SackRecovery::enter).
    Loss,
}

impl SackRecovery {
    /// True while recovery has not ended.
    #[must_use]
    pub const fn active(&self) -> bool {
        matches!(self.phase, Phase::Recovery(_))
    }

    /// What the peer has.
    #[must_use]
    pub const fn scoreboard(&self) -> &Scoreboard {
        &self.board
    }

    /// An acknowledgement arrived; `blocks` is what it reports.
    pub fn on_ack(&mut self, ack: &Ack<'_>, blocks: &SackRanges) -> SackProgress {
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
            return if recovering { SackProgress::Hold } else { SackProgress::Open };
        }
        if news == 0 || self.phase != Phase::Open {
            return SackProgress::Hold; // a duplicate is what reports something (section 2)
        }
        self.duplicates += 1;
        let lost = self.duplicates >= DUPLICATE_THRESHOLD || self.board.is_lost(una, ack.mss);
        if lost { SackProgress::Loss } else { SackProgress::Hold }
    }

    /// Recovery begins (steps 4.1 and 4.3); the first segment is resent with the reaction
    /// [`FastRetransmit`](super::Reaction::FastRetransmit).
    pub fn enter(&mut self, out: &Outstanding, mss: u32) {
        self.phase = Phase::Recovery(out.max);
        self.board.begin_recovery();
        self.board.on_retransmitted(&(out.una..out.max.min(out.una + u64::from(mss))), out.max);
    }

    /// The retransmission timer expired (section 5.1).
    pub fn on_timeout(&mut self, out: &Outstanding) {
        self.board.on_sent(out.max);
        self.board.clear();
        self.duplicates = 0;
        self.phase = Phase::AfterTimeout(out.max);
    }

    /// A segment leaves.
    pub fn on_departure(&mut self, departure: &Departure) {
        let Sent::Data { start, length, first } = departure.sent else { return };
        let end = start + u64::from(length);
        if first {
            self.board.on_sent(end);
        }
        if matches!(self.phase, Phase::AfterTimeout(_)) {
            self.board.on_sent_again(end);
        }
    }

    /// The window as what may be outstanding: steps 3.3 and C let a segment out where the window exceeds the pipe by one.
    #[must_use]
    pub fn allowance(&self, window: &Window, mss: u32) -> Allowance {
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

    /// What is to be sent again, if the window has room for a segment (steps C and C.1).
    #[must_use]
    pub fn hole(&self, window: &Window, mss: u32, unsent: bool) -> Option<Range<u64>> {
        let room = self.active() && {
            let cwnd = window.allowance(0.0, 0, mss).bytes;
            self.board.pipe(mss) + u64::from(mss) <= cwnd
        };
        if room { self.board.next_seg(mss, unsent)?.hole() } else { None }
    }

    /// What [`hole`](Self::hole) gave is sent.
    pub fn on_hole_taken(&mut self, taken: &Range<u64>) {
        if let Phase::Recovery(point) = self.phase {
            self.board.on_retransmitted(taken, point);
        }
    }

    /// The first part of `range` that the peer does not have.
    #[must_use]
    pub fn missing(&self, range: &Range<u64>) -> Range<u64> {
        self.board.missing(range)
    }
}
