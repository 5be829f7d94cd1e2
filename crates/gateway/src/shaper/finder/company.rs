//! Whether one connection is alone in the mesh.

use super::Sign;
use crate::FlowKey;
use meshpace_units::{Instant, Span};

/// Nothing else left for so long.
const ALONE: Span = Span::from_secs(3);

/// See the module's description.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Company {
    last: Option<FlowKey>,
    /// Since when no connection but one sends; `None`: something else does.
    since: Option<Instant>,
}

impl Company {
    /// A packet leaves.
    pub fn leaves(&mut self, now: Instant, sign: Sign) {
        let (Sign::Segment(key, ..) | Sign::Spin(key, _)) = sign;
        if self.last.replace(key).is_none_or(|last| last != key) {
            self.since = Some(now);
        }
    }

    /// A packet leaves whose sender's round trips nothing measures.
    pub const fn others(&mut self) {
        (self.last, self.since) = (None, None);
    }

    /// The driver has seen since when that is so.
    pub const fn told(&mut self, since: Option<Instant>) {
        self.since = since;
    }

    /// One connection is alone.
    pub fn is_alone(&self, now: Instant) -> bool {
        self.since.is_some_and(|since| now.saturating_since(since) >= ALONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endpoint;
    use core::net::Ipv4Addr;
    use meshpace_units::Seq;

    #[test]
    fn a_connection_is_alone_when_nothing_else_left_for_a_while() {
        let sign = |port| {
            let end = |last, port| Endpoint { address: Ipv4Addr::new(10, 0, 0, last).into(), port };
            Sign::Segment(FlowKey { wireless: end(1, port), wired: end(9, 443) }, Seq(0), Seq(1))
        };
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        let mut company = Company::default();
        assert!(!company.is_alone(at(9_000)), "nobody is told of");
        (0..40).for_each(|n| company.leaves(at(100 * n), sign(1)));
        assert!(!company.is_alone(at(2_999)) && company.is_alone(at(3_000)));
        company.leaves(at(4_000), sign(2));
        company.leaves(at(4_010), sign(1));
        assert!(!company.is_alone(at(7_000)) && company.is_alone(at(7_010)));
        company.others();
        company.leaves(at(7_030), sign(1));
        assert!(!company.is_alone(at(10_020)) && company.is_alone(at(10_030)));
        company.told(None);
        assert!(!company.is_alone(at(20_000)));
        company.told(Some(at(20_000)));
        assert!(!company.is_alone(at(22_990)) && company.is_alone(at(23_000)));
    }
}
