//! RACK-TLP at the joint of loss recoveries: what the sender tells it and asks of it.

use super::super::prr::Prr;
use super::super::{Flight, Lost, Progress, Recovery, Stage};
use super::undo::Forward;
use super::{At, Latest, Rack};
use crate::control::{Ack, Allowance, Asks, Departure, Outstanding, Reaction, Rules, Sent, Window};
use alloc::vec::Vec;
use core::ops::Range;
use meshpace_units::Instant;

impl Recovery for Rack {
    fn asks(&self) -> Asks {
        Asks { sack: true, deadlines: true, ..Asks::default() }
    }

    fn on_connected(&mut self, mss: u32) {
        self.plain.on_connected(mss);
        self.mss = mss;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack<'_>) -> Progress {
        self.reports = ack.sack.is_some();
        match ack.sack {
            Some(blocks) => self.on_report(window, ack, blocks),
            None => {
                self.segments.on_ack(ack.out.una, [], |_| {});
                self.plain.on_ack(window, ack)
            }
        }
    }

    fn begin(&mut self, window: &mut Window, cwnd: f64, out: &Outstanding) -> Reaction {
        if !self.reports {
            return self.plain.begin(window, cwnd, out);
        }
        if core::mem::take(&mut self.mended) {
            self.undo.end();
            window.set(cwnd);
            return Reaction::Continue;
        }
        self.begin_undo(out.una);
        self.stage = At::Recovery(out.max);
        self.probe.disarm();
        if self.with.proportional && !window.is_directed() {
            let Latest { delivered, selectively, acknowledged, .. } = self.latest;
            // RecoverFS: what was outstanding before this acknowledgement, without what was known to have arrived.
            let flight = self.segments.in_flight() + self.segments.lost() + selectively + acknowledged;
            let mut prr = Prr::new((cwnd * f64::from(self.mss)) as u64, flight);
            let bytes = prr.on_ack(delivered, self.segments.in_flight(), false, self.mss);
            self.prr = Some(prr);
            window.set(self.segments_of(bytes));
        } else {
            // The first retransmission leaves whatever else does (RFC 6675, section 5, step 4.3).
            self.first_again = true;
            window.set(cwnd);
        }
        Reaction::Recover
    }

    fn on_timeout(&mut self, now: Instant, out: &Outstanding) -> bool {
        let again = self.plain.on_timeout(now, out);
        self.max = out.max;
        self.segments.on_timeout();
        self.detection.on_timeout(&mut self.segments, now);
        // A timeout while an earlier one's data are outstanding shows nothing (RFC 5682, section 3.1, step 1), nor does one in
        // recovery: what arrives then has been on its way since before a loss that was real (Linux's tcp_enter_loss).
        let first = self.stage == At::Open;
        self.forward = if self.with.forward && first { Forward::Resent } else { Forward::Off };
        self.stage = At::Timeout(out.max);
        (self.prr, self.first_again, self.mended) = (None, true, false);
        self.probe.disarm();
        if first {
            self.begin_undo(out.una);
        }
        again
    }

    fn probes(&mut self, out: &Outstanding) -> bool {
        let due = self.reports && out.una > 0 && self.probe.deadline.is_some();
        if due {
            self.max = out.max;
            self.probe.fire();
        }
        due
    }

    fn on_departure(&mut self, departure: &Departure) {
        let Sent::Data { start, length, first } = departure.sent else {
            // Sent twice: the answer may be to either (Karn).
            self.syn = if self.syn_left { None } else { Some(departure.now) };
            self.syn_left = true;
            return;
        };
        let end = start + u64::from(length);
        self.segments.on_departure(departure.now, start, end);
        self.max = self.max.max(end);
        self.probe.on_departure(end, self.max, first);
        if let Some(prr) = &mut self.prr {
            prr.on_departure(u64::from(length));
        }
        if !first {
            self.undo.on_resent(departure.now);
        } else if self.with.probes && self.stage == At::Open && self.segments.lost() == 0 {
            self.probe.arm(departure.now, &self.segments, self.detection.srtt());
        }
    }

    fn on_mss_change(&mut self, mss: u32) {
        if mss < self.mss {
            // All of it is too big for the path: it is sent again (RFC 1191, section 6.5).
            self.segments.mark_lost(|_| true);
            self.segments.take_lost(); // no loss of the network's
        }
        self.mss = mss;
    }

    fn deadline(&self) -> Option<Instant> {
        if !self.reports {
            return None;
        }
        [self.detection.deadline, self.probe.deadline].into_iter().flatten().min()
    }

    fn on_deadline(&mut self, window: &mut Window, now: Instant, out: &Outstanding) -> Progress {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        self.max = out.max;
        if due(self.detection.deadline) {
            let found = self.detection.detect(&mut self.segments, now, self.stage != At::Open);
            if found {
                self.latest = Latest::default();
                self.probe.deadline = None;
                if self.stage == At::Open {
                    return Progress::Loss { inflation: 0.0 };
                }
                if self.prr.is_some() {
                    // Nothing arrived that lets more out than one of them.
                    let bytes = self.segments.in_flight() + u64::from(self.mss);
                    window.set(window.cwnd().min(self.segments_of(bytes)));
                }
            }
        }
        if due(self.probe.deadline) {
            self.probe.fire();
            return Progress::Repair(Reaction::RestartTimer);
        }
        Progress::Hold
    }

    /// As many bytes as the window allows may be on their way, and a probe besides.
    fn allowance(&self, window: &Window, mss: u32, new_data: bool) -> Allowance {
        if !self.reports {
            return self.plain.allowance(window, mss, new_data);
        }
        let probe = if self.probe.is_due() { u64::from(mss) } else { 0 };
        let elsewhere = self.segments.outstanding() - self.segments.in_flight();
        let bytes = self.window_bytes(window).saturating_add(elsewhere).saturating_add(probe);
        // What leaves for duplicates before a loss is limited transmit.
        let extension = if self.stage == At::Open { elsewhere + probe } else { 0 };
        Allowance { bytes, extension }
    }

    fn burst(&self, rules: &Rules) -> Option<u32> {
        if self.reports { None } else { self.plain.burst(rules) }
    }

    fn hole(&self, window: &Window, unsent: bool) -> Option<Range<u64>> {
        if !self.reports {
            return None;
        }
        let (hole, forced) = self.next_hole(unsent)?;
        let room = || self.segments.in_flight() + (hole.end - hole.start) <= self.window_bytes(window);
        (forced || room()).then_some(hole)
    }

    fn on_hole_taken(&mut self, taken: &Range<u64>) {
        self.first_again = false;
        self.probe.on_taken();
        self.forward = if self.forward == Forward::NewData { Forward::Off } else { self.forward };
        self.segments.on_taken(taken.clone());
    }

    fn missing(&self, range: Range<u64>) -> Range<u64> {
        self.segments.missing(range)
    }

    /// Only lost segments are sent again ([`hole`](Recovery::hole)); without reports everything is sent
    /// again.
    fn goes_back(&self) -> bool {
        !self.reports || self.segments.count() == 0
    }

    fn take_lost(&mut self) -> Vec<Lost> {
        self.segments.take_lost()
    }

    fn flight(&self) -> Option<Flight> {
        self.reports.then(|| Flight {
            bytes: self.segments.in_flight(),
            before: self.before,
            found: self.segments.found(),
            stage: match self.stage {
                At::Open => Stage::Open,
                At::Recovery(_) => Stage::Recovery,
                At::Timeout(_) => Stage::Timeout,
            },
        })
    }
}
