//! What the peer reports by selective acknowledgements to have received (RFC 2018, RFC 6675).

use crate::ranges::Ranges;

/// Discontiguous SACKed sequences, or full segments of SACKed bytes and one more, above what is taken as lost (RFC 6675,
/// section 2).
const DUP_THRESH: usize = 3;

/// What the peer has above what it acknowledges.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sacked {
    /// First unacknowledged position.
    una: u64,
    /// The position after what was sent.
    max: u64,
    /// All above `una`, which is itself missing by definition, and below `max`.
    ranges: Ranges,
}

impl Sacked {
    pub(crate) const fn una(&self) -> u64 {
        self.una
    }

    pub(crate) const fn max(&self) -> u64 {
        self.max
    }

    pub(crate) const fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// Everything before `una` is acknowledged, and the peer reports `blocks`. `newly` gets the positions that the
    /// peer reports for the first time, from left to right within a block; their number is the result.
    ///
    /// Blocks that no honest peer sends are ignored: empty ones, those behind what was sent, and those that do not begin
    /// above `una` (duplicates that RFC 2883 reports are there, too). A peer that acknowledges up to within a block has
    /// discarded the rest of it, which RFC 2018, section 8, allows: that block is forgotten.
    pub(crate) fn update(
        &mut self,
        una: u64,
        blocks: impl IntoIterator<Item = (u64, u64)>,
        mut newly: impl FnMut(u64, u64),
    ) -> u64 {
        self.una = una;
        self.max = self.max.max(una);
        self.ranges.advance(una);
        let mut count = 0;
        for (start, end) in blocks {
            let possible = una < start && start < end && end <= self.max;
            if !possible || !self.ranges.has_room(start, end) {
                continue;
            }
            for (from, to) in self.ranges.gaps(start, end) {
                count += to - from;
                newly(from, to);
            }
            self.ranges.insert(start, end);
        }
        count
    }

    /// The same; what is reported for the first time, in the order of the stream.
    pub(crate) fn news<I: IntoIterator<Item = (u64, u64)>>(
        &mut self,
        una: u64,
        blocks: I,
    ) -> impl Iterator<Item = (u64, u64)> + use<I> {
        let mut news = [(0, 0); 4];
        let mut count = 0;
        self.update(una, blocks, |from, to| match news.get_mut(count) {
            Some(place) => (*place, count) = ((from, to), count + 1),
            // Several gaps that one acknowledgement fills are looked through as one.
            None => news[3] = (news[3].0.min(from), news[3].1.max(to)),
        });
        news[..count].sort_unstable();
        news.into_iter().take(count)
    }

    /// Everything before `end` has been sent.
    pub(crate) fn on_sent(&mut self, end: u64) {
        self.max = self.max.max(end);
    }

    /// The retransmission timer expired: the peer may have discarded what it had reported (RFC 2018, section 8).
    pub(crate) fn clear(&mut self) {
        self.ranges = Ranges::default();
    }

    /// How much of `[from, to)` has not been reported.
    pub(crate) fn missing(&self, from: u64, to: u64) -> u64 {
        to.saturating_sub(from) - self.ranges.covered(from, to)
    }

    /// Everything missing below this position is lost: above it `DUP_THRESH` discontiguous sequences have been SACKed, or
    /// more than `DUP_THRESH - 1` full segments (RFC 6675, section 4, IsLost). Both hold the more the lower the position.
    pub(crate) fn lost_edge(&self, mss: u32) -> u64 {
        let enough = (DUP_THRESH as u64 - 1) * u64::from(mss);
        let mut bytes = 0;
        for (count, (start, end)) in self.ranges.backwards().enumerate() {
            bytes += end - start;
            if count + 1 == DUP_THRESH || bytes > enough {
                return start;
            }
        }
        0
    }
}
