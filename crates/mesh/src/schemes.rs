//! Temporary.
use meshpace_gateway::Config as GatewayConfig;
use meshpace_scenario as scenario;
use meshpace_tcp::{Config, Pacing, PacingLaw, RtoConfig, TickConfig};
use meshpace_pacing::{AdaptiveConfig, LinkRates};
use meshpace_units::Span;

/// x
pub struct ChosenSchemes { /// x
    pub gateway: Option<GatewayConfig>, /// x
    pub flows: Vec<FlowScheme> }
/// x
pub struct FlowScheme { config: Config }
impl FlowScheme {
    /// x
    pub fn sender(&self, phase: f64) -> Config {
        let mut c = self.config.clone();
        if let RtoConfig::Ticks(t) = c.rto { c.rto = RtoConfig::Ticks(TickConfig { boot_offset: Span::from_secs_f64(phase * t.tick.as_secs_f64()), ..t }); }
        c
    }
    /// x
    pub fn receiver(&self) -> Config { Config { pacing: Pacing::None, ..self.config.clone() } }
}
/// x
pub fn choose(s: &scenario::Scenario) -> ChosenSchemes {
    let gateway = s.network_scheme.starts_with("tcp-gap").then_some(GatewayConfig::PAPER);
    let flows = s.flows.iter().map(|f| {
        let mut c = Config::ns2();
        c.mss = f.segment.0 as u32;
        c.window = Some(f.window);
        c.receive_buffer = f.window * c.mss;
        let rates = LinkRates::Uniform(s.radio.rate);
        match f.scheme.as_str() {
            "tcp-ap" => { c.pacing = Pacing::Adaptive(PacingLaw { law: AdaptiveConfig::PAPER, rates }); c.rto_backoff = false; }
            "tcp-ap-ns2-2005" => { c.pacing = Pacing::Ns2Agent(PacingLaw { law: AdaptiveConfig::NS2_2005, rates }); c.rto_backoff = false; }
            "tcp-gap" if matches!(f.from, scenario::Endpoint::Mesh(_)) => { c.pacing = Pacing::Wireless { law: PacingLaw { law: AdaptiveConfig::PAPER, rates }, hops: 0 }; }
            _ => {}
        }
        FlowScheme { config: c }
    }).collect();
    ChosenSchemes { gateway, flows }
}
