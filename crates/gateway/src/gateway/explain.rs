//! Why a flow has its pace, or what it would be.

use super::Gateway;
use crate::down::Down;
use crate::forecast::forecast;
use crate::{Explanation, FlowKey, Forecast, Unforeseen};
use meshpace_units::Instant;

impl<P: Clone> Gateway<P> {
    /// Why a connection has its pace; `None` if it is not known.
    #[must_use]
    pub fn explain(&self, now: Instant, key: &FlowKey) -> Option<Explanation> {
        let slot = self.table.find(key)?;
        let down = self.table.get(slot).down.as_ref();
        let watched = down.filter(|down| !down.is_paced());
        Some(Explanation {
            law: down.map(|down| down.wireless.law().boxed()),
            law_interval: down.and_then(|down| down.law_interval()),
            standing: self.goodput.as_ref().and_then(|goodput| goodput.standing(slot)),
            forecast: watched.map(|down| self.forecast(now, key, down)),
        })
    }

    /// What a flow that is only watched would get if it were paced, and the others to its host with it.
    fn forecast(&self, now: Instant, key: &FlowKey, down: &Down<P>) -> Result<Forecast, Unforeseen> {
        let host = key.wireless.address;
        let to_host = || {
            let connections = self.table.of_host(host).map(|slot| self.table.get(slot));
            connections.filter_map(|c| Some((c.key, c.down.as_ref()?)))
        };
        let others = to_host().filter(|(other, down)| other != key && down.outstanding()).count();
        let bases = to_host().map(|(_, down)| down.base);
        let law = down.wireless.law().rate_law().ok_or(Unforeseen::OtherLaw)?;
        forecast(now, law, bases, u32::try_from(others + 1).unwrap_or(u32::MAX))
    }
}
