//! What the shaper goes by, and what a packet costs.

use super::Find;
use meshpace_codel::Config as CodelConfig;
use meshpace_keys::words;
use meshpace_units::{Bytes, Rate, Span};

/// Hops after which another packet may be in the air (schemes.md 2): what goes further takes no more of the air around a gateway.
const REUSE: u32 = 4;
/// The largest packet of an Ethernet.
const MTU: u64 = 1_500;
/// The most that one byte costs: a wrong link rate must not leave nothing for other hosts.
const DEAREST: u64 = 1_000;

words! {
    /// What hosts share (`hosts_by`): docs/hosts.md.
    pub enum ShareBy {
        /// The air: a byte costs the more, the more hops it goes and the slower their links are.
        Airtime = "airtime",
        /// Bytes, wherever they go.
        Bytes = "bytes",
    }
}

words! {
    /// What is done where hosts send more than their share (`hosts_uploads`): docs/hosts.md.
    pub enum Uploading {
        /// The acknowledgements to their senders let these go no faster than the share, while another host wants more.
        Shared = "shared",
        /// Nothing.
        Free = "free",
    }
}

/// Parameters of a [`crate::Shaper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaperConfig {
    /// What goes into the mesh of all hosts together; by air time of a host one hop away over links of `reference`.
    pub rate: Rate,
    /// How the rate is found from there on; `None`: it stays.
    pub find: Option<Find>,
    /// What hosts share.
    pub by: ShareBy,
    /// What becomes of what they send, where the rate is found.
    pub uploads: Uploading,
    /// By air time: rate of the links that a byte costs one byte over.
    pub reference: Rate,
    /// Bytes that a packet costs beside its own.
    pub overhead: Bytes,
    /// What a host of weight 1 may send in its turn, and what a flow of it may.
    pub quantum: u32,
    /// Standing wait of a flow that is acceptable; at least the time of a packet and a half at its share of the rate.
    pub target: Span,
    /// How long it may stand; at least two targets.
    pub interval: Span,
    /// All that waits leaves within this time.
    pub longest: Span,
    /// Lateness of departures that the next ones make up for.
    pub burst: Span,
    /// Most packets that wait.
    pub packets_max: usize,
    /// Most hosts that are remembered while nothing of them waits.
    pub hosts_max: usize,
}

/// What is agreed about a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Shares that it has: at least 1.
    pub weight: u32,
    /// The most that it may have; `None`: whatever the others leave.
    pub cap: Option<Rate>,
    /// Wireless hops to it: at least 1.
    pub hops: u32,
    /// Rate of their links.
    pub link: Rate,
}

impl ShaperConfig {
    /// With this rate; RFC 8290's parameters, a quarter of a second in all queues.
    #[must_use]
    pub const fn at(rate: Rate) -> Self {
        Self {
            rate,
            find: None,
            by: ShareBy::Airtime,
            uploads: Uploading::Shared,
            reference: Rate::bits_per_sec(11_000_000),
            overhead: Bytes(0),
            quantum: MTU as u32,
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            longest: Span::from_millis(250),
            burst: Span::from_millis(1),
            packets_max: 4_096,
            hosts_max: 4_096,
        }
    }

    /// What a packet of this size costs on its way to a host, in bytes.
    #[must_use]
    pub fn cost(&self, size: Bytes, terms: &Terms) -> u64 {
        self.cost_of(size.0 + self.overhead.0, terms)
    }

    /// What one byte costs on the way to a host.
    #[must_use]
    pub fn price(&self, terms: &Terms) -> f64 {
        self.cost_of(MTU, terms) as f64 / MTU as f64
    }

    pub(super) fn cost_of(&self, bytes: u64, terms: &Terms) -> u64 {
        match self.by {
            ShareBy::Bytes => bytes,
            ShareBy::Airtime => {
                let hops = u128::from(terms.hops.clamp(1, REUSE));
                let link = u128::from(terms.link.as_bits_per_sec().max(1));
                let cost = u128::from(bytes) * hops * u128::from(self.reference.as_bits_per_sec()) / link;
                u64::try_from(cost)
                    .unwrap_or(u64::MAX)
                    .clamp(u64::from(bytes > 0), bytes.saturating_mul(DEAREST))
            }
        }
    }

    /// What a host's packets may cost in its turn.
    pub(super) fn turn(&self, terms: &Terms) -> u64 {
        u64::from(self.quantum) * u64::from(terms.weight.max(1))
    }

    /// How long after its due time a departure may be delayed on purpose, so that others leave with it. It is half of a burst, at rates
    /// at which a burst has more than one packet; the other half is left for late timers.
    pub(super) fn patience(&self) -> Span {
        let packet = self.rate.time_to_send(Bytes(MTU)).unwrap_or(Span::MAX);
        if packet < self.burst { self.burst / 2 } else { Span::ZERO }
    }

    /// The most that all waiting packets may cost, at this rate of departure.
    pub(super) fn most_cost(&self, pace: Rate) -> u64 {
        let bits = u128::from(pace.as_bits_per_sec()) * u128::from(self.longest.as_nanos()) / 1_000_000_000;
        u64::try_from(bits / 8).unwrap_or(u64::MAX)
    }

    /// CoDel's parameters for a flow, given the number of its host's flows and the number of hosts.
    ///
    /// RFC 8289, section 4.4, asks for a target of no less than a packet takes; on a link that is shared, a flow's next packet leaves
    /// a whole round later. One and a half of it, as CAKE takes (`cake_set_rate` in net/sched/sch_cake.c, Linux 6.1), and an
    /// interval of no less than two.
    ///
    /// Where its path was found to be slower than its share, that is what a round of its flows takes.
    pub(super) fn codel(
        &self,
        hosts: usize,
        flows: usize,
        terms: &Terms,
        found: Option<Rate>,
    ) -> CodelConfig {
        let packet = self.rate.time_to_send(Bytes(self.cost_of(MTU, terms))).unwrap_or(Span::ZERO);
        let flows = flows.max(1) as u64;
        let round = Span::from_nanos(packet.as_nanos().saturating_mul(hosts.max(1) as u64 * flows));
        let own = found.and_then(|found| found.time_to_send(Bytes(MTU * flows))).unwrap_or(Span::ZERO);
        let round = round.max(own);
        // Where the bound on all waiting packets acts first, no flow's own wait has to be judged.
        let target = self.target.max(round.min(self.longest) * 3 / 2);
        CodelConfig { target, interval: self.interval.max(target * 2), spared: Bytes(MTU) }
    }
}
