//! Which scheme each flow and each gateway of a scenario has.

use meshpace_gateway::Behaviour;
use meshpace_keys::Setting;
use meshpace_pacing::LawMaker;
use meshpace_relay::{
    CALIBRATED_RATE, CRITICAL_LOAD, Counting, DENSITY, Density, GATE, GateKind, LOAD_CORRECTION, LOAD_COUNT,
    QueueConfig, QueueSite, Relay,
};
use meshpace_scenario::{self as scenario, Endpoint, Location, Scenario, ScenarioError};
use meshpace_schemes::{Catalogue, FlowEnd, Scheme, SchemeSetting, UnknownScheme};
use meshpace_settings::schema::plain;
use meshpace_settings::suggestion;
use meshpace_tcp::control::{Control, Paced, Rules};
use meshpace_tcp::{AckPolicy, Config, RtoConfig, TickConfig};
use meshpace_units::{Dscp, NodeId, Rate, Span};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The schemes of one scenario.
#[derive(Clone, Debug)]
pub struct ChosenSchemes {
    /// The gateways' law, if the caller has one of its own.
    gateway_law: Option<LawMaker>,
    /// Whose relays and gateways the mesh has.
    mesh: Scheme,
    /// What the ends of each flow do.
    pub flows: Vec<FlowScheme>,
}

/// Makes a control of the caller's for each flow of a scheme: it stands beside the scheme's own as a pacing part does
/// beside a window part ([`Paced`]), so the tighter window and the later departure hold.
#[derive(Clone)]
pub struct ControlFactory(pub Arc<dyn Fn() -> Box<dyn Control> + Send + Sync>);

impl fmt::Debug for ControlFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ControlFactory")
    }
}

/// Makes a control of the caller's for each flow of a scheme in place of the scheme's own: within the rules of the scheme's TCP
/// profile, and with so many bytes for what relays are asked.
#[derive(Clone)]
pub struct RatedFactory(pub Arc<dyn Fn(Rules, u8) -> Box<dyn Control> + Send + Sync>);

impl fmt::Debug for RatedFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RatedFactory")
    }
}

/// A sender's control of the caller's.
#[derive(Clone, Debug)]
pub enum OwnControl {
    /// Beside the scheme's.
    Beside(ControlFactory),
    /// In place of the scheme's: a rate and no window ([`Rated`](meshpace_tcp::control::Rated)).
    Instead(RatedFactory),
}

/// Makes an acknowledgement policy of the caller's for each flow of a scheme, in place of the scheme's.
#[derive(Clone)]
pub struct AckPolicyFactory(pub Arc<dyn Fn() -> Box<dyn AckPolicy> + Send + Sync>);

impl fmt::Debug for AckPolicyFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AckPolicyFactory")
    }
}

/// Parts of the caller's at the ends of flows, and at the gateways of a mesh with this scheme.
#[derive(Clone, Debug, Default)]
pub struct OwnParts {
    /// Of senders.
    pub control: Option<OwnControl>,
    /// In place of the scheme's.
    pub acknowledgements: Option<AckPolicyFactory>,
    /// In place of the law of the scheme's gateway part.
    pub gateway_law: Option<LawMaker>,
}

/// The scheme of one flow.
#[derive(Clone, Debug)]
pub struct FlowScheme {
    /// Shared by all flows of the scheme.
    scheme: Arc<Scheme>,
    flow: FlowEnd,
    own: OwnParts,
}

impl ChosenSchemes {
    /// Reads the scenario's `[scheme.NAME]` tables and finds the scheme of every flow.
    ///
    /// # Errors
    /// At a parameter that its scheme does not have or that is out of range, at a scheme that does not exist, and at
    /// a missing `[mesh] scheme` if the flows' schemes differ in their relay or gateway parts.
    pub fn of(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let catalogue = catalogue(scenario)?;
        for (name, at) in scenario.scheme_uses() {
            catalogue.get(name).map_err(|e| unknown(at, e))?;
        }
        let find = |name: &str| {
            let found = catalogue.get(name);
            found.unwrap_or_else(|e| panic!("a scheme in use that was not checked: {e}")).clone()
        };
        if let Some(at) = scenario.mesh_scheme_missing() {
            agree_in_the_mesh(scenario, at, find)?;
        }
        let mesh = find(&scenario.network_scheme);
        if let Some((_, at)) = scenario.scheme_uses().last() {
            check_calibration(scenario, &mesh, at)?;
        }
        check_categories(scenario, &mesh)?;
        let mut shared: BTreeMap<&str, Arc<Scheme>> = BTreeMap::new();
        let flows = scenario.flows.iter().map(|spec| {
            let scheme = shared.entry(&spec.scheme).or_insert_with(|| Arc::new(find(&spec.scheme)));
            FlowScheme { scheme: Arc::clone(scheme), flow: flow(spec), own: OwnParts::default() }
        });
        Ok(Self { gateway_law: None, flows: flows.collect(), mesh })
    }

    /// The same with parts of the caller's in the schemes of these names.
    ///
    /// # Errors
    /// At a gateway law of a scheme that is not the mesh's, or that does nothing at gateways.
    ///
    /// # Panics
    /// If they are not sorted by name.
    pub fn with_parts(
        mut self,
        scenario: &Scenario,
        parts: &[(String, OwnParts)],
    ) -> Result<Self, ScenarioError> {
        assert!(parts.is_sorted_by_key(|(name, _)| name), "parts by name");
        for (name, own) in parts {
            let Some(law) = &own.gateway_law else { continue };
            let at = scenario.scheme_uses().last().map(|(_, at)| at);
            let at = at.unwrap_or_else(|| panic!("every scenario names the scheme of its mesh"));
            if *name != self.mesh.name {
                let found = format!("{:?}, though {name} has a law for its gateways", self.mesh.name);
                return Err(at.error(found, format!("{name:?}")));
            }
            if self.mesh.gateway().machine.is_none() {
                let found = format!("{name:?}, which has a law for gateways and whose gateways do nothing");
                return Err(at.error(found, "a base with a gateway part, such as tcp-gap"));
            }
            self.gateway_law = Some(law.clone());
        }
        for flow in &mut self.flows {
            let found = parts.binary_search_by(|(name, _)| name.as_str().cmp(&flow.scheme.name));
            flow.own = found.map(|index| parts[index].1.clone()).unwrap_or_default();
        }
        Ok(self)
    }

    /// What one gateway does.
    pub fn gateway(&self) -> Behaviour {
        let mut behaviour = self.mesh.gateway();
        if let (Some(machine), Some(law)) = (&mut behaviour.machine, &self.gateway_law) {
            machine.law = law.clone();
        }
        behaviour
    }

    /// The relay at a queue of the mesh or of its wired part.
    pub fn relay(&self, queue: &QueueConfig) -> Box<dyn Relay> {
        self.mesh.relay(queue)
    }
}

/// Every scheme that a scenario uses, those of its flows and the mesh's, with every parameter as it acts: by name of the
/// scheme, then by key.
///
/// # Errors
/// As [`run`](crate::run).
pub fn parameters_in_use(
    scenario: &Scenario,
) -> Result<BTreeMap<String, BTreeMap<&'static str, serde_json::Value>>, ScenarioError> {
    let catalogue = catalogue(scenario)?;
    let uses = scenario.scheme_uses();
    uses.map(|(name, at)| {
        let scheme = catalogue.get(name).map_err(|error| unknown(at, error))?;
        Ok((name.to_owned(), parameters(scheme)))
    })
    .collect()
}

/// What of the schemes that a scenario uses their sources do not print, so that it is ours: of each of which there is anything.
///
/// # Errors
/// As [`run`](crate::run).
pub fn reconstructed_in_use(
    scenario: &Scenario,
) -> Result<BTreeMap<String, Vec<&'static str>>, ScenarioError> {
    let catalogue = catalogue(scenario)?;
    let mut found = BTreeMap::new();
    for (name, at) in scenario.scheme_uses() {
        let ours = catalogue.get(name).map_err(|error| unknown(at, error))?.reconstructed();
        if !ours.is_empty() {
            found.insert(name.to_owned(), ours);
        }
    }
    Ok(found)
}

/// Every parameter of a scheme as it acts, by key.
#[must_use]
pub fn parameters(scheme: &Scheme) -> BTreeMap<&'static str, serde_json::Value> {
    scheme.parameters().map(|(parameter, value)| (parameter.name, plain(&value))).collect()
}

fn catalogue(scenario: &Scenario) -> Result<Catalogue, ScenarioError> {
    let settings: Vec<_> = scenario
        .scheme_settings
        .iter()
        .map(|s| SchemeSetting { scheme: s.scheme.clone(), key: s.key.clone(), value: s.value.clone() })
        .collect();
    Catalogue::with_relay(&settings, scenario.radio.standard.relay).map_err(|refused| {
        let at = &scenario.scheme_settings[refused.index].at;
        at.error(refused.error.found, refused.error.allowed)
    })
}

fn unknown(at: &Location, error: UnknownScheme) -> ScenarioError {
    let hint = suggestion(&error.name, error.allowed.split(", "));
    at.error(format!("{:?}{hint}", error.name), error.allowed)
}

impl FlowScheme {
    /// The end that sends the data; `phase` in `[0, 1)` places its coarse clock.
    pub fn sender(&self, phase: f64) -> Config {
        let mut config = self.scheme.sender(&self.flow);
        if let RtoConfig::Ticks(TickConfig { tick, boot_offset, .. }) = &mut config.rto {
            *boot_offset = Span::from_secs_f64(phase * tick.as_secs_f64());
        }
        match &self.own.control {
            Some(OwnControl::Beside(ControlFactory(beside))) => {
                config.control = Box::new(Paced::new(config.control, beside()));
            }
            Some(OwnControl::Instead(RatedFactory(rated))) => {
                let header = config.control.asks().relays.unwrap_or(0);
                config.control = rated(self.scheme.rules(), header);
            }
            None => {}
        }
        config
    }

    /// The end that receives them.
    pub fn receiver(&self) -> Config {
        let mut config = self.scheme.receiver(&self.flow);
        if let Some(AckPolicyFactory(own)) = &self.own.acknowledgements {
            config.acknowledgements = own();
        }
        config
    }
}

/// The throttle's tables are of one data rate, of attempts counted, and of the gate as it is by default: otherwise somebody
/// has to say what the air carries, and what the factor is.
fn check_calibration(scenario: &Scenario, mesh: &Scheme, at: &Location) -> Result<(), ScenarioError> {
    let by_table = |key| mesh.get(key).is_some_and(|value| matches!(value, Setting::Text(_)));
    let rate = |rate: Rate| format!("{} Mbit/s", rate.as_bits_per_sec() as f64 / 1e6);
    let other_radio = match scenario.one_rate() {
        Some(CALIBRATED_RATE) => None,
        Some(other) => Some(rate(other)),
        None if scenario.radio.rate != CALIBRATED_RATE => Some(rate(scenario.radio.rate)),
        None => Some("links of other rates".to_owned()),
    };
    let differs = |key: &str, calibrated: &str| {
        let word = Setting::Text(calibrated.to_owned());
        mesh.get(key).filter(|said| *said != word).map(|said| format!("{key} = {said}"))
    };
    let count = || differs(LOAD_COUNT, Counting::Attempts.word());
    let gate = || differs(GATE, GateKind::Serial.word()).or_else(|| differs(DENSITY, Density::Own.word()));
    for (key, what, value, other) in [
        (CRITICAL_LOAD, "critical loads", "a rate", other_radio.clone().or_else(count)),
        (
            LOAD_CORRECTION,
            "load correction factors",
            "a number",
            other_radio.clone().or_else(count).or_else(gate),
        ),
    ] {
        if let Some(other) = other.filter(|_| by_table(key)) {
            let found = format!(
                "{}, which goes by a table of {what} at {}, attempts counted, with the gate as it is by default",
                mesh.name,
                rate(CALIBRATED_RATE)
            );
            return Err(at.error(found, format!("scheme.{}.{key} = {value}, for {other}", mesh.name)));
        }
    }
    Ok(())
}

/// A codepoint says something only where the mesh's relays have queues for categories.
fn check_categories(scenario: &Scenario, mesh: &Scheme) -> Result<(), ScenarioError> {
    let Some(flow) = scenario.flows.iter().find(|flow| flow.dscp != Dscp::DEFAULT) else { return Ok(()) };
    let place = QueueSite::Radio { node: NodeId(0), gateway: false, rate: scenario.radio.rate };
    let limit = scenario.radio.queue as usize;
    let queue = QueueConfig { place, limit, categories: true, seed: scenario.seed };
    if mesh.relay(&queue).asks().categories {
        return Ok(());
    }
    let relay = mesh.choice("relay").word;
    let found = format!("dscp = {} beside relay = \"{relay}\" of {}", flow.dscp.number(), mesh.name);
    Err(flow.at.error(found, "dscp = 0, or a relay with queues for categories: relay = \"mac80211\""))
}

/// The mesh has one relay and one gateway part: flows that want different ones cannot both have them.
fn agree_in_the_mesh(
    scenario: &Scenario,
    at: &Location,
    find: impl Fn(&str) -> Scheme,
) -> Result<(), ScenarioError> {
    let Some(first) = scenario.flows.first() else { return Ok(()) };
    let ours = find(&first.scheme);
    for flow in scenario.flows.iter().filter(|flow| flow.scheme != first.scheme) {
        let theirs = find(&flow.scheme);
        let same = |place| {
            let part = |scheme: &Scheme| (scheme.choice(place).word, scheme.values(scheme.choice(place)));
            part(&ours) == part(&theirs)
        };
        let differs = match (same("relay"), same("gateway")) {
            (true, true) => continue,
            (false, true) => "relay parts",
            (true, false) => "gateway parts",
            (false, false) => "relay and gateway parts",
        };
        let found = format!(
            "nothing, though flow {:?} runs {} and flow {:?} {}, whose {differs} differ",
            first.id, ours.name, flow.id, theirs.name
        );
        return Err(at.error(found, "the scheme whose relay and gateway parts the mesh has"));
    }
    Ok(())
}

fn flow(spec: &scenario::Flow) -> FlowEnd {
    FlowEnd {
        segment: u32::try_from(spec.segment.0).unwrap_or_else(|_| panic!("a segment of {:?}", spec.segment)),
        window: spec.window,
        from_mesh: matches!(spec.from, Endpoint::Mesh(_)),
    }
}
