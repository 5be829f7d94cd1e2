//! TLP: where no acknowledgement comes, a segment is sent to make one (RFC 8985, section 7).

use super::segments::Segments;
use core::ops::Range;
use meshpace_units::{Instant, Span};

/// How long a receiver may put off an acknowledgement (section 7.2, TLP.max_ack_delay).
const MAX_ACK_DELAY: Span = Span::from_millis(200);
/// The wait before the first round trip is known (section 7.2).
const BLIND: Span = Span::from_secs(1);

/// The probe on its way.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    /// What had been sent with it: TLP.end_seq.
    end: u64,
    /// It was no new data.
    resent: bool,
}

/// What an acknowledgement says of the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing.
    Nothing,
    /// The probe mended a loss: the window has to answer for it (section 7.4.2).
    Mended,
}

/// When a probe leaves, and what has become of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Probe {
    /// When it is to leave (the RFC's PTO).
    pub(super) deadline: Option<Instant>,
    /// It is due: what leaves next is the probe.
    due: bool,
    /// It was taken to be sent, and has not left.
    taken: bool,
    outstanding: Option<Outstanding>,
}

impl Probe {
    /// Something was sent or acknowledged while nothing is known to be lost: if nothing more comes, a probe leaves (section
    /// 7.2).
    pub(super) fn arm(&mut self, now: Instant, segments: &Segments, srtt: Option<Span>) {
        self.deadline = None;
        if self.outstanding.is_some() || self.due || segments.count() == 0 || segments.arrived() > 0 {
            return;
        }
        let alone = if segments.count() == 1 { MAX_ACK_DELAY } else { Span::ZERO };
        let wait = srtt.map_or(BLIND, |srtt| srtt * 2 + alone);
        self.deadline = now.checked_add(wait);
    }

    /// Losses are known, or the connection begins anew.
    pub(super) fn disarm(&mut self) {
        *self = Self::default();
    }

    /// Time is over: the next segment is the probe.
    pub(super) fn fire(&mut self) {
        (self.deadline, self.due) = (None, true);
    }

    /// What was sent before is taken as the probe.
    pub(super) fn on_taken(&mut self) {
        self.taken |= core::mem::take(&mut self.due);
    }

    /// An acknowledgement came before a probe that was due could leave.
    pub(super) fn give_up(&mut self) {
        (self.due, self.taken) = (false, false);
    }

    /// The probe has yet to leave.
    pub(super) const fn is_due(&self) -> bool {
        self.due
    }

    /// `[start, end)` leaves when everything before `max` had been sent.
    pub(super) fn on_departure(&mut self, end: u64, max: u64, first: bool) {
        if core::mem::take(&mut self.due) | core::mem::take(&mut self.taken) {
            self.outstanding = Some(Outstanding { end: max.max(end), resent: !first });
        }
    }

    /// Everything before `una` is acknowledged; `duplicate`: what the acknowledgement reports as having arrived twice;
    /// `bare`: it acknowledges nothing new and reports nothing (section 7.4.2, TLP_process_ack).
    pub(super) fn on_ack(&mut self, una: u64, duplicate: Option<&Range<u64>>, bare: bool) -> Verdict {
        let Some(probe) = self.outstanding.filter(|probe| una >= probe.end) else { return Verdict::Nothing };
        let both_arrived = duplicate.is_some_and(|range| range.end == probe.end);
        if !probe.resent || both_arrived {
            self.outstanding = None;
        } else if una > probe.end {
            self.outstanding = None;
            return Verdict::Mended;
        } else if bare {
            self.outstanding = None; // the second copy made an acknowledgement
        }
        Verdict::Nothing
    }
}
