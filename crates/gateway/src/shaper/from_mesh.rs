//! What the shaper does with packets that come out of the mesh: they tell how long others waited there, and take air from what goes in.

use super::uploads::Gets;
use super::{Coming, Echo, Found, Passage, Shaper, Uploading, held_by_mesh};
use crate::FlowKey;
use core::net::IpAddr;
use meshpace_tcp::Segment;
use meshpace_units::Instant;

impl<P> Shaper<P> {
    /// A packet came from the mesh that answers packets which left for there. Where the rate is found by delay, it shows the mesh's
    /// delay.
    pub fn hears(&mut self, now: Instant, echo: Echo) {
        let Some(finder) = &mut self.finder else { return };
        let (hosts, config) = (&self.hosts, &self.config);
        let host = finder.comes(now, echo, |host| Some(config.price(&hosts.get(&host)?.terms)));
        self.config.rate = finder.rate();
        if let Some(host) = host {
            self.let_on(now, host);
        }
    }

    /// A host that was set aside as enough of it is in the mesh has its turn again, if it is so no longer.
    pub(super) fn let_on(&mut self, now: Instant, host: IpAddr) {
        let Some(aggregate) = self.hosts.get(&host) else { return };
        let Some(due) = aggregate.held else { return };
        if held_by_mesh(&mut self.finder, &self.config, now, host, aggregate).is_none() {
            self.rejoin(due, host);
        }
    }

    /// A packet came from a host of the mesh: what becomes of it. It has taken air from what others fetch, and where the rate is found, whoever
    /// sends more than a share while another host wants more is told so.
    pub fn comes(&mut self, now: Instant, coming: &Coming<'_>) -> Passage {
        let Some(finder) = &mut self.finder else { return Passage::Passes };
        finder.on_uplink(now, coming.size);
        if self.config.uploads == Uploading::Free {
            return Passage::Passes;
        }
        let of = self.hosts.get(&coming.host);
        let cost = of.map_or(coming.size.0, |of| self.config.cost(coming.size, &of.terms));
        let passage = self.uploads.comes(now, coming, cost);
        self.share_uploads(now);
        passage
    }

    /// A segment of TCP is on its way to a host of the mesh, and will be handed in: the window field that it is to have in place of its own, if it
    /// is to have another. One that may not be changed has to be told, too.
    #[must_use = "it is to be written"]
    pub fn announces(
        &mut self,
        now: Instant,
        host: IpAddr,
        (key, segment): (&FlowKey, &Segment),
        changes: bool,
    ) -> Option<u16> {
        let shares = self.finder.is_some() && self.config.uploads == Uploading::Shared;
        if shares { self.uploads.announces(now, host, key, segment, changes) } else { None }
    }

    /// Works out now and then how much each host may send.
    fn share_uploads(&mut self, now: Instant) {
        if !self.uploads.is_due(now) {
            return;
        }
        let is_led = self.finder.as_ref().is_some_and(|finder| finder.is_led());
        let gets = self.hosts.iter().filter(|(_, of)| of.has_shown(now)).map(|(host, of)| Gets {
            host: *host,
            cost: of.pace.rate(now),
            price: self.config.price(&of.terms),
            shares: of.shares(),
            waits: is_led && of.wants_more(),
        });
        let gets = gets.collect();
        self.uploads.share(now, gets);
    }

    /// A packet has just left for a host: the number of the request for an echo that is to follow it on its way, if one is. Hand the answer
    /// to [`Shaper::hears`].
    #[must_use = "it is to be sent"]
    pub fn asks(&mut self, now: Instant, host: IpAddr) -> Option<u32> {
        self.finder.as_mut()?.asks(now, host)
    }

    /// What was found of the rate; `None`: it is given.
    #[must_use]
    pub fn found(&self) -> Option<Found> {
        self.finder.as_ref().map(|finder| finder.found())
    }
}
