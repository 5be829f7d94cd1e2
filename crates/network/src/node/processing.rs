//! What nodes take to hand on what they have received (`[routing] processing_delay`, `processing_jitter`): hosts that are
//! slow, or in user space, as WiFu's were (docs/experiments/thesis.md, section 5, H1).
//!
//! A packet waits, it does not keep the node busy: packets that come at once are handed on at once, but none before another
//! that came earlier. Every node draws from a stream of its own.

use meshpace_scenario::Processing;
use meshpace_units::random::Stream;
use meshpace_units::{Instant, NodeId, Span};

/// The nodes' time.
#[derive(Debug)]
pub struct Hosts {
    delay: Span,
    jitter: Span,
    nodes: Vec<Host>,
}

#[derive(Debug)]
struct Host {
    stream: Stream,
    /// When the latest packet is handed on.
    latest: Instant,
}

impl Hosts {
    /// Those of so many nodes; `None`: they take no time.
    pub fn new(processing: Processing, nodes: usize, seed: u64) -> Option<Self> {
        let Processing { delay, jitter } = processing;
        let host = |index| Host {
            stream: Stream::new(seed, "processing", u64::from(NodeId::from_index(index).0)),
            latest: Instant::ZERO,
        };
        let takes_time = !delay.is_zero() || !jitter.is_zero();
        takes_time.then(|| Self { delay, jitter, nodes: (0..nodes).map(host).collect() })
    }

    /// When a packet is handed on that has come to a node now.
    pub fn hand_on(&mut self, node: NodeId, now: Instant) -> Instant {
        let host = &mut self.nodes[node.index()];
        let more = Span::from_secs_f64(self.jitter.as_secs_f64() * host.stream.unit());
        host.latest = host.latest.max(now + self.delay + more);
        host.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn no_time_is_none() {
        assert!(Hosts::new(Processing::default(), 3, 1).is_none());
    }

    #[test]
    fn each_packet_takes_its_time_and_none_overtakes() {
        let processing = Processing { delay: Span::from_millis(1), jitter: Span::from_millis(1) };
        let mut hosts = Hosts::new(processing, 2, 1).unwrap();
        let mut before = Instant::ZERO;
        let mut waits = Vec::new();
        for come in (0..10_000).map(|index| at(index * 10)) {
            let handed_on = hosts.hand_on(NodeId(0), come);
            assert!(handed_on >= before && handed_on >= come + processing.delay);
            assert!(handed_on <= come + processing.delay + processing.jitter);
            waits.push(handed_on - come);
            before = handed_on;
        }
        assert!(waits.iter().any(|wait| *wait != waits[0]));
    }

    #[test]
    fn a_nodes_times_do_not_hang_on_the_others() {
        let processing = Processing { delay: Span::ZERO, jitter: Span::from_millis(5) };
        let (mut one, mut other) =
            (Hosts::new(processing, 2, 7).unwrap(), Hosts::new(processing, 2, 7).unwrap());
        one.hand_on(NodeId(1), at(0));
        assert_eq!(one.hand_on(NodeId(0), at(3)), other.hand_on(NodeId(0), at(3)));
    }
}
