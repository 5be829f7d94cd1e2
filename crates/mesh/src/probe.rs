//! The observers of a run: what watches the network, and time series of flows, hang in here, and cost nothing where there are
//! none.

use meshpace_network::{Capture, NoWatch, Watch};
use meshpace_relay::packet::Account;
use meshpace_units::{Bytes, Instant, Span};

/// The state of a flow at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSample {
    /// The flow's index.
    pub flow: usize,
    /// Payload delivered in order since the start of the run.
    pub delivered: Bytes,
    /// Congestion window in segments.
    pub cwnd: Option<f64>,
    /// Smoothed k-hop delay, s.
    pub khd: Option<f64>,
    /// Pacing interval.
    pub pacing_interval: Option<Span>,
    /// Latest round-trip sample.
    pub rtt: Option<Span>,
    /// The round trip as the sender's estimator has smoothed it.
    pub srtt: Option<Span>,
    /// Packets in its pacing queue at the gateway.
    pub queue: Option<usize>,
    /// What has happened to it since time 0.
    pub events: FlowEvents,
}

/// Counts of a flow since time 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowEvents {
    /// Data packets that went no further.
    pub lost: u64,
    /// Acknowledgements that went no further.
    pub lost_acks: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

impl FlowSample {
    /// A flow of which nothing is known but what has been delivered.
    #[must_use]
    pub const fn of(flow: usize, delivered: Bytes) -> Self {
        Self {
            flow,
            delivered,
            cwnd: None,
            khd: None,
            pacing_interval: None,
            rtt: None,
            srtt: None,
            queue: None,
            events: FlowEvents { lost: 0, lost_acks: 0, retransmits: 0, timeouts: 0 },
        }
    }
}

/// Looks on, at the network ([`Watch`]) and at the flows. Nothing that a probe does can change a run.
pub trait Probe: Watch {
    /// A flow, every 0.25 s.
    fn flow(&mut self, _now: Instant, _sample: &FlowSample) {}

    /// A flow's packets will be of this account, both ways.
    fn account(&mut self, _flow: usize, _account: Account) {}
}

impl Probe for NoWatch {}

impl<A: Probe, B: Probe> Probe for (A, B) {
    fn flow(&mut self, now: Instant, sample: &FlowSample) {
        self.0.flow(now, sample);
        self.1.flow(now, sample);
    }

    fn account(&mut self, flow: usize, account: Account) {
        self.0.account(flow, account);
        self.1.account(flow, account);
    }
}

impl<P: Probe> Probe for Option<P> {
    fn flow(&mut self, now: Instant, sample: &FlowSample) {
        if let Some(probe) = self {
            probe.flow(now, sample);
        }
    }

    fn account(&mut self, flow: usize, account: Account) {
        if let Some(probe) = self {
            probe.account(flow, account);
        }
    }
}

/// A capture watches the network only.
impl<W: std::io::Write> Probe for Capture<W> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts samples.
    #[derive(Default)]
    struct Count(u32);

    impl Watch for Count {}

    impl Probe for Count {
        fn flow(&mut self, _: Instant, _: &FlowSample) {
            self.0 += 1;
        }
    }

    #[test]
    fn both_of_a_pair_see_every_sample() {
        let mut pair = (Count::default(), (Some(Count::default()), None::<Count>));
        let sample = FlowSample::of(0, Bytes::ZERO);
        for _ in 0..3 {
            pair.flow(Instant::ZERO, &sample);
        }
        assert_eq!((pair.0.0, pair.1.0.map(|count| count.0)), (3, Some(3)));
    }
}
