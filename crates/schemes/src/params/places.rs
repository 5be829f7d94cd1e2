//! Where a scheme has the parts that parameters belong to. Each module is one part: `of` copies it out of a scheme that
//! has it, `each` changes it wherever the scheme has it.

use crate::scheme::{FixedRate, Scheme, Sender, SenderPacing};
use meshpace_pacing::{AdaptiveConfig, GoodputControlConfig};
use meshpace_tcp::{AckPolicy, RtoConfig};
use meshpace_units::Span;

/// The limits that every retransmission timeout has.
#[derive(Clone, Copy)]
pub(super) struct RtoLimits {
    pub initial: Span,
    pub min: Span,
    pub max: Span,
}

pub(super) mod rto {
    use super::{RtoConfig, RtoLimits, Scheme};

    pub(in crate::params) fn of(scheme: &Scheme) -> Option<RtoLimits> {
        Some(match scheme.sender.rto {
            RtoConfig::Ticks(rto) => RtoLimits { initial: rto.initial, min: rto.min, max: rto.max },
            RtoConfig::Smoothed(rto) => RtoLimits { initial: rto.initial, min: rto.min, max: rto.max },
        })
    }

    pub(in crate::params) fn each(scheme: &mut Scheme, mut change: impl FnMut(&mut RtoLimits)) {
        let Some(mut limits) = of(scheme) else {
            return;
        };
        change(&mut limits);
        let RtoLimits { initial, min, max } = limits;
        match &mut scheme.sender.rto {
            RtoConfig::Ticks(rto) => (rto.initial, rto.min, rto.max) = (initial, min, max),
            RtoConfig::Smoothed(rto) => (rto.initial, rto.min, rto.max) = (initial, min, max),
        }
    }
}

pub(super) mod sender {
    use super::{Scheme, Sender};

    pub(in crate::params) fn of(scheme: &Scheme) -> Option<&Sender> {
        Some(&scheme.sender)
    }

    pub(in crate::params) fn each(scheme: &mut Scheme, mut change: impl FnMut(&mut Sender)) {
        change(&mut scheme.sender);
    }
}

/// A threshold that is not arbitrarily high.
pub(super) mod ssthresh {
    use super::Scheme;

    #[derive(Clone, Copy)]
    pub(in crate::params) struct Threshold {
        pub segments: f64,
    }

    pub(in crate::params) fn of(scheme: &Scheme) -> Option<Threshold> {
        scheme.sender.initial_ssthresh.map(|segments| Threshold { segments })
    }

    pub(in crate::params) fn each(scheme: &mut Scheme, mut change: impl FnMut(&mut Threshold)) {
        if let Some(mut threshold) = of(scheme) {
            change(&mut threshold);
            scheme.sender.initial_ssthresh = Some(threshold.segments);
        }
    }
}

/// A part that is in one place, reached through a pattern.
macro_rules! place {
    ($name:ident, $view:ident { $($field:ident: $type:ty),+ }, $scheme:ident => $($path:ident).+, $($pattern:pat_param)|+) => {
        #[derive(Clone, Copy)]
        pub(super) struct $view {
            $(pub $field: $type,)+
        }

        pub(super) mod $name {
            use super::{$view, *};

            pub(in crate::params) fn of($scheme: &Scheme) -> Option<$view> {
                match $scheme.$($path).+ {
                    $($pattern)|+ => Some($view { $($field),+ }),
                    #[allow(unreachable_patterns, reason = "not every part is a choice")]
                    _ => None,
                }
            }

            pub(in crate::params) fn each($scheme: &mut Scheme, mut change: impl FnMut(&mut $view)) {
                match &mut $scheme.$($path).+ {
                    $($pattern)|+ => {
                        let mut view = $view { $($field: *$field),+ };
                        change(&mut view);
                        $(*$field = view.$field;)+
                    }
                    #[allow(unreachable_patterns, reason = "not every part is a choice")]
                    _ => {}
                }
            }
        }
    };
}

place!(delayed, Delayed { segments: u32 }, scheme => receiver, AckPolicy::Delayed { segments, .. });
place!(thresholds, Thresholds { thresholds: [u64; 3] }, scheme => receiver,
    AckPolicy::DynamicDelayed { thresholds, .. });
place!(ack_delay, AckDelay { delay: Span }, scheme => receiver,
    AckPolicy::Delayed { delay, .. } | AckPolicy::DynamicDelayed { delay, .. });
place!(fixed, Fixed { rate: meshpace_units::Rate, mtu: meshpace_units::Bytes }, scheme => sender.pacing,
    SenderPacing::Fixed(FixedRate { rate, mtu }));
place!(initial, Initial { interval: Span }, scheme => sender.pacing,
    SenderPacing::KHop(AdaptiveConfig { initial_interval: Some(interval), .. })
    | SenderPacing::Agent(AdaptiveConfig { initial_interval: Some(interval), .. })
    | SenderPacing::WirelessKHop(AdaptiveConfig { initial_interval: Some(interval), .. }));

/// The rate law: the sender's and the gateway's are one, as in the paper.
pub(super) mod law {
    use super::{AdaptiveConfig, Scheme, SenderPacing};

    pub(in crate::params) fn of(scheme: &Scheme) -> Option<AdaptiveConfig> {
        match scheme.sender.pacing {
            SenderPacing::KHop(law) | SenderPacing::Agent(law) | SenderPacing::WirelessKHop(law) => Some(law),
            SenderPacing::None | SenderPacing::Fixed(_) => scheme.gateway.map(|gateway| gateway.law),
        }
    }

    pub(in crate::params) fn each(scheme: &mut Scheme, mut change: impl FnMut(&mut AdaptiveConfig)) {
        match &mut scheme.sender.pacing {
            SenderPacing::KHop(law) | SenderPacing::Agent(law) | SenderPacing::WirelessKHop(law) => {
                change(law);
            }
            SenderPacing::None | SenderPacing::Fixed(_) => {}
        }
        if let Some(gateway) = &mut scheme.gateway {
            change(&mut gateway.law);
        }
    }
}

pub(super) mod gateway {
    use super::Scheme;
    use meshpace_gateway::Config;

    pub(in crate::params) fn of(scheme: &Scheme) -> Option<Config> {
        scheme.gateway
    }

    pub(in crate::params) fn each(scheme: &mut Scheme, change: impl FnMut(&mut Config)) {
        scheme.gateway.as_mut().into_iter().for_each(change);
    }
}

pub(super) mod control {
    use super::{GoodputControlConfig, Scheme};

    pub(in crate::params) fn of(scheme: &Scheme) -> Option<GoodputControlConfig> {
        scheme.gateway?.goodput_control
    }

    pub(in crate::params) fn each(scheme: &mut Scheme, change: impl FnMut(&mut GoodputControlConfig)) {
        let gateway = scheme.gateway.as_mut();
        gateway.and_then(|gateway| gateway.goodput_control.as_mut()).into_iter().for_each(change);
    }
}
