//! What may be chosen at places, and what was. A table is in the crate of its parts.

use meshpace_gateway::{Behaviour, GATEWAYS, GatewayPart, law_gateways};
use meshpace_hook::{HOOKS, HookPart};
use meshpace_keys::{Choice, Part, Values};
use meshpace_pacing::{FLOW_LAWS, FlowLawPart};
use meshpace_relay::{DropTail, QueueConfig, RELAYS, Relay, RelayPart, hooked};
use meshpace_tcp::{AckPolicyPart, PacingPart, ProfilePart, RecoveryPart, WindowPart};
use std::sync::LazyLock;

/// What may stand at a place.
pub(crate) trait Described {
    /// What it says of itself.
    fn about(&'static self) -> &'static Choice;
}

impl<B> Described for Part<B> {
    fn about(&'static self) -> &'static Choice {
        &self.about
    }
}

/// What a gateway may be.
#[derive(Debug)]
pub(crate) enum GatewayChoice {
    /// A part, with the law of flows that it goes by.
    ByLaw(&'static GatewayPart, &'static FlowLawPart),
    /// A hook alone.
    Hook(&'static HookPart),
}

impl GatewayChoice {
    pub(crate) fn behaviour(&self, values: &Values) -> Behaviour {
        match self {
            Self::ByLaw(part, law) => (part.build)(values, law),
            Self::Hook(part) => Behaviour::hooked((part.build)(values)),
        }
    }
}

impl Described for GatewayChoice {
    fn about(&'static self) -> &'static Choice {
        match self {
            Self::ByLaw(part, _) => &part.about,
            Self::Hook(part) => &part.about,
        }
    }
}

/// What a relay may be.
#[derive(Debug)]
pub(crate) enum RelayChoice {
    /// A part.
    Part(&'static RelayPart),
    /// A hook before drop-tail.
    Hook(&'static HookPart),
}

impl RelayChoice {
    pub(crate) fn relay(&self, values: &Values, queue: &QueueConfig) -> Box<dyn Relay> {
        match self {
            Self::Part(part) => (part.build)(values, queue),
            Self::Hook(part) => match (part.build)(values) {
                Some(hook) => hooked(hook, queue),
                None => Box::new(DropTail::new(queue)),
            },
        }
    }

    /// The hook, if it is one.
    pub(crate) const fn hook(&self) -> Option<&'static HookPart> {
        match self {
            Self::Hook(part) => Some(part),
            Self::Part(_) => None,
        }
    }
}

impl Described for RelayChoice {
    fn about(&'static self) -> &'static Choice {
        match self {
            Self::Part(part) => &part.about,
            Self::Hook(part) => &part.about,
        }
    }
}

/// The hooks that do something.
fn hooks() -> impl Iterator<Item = &'static HookPart> {
    HOOKS.iter().copied().skip(1)
}

/// The relays, then those of the hooks.
pub(crate) static ALL_RELAYS: LazyLock<Vec<RelayChoice>> = LazyLock::new(|| {
    RELAYS.iter().copied().map(RelayChoice::Part).chain(hooks().map(RelayChoice::Hook)).collect()
});

/// The gateways with TCP-GAP's law, those of each other law, and those of the hooks.
pub(crate) static ALL_GATEWAYS: LazyLock<Vec<GatewayChoice>> = LazyLock::new(|| {
    let papers = GATEWAYS.iter().map(|&part| GatewayChoice::ByLaw(part, FLOW_LAWS[0]));
    let others = law_gateways().into_iter();
    let others = others.map(|(part, law)| GatewayChoice::ByLaw(Box::leak(Box::new(part)), law));
    papers.chain(others).chain(hooks().map(GatewayChoice::Hook)).collect()
});

/// The part chosen at each place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) profile: &'static ProfilePart,
    pub(crate) congestion: &'static WindowPart,
    pub(crate) recovery: &'static RecoveryPart,
    pub(crate) pacing: &'static PacingPart,
    pub(crate) acknowledgements: &'static AckPolicyPart,
    pub(crate) relay: &'static RelayChoice,
    pub(crate) gateway: &'static GatewayChoice,
}
