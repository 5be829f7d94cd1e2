//! Which outstanding data the peer has, by its selective acknowledgements, and which data to send next (RFC 6675).
//!
//! The names are the RFC's, sections 2 and 4, but its sequence numbers are those of last octets and the positions here
//! those after them: `high_rxt` is HighRxt + 1, `una` is HighACK + 1, `max` is HighData + 1.

use crate::sacked::Sacked;
use core::ops::Range;

/// The scoreboard and what recovery has retransmitted.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    sacked: Sacked,
    high_rxt: u64,
    rescue_rxt: Option<u64>,
}

/// What to send next in recovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextSeg {
    /// Rule 1: lost.
    Lost(Range<u64>),
    /// Rule 2: as much new data as there is for a segment.
    New,
    /// Rule 3: not acknowledged, not yet lost.
    Unacknowledged(Range<u64>),
    /// Rule 4: the last of what is outstanding, once a recovery.
    Rescue(Range<u64>),
}

impl NextSeg {
    /// What was sent before; `None` for new data.
    #[must_use]
    pub fn hole(self) -> Option<Range<u64>> {
        match self {
            Self::New => None,
            Self::Lost(range) | Self::Unacknowledged(range) | Self::Rescue(range) => Some(range),
        }
    }
}

impl Scoreboard {
    /// Update (): everything before `una` is acknowledged, and the peer reports `blocks`. How many bytes it reports for the
    /// first time. What no honest peer reports is ignored; a peer that acknowledges up to within a block has discarded the
    /// rest of it (RFC 2018, section 8).
    pub fn update(&mut self, una: u64, blocks: impl IntoIterator<Item = (u64, u64)>) -> u64 {
        self.high_rxt = self.high_rxt.max(una);
        self.sacked.update(una, blocks, |_, _| {})
    }

    /// Everything before `end` has been sent.
    pub fn on_sent(&mut self, end: u64) {
        self.sacked.on_sent(end);
    }

    /// The retransmission timer expired: the peer may have discarded what it had reported (RFC 2018, section 8), and
    /// nothing counts as retransmitted any more (RFC 6675, section 5.1).
    pub fn clear(&mut self) {
        self.sacked.clear();
        self.begin_recovery();
    }

    /// Recovery begins: only what is retransmitted from now on counts (RFC 6675, section 5, step 4.3).
    pub const fn begin_recovery(&mut self) {
        self.high_rxt = self.sacked.una();
        self.rescue_rxt = None;
    }

    /// `sent` was retransmitted, in a recovery that ends at `recovery_point`. The first retransmission puts off the rescue
    /// (step 4.3). The rescue itself is recognised by what no other rule sends: it begins below retransmitted data, or
    /// nothing above it has arrived. It does not count as retransmitted (step C.2) and is the last one (rule 4).
    pub fn on_retransmitted(&mut self, sent: &Range<u64>, recovery_point: u64) {
        let above = self.sacked.ranges().end().is_some_and(|end| sent.start < end);
        if self.rescue_rxt.is_some() && (sent.start < self.high_rxt || !above) {
            self.rescue_rxt = Some(recovery_point);
        } else {
            self.high_rxt = self.high_rxt.max(sent.end);
            self.rescue_rxt.get_or_insert(sent.end);
        }
    }

    /// Everything missing before `end` was sent again in order, after a timeout.
    pub fn on_sent_again(&mut self, end: u64) {
        self.high_rxt = self.high_rxt.max(end);
    }

    /// The first part of `range` that has not been reported to have arrived; empty if all of it has.
    #[must_use]
    pub fn missing(&self, range: &Range<u64>) -> Range<u64> {
        let (start, end) =
            self.sacked.ranges().gaps(range.start, range.end).next().unwrap_or((range.end, range.end));
        start..end
    }

    /// IsLost (): whether the byte at `position` is taken as lost. What has been SACKed is not.
    #[must_use]
    pub fn is_lost(&self, position: u64, mss: u32) -> bool {
        let below = self.sacked.una() <= position && position < self.sacked.lost_edge(mss);
        below && self.sacked.missing(position, position + 1) == 1
    }

    /// SetPipe (): the bytes of outstanding data that are thought to be in the network. Counted are bytes that are
    /// neither SACKed nor lost, and bytes that were retransmitted and are not SACKed.
    #[must_use]
    pub fn pipe(&self, mss: u32) -> u64 {
        let (una, max) = (self.sacked.una(), self.sacked.max());
        let sent_once = self.sacked.missing(self.sacked.lost_edge(mss).max(una), max);
        sent_once + self.sacked.missing(una, self.high_rxt.min(max))
    }

    /// Bytes outstanding, whether they have arrived or not.
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        self.sacked.max() - self.sacked.una()
    }

    /// After a timeout everything is sent again in order, but for what has arrived: bytes reported as arrived before the
    /// next one to be sent.
    #[must_use]
    pub fn passed_over(&self) -> u64 {
        let una = self.sacked.una();
        let (next, _) = self.sacked.ranges().gap_from(self.high_rxt.max(una));
        self.sacked.ranges().covered(una, next)
    }

    /// NextSeg (): `unsent` says that there are new data which the peer's window allows (rule 2).
    #[must_use]
    pub fn next_seg(&self, mss: u32, unsent: bool) -> Option<NextSeg> {
        let (una, max) = (self.sacked.una(), self.sacked.max());
        let (start, limit) = self.sacked.ranges().gap_from(self.high_rxt.max(una));
        // Rules 1.b and 3: what is missing below the highest byte SACKed has a SACKed range above it.
        let hole = limit.map(|limit| start..limit.min(start + u64::from(mss)));
        let lost = hole.as_ref().is_some_and(|hole| hole.start < self.sacked.lost_edge(mss));
        match hole {
            Some(hole) if lost => Some(NextSeg::Lost(hole)),
            _ if unsent => Some(NextSeg::New),
            Some(hole) => Some(NextSeg::Unacknowledged(hole)),
            None => {
                let rescues = una < max && self.rescue_rxt.is_none_or(|rescue| una > rescue);
                rescues.then(|| NextSeg::Rescue(self.last_missing(mss)))
            }
        }
    }

    /// Rule 4: a segment that ends with the highest outstanding byte that was not SACKed.
    fn last_missing(&self, mss: u32) -> Range<u64> {
        let (una, max) = (self.sacked.una(), self.sacked.max());
        let mut ranges = self.sacked.ranges().backwards();
        let (from, to) = match ranges.next() {
            Some((start, end)) if end == max => (ranges.next().map_or(una, |(_, end)| end), start),
            Some((_, end)) => (end, max),
            None => (una, max),
        };
        from.max(to.saturating_sub(mss.into()))..to
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const MSS: u32 = 10;

    /// `max` sent, `una` acknowledged, `blocks` SACKed one by one.
    fn board(una: u64, max: u64, blocks: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        board.on_sent(max);
        for block in blocks {
            board.update(una, [*block]);
        }
        board.begin_recovery();
        board
    }

    #[test]
    fn three_sequences_or_more_than_two_segments_above_make_a_loss() {
        let three = board(1, 101, &[(11, 12), (21, 22), (31, 32)]);
        assert!(three.is_lost(1, MSS) && three.is_lost(10, MSS), "three discontiguous sequences above");
        assert!(!three.is_lost(11, MSS), "SACKed");
        assert!(!three.is_lost(12, MSS), "two above");
        let two_segments = board(1, 101, &[(11, 31)]);
        assert!(!two_segments.is_lost(10, MSS), "two segments and not more");
        let and_a_byte = board(1, 101, &[(11, 32)]);
        assert!(and_a_byte.is_lost(10, MSS) && !and_a_byte.is_lost(32, MSS));
    }

    #[test]
    fn rules_1_to_4_in_their_order() {
        // 1..101 are out; 11..21 and 41..101 arrived, 21..41 and 1..11 did not.
        let mut board = board(1, 111, &[(11, 21), (41, 101)]);
        assert_eq!(board.pipe(MSS), 10, "what is behind the last SACK");
        assert_eq!(board.next_seg(MSS, true), Some(NextSeg::Lost(1..11)));
        board.on_retransmitted(&(1..11), 111);
        assert_eq!(board.pipe(MSS), 20);
        assert_eq!(board.next_seg(MSS, true), Some(NextSeg::Lost(21..31)));
        board.on_retransmitted(&(21..31), 111);
        board.on_retransmitted(&(31..41), 111);
        assert_eq!(board.next_seg(MSS, true), Some(NextSeg::New));
        assert_eq!(board.next_seg(MSS, false), None, "the first retransmission is not acknowledged yet");
        board.update(21, [(41, 101)]);
        assert_eq!(board.next_seg(MSS, false), Some(NextSeg::Rescue(101..111)));
        board.on_retransmitted(&(101..111), 111);
        assert_eq!(board.next_seg(MSS, false), None, "once a recovery");
    }

    #[test]
    fn rule_3_resends_what_is_not_yet_lost() {
        let board = board(1, 101, &[(21, 31)]);
        assert_eq!(board.next_seg(MSS, true), Some(NextSeg::New));
        assert_eq!(board.next_seg(MSS, false), Some(NextSeg::Unacknowledged(1..11)));
    }

    #[test]
    fn lies_change_nothing() {
        let mut board = board(50, 101, &[(61, 71)]);
        let before = alloc::format!("{board:?}");
        let lies = [(71, 71), (81, 75), (90, 102), (u64::MAX - 1, u64::MAX), (50, 60), (40, 60), (1, 20)];
        assert_eq!(board.update(50, lies), 0);
        assert_eq!(alloc::format!("{board:?}"), before);
    }

    #[test]
    fn a_peer_may_discard_what_it_reported() {
        let mut reneging = board(1, 101, &[(21, 31), (41, 51)]);
        reneging.update(25, []); // only up to within the block: the rest of it is gone
        assert_eq!((reneging.missing(&(25..60)), reneging.missing(&(41..60))), (25..41, 51..60));
        reneging.clear();
        assert_eq!((reneging.missing(&(25..101)), reneging.pipe(MSS)), (25..101, 76));
        assert_eq!(reneging.update(25, [(41, 51)]), 10, "reported anew");
    }

    #[test]
    fn bookkeeping_is_bounded() {
        let mut board = board(1, u64::from(u32::MAX), &[]);
        for n in 1..10_000 {
            board.update(1, [(10 * n, 10 * n + 1)]);
        }
        assert_eq!(
            (board.missing(&(40_950..40_951)), board.missing(&(90_000..90_001))),
            (40_951..40_951, 90_000..90_001)
        );
        assert_eq!(board.update(1, [(89_990, 90_000)]), 0);
    }

    /// The RFC's text, byte by byte, with its own inclusive sequence numbers.
    #[derive(Clone, Debug)]
    struct Model {
        sacked: Vec<bool>,
        high_ack: u64,
        high_data: u64,
        high_rxt: u64,
        rescue_rxt: Option<u64>,
    }

    impl Model {
        fn is_lost(&self, seq: u64) -> bool {
            let above = &self.sacked[seq as usize + 1..=self.high_data as usize];
            let runs =
                above.iter().enumerate().filter(|&(n, sacked)| *sacked && (n == 0 || !above[n - 1])).count();
            let bytes = above.iter().filter(|sacked| **sacked).count() as u64;
            !self.sacked[seq as usize] && (runs >= 3 || bytes > 2 * u64::from(MSS))
        }

        fn missing(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
            (self.high_ack + 1..=self.high_data).filter(|&seq| !self.sacked[seq as usize])
        }

        fn pipe(&self) -> u64 {
            self.missing().map(|seq| u64::from(!self.is_lost(seq)) + u64::from(seq <= self.high_rxt)).sum()
        }

        /// Up to a segment that begins with `seq` and has nothing that arrived.
        fn range(&self, seq: u64) -> Range<u64> {
            let end = (seq..=self.high_data).take(MSS as usize).take_while(|&seq| !self.sacked[seq as usize]);
            seq..end.last().unwrap() + 1
        }

        fn next_seg(&self, unsent: bool) -> Option<NextSeg> {
            let highest = self.sacked.iter().rposition(|sacked| *sacked).unwrap_or(0) as u64;
            let below = |seq: &u64| *seq > self.high_rxt && *seq < highest;
            if let Some(seq) = self.missing().filter(below).find(|&seq| self.is_lost(seq)) {
                return Some(NextSeg::Lost(self.range(seq)));
            }
            if unsent {
                return Some(NextSeg::New);
            }
            if let Some(seq) = self.missing().find(below) {
                return Some(NextSeg::Unacknowledged(self.range(seq)));
            }
            let last = self
                .missing()
                .next_back()
                .filter(|_| self.rescue_rxt.is_none_or(|rescue| self.high_ack > rescue))?;
            let first = (self.high_ack + 1..=last).rev().take(MSS as usize);
            let first = first.take_while(|&seq| !self.sacked[seq as usize]).last().unwrap();
            Some(NextSeg::Rescue(first..last + 1))
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Send(u64),
        Ack(u64),
        Sack(u64, u64),
        Resend(bool),
        Timeout,
        Recovery,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (1u64..40).prop_map(Step::Send),
            2 => (0u64..30).prop_map(Step::Ack),
            8 => (0u64..150, 0u64..30).prop_map(|(start, length)| Step::Sack(start, length)),
            4 => any::<bool>().prop_map(Step::Resend),
            1 => Just(Step::Timeout),
            1 => Just(Step::Recovery),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn agrees_with_the_text_of_the_rfc(steps in proptest::collection::vec(step(), 1..80)) {
            let mut board = Scoreboard::default();
            let mut model =
                Model { sacked: alloc::vec![false; 8_000], high_ack: 0, high_data: 0, high_rxt: 0, rescue_rxt: None };
            board.on_sent(1);
            board.update(1, []);
            board.begin_recovery();
            for step in steps {
                match step {
                    Step::Send(bytes) => {
                        model.high_data += bytes;
                        board.on_sent(model.high_data + 1);
                    }
                    Step::Ack(bytes) => {
                        let mut to = (model.high_ack + bytes).min(model.high_data);
                        while model.sacked[to as usize + 1] {
                            to += 1; // an honest peer acknowledges all that it has
                        }
                        model.high_ack = to;
                        model.high_rxt = model.high_rxt.max(to);
                        model.sacked[..=to as usize].fill(false);
                        board.update(to + 1, []);
                    }
                    Step::Sack(start, length) => {
                        let start = model.high_ack + 2 + start;
                        let mut told = Vec::new();
                        let blocks = [(start, start + length)];
                        let count = board.sacked.update(model.high_ack + 1, blocks, |a, b| told.extend(a..b));
                        let real = length > 0 && start + length <= model.high_data + 1;
                        let new: Vec<u64> =
                            (start..start + length).filter(|&seq| real && !model.sacked[seq as usize]).collect();
                        prop_assert_eq!(&told, &new);
                        prop_assert_eq!(count, new.len() as u64);
                        new.iter().for_each(|&seq| model.sacked[seq as usize] = true);
                    }
                    Step::Resend(unsent) => {
                        let point = model.high_data + 1;
                        match board.next_seg(MSS, unsent) {
                            Some(NextSeg::Lost(range) | NextSeg::Unacknowledged(range)) => {
                                board.on_retransmitted(&range, point);
                                model.high_rxt = range.end - 1;
                                model.rescue_rxt.get_or_insert(range.end - 1);
                            }
                            Some(NextSeg::Rescue(range)) if model.rescue_rxt.is_some() => {
                                board.on_retransmitted(&range, point);
                                model.rescue_rxt = Some(model.high_data);
                            }
                            _ => {}
                        }
                    }
                    Step::Timeout => {
                        board.clear();
                        model.sacked.fill(false);
                        (model.high_rxt, model.rescue_rxt) = (model.high_ack, None);
                    }
                    Step::Recovery => {
                        board.begin_recovery();
                        (model.high_rxt, model.rescue_rxt) = (model.high_ack, None);
                    }
                }
                let lost: Vec<bool> = (0..=model.high_data).map(|seq| seq > model.high_ack && model.is_lost(seq)).collect();
                let found: Vec<bool> = (0..=model.high_data).map(|seq| board.is_lost(seq, MSS)).collect();
                prop_assert_eq!(found, lost);
                prop_assert_eq!(board.pipe(MSS), model.pipe());
                for unsent in [true, false] {
                    prop_assert_eq!(board.next_seg(MSS, unsent), model.next_seg(unsent));
                }
            }
        }
    }
}
