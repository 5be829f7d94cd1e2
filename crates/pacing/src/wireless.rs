//! Which part of a sender's round trips TCP-GAP's law may see: what the gateway's measured wired part leaves.

use meshpace_units::Span;

/// Acknowledgements of timed segments without the option before the sender takes it that there is no gateway on the
/// path (schemes.md 3.2).
const ACKS_WITHOUT_GATEWAY: u8 = 3;

/// What TCP-GAP's wireless sender learns from one acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WirelessSample {
    /// A round trip over the wireless part of the path: one for the rate law.
    RoundTrip(Span),
    /// There is no gateway on the path: the interval before the first sample is lifted for good.
    NoGateway,
    /// Nothing: the interval stays.
    Nothing,
}

/// One connection's view of its gateway.
///
/// Source: schemes.md 3.2, "Edge cases".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WirelessPart {
    /// No option came yet.
    Unknown {
        /// Acknowledgements of timed segments so far.
        acks_without: u8,
    },
    /// A gateway wrote its option at least once.
    Seen,
    /// Too many acknowledgements came without it. A gateway that appears later is believed.
    Absent,
}

impl Default for WirelessPart {
    fn default() -> Self {
        Self::Unknown { acks_without: 0 }
    }
}

impl WirelessPart {
    /// An acknowledgement arrived: `rtt` is the round trip of the oldest segment that it newly acknowledges, if that was
    /// timed, `rtt_wired` what the gateway wrote into it.
    ///
    /// A difference that is not positive comes from the option's whole milliseconds, or from no honest gateway: it is
    /// discarded.
    pub fn on_ack(&mut self, rtt: Option<Span>, rtt_wired: Option<Span>) -> WirelessSample {
        let Some(rtt_wired) = rtt_wired else {
            if let (Self::Unknown { acks_without }, Some(_)) = (&mut *self, rtt) {
                *acks_without += 1;
                if *acks_without == ACKS_WITHOUT_GATEWAY {
                    *self = Self::Absent;
                    return WirelessSample::NoGateway;
                }
            }
            return WirelessSample::Nothing;
        };
        *self = Self::Seen;
        match rtt.and_then(|rtt| rtt.checked_sub(rtt_wired)).filter(|rtt| !rtt.is_zero()) {
            Some(wireless) => WirelessSample::RoundTrip(wireless),
            None => WirelessSample::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Option<Span> {
        Some(Span::from_millis(n))
    }

    #[test]
    fn three_timed_acknowledgements_without_the_option_mean_no_gateway() {
        let mut part = WirelessPart::default();
        assert_eq!(part.on_ack(ms(40), None), WirelessSample::Nothing);
        assert_eq!(part.on_ack(None, None), WirelessSample::Nothing, "untimed: does not count");
        assert_eq!(part.on_ack(ms(40), None), WirelessSample::Nothing);
        assert_eq!(part.on_ack(ms(40), None), WirelessSample::NoGateway);
        assert_eq!(part.on_ack(ms(40), None), WirelessSample::Nothing, "told once");
        assert_eq!(part.on_ack(ms(40), ms(10)), WirelessSample::RoundTrip(Span::from_millis(30)));
    }

    #[test]
    fn after_one_option_a_gateway_stays_known() {
        let mut part = WirelessPart::default();
        assert_eq!(part.on_ack(None, ms(5)), WirelessSample::Nothing);
        for _ in 0..5 {
            assert_eq!(part.on_ack(ms(40), None), WirelessSample::Nothing);
        }
        assert_eq!(part, WirelessPart::Seen);
    }

    #[test]
    fn differences_that_are_not_positive_are_discarded() {
        let mut part = WirelessPart::default();
        assert_eq!(part.on_ack(ms(40), ms(40)), WirelessSample::Nothing);
        assert_eq!(part.on_ack(ms(40), ms(65_535)), WirelessSample::Nothing);
        assert_eq!(part.on_ack(ms(40), ms(0)), WirelessSample::RoundTrip(Span::from_millis(40)));
    }
}
