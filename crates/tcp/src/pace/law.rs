//! A one-token pacer whose interval follows a rate law: TCP-AP's sender and TCP-GAP's wireless sender.

use super::{AckSample, PacingLaw};
use meshpace_pacing::{LawConfig, LinkRates, Pacer, RateLaw, WirelessPart, WirelessSample};
use meshpace_units::{Bytes, Instant, Span};

#[derive(Clone, Debug)]
pub(crate) struct LawPacer {
    config: PacingLaw,
    law: RateLaw,
    pacer: Pacer,
    measured: Measured,
    hops: Option<u32>,
}

/// Which part of the round trip the law is about.
#[derive(Clone, Copy, Debug)]
enum Measured {
    /// All of it.
    WholePath,
    /// What the gateway's option leaves.
    Wireless(WirelessPart),
}

impl LawPacer {
    pub(super) fn whole_path(config: &PacingLaw) -> Self {
        Self::new(config, Measured::WholePath, None)
    }

    pub(super) fn wireless(config: &PacingLaw, hops: u32) -> Self {
        Self::new(config, Measured::Wireless(WirelessPart::default()), Some(hops))
    }

    fn new(config: &PacingLaw, measured: Measured, hops: Option<u32>) -> Self {
        let law = RateLaw::new(LawConfig::Adaptive(config.law));
        let pacer = Pacer::new(law.interval());
        Self { config: config.clone(), law, pacer, measured, hops }
    }

    pub(super) const fn law(&self) -> &RateLaw {
        &self.law
    }

    pub(super) const fn pacer(&self) -> &Pacer {
        &self.pacer
    }

    pub(super) fn on_departure(&mut self, now: Instant) {
        self.pacer.on_departure(now);
    }

    pub(super) const fn set_hops(&mut self, hops: u32) {
        self.hops = Some(hops);
    }

    pub(super) fn set_rates(&mut self, rates: LinkRates) {
        self.config.rates = rates;
    }

    pub(super) fn on_ack(&mut self, sample: &AckSample) {
        let Some(rtt) = self.sample(sample) else { return };
        let hops = self.hops.or(sample.hops).unwrap_or(0);
        let payload = Bytes(u64::from(sample.mss));
        let Some(path) = self.config.law.path_over(hops, payload, self.config.rates.clone()) else { return };
        if let Ok(interval) = self.law.on_sample(rtt, &path) {
            self.pacer.set_interval(sample.now, Some(interval));
        }
    }

    /// The round trip that this acknowledgement contributes (schemes.md 1.3, rule 3).
    fn sample(&mut self, sample: &AckSample) -> Option<Span> {
        let Measured::Wireless(part) = &mut self.measured else { return sample.newest };
        match part.on_ack(sample.oldest, sample.rtt_wired) {
            WirelessSample::RoundTrip(rtt) => Some(rtt),
            WirelessSample::NoGateway => {
                self.pacer.set_interval(sample.now, None);
                None
            }
            WirelessSample::Nothing => None,
        }
    }
}
