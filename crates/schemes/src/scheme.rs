//! A scheme and what it makes of an endpoint.

use meshpace_gateway as gateway;
use meshpace_pacing::AdaptiveConfig;
use meshpace_tcp::control::{Agent, Control, Fixed, Khd, NewReno, Paced, Rules, Tahoe, WirelessKhd};
use meshpace_tcp::{AckPolicy, Config, Reading, RtoConfig};
use meshpace_units::{Bytes, Rate};

/// What the TCP of an endpoint follows besides its congestion control (`tcp_profile`; schemes.md 16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpProfile {
    /// ns-2.35.
    Ns2,
    /// The RFCs.
    Rfc,
}

/// The window part of the sender's control (`congestion`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Slow start from one segment after every loss.
    Tahoe,
    /// Fast recovery that survives several losses in one window (RFC 6582).
    NewReno,
}

impl Algorithm {
    fn control(self, rules: Rules) -> Box<dyn Control> {
        match self {
            Self::Tahoe => Box::new(Tahoe::new(rules)),
            Self::NewReno => Box::new(NewReno::new(rules)),
        }
    }
}

/// One packet of `mtu` bytes every interval of `rate` (schemes.md 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedRate {
    /// Above zero.
    pub rate: Rate,
    /// Size that every packet counts as.
    pub mtu: Bytes,
}

/// How a sender spaces its segments (`pacing`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SenderPacing {
    /// Not at all.
    None,
    /// At a fixed rate.
    Fixed(FixedRate),
    /// By the k-hop delay of the whole path (TCP-AP, `profile = "paper"`).
    KHop(AdaptiveConfig),
    /// The TCP-AP authors' agent (`profile = "ns2-2005"`).
    Agent(AdaptiveConfig),
    /// By the k-hop delay of the wireless part, as the gateway's option tells it; at wireless senders only (TCP-GAP).
    WirelessKHop(AdaptiveConfig),
}

/// The sender's parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Sender {
    /// Congestion control.
    pub congestion: Algorithm,
    /// What else its TCP follows.
    pub profile: TcpProfile,
    /// Retransmission timeout.
    pub rto: RtoConfig,
    /// Whether a timeout doubles the next one.
    pub rto_backoff: bool,
    /// The slow-start threshold before the first loss, segments; `None` is arbitrarily high (RFC 5681, section 3.1).
    pub initial_ssthresh: Option<f64>,
    /// Pacing.
    pub pacing: SenderPacing,
}

/// The relays' part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relay {
    /// First in, first out; what does not fit is dropped.
    DropTail,
}

/// A named composition of parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// Its name.
    pub name: String,
    /// What it is, in one line.
    pub summary: String,
    /// Where it is defined.
    pub source: String,
    /// The sender.
    pub sender: Sender,
    /// When the receiver acknowledges.
    pub receiver: AckPolicy,
    /// What relays do.
    pub relay: Relay,
    /// What the gateway does, if it does anything.
    pub gateway: Option<gateway::Config>,
}

/// What a flow brings to its scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Payload bytes of a full segment.
    pub segment: u32,
    /// Window limit in segments.
    pub window: u32,
    /// Whether the sender is in the mesh.
    pub from_mesh: bool,
}

impl TcpProfile {
    /// The profile's retransmission timeout.
    #[must_use]
    pub fn rto(self) -> RtoConfig {
        match self {
            Self::Ns2 => Config::ns2().rto,
            Self::Rfc => Config::rfc().rto,
        }
    }

    /// The profile's slow-start threshold before the first loss (schemes.md 16).
    #[must_use]
    pub fn initial_ssthresh(self) -> Option<f64> {
        self.rules().initial_ssthresh
    }

    /// The profile's rules for the window (schemes.md 16).
    const fn rules(self) -> Rules {
        match self {
            Self::Ns2 => Rules::NS2,
            Self::Rfc => Rules::RFC,
        }
    }
}

impl Scheme {
    /// The endpoint at the sender of `flow`. Its application takes what it receives at once.
    ///
    /// # Panics
    /// If a fixed rate is zero.
    #[must_use]
    pub fn sender(&self, flow: &Flow) -> Config {
        let endpoint = self.receiver(flow);
        let pacing: Box<dyn Control> = match self.sender.pacing {
            SenderPacing::Fixed(FixedRate { rate, mtu }) => Box::new(Fixed::new(
                rate.time_to_send(mtu)
                    .unwrap_or_else(|| panic!("the fixed rate of {} is {rate:?}", self.name)),
            )),
            SenderPacing::KHop(law) => Box::new(Khd::new(law)),
            SenderPacing::Agent(law) => Box::new(Agent::new(law)),
            SenderPacing::WirelessKHop(law) if flow.from_mesh => Box::new(WirelessKhd::new(law)),
            SenderPacing::None | SenderPacing::WirelessKHop(_) => return endpoint,
        };
        Config { control: Box::new(Paced::new(endpoint.control, pacing)), ..endpoint }
    }

    /// The endpoint at the receiver of `flow`.
    #[must_use]
    pub fn receiver(&self, flow: &Flow) -> Config {
        let (profile, window) = match self.sender.profile {
            TcpProfile::Ns2 => (Config::ns2(), Some(flow.window)),
            // A real sender has no limit of its own: the receiver's buffer is the limit.
            TcpProfile::Rfc => (Config::rfc(), None),
        };
        Config {
            control: self.sender.congestion.control(Rules {
                initial_ssthresh: self.sender.initial_ssthresh,
                ..self.sender.profile.rules()
            }),
            rto: self.sender.rto,
            rto_backoff: self.sender.rto_backoff,
            acknowledgements: self.receiver,
            mss: flow.segment,
            window,
            receive_buffer: flow.window.saturating_mul(flow.segment),
            reading: Reading::AtOnce,
            ..profile
        }
    }

    /// The parts in the order of the places: `newreno, wireless-khd; every; drop-tail; pacing+goodput-control`.
    #[must_use]
    pub fn parts(&self) -> String {
        let part = |key| match self.get(key) {
            Some(crate::Value::Text(word)) => word,
            other => panic!("every scheme has a {key}, not {other:?}"),
        };
        let [congestion, pacing, ack, relay, gateway] =
            ["congestion", "pacing", "ack_policy", "relay", "gateway"].map(part);
        format!("{congestion}, {pacing}; {ack}; {relay}; {gateway}")
    }
}
