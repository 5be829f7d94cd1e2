//! Frames that are strong enough and are lost all the same: lossy links (`[[radio_link]] loss, burst`).
//!
//! A loss is a frame that cannot be decoded at this receiver: it is sensed, keeps the medium busy and leaves an EIFS,
//! as one from too far away does. Every frame on the directed link counts, whatever its kind and destination. Of a frame of
//! several packets for this receiver each MPDU is lost by itself: one after another counts as a frame of its own.
//!
//! Each directed link draws from a stream of its own, derived from the run's seed, the link and its sender's radio, so that runs of several
//! schemes are *paired*: they meet the same link.
//!
//! - Independent losses are drawn for each frame: the n-th frame of a link meets the same fate in every run. With a length,
//!   losses are errors of bits: a frame twice as long is lost as often as at least one of two frames in a row,
//!   `1 - (1 - p)^(bytes / length)`.
//! - Bursts are drawn in time, whatever is sent: good and bad periods alternate, and a frame whose first bit leaves in
//!   a bad period is lost. That is Gilbert's channel (Bell System Technical Journal 39, 1960) in continuous time. The
//!   lengths of the periods are exponential; with mean `B` of the bad ones and loss `p` the good ones have mean
//!   `B (1 - p) / p`, so that the share of bad time is `p`. Frames `d` apart meet the same bad period or another one with
//!   probability `p + (1 - p) exp(-d / (B (1 - p)))`.

use crate::burst::Bitmap;
use crate::frame::Frame;
use crate::hearers::Hearers;
use crate::phy::{Phy, mpdus};
use meshpace_units::random::Stream;
use meshpace_units::{Bytes, Instant, NodeId, Span};

/// A directed link that loses frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkLoss {
    /// Transmitter.
    pub from: NodeId,
    /// Its radio's number among its own: a link over another of them has other luck.
    pub radio: u16,
    /// Receiver.
    pub to: NodeId,
    /// Share of the frames that are lost, 0 to 1; with a `length` of those that have this length.
    pub loss: f64,
    /// The MPDU that `loss` is said of, others being lost by their length; `None`: frames of any length are lost alike.
    pub length: Option<Bytes>,
    /// Mean length of a bad period; `None`: every frame is lost or not by itself.
    pub burst: Option<Span>,
}

/// The lossy links of a mesh.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    /// Sorted by the link's ends.
    links: Vec<((NodeId, NodeId), Channel)>,
}

/// One directed link.
#[derive(Clone, Debug)]
struct Channel {
    loss: f64,
    length: Option<Bytes>,
    stream: Stream,
    /// `None`: independent losses.
    periods: Option<Periods>,
}

/// Good and bad times in turn.
#[derive(Clone, Copy, Debug)]
struct Periods {
    /// Mean lengths of good and bad ones, s.
    means: [f64; 2],
    bad: bool,
    until: Instant,
}

impl Losses {
    /// The lossy links of a run. Of several entries for one directed link the first counts.
    #[must_use]
    pub fn new(links: &[LinkLoss], seed: u64) -> Self {
        let mut losses = Self::default();
        for link in links {
            let ends = (link.from, link.to);
            if let Err(index) = losses.links.binary_search_by_key(&ends, |entry| entry.0) {
                losses.links.insert(index, (ends, Channel::new(link, seed)));
            }
        }
        losses
    }

    /// True if any link loses frames.
    #[inline]
    #[must_use]
    pub fn any(&self) -> bool {
        !self.links.is_empty()
    }

    /// Notes in a table of hearers which links [`Losses::lose`] must be asked about.
    pub fn mark(&self, table: &mut Hearers) {
        for ((from, to), _) in &self.links {
            table.mark_lossy(*from, *to);
        }
    }

    /// The share of the frames of `size` (their MPDU) that are lost on the way from one node to another.
    #[must_use]
    pub fn share(&self, from: NodeId, to: NodeId, size: Bytes) -> f64 {
        let found = self.links.binary_search_by_key(&(from, to), |entry| entry.0);
        found.map_or(0.0, |index| self.links[index].1.share(size))
    }

    /// True if the frame of `size` (its MPDU) that `from` starts to send `now` is lost on its way to `to`. To be asked once a
    /// frame, in the order of time.
    ///
    /// # Panics
    /// If the link is not a lossy one.
    pub fn lose(&mut self, now: Instant, from: NodeId, to: NodeId, size: Bytes) -> bool {
        match self.links.binary_search_by_key(&(from, to), |entry| entry.0) {
            Ok(index) => self.links[index].1.loses(now, size),
            Err(_) => panic!("{from:?} to {to:?} loses nothing"),
        }
    }
}

impl Losses {
    /// Which of the MPDUs of a frame of several packets, which its sender starts to send `now`, are lost on their way to `to`, by their
    /// place among them. To be asked once a frame, in the order of time.
    ///
    /// # Panics
    /// If the link is not a lossy one.
    pub fn lose_mpdus(&mut self, now: Instant, to: NodeId, frame: &Frame, phy: &Phy) -> Bitmap {
        let mut lost = Bitmap::NONE;
        for (place, (mpdu, (begin, _))) in mpdus(frame.packets()).zip(phy.times(frame)).enumerate() {
            if self.lose(now + begin, frame.from, to, phy.mpdu_of(mpdu)) {
                lost.set(place);
            }
        }
        lost
    }
}

impl Channel {
    fn new(link: &LinkLoss, seed: u64) -> Self {
        // A mesh has fewer nodes than 2^16.
        let index = u64::from(link.from.0) << 32 | u64::from(link.radio) << 16 | u64::from(link.to.0);
        let mut stream = Stream::new(seed, "radio-loss", index);
        // A link that loses all or nothing has no second kind of period.
        let burst = link.burst.filter(|burst| !burst.is_zero() && link.loss > 0.0 && link.loss < 1.0);
        let periods = burst.map(|burst| {
            let bad = burst.as_secs_f64();
            let means = [bad * (1.0 - link.loss) / link.loss, bad];
            let bad = stream.unit() < link.loss;
            // An exponential period has no memory: what is left of the first one is as long as a whole one.
            let until = Instant::ZERO + period(stream.exponential(means[usize::from(bad)]));
            Periods { means, bad, until }
        });
        Self { loss: link.loss, length: link.length, stream, periods }
    }

    fn loses(&mut self, now: Instant, size: Bytes) -> bool {
        let Some(periods) = &mut self.periods else { return self.stream.unit() < self.loss_of(size) };
        while periods.until <= now {
            periods.bad = !periods.bad;
            let length = self.stream.exponential(periods.means[usize::from(periods.bad)]);
            periods.until += period(length).max(Span::NANOSECOND);
        }
        periods.bad
    }

    /// The share of MPDUs of `size` that are lost, over a long time: a burst takes frames of any length.
    fn share(&self, size: Bytes) -> f64 {
        if self.periods.is_some() { self.loss } else { self.loss_of(size) }
    }

    /// How probably an MPDU of `size` is lost, where losses are independent.
    fn loss_of(&self, size: Bytes) -> f64 {
        match self.length {
            None => self.loss,
            Some(length) => 1.0 - libm::pow(1.0 - self.loss, size.0 as f64 / length.0 as f64),
        }
    }
}

/// A period of so many seconds. Long bursts and few losses make good periods of thousands of years: 30 are as good as those.
fn period(seconds: f64) -> Span {
    Span::from_secs_f64(seconds.min(1e9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hearer;
    use proptest::prelude::*;

    const ENDS: (NodeId, NodeId) = (NodeId(3), NodeId(7));
    const SIZE: Bytes = Bytes(1000);

    fn losses(loss: f64, burst_ms: Option<u64>, seed: u64) -> Losses {
        let burst = burst_ms.map(Span::from_millis);
        Losses::new(&[LinkLoss { from: ENDS.0, radio: 0, to: ENDS.1, loss, length: None, burst }], seed)
    }

    /// Fates of `n` frames, one every `us` microseconds.
    fn fates(losses: &mut Losses, n: u64, us: u64) -> Vec<bool> {
        let at = |i| Instant::ZERO + Span::from_micros(i * us);
        (0..n).map(|i| losses.lose(at(i), ENDS.0, ENDS.1, SIZE)).collect()
    }

    fn share(fates: &[bool]) -> f64 {
        fates.iter().filter(|lost| **lost).count() as f64 / fates.len() as f64
    }

    /// Mean number of frames lost in a row.
    fn mean_run(fates: &[bool]) -> f64 {
        let lost = fates.iter().filter(|lost| **lost).count();
        let runs = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        lost as f64 / runs as f64
    }

    #[test]
    fn each_radio_of_a_sender_has_its_own_luck() {
        let of = |radio| {
            let link = LinkLoss { from: ENDS.0, radio, to: ENDS.1, loss: 0.5, length: None, burst: None };
            let mut losses = Losses::new(&[link], 1);
            let lose = |n| losses.lose(Instant::from_nanos(n), ENDS.0, ENDS.1, Bytes(100));
            (0..1_000).map(lose).collect::<Vec<_>>()
        };
        let same = of(0).into_iter().zip(of(1)).filter(|(one, other)| one == other).count();
        assert!((400..600).contains(&same), "{same} of 1,000 frames met the same fate");
        assert_eq!(of(1), of(1));
    }

    #[test]
    fn the_share_and_the_runs_are_those_of_the_formula() {
        for loss in [0.05, 0.3, 0.7] {
            // Independent: a run ends with probability 1 - p.
            let single = fates(&mut losses(loss, None, 1), 200_000, 2_000);
            assert!((share(&single) - loss).abs() < 0.005, "{loss}: {}", share(&single));
            assert!((mean_run(&single) * (1.0 - loss) - 1.0).abs() < 0.03, "{loss}: {}", mean_run(&single));
            // Frames every 2 ms, bad periods of 20 ms.
            let bursts = fates(&mut losses(loss, Some(20), 1), 1_000_000, 2_000);
            assert!((share(&bursts) / loss - 1.0).abs() < 0.03, "{loss}: {}", share(&bursts));
            let goes_on = loss + (1.0 - loss) * libm::exp(-2.0 / (20.0 * (1.0 - loss)));
            let run = 1.0 / (1.0 - goes_on);
            assert!((mean_run(&bursts) / run - 1.0).abs() < 0.03, "{loss}: {} {run}", mean_run(&bursts));
        }
    }

    #[test]
    fn with_a_length_short_frames_are_lost_less() {
        let link = LinkLoss {
            from: ENDS.0,
            radio: 0,
            to: ENDS.1,
            loss: 0.2,
            length: Some(Bytes(1536)),
            burst: None,
        };
        let mut losses = Losses::new(&[link], 7);
        let n = 200_000;
        // experiments/thesis.md section 2: p at 1,536 bytes, 1 - (1 - p)^(B / 1536) at others.
        for (size, expected) in [(1536, 0.2), (768, 0.105_573), (14, 0.002_031_8), (3072, 0.36)] {
            let lost = (0..n).filter(|_| losses.lose(Instant::ZERO, ENDS.0, ENDS.1, Bytes(size))).count();
            let share = lost as f64 / f64::from(n);
            let error = libm::sqrt(expected * (1.0 - expected) / f64::from(n));
            assert!((share - expected).abs() < 4.0 * error, "{size}: {share}");
        }
    }

    /// The forecast of a link's losses is what becomes of its frames.
    #[test]
    fn the_share_of_a_link_is_that_of_its_frames() {
        for (length, burst_ms) in [(None, None), (Some(Bytes(500)), None), (Some(Bytes(500)), Some(20))] {
            let burst = burst_ms.map(Span::from_millis);
            let link = LinkLoss { from: ENDS.0, radio: 0, to: ENDS.1, loss: 0.3, length, burst };
            let mut losses = Losses::new(&[link], 5);
            let said = losses.share(ENDS.0, ENDS.1, SIZE);
            let met = share(&fates(&mut losses, 1_000_000, 2_000));
            assert!((met / said - 1.0).abs() < 0.03, "{length:?}, {burst_ms:?}: {met}, said {said}");
            assert!(losses.share(ENDS.1, ENDS.0, SIZE) == 0.0, "the other way loses nothing");
        }
    }

    #[test]
    fn all_or_nothing() {
        for burst in [None, Some(5), Some(0)] {
            assert!(fates(&mut losses(1.0, burst, 3), 1000, 777).iter().all(|lost| *lost));
            assert!(fates(&mut losses(0.0, burst, 3), 1000, 777).iter().all(|lost| !*lost));
        }
    }

    /// Half of what goes over the first radio is lost.
    fn link(from: u32, to: u32) -> LinkLoss {
        LinkLoss { from: NodeId(from), radio: 0, to: NodeId(to), loss: 0.5, length: None, burst: None }
    }

    #[test]
    fn links_and_directions_have_streams_of_their_own() {
        let table = [link(0, 1), link(1, 0), link(1, 2), LinkLoss { loss: 1.0, ..link(0, 1) }];
        let mut losses = Losses::new(&table, 1);
        let mut draw = |from, to| -> Vec<bool> {
            (0..64).map(|_| losses.lose(Instant::ZERO, NodeId(from), NodeId(to), SIZE)).collect()
        };
        let (there, back, on) = (draw(0, 1), draw(1, 0), draw(1, 2));
        assert!(there != back && back != on && there != on);
        assert!(there.contains(&false), "the first entry of a link counts");
    }

    #[test]
    fn only_the_lossy_directions_are_marked() {
        let hearer = |node| Hearer {
            node: NodeId(node),
            power: 1.0,
            delay: Span::NANOSECOND,
            decodable: true,
            lossy: false,
        };
        let rows: [&[Hearer]; 3] = [&[hearer(1), hearer(2)], &[hearer(0), hearer(2)], &[]];
        let mut table = Hearers::new(rows);
        // 2 hears no station (now): its links are marked when it does.
        Losses::new(&[link(0, 2), link(1, 0), link(2, 0)], 1).mark(&mut table);
        let lossy: Vec<Vec<bool>> =
            (0..3).map(|node| table.of(NodeId(node)).map(|h| h.lossy).collect()).collect();
        assert_eq!(lossy, [vec![false, true], vec![true, false], vec![]]);
    }

    proptest! {
        /// Seldom questions see the same periods as frequent ones.
        #[test]
        fn bursts_do_not_depend_on_what_is_sent(
            loss in 0.01..0.99f64, burst in 1..100u64, seed: u64, asked in prop::collection::btree_set(0..500_000u64, 1..200),
        ) {
            let mut often = losses(loss, Some(burst), seed);
            let mut seldom = losses(loss, Some(burst), seed);
            let fates = fates(&mut often, 5_000, 100);
            for us in asked {
                let slot = us / 100;
                let now = Instant::ZERO + Span::from_micros(slot * 100);
                prop_assert_eq!(seldom.lose(now, ENDS.0, ENDS.1, SIZE), fates[slot as usize]);
            }
        }
    }
}
