//! RACK-TLP (RFC 8985): losses are found by time, and a probe leaves where no acknowledgement comes; with proportional rate
//! reduction (RFC 9937), F-RTO (RFC 5682) and undoing of needless recoveries (RFC 3708, RFC 3522).
//!
//! | what | file |
//! |---|---|
//! | what is on its way, when it left | `segments.rs` |
//! | RACK: what is lost, by time | `detection.rs` |
//! | TLP: the probe | `probe.rs` |
//! | what the sender tells and asks | `joint.rs` |
//! | F-RTO, reports of duplicates, echoed times | `undo.rs` |
//! | the window in recovery | `../prr.rs` |

mod detection;
mod joint;
mod probe;
mod segments;
mod undo;

use super::prr::Prr;
use super::sack::REPORTS;
use super::{FastRecovery, Progress, RecoveryPart};
use crate::control::{Ack, Outstanding, Rules, SackRanges, Window};
use alloc::boxed::Box;
use core::ops::Range;
use detection::{Detection, Said};
use meshpace_keys::Key;
use meshpace_units::Instant;
use probe::{Probe, Verdict};
use segments::Segments;
use undo::{Finding, Forward, Undo};

pub(super) static PART: RecoveryPart = RecoveryPart::new(
    "rack",
    "By time: lost is what left sufficiently before something that arrived; a probe leaves where no acknowledgement comes.",
    "RFC 8985 (RACK-TLP), RFC 9937 (PRR), RFC 5682 (F-RTO), RFC 3708 and 3522 (undo)",
    |values, rules| {
        let with = With {
            probes: values.flag("rack_probes"),
            proportional: values.flag("rack_prr"),
            forward: values.flag("rack_frto"),
            undoes: values.flag("rack_undo"),
        };
        Box::new(Rack::new(rules, with))
    },
)
.keys(&[&KEYS])
.needs(&[REPORTS]);

static KEYS: [Key; 4] = [
    Key::flag(
        "rack_probes",
        true,
        "A loss probe leaves where no acknowledgement comes (RFC 8985, section 7).",
    ),
    Key::flag(
        "rack_prr",
        true,
        "In recovery the window follows what arrives (RFC 9937); else it is cut at once (RFC 6675, section 5).",
    ),
    Key::flag(
        "rack_frto",
        true,
        "A timeout's first answers show whether it was needed (F-RTO; RFC 5682, section 3.1).",
    ),
    Key::flag(
        "rack_undo",
        true,
        "A recovery that duplicates or echoed times show to be needless is taken back (RFC 3708, RFC 3522).",
    ),
];

/// What of it is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct With {
    /// Loss probes (RFC 8985, section 7).
    pub probes: bool,
    /// Proportional rate reduction (RFC 9937).
    pub proportional: bool,
    /// F-RTO (RFC 5682).
    pub forward: bool,
    /// Needless recoveries are taken back (RFC 3708, RFC 3522).
    pub undoes: bool,
}

impl With {
    /// All of it.
    pub const ALL: Self = Self { probes: true, proportional: true, forward: true, undoes: true };
}

/// RACK-TLP. With a peer that reports nothing it is [`FastRecovery`].
#[derive(Clone, Debug)]
pub struct Rack {
    with: With,
    mss: u32,
    /// The peer reports what it has, as far as is known.
    reports: bool,
    /// For peers without selective acknowledgements.
    plain: FastRecovery,
    segments: Segments,
    detection: Detection,
    probe: Probe,
    undo: Undo,
    forward: Forward,
    stage: At,
    prr: Option<Prr>,
    /// Position after all that was sent, the FIN included, as last heard.
    max: u64,
    /// The first segment is to leave again, whatever the window says: the retransmission of a timeout.
    first_again: bool,
    /// The loss just found is mended already.
    mended: bool,
    /// Of the latest acknowledgement.
    latest: Latest,
    /// Bytes in flight before it.
    before: u64,
    /// When the SYN left; `None` once it is acknowledged or left again.
    syn: Option<Instant>,
    syn_left: bool,
}

/// Where recovery is, and what ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Open,
    /// Until this is acknowledged.
    Recovery(u64),
    /// After a timeout, until this is acknowledged; no recovery begins before.
    Timeout(u64),
}

/// What an acknowledgement did. Bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    /// Newly known to have arrived.
    delivered: u64,
    /// Of these, above what is acknowledged.
    selectively: u64,
    /// Newly acknowledged, whether known to have arrived or not.
    acknowledged: u64,
    /// Something that was never sent again, and was outstanding at the timeout, arrived.
    original: bool,
    /// So did something that was not.
    beyond: bool,
}

impl Rack {
    /// By these rules; those of NewReno's recovery are for peers without selective acknowledgements.
    #[must_use]
    pub fn new(rules: &Rules, with: With) -> Self {
        Self {
            with,
            mss: 0,
            reports: true,
            plain: FastRecovery::new(rules),
            segments: Segments::default(),
            detection: Detection::default(),
            probe: Probe::default(),
            undo: Undo::default(),
            forward: Forward::Off,
            stage: At::Open,
            prr: None,
            max: 0,
            first_again: false,
            mended: false,
            latest: Latest::default(),
            before: 0,
            syn: None,
            syn_left: false,
        }
    }

    /// What the acknowledgement and its blocks say of segments.
    fn read(&mut self, ack: &Ack<'_>, blocks: &SackRanges) {
        let point = match self.stage {
            At::Timeout(point) => point,
            At::Open | At::Recovery(_) => 0,
        };
        let mut latest = Latest { acknowledged: ack.acked, ..Latest::default() };
        let detection = &mut self.detection;
        detection.on_ack();
        let arrived = self.segments.on_ack(ack.out.una, blocks.iter().copied().flatten(), |sent| {
            detection.on_arrival(ack.now, sent, ack.timestamp);
            latest.original |= !sent.resent && sent.end <= point;
            latest.beyond |= sent.start >= point;
        });
        (latest.delivered, latest.selectively) = (arrived.all, arrived.selectively);
        self.latest = latest;
    }

    /// The range that the peer reports to have got twice: the first block, if it lies in acknowledged data or within the
    /// second block (RFC 2883, section 4).
    fn duplicate(una: u64, blocks: &SackRanges) -> Option<Range<u64>> {
        let (start, end) = blocks[0]?;
        let within = |outer: (u64, u64)| outer.0 <= start && end <= outer.1;
        (start < end && (end <= una || blocks[1].is_some_and(within))).then_some(start..end)
    }

    /// An acknowledgement arrived; `blocks` is what it reports.
    fn on_report(&mut self, window: &mut Window, ack: &Ack<'_>, blocks: &SackRanges) -> Progress {
        let Outstanding { una, max, .. } = ack.out;
        self.max = max;
        if let Some(left) = self.syn.take() {
            self.detection.on_first_trip(ack.now, ack.now.saturating_since(left));
        }
        self.before = self.segments.in_flight();
        self.read(ack, blocks);
        let duplicate = Self::duplicate(una, blocks);
        let bare = !ack.is_new() && blocks.iter().all(Option::is_none);
        self.first_again &= !ack.is_new();
        let recovering = self.stage != At::Open;
        let ended = self.end(window, una);
        let said = Said { una, max, duplicate: duplicate.is_some(), ends: ended.is_some() };
        self.detection.adapt(&said);
        if self.is_needless(ack, duplicate.as_ref(), recovering) {
            return self.take_back();
        }
        self.mended = self.probe.on_ack(una, duplicate.as_ref(), bare) == Verdict::Mended;
        let found = self.detection.detect(&mut self.segments, ack.now, self.stage != At::Open);
        let progress = self.answer(window, ack, found);
        self.rearm(ack);
        match (progress, ended) {
            // The acknowledgement that ends recovery acknowledges what was sent in the old window.
            (Progress::Open, Some(At::Recovery(_))) => Progress::Hold,
            (progress, _) => progress,
        }
    }

    /// Ends the stage if all that was outstanding when it began is acknowledged; which it was.
    fn end(&mut self, window: &mut Window, una: u64) -> Option<At> {
        let (At::Recovery(point) | At::Timeout(point)) = self.stage else { return None };
        if una < point {
            return None;
        }
        if let Some(prr) = self.prr.take() {
            window.set(self.segments_of(prr.target()));
        }
        self.forward = Forward::Off;
        Some(core::mem::replace(&mut self.stage, At::Open))
    }

    /// Whether the latest recovery is shown to have been needless; `recovering`: it had not ended before this acknowledgement.
    fn is_needless(&mut self, ack: &Ack<'_>, duplicate: Option<&Range<u64>>, recovering: bool) -> bool {
        let una = ack.out.una;
        let by_forward = match self.stage {
            At::Timeout(point) => {
                let Latest { original, beyond, .. } = self.latest;
                let finding = self.forward.on_ack(una, point, ack.is_new(), original, beyond);
                finding == Finding::Spurious
            }
            At::Open | At::Recovery(_) => false,
        };
        if !self.with.undoes {
            return by_forward;
        }
        let by_duplicates = duplicate.is_some_and(|range| self.undo.on_duplicate(range));
        let by_time = recovering && ack.is_new() && self.undo.is_of_an_original(ack.now, ack.timestamp);
        by_forward || by_duplicates || by_time
    }

    /// A recovery begins that may be found to be needless, with everything before `una` acknowledged.
    fn begin_undo(&mut self, una: u64) {
        let head = self.segments.first().is_some_and(|first| first.resent);
        self.undo.begin(una, self.segments.resent(), head);
    }

    /// Nothing was lost after all.
    fn take_back(&mut self) -> Progress {
        self.segments.mark_none_lost();
        self.undo.end();
        self.probe.disarm();
        (self.stage, self.prr, self.forward) = (At::Open, None, Forward::Off);
        (self.first_again, self.mended) = (false, false);
        Progress::Undo
    }

    /// What the window is to do; `found`: something more is lost.
    fn answer(&mut self, window: &mut Window, ack: &Ack<'_>, found: bool) -> Progress {
        match self.stage {
            At::Open if self.mended || found => Progress::Loss { inflation: 0.0 },
            At::Open | At::Timeout(_) => {
                if ack.is_new() {
                    Progress::Open
                } else {
                    Progress::Hold
                }
            }
            At::Recovery(_) => {
                let Latest { delivered, .. } = self.latest;
                if let Some(prr) = self.prr.as_mut().filter(|_| delivered > 0) {
                    let bytes =
                        prr.on_ack(delivered, self.segments.in_flight(), ack.is_new() && !found, self.mss);
                    window.set(self.segments_of(bytes));
                }
                Progress::Hold
            }
        }
    }

    /// The loss probe's time after an acknowledgement.
    fn rearm(&mut self, ack: &Ack<'_>) {
        self.probe.give_up();
        if self.stage != At::Open || self.segments.lost() > 0 || self.mended {
            self.probe.deadline = None;
        } else if self.with.probes && (ack.is_new() || self.segments.arrived() > 0) {
            self.probe.arm(ack.now, &self.segments, self.detection.srtt());
        }
    }

    /// Bytes as segments.
    fn segments_of(&self, bytes: u64) -> f64 {
        bytes as f64 / f64::from(self.mss.max(1))
    }

    /// Bytes that the window allows on their way.
    fn window_bytes(&self, window: &Window) -> u64 {
        window.allowance(0.0, 0, self.mss).bytes
    }

    /// `start..end`, with the FIN if that was sent behind it.
    fn with_fin(&self, start: u64, end: u64) -> Range<u64> {
        let last = self.segments.last().is_some_and(|last| last.end == end);
        start..if last { end.max(self.max) } else { end }
    }

    /// The next data to send again: the segment of a timeout, else the probe, else lost segments.
    fn next_hole(&self, unsent: bool) -> Option<(Range<u64>, bool)> {
        let piece = |start: u64, end: u64| self.with_fin(start, end.min(start + u64::from(self.mss)));
        if let Some(first) = self.segments.first().filter(|sent| self.first_again && sent.lost) {
            return Some((piece(first.start, first.end), true));
        }
        if let Some(last) =
            self.segments.last().filter(|sent| self.probe.is_due() && !unsent && !sent.arrived)
        {
            return Some((
                self.with_fin(last.start.max(last.end.saturating_sub(self.mss.into())), last.end),
                true,
            ));
        }
        if self.forward.holds_back() && unsent {
            return None;
        }
        self.segments.first_lost().map(|lost| (piece(lost.start, lost.end), false))
    }
}
