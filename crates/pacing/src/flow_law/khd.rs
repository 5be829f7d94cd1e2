//! TCP-GAP's law: the k-hop delay and how much it varies.

use super::{FlowLaw, FlowLawPart, FlowPace, RoundTrip};
use crate::{AdaptiveConfig, RateLaw};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::num::NonZeroU32;
use meshpace_keys::Key;
use meshpace_units::{Instant, Span};

pub(super) static PART: FlowLawPart = FlowLawPart::new(
    "khd",
    "One packet in the k-hop delay, and more slowly the more the round trips vary.",
    "schemes.md 2; ElRakabawy, Klemm, Lindemann 2005, 2007",
    |values| Box::new(RateLaw::new(AdaptiveConfig::from_values(values))),
)
.keys(&[&KEYS]);

/// The sender's and the gateway's are one, as in the paper.
static KEYS: [Key; AdaptiveConfig::KEYS] = AdaptiveConfig::PAPER.keys();

impl FlowLaw for RateLaw {
    /// A sample that the law rejects leaves the pace as it is; the law counts it.
    fn on_round_trip(&mut self, trip: &RoundTrip<'_>) -> Option<FlowPace> {
        // Where packets travel together they cross the hops as one, and one such train leaves in the k-hop delay.
        let train = trip.segment * u64::from(self.unit().get());
        Self::on_round_trip(self, trip.rtt, train, trip.route).ok().map(|interval| pace(self, interval))
    }

    fn on_unit(&mut self, _: Instant, packets: NonZeroU32) -> Option<FlowPace> {
        self.set_unit(packets);
        self.interval().map(|interval| pace(self, interval))
    }

    fn take_parameters(&mut self, fresh: &dyn FlowLaw) -> bool {
        let fresh = (fresh as &dyn Any).downcast_ref::<Self>();
        if let Some(fresh) = fresh {
            self.set_config(*fresh.config());
        }
        fresh.is_some()
    }

    fn boxed(&self) -> Box<dyn FlowLaw> {
        Box::new(self.clone())
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        let smoothed = self.k_hop_delay().map(|delay| ("smoothed k-hop delay, s", delay));
        smoothed.into_iter().chain([("variation", self.variation())]).collect()
    }
}

fn pace(law: &RateLaw, interval: Span) -> FlowPace {
    FlowPace::trains(interval / u64::from(law.unit().get()), law.unit())
}

#[cfg(test)]
mod tests {
    use super::super::{FLOW_LAWS, LawMaker, Progress};
    use super::*;
    use crate::Route;
    use meshpace_keys::{Setting, Values};
    use meshpace_units::{Bytes, Rate};

    fn maker(alpha: f64) -> LawMaker {
        let defaults = Values::defaults(PART.about.keys());
        LawMaker::of(
            &PART,
            Values::new(defaults.iter().map(|(key, value)| {
                (key, if key == "alpha" { Setting::Real(alpha) } else { value.clone() })
            })),
        )
    }

    fn told(law: &mut Box<dyn FlowLaw>, rtt_ms: u64) -> Option<FlowPace> {
        let route = Route::uniform(Some(4), Rate::bits_per_sec(2_000_000));
        let (now, rtt) = (Instant::ZERO, Span::from_millis(rtt_ms));
        law.on_round_trip(&RoundTrip {
            now,
            rtt,
            segment: Bytes(1460),
            route: &route,
            sharing: 1,
            answered: None,
        })
    }

    #[test]
    fn it_answers_with_the_interval_and_stays_with_it_at_what_it_rejects() {
        let mut law = maker(0.7).law();
        // schemes.md 1.4: 31.68 ms.
        assert_eq!(told(&mut law, 40), Some(FlowPace::every(Span::from_micros(31_680))));
        assert_eq!(told(&mut law, 0), None);
        let progress = Progress { now: Instant::ZERO, acked: Bytes(1460), again: 1, marked: true };
        assert_eq!(law.on_progress(&progress), None, "round trips alone");
        assert_eq!(law.rate_law().map(|law| (law.samples(), law.rejected())), Some((1, 1)));
    }

    #[test]
    fn other_parameters_count_from_the_next_sample_on_and_a_new_flow_begins_anew() {
        let mut law = maker(0.7).law();
        told(&mut law, 40);
        let copy = law.clone();
        maker(0.0).renew(&mut law);
        let now = law.rate_law().expect("it is still TCP-GAP's");
        assert_eq!((now.samples(), now.config().alpha), (1, 0.0));
        assert_eq!(copy.rate_law().map(RateLaw::samples), Some(1));
        assert_eq!(maker(0.7).law().rate_law().map(RateLaw::samples), Some(0));
        assert_eq!((maker(0.5) == maker(0.5), maker(0.5) == maker(0.6)), (true, false));
    }

    /// A train crosses the hops as one packet does, and carries so many.
    #[test]
    fn where_packets_travel_together_a_train_leaves_in_the_k_hop_delay() {
        let mut law = maker(0.0).law();
        told(&mut law, 40);
        let four = NonZeroU32::new(4).unwrap();
        assert_eq!(law.on_unit(Instant::ZERO, four).unwrap().burst, four);
        // (1.2), (2.1) over four hops at 2 Mbit/s with 4 * 1,460 bytes and their headers once: the train alone takes 94.1 ms.
        let pace = told(&mut law, 150).unwrap();
        let alone = {
            let mut law =
                RateLaw::new(AdaptiveConfig { alpha: 0.0, initial_interval: None, ..AdaptiveConfig::PAPER });
            let route = Route::uniform(Some(4), Rate::bits_per_sec(2_000_000));
            let before = law.on_round_trip(Span::from_millis(40), Bytes(1460), &route);
            before.and(law.on_round_trip(Span::from_millis(150), Bytes(4 * 1460), &route))
        };
        assert_eq!((pace.spacing, pace.burst), (Some(alone.unwrap() / 4), four));
    }

    #[test]
    fn the_first_of_the_table_is_the_papers() {
        let law = (FLOW_LAWS[0].build)(&Values::defaults(FLOW_LAWS[0].about.keys()));
        let paper = AdaptiveConfig { initial_interval: None, ..AdaptiveConfig::PAPER };
        assert_eq!(law.rate_law().map(RateLaw::config), Some(&paper));
    }
}
