//! Rate control on an air: what is asked and told for each station, and in which modes its frames went.

use meshpace_radio::{Ask, Exchange, Mode, Mpdu, Peer, RateControl, Series};
use meshpace_units::{Bytes, Instant, NodeId};

/// What of a link went in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateCount {
    /// The mode.
    pub mode: &'static Mode,
    /// Exchanges that ended: data frames sent.
    pub frames: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// Of these the ones that arrived.
    pub acknowledged: u64,
}

/// A station's rate control.
#[derive(Debug)]
pub(crate) struct Control {
    control: Box<dyn RateControl>,
    /// The frame whose attempts go on; `None`: what goes next is new.
    under_way: Option<UnderWay>,
    /// By neighbour, and by number of the mode.
    counts: Vec<(NodeId, RateCount)>,
}

#[derive(Debug)]
struct UnderWay {
    to: Peer,
    /// Number of its first packet.
    first: u16,
    series: Series,
    /// Attempts that brought nothing over.
    failed: u32,
}

impl Control {
    pub fn new(control: Box<dyn RateControl>) -> Self {
        Self { control, under_way: None, counts: Vec::new() }
    }

    /// The mode of a frame that goes out now and begins with this MPDU, so many bytes, and whether that goes alone.
    pub fn choose(
        &mut self,
        now: Instant,
        first: &Mpdu,
        mpdu: Bytes,
        ratio: &dyn Fn() -> Option<f64>,
    ) -> (&'static Mode, bool) {
        let to =
            first.packet.peer().unwrap_or_else(|| panic!("a broadcast has no mode to choose: {first:?}"));
        let goes_on = |it: &&UnderWay| (it.to, it.first) == (to, first.seq);
        if let Some(UnderWay { series, failed, .. }) = self.under_way.as_ref().filter(goes_on) {
            return (series.mode(*failed), series.is_alone());
        }
        let series = self.control.series(now, &Ask { to: to.node, mpdu, ratio });
        self.under_way = Some(UnderWay { to, first: first.seq, series, failed: 0 });
        (series.mode(0), series.is_alone())
    }

    /// An exchange has ended.
    pub fn ended(&mut self, now: Instant, exchange: &Exchange) {
        if exchange.acknowledged > 0 {
            self.under_way = None;
        } else if let Some(under_way) = self.under_way.as_mut().filter(|it| it.to == exchange.to) {
            under_way.failed += 1;
        }
        let count = self.count(exchange);
        count.frames += 1;
        count.mpdus += u64::from(exchange.sent);
        count.acknowledged += u64::from(exchange.acknowledged);
        self.control.ended(now, exchange);
    }

    fn count(&mut self, exchange: &Exchange) -> &mut RateCount {
        let Exchange { to, mode, .. } = *exchange;
        let place = self
            .counts
            .binary_search_by_key(&(to.node, mode.number()), |(to, count)| (*to, count.mode.number()));
        let place = place.unwrap_or_else(|place| {
            self.counts.insert(place, (to.node, RateCount { mode, frames: 0, mpdus: 0, acknowledged: 0 }));
            place
        });
        &mut self.counts[place].1
    }

    /// The mode in which most of what is for a neighbour will go; `None`: nothing is known.
    pub fn expects(&self, to: NodeId) -> Option<&'static Mode> {
        self.control.expects(to)
    }

    /// What went to a neighbour, mode by mode.
    pub fn counts(&self, to: NodeId) -> impl Iterator<Item = RateCount> + '_ {
        self.counts.iter().filter(move |(other, _)| *other == to).map(|(_, count)| *count)
    }

    pub fn begin_counting(&mut self) {
        self.counts.clear();
    }
}
