//! Parameters that choose parts. Applied first and in this order, because a part brings its own parameters.

use super::{Kind, Param};
use crate::compositions::{FIXED_RATE, backs_off};
use crate::scheme::Algorithm;
use crate::scheme::{Relay, Scheme, SenderPacing, TcpProfile};
use crate::value::Value;
use meshpace_gateway as gateway;
use meshpace_pacing::{AdaptiveConfig, GoodputControlConfig};
use meshpace_tcp::AckPolicy;

/// The agent reads stamps that only ns-2's headers carry.
const AGENT_NEEDS_NS2: &str = "tcp_profile = \"ns2\" together with profile = \"ns2-2005\"";

pub(super) static PARTS: [Param; 7] = [
    Param {
        key: "congestion",
        kind: Kind::Choice(&["tahoe", "newreno"]),
        doc: "Congestion control of the sender (schemes.md 16).",
        get: |scheme| {
            word(match scheme.sender.congestion {
                Algorithm::Tahoe => "tahoe",
                Algorithm::NewReno => "newreno",
            })
        },
        set: |scheme, value| {
            scheme.sender.congestion =
                if value == Value::from("tahoe") { Algorithm::Tahoe } else { Algorithm::NewReno };
            Ok(())
        },
    },
    Param {
        key: "tcp_profile",
        kind: Kind::Choice(&["ns2", "rfc"]),
        doc: "What TCP follows: ns-2.35, or the RFCs with real headers, timestamps and timeouts (schemes.md 16).",
        get: |scheme| {
            word(match scheme.sender.profile {
                TcpProfile::Ns2 => "ns2",
                TcpProfile::Rfc => "rfc",
            })
        },
        set: |scheme, value| {
            let profile = if value == Value::from("rfc") { TcpProfile::Rfc } else { TcpProfile::Ns2 };
            if profile == TcpProfile::Rfc && matches!(scheme.sender.pacing, SenderPacing::Agent(_)) {
                return Err(AGENT_NEEDS_NS2);
            }
            if profile != scheme.sender.profile {
                scheme.sender.profile = profile;
                scheme.sender.rto = profile.rto();
                scheme.sender.initial_ssthresh = profile.initial_ssthresh();
            }
            Ok(())
        },
    },
    Param {
        key: "pacing",
        kind: Kind::Choice(&["none", "fixed", "khd", "wireless-khd"]),
        doc: "Pacing at the sender: none, at a fixed rate (schemes.md 2.1), by the k-hop delay of the whole path \
              (TCP-AP, schemes.md 2) or of its wireless part (TCP-GAP, schemes.md 3.2).",
        get: |scheme| word(pacing_word(&scheme.sender.pacing)),
        set: |scheme, value| {
            // Naming the part it has already keeps that part's parameters.
            if value != Value::from(pacing_word(&scheme.sender.pacing)) {
                set_pacing(
                    scheme,
                    match value {
                        Value::Text(word) if word == "fixed" => SenderPacing::Fixed(FIXED_RATE),
                        Value::Text(word) if word == "khd" => SenderPacing::KHop(AdaptiveConfig::PAPER),
                        Value::Text(word) if word == "wireless-khd" => {
                            SenderPacing::WirelessKHop(AdaptiveConfig::PAPER)
                        }
                        _ => SenderPacing::None,
                    },
                );
            }
            Ok(())
        },
    },
    Param {
        key: "profile",
        kind: Kind::Choice(&["paper", "ns2-2005"]),
        doc: "TCP-AP as in the paper, or exactly as its authors' ns-2 agent does it (schemes.md 2, \"Profiles\").",
        get: |scheme| match scheme.sender.pacing {
            SenderPacing::KHop(_) => word("paper"),
            SenderPacing::Agent(_) => word("ns2-2005"),
            _ => None,
        },
        set: |scheme, value| {
            let agent = value == Value::from("ns2-2005");
            if agent && scheme.sender.profile == TcpProfile::Rfc {
                return Err(AGENT_NEEDS_NS2);
            }
            match (agent, scheme.sender.pacing) {
                (true, SenderPacing::KHop(_)) => {
                    set_pacing(scheme, SenderPacing::Agent(AdaptiveConfig::NS2_2005));
                }
                (false, SenderPacing::Agent(_)) => {
                    set_pacing(scheme, SenderPacing::KHop(AdaptiveConfig::PAPER));
                }
                _ => {}
            }
            Ok(())
        },
    },
    Param {
        key: "ack_policy",
        kind: Kind::Choice(&["every", "delayed", "dynamic-delayed"]),
        doc: "When the receiver acknowledges (schemes.md 16, 7.1).",
        get: |scheme| word(ack_word(&scheme.receiver)),
        set: |scheme, value| {
            if value != Value::from(ack_word(&scheme.receiver)) {
                scheme.receiver = match value {
                    Value::Text(word) if word == "delayed" => AckPolicy::DELAYED,
                    Value::Text(word) if word == "dynamic-delayed" => AckPolicy::DYNAMIC_DELAYED,
                    _ => AckPolicy::Every,
                };
            }
            Ok(())
        },
    },
    Param {
        key: "relay",
        kind: Kind::Choice(&["drop-tail"]),
        doc: "Queue discipline of the mesh nodes.",
        get: |scheme| {
            word(match scheme.relay {
                Relay::DropTail => "drop-tail",
            })
        },
        set: |scheme, _| {
            scheme.relay = Relay::DropTail;
            Ok(())
        },
    },
    Param {
        key: "gateway",
        kind: Kind::Choice(&["none", "pacing", "pacing+goodput-control"]),
        doc: "What the gateway does: nothing, TCP-GAP's pacing (schemes.md 3.3), or goodput control as well \
              (schemes.md 3.5).",
        get: |scheme| {
            word(match scheme.gateway.map(|gateway| gateway.goodput_control) {
                None => "none",
                Some(None) => "pacing",
                Some(Some(_)) => "pacing+goodput-control",
            })
        },
        set: |scheme, value| {
            let kept = scheme.gateway.unwrap_or(gateway::Config::PAPER);
            scheme.gateway = match value {
                Value::Text(word) if word == "pacing" => {
                    Some(gateway::Config { goodput_control: None, ..kept })
                }
                Value::Text(word) if word == "pacing+goodput-control" => {
                    let control = kept.goodput_control.unwrap_or(GoodputControlConfig::PAPER);
                    Some(gateway::Config { goodput_control: Some(control), ..kept })
                }
                _ => None,
            };
            Ok(())
        },
    },
];

fn word(word: &str) -> Option<Value> {
    Some(word.into())
}

fn pacing_word(pacing: &SenderPacing) -> &'static str {
    match pacing {
        SenderPacing::None => "none",
        SenderPacing::Fixed(_) => "fixed",
        SenderPacing::KHop(_) | SenderPacing::Agent(_) => "khd",
        SenderPacing::WirelessKHop(_) => "wireless-khd",
    }
}

fn ack_word(policy: &AckPolicy) -> &'static str {
    match policy {
        AckPolicy::Every => "every",
        AckPolicy::Delayed { .. } => "delayed",
        AckPolicy::DynamicDelayed { .. } => "dynamic-delayed",
    }
}

fn set_pacing(scheme: &mut Scheme, pacing: SenderPacing) {
    scheme.sender.rto_backoff = backs_off(&pacing);
    scheme.sender.pacing = pacing;
}
