//! Where a packet has been lately, and when: what truth about delays over several hops is measured with.

use meshpace_units::{Instant, NodeId, Span};

/// The nodes that a packet left last, the latest last. It is kept only where a scenario measures it, and changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trail(Vec<Stop>);

/// A node whose MAC took the packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// The node.
    pub node: NodeId,
    /// When the packet came to it: by radio, or handed over by what is above.
    pub came: Instant,
    /// When its MAC took the packet first.
    pub taken: Instant,
    /// How long the node expected the packet to take from then on to the end of the trail.
    pub estimate: Option<Span>,
}

impl Trail {
    /// Stops that are kept: LLAP's and TCP-AP's four hops (schemes.md 1.4).
    pub const MOST: usize = 4;

    /// The MAC of a node takes the packet. A node that takes it again, after routing had it back, is one stop.
    pub fn push(&mut self, stop: Stop) {
        if self.0.last().is_none_or(|last| last.node != stop.node) {
            self.0.push(stop);
        }
    }

    /// The node that the packet left last.
    #[must_use]
    pub fn last(&self) -> Option<&Stop> {
        self.0.last()
    }

    /// The packet has come to a node: the stops whose measurement ends here, with their distance in hops. `last`: the
    /// packet goes no further.
    pub fn arrive(&mut self, last: bool) -> impl Iterator<Item = (u32, Stop)> + use<> {
        let hops = self.0.len();
        let ended = if last { hops } else { usize::from(hops >= Self::MOST) };
        let stops: Vec<Stop> = self.0.drain(..ended).collect();
        stops.into_iter().enumerate().map(move |(index, stop)| ((hops - index) as u32, stop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(node: u32) -> Stop {
        let at = Instant::from_nanos(u64::from(node));
        Stop { node: NodeId(node), came: at, taken: at, estimate: None }
    }

    /// ```text
    /// n0 n1 n2 n3 [n4]   n0's four hops end at n4
    ///    n1 n2 n3 n4 [n5]  all that is left ends at the exit n5: n1's at four, n4's at one
    /// ```
    #[test]
    fn a_stop_ends_four_hops_later_or_at_the_exit() {
        let mut trail = Trail::default();
        let ends = |trail: &mut Trail, last| {
            trail.arrive(last).map(|(k, stop)| (k, stop.node.0)).collect::<Vec<_>>()
        };
        for node in 0..4 {
            assert_eq!(ends(&mut trail, false), []);
            trail.push(stop(node));
            trail.push(stop(node));
            assert_eq!(trail.last(), Some(&stop(node)));
        }
        assert_eq!(ends(&mut trail, false), [(4, 0)]);
        trail.push(stop(4));
        assert_eq!(ends(&mut trail, true), [(4, 1), (3, 2), (2, 3), (1, 4)]);
        assert_eq!(ends(&mut trail, true), []);
    }
}
