//! Whether what the daemon believes can be: rates, hops and interfaces held against what is seen.
//!
//! [`Plausibility`] gets facts once a second, and answers which doubts began and which are over. It asks no other process.
//! [`Machine`] gathers the facts of the machine. `gateway/watch.rs` passes them on, publishes the doubts and writes events.

mod book;
mod doubt;
mod flows;
mod interfaces;
mod machine;

pub use book::Changes;
pub use doubt::{Doubt, Name};
pub(crate) use interfaces::name_instead;
pub use machine::{Link, Machine};

use crate::config::{Config, Hops, Mesh};
use crate::state::Snapshot;
use book::Book;
use flows::Runs;
use interfaces::Carried;
use ipnet::IpNet;
use meshpace_gateway::FlowKey;
use meshpace_units::Rate;
use std::net::IpAddr;

/// What is known at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// What the data thread knows.
    pub snapshot: &'a Snapshot,
    /// What it is told to believe.
    pub config: &'a Config,
    /// What the machine's interfaces have carried.
    pub machine: &'a Machine,
}

/// See the module's description.
#[derive(Debug, Default)]
pub struct Plausibility {
    book: Book,
    runs: Runs,
    carried: Carried,
    believed: Option<Belief>,
}

/// What of a configuration can contradict what is seen.
type Belief = (Mesh, Hops, Vec<(IpNet, Option<u32>, Option<Rate>)>);

fn belief(config: &Config) -> Belief {
    let subnets = config.subnets.iter().map(|subnet| (subnet.prefix, subnet.hops, subnet.rate));
    (
        config.mesh.clone(),
        config.hops.clone(),
        subnets.filter(|told| told.1.is_some() || told.2.is_some()).collect(),
    )
}

impl Plausibility {
    /// Looks at the facts, once a second or so.
    pub fn look(&mut self, facts: &Facts<'_>) -> Changes {
        let belief = belief(facts.config);
        let changed = self.believed.as_ref().is_some_and(|before| *before != belief);
        if changed {
            self.carried = Carried::default();
        }
        self.believed = Some(belief);
        let mut evidence = flows::contradictions(facts);
        evidence.extend(self.runs.look(facts.snapshot));
        evidence.extend(self.carried.look(facts));
        self.book.weigh(facts.snapshot.at, evidence, changed)
    }

    /// Flows of which data are on their way and a direction has fallen silent: acknowledgements may go another way, and the connection
    /// tracker, which sees none, may call invalid what comes later. Each is told once.
    pub fn strayed(&self) -> &[FlowKey] {
        &self.runs.strayed
    }

    /// Hosts of flows that have got at least so much at each of the latest looks, and over how many hops: a hole that is filled and has
    /// much acknowledged at once is no such rate.
    pub fn steady(&self) -> &[(IpAddr, Rate, u32)] {
        &self.runs.steady
    }

    /// What is doubtful now.
    pub fn doubts(&self) -> impl Iterator<Item = &Doubt> {
        self.book.doubts()
    }
}

#[cfg(test)]
mod tests;
