//! What the connections to a mesh host have taught, kept from one to the next (`gap_state = "host"`).

use crate::{Config, Kept, WirelessLaw};
use alloc::collections::BTreeMap;
use core::net::IpAddr;
use meshpace_pacing::LawMaker;
use meshpace_units::{Instant, Span};

#[derive(Debug)]
struct Known {
    law: WirelessLaw,
    heard: Instant,
}

/// The law of each host, for as long as a silent connection would be known, and of as many hosts as connections may be.
#[derive(Debug, Default)]
pub(crate) struct Hosts(BTreeMap<IpAddr, Known>);

impl Hosts {
    /// What was learnt of a host.
    pub fn law(&self, now: Instant, host: IpAddr, idle: Span) -> Option<&WirelessLaw> {
        let known = self.0.get(&host)?;
        (now.saturating_since(known.heard) < idle).then_some(&known.law)
    }

    /// Notes what one of its connections has made of a round trip.
    pub fn keep(&mut self, now: Instant, host: IpAddr, law: WirelessLaw, config: &Config) {
        if self.0.len() >= config.flows_max && !self.0.contains_key(&host) {
            self.0.retain(|_, known| now.saturating_since(known.heard) < config.idle);
            if self.0.len() >= config.flows_max {
                return;
            }
        }
        self.0.insert(host, Known { law, heard: now });
    }

    /// From now on nothing is kept for longer than its connection, or it is.
    pub fn set_kept(&mut self, kept: Kept) {
        if kept == Kept::Connection {
            self.0.clear();
        }
    }

    /// What is kept goes by another law.
    pub fn set_law(&mut self, law: &LawMaker) {
        self.0.values_mut().for_each(|known| known.law.set_law(law));
    }
}
