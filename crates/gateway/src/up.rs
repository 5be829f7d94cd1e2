//! The wireless-to-wired half of a connection: the sender paces, the gateway measures the wired round trip for it.

use crate::budget::Budget;
use crate::goodput::{Acked, Goodput};
use crate::segment_map::{Covered, Recorded, SegmentMap, UNACKED_MAX};
use crate::{Config, TcpView, Treatment};
use meshpace_pacing::Pending;
use meshpace_tcp::{Options, Segment};
use meshpace_units::{Bytes, Instant, Span};

/// Most bytes of options that leave room for the RTT option's eight (schemes.md 3.2).
const OPTIONS_MAX: u32 = 32;
/// The RTT option's own size.
const RTT_OPTION: u32 = 8;
const TCP_HEADER: u32 = 20;

#[derive(Debug)]
pub(crate) struct Up {
    map: SegmentMap<()>,
    /// The latest wired round trip measured.
    pub rtt: Option<Span>,
    pub goodput: Goodput,
    /// Options written.
    pub options_written: u64,
    /// Segments that passed here more than once.
    pub passed_again: u64,
}

impl Up {
    pub fn new(now: Instant, first: &Segment) -> Self {
        Self {
            map: SegmentMap::new(first.seq),
            rtt: None,
            goodput: Goodput::new(now),
            options_written: 0,
            passed_again: 0,
        }
    }

    /// True if data passed that is not acknowledged.
    pub fn outstanding(&self) -> bool {
        self.map.outstanding()
    }

    /// A data packet passes towards the Internet: T1 (schemes.md 3.2).
    pub fn on_data(&mut self, now: Instant, segment: &Segment, config: &Config, budget: &mut Budget<'_>) {
        while self.map.pop_older_than(now, UNACKED_MAX).is_some() {
            budget.forget(1);
        }
        let room = budget.can_record(config, self.map.len());
        if config.sampled {
            self.map.passed_unseen(segment.seq);
        }
        match self.map.record(segment.seq, segment.end(), now, room, ()) {
            Recorded::New => budget.record(),
            Recorded::Again(()) => self.passed_again += 1,
            Recorded::Not => {}
        }
    }

    /// An ACK comes from the Internet. Returns what it tells, the round trip being that of the oldest segment it newly
    /// acknowledges, and if the ACK is one that is to carry it, that round trip in whole milliseconds.
    pub fn on_ack(
        &mut self,
        now: Instant,
        view: &TcpView<'_>,
        treatment: Treatment,
        sampled: bool,
        budget: &mut Budget<'_>,
    ) -> (Acked, Option<Span>) {
        if sampled {
            self.map.passed_unseen(view.segment.ack);
        }
        let mut first = None;
        let each = |passed| {
            first.get_or_insert(passed);
        };
        let Some(Covered { from, bytes, entries }) = self.map.acknowledge(view.segment.ack, each) else {
            return (Acked::default(), None);
        };
        let bytes = Bytes(u64::from(bytes));
        self.goodput.on_acked(now, bytes);
        budget.forget(entries);
        // Of what was seen the oldest stands for what was not.
        let oldest = first.filter(|e| (sampled || e.start.at_or_before(from)) && !e.again);
        let Some(rtt) = oldest.map(|e| now.saturating_since(e.at)) else {
            return (Acked { bytes, rtt: None }, None);
        };
        self.rtt = Some(rtt);
        // An option that arrived with the ACK is replaced, so its bytes count as room.
        let replaced = if view.segment.options.rtt_wired.is_some() { RTT_OPTION } else { 0 };
        let options = view.header_length.saturating_sub(TCP_HEADER + replaced);
        let writes = treatment == Treatment::Pace && view.segment.is_pure_ack() && options <= OPTIONS_MAX;
        self.options_written += u64::from(writes);
        let option = writes.then(|| Span::from_millis(Options::rtt_milliseconds(rtt).into()));
        (Acked { bytes, rtt: Some(rtt) }, option)
    }

    /// What goodput control learns of the flow: only data on their way in the wired part are seen here, not those that
    /// wait in the mesh.
    pub fn pending(&self) -> Pending {
        let outstanding = self.map.outstanding();
        Pending { demand: outstanding, outstanding }
    }

    /// Entries in the sequence map.
    pub fn recorded(&self) -> usize {
        self.map.len()
    }
}
