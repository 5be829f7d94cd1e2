//! A scheme, and what it makes of an endpoint, a queue and a gateway.

use crate::choices::Parts;
use crate::place::Place;
use crate::places::PLACES;
use meshpace_gateway::Behaviour;
use meshpace_hook::HookMaker;
use meshpace_keys::{Choice, Setting, Values};
use meshpace_relay::Relay;
use meshpace_tcp::control::{Paced, Rules};
use meshpace_tcp::{Config, HostQueue, RTO_BACKOFF, Reading, Surroundings};
use std::collections::{BTreeMap, BTreeSet};

/// A named composition of parts.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// Its name.
    pub name: String,
    /// What it is, in one line.
    pub summary: String,
    /// Where it is defined.
    pub source: String,
    pub(crate) parts: Parts,
    /// The places where the user chose: one that goes by another does so no longer.
    pub(crate) chosen: BTreeSet<&'static str>,
    /// What the user said of keys that a chosen part has; the others have their part's default.
    pub(crate) said: BTreeMap<&'static str, Setting>,
}

/// What a flow brings to its scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEnd {
    /// Payload bytes of a full segment.
    pub segment: u32,
    /// Window limit in segments.
    pub window: u32,
    /// Whether the sender is in the mesh.
    pub from_mesh: bool,
}

impl PartialEq for Scheme {
    /// The same parts with the same parameters under the same name, however that was said.
    fn eq(&self, other: &Self) -> bool {
        let about = |scheme: &Self| (scheme.name.clone(), scheme.summary.clone(), scheme.source.clone());
        about(self) == about(other) && self.settings() == other.settings()
    }
}

impl Scheme {
    /// The parts chosen, in the order of the places that there are beside each other.
    pub fn choices(&self) -> impl Iterator<Item = (&'static str, &'static Choice)> {
        PLACES.iter().filter(|place| self.has(place)).map(|place| (place.key, (place.chosen)(&self.parts)))
    }

    /// Whether it has this place: none where another part does what a part there would.
    pub(crate) fn has(&self, place: &Place) -> bool {
        place.follows.is_none_or(|other| self.choice(other).brought(place.key) != Some(None))
    }

    /// The part chosen at a place; where it has none, one that does nothing.
    ///
    /// # Panics
    /// If there is no such place.
    #[must_use]
    pub fn choice(&self, place: &str) -> &'static Choice {
        let found = PLACES.iter().find(|known| known.key == place);
        (found.unwrap_or_else(|| panic!("no place {place}")).chosen)(&self.parts)
    }

    /// What of its parts their sources do not print, each once.
    #[must_use]
    pub fn reconstructed(&self) -> Vec<&'static str> {
        let mut ours: Vec<&str> = Vec::new();
        for what in self.choices().filter_map(|(_, choice)| choice.reconstructed) {
            if !ours.contains(&what) {
                ours.push(what);
            }
        }
        ours
    }

    /// The settings of a part's keys: what was said of them, else the part's defaults.
    #[must_use]
    pub fn values(&self, part: &Choice) -> Values {
        let defaults = Values::defaults(part.keys());
        let settings =
            defaults.iter().map(|(key, default)| (key, self.said.get(key).unwrap_or(default).clone()));
        Values::new(settings)
    }

    /// Every key that a chosen part has, with its setting; a key that several parts have once, as the first of them has it.
    fn settings(&self) -> Vec<(&'static str, Setting)> {
        let mut settings: Vec<(&'static str, Setting)> = Vec::new();
        for (place, choice) in self.choices() {
            settings.push((place, Setting::Text(choice.word.to_owned())));
        }
        for (_, choice) in self.choices() {
            for (key, setting) in self.values(choice).iter() {
                if settings.iter().all(|(known, _)| *known != key) {
                    settings.push((key, setting.clone()));
                }
            }
        }
        settings
    }

    /// The endpoint at the sender of a flow. Its application takes what it receives at once.
    #[must_use]
    pub fn sender(&self, flow: &FlowEnd) -> Config {
        let (config, surroundings) = self.endpoint(flow);
        let Parts { pacing, .. } = self.parts;
        match (pacing.build)(&self.values(&pacing.about), &surroundings) {
            Some(pacing) => Config { control: Box::new(Paced::new(config.control, pacing)), ..config },
            None => config,
        }
    }

    /// The endpoint at the receiver of a flow: its own data, if it has any, are not paced.
    #[must_use]
    pub fn receiver(&self, flow: &FlowEnd) -> Config {
        self.endpoint(flow).0
    }

    /// The rules of its TCP profile's congestion control.
    #[must_use]
    pub fn rules(&self) -> Rules {
        let profile = self.parts.profile;
        (profile.build)(&self.values(&profile.about)).rules
    }

    fn endpoint(&self, flow: &FlowEnd) -> (Config, Surroundings) {
        let Parts { profile, congestion, recovery, pacing, acknowledgements, .. } = self.parts;
        let base = (profile.build)(&self.values(&profile.about));
        let surroundings =
            Surroundings { rules: base.rules, segment: flow.segment, from_mesh: flow.from_mesh };
        let sender = (congestion.build)(&self.values(&congestion.about), &surroundings);
        let config = Config {
            control: sender.control(recovery, &self.values(&recovery.about)),
            acknowledgements: (acknowledgements.build)(&self.values(&acknowledgements.about)),
            rto_backoff: self.values(&pacing.about).flag(RTO_BACKOFF),
            mss: flow.segment,
            // A real sender has no limit of its own: the receiver's buffer is the limit.
            window: base.config.window.map(|_| flow.window),
            receive_buffer: flow.window.saturating_mul(flow.segment),
            // The queue before a radio has another limit.
            host_queue: base
                .config
                .host_queue
                .map(|wired| if flow.from_mesh { HostQueue::WIRELESS } else { wired }),
            reading: Reading::AtOnce,
            ..base.config
        };
        (config, surroundings)
    }

    /// The queue of a mesh node or of a direction of a wired link.
    #[must_use]
    pub fn relay(&self, queue: &meshpace_relay::QueueConfig) -> Box<dyn Relay> {
        let part = self.parts.relay;
        part.relay(&self.values(self.choice("relay")), queue)
    }

    /// The hook that is the scheme's relay, if that is one: a live gateway has it between itself and the Internet.
    #[must_use]
    pub fn hook(&self) -> Option<HookMaker> {
        let part = self.parts.relay.hook()?;
        Some(HookMaker::new(part, self.values(&part.about)))
    }

    /// What one gateway does.
    #[must_use]
    pub fn gateway(&self) -> Behaviour {
        self.parts.gateway.behaviour(&self.values(self.choice("gateway")))
    }

    /// The parts in the order of the places: `newreno, wireless-khd; every; drop-tail; pacing+goodput-control`.
    #[must_use]
    pub fn parts(&self) -> String {
        let [congestion, pacing, ack, relay, gateway] =
            ["congestion", "pacing", "ack_policy", "relay", "gateway"].map(|place| self.choice(place).word);
        format!("{congestion}, {pacing}; {ack}; {relay}; {gateway}")
    }
}
