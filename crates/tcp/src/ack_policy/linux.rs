//! Acknowledgements as Linux's receiver sends them: quick at first, then every second segment, or after a wait that follows how
//! far apart segments come (net/ipv4/tcp_input.c, tcp_event_data_recv; tcp_output.c, tcp_send_delayed_ack).

use super::{AckPolicy, AckPolicyPart, Arrived, Early, InOrder, Order, When};
use alloc::boxed::Box;
use meshpace_keys::{Key, Preset};
use meshpace_units::{Instant, Span};

pub(super) static PART: AckPolicyPart = AckPolicyPart::new(
    "linux",
    "As Linux: sixteen at once, then every second segment or after 40 to 200 ms, by how far apart segments come.",
    "Linux, net/ipv4/tcp_input.c and tcp_output.c",
    |values| {
        let (limit, compression) = (values.count("quick_acks"), values.span_given("ack_compression"));
        Box::new(Linux { limit, compression, merges: values.span_given("ack_gro"), ..Linux::default() })
    },
)
.keys(&[&KEYS]);

static KEYS: [Key; 3] = [
    Key::count(
        "quick_acks",
        (0, 1_000),
        QUICK as u64,
        "Acknowledgements at once where a sender's window may be small: at first, after a long gap, after what came twice.",
    ),
    Key::time_or(
        "ack_compression",
        &["none"],
        LEAST,
        "Of what is out of order the first three are acknowledged at once, further ones after so long or a twentieth of the round trip, \
         if that is less, together; \"none\": each at once.",
    )
    .preset(Preset::Time(COMPRESSION)),
    Key::time_or(
        "ack_gro",
        &["none"],
        LEAST,
        "What comes in order within this of a segment that is answered at once is answered with it: the host takes packets from its \
         device together (GRO); \"none\": each by itself.",
    ),
];

/// `TCP_MAX_QUICKACKS`.
const QUICK: u32 = 16;
/// `TCP_ATO_MIN`.
const LEAST: Span = Span::from_millis(40);
/// `tcp_comp_sack_delay_ns` by default.
const COMPRESSION: Span = Span::from_millis(1);
/// What is compressed is a twentieth of a round trip at the most (`__tcp_ack_snd_check`; 5 %).
const PART_OF_TRIP: u64 = 20;
/// Acknowledgements that one stands for at the most (`tcp_comp_sack_nr`).
const COMPRESSED: u32 = 44;
/// These show a sender without RACK a loss, and are not compressed (TCP_FASTRETRANS_THRESH).
const DUPLICATES: u32 = 3;
/// `TCP_DELACK_MAX`.
const MOST: Span = Span::from_millis(200);

/// When to acknowledge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linux {
    limit: u32,
    /// Acknowledgements that are still to be sent at once.
    quick: u32,
    /// How long to wait (the kernel's `ato`).
    wait: Span,
    /// When something last came in order (`lrcvtime`).
    last: Option<Instant>,
    /// How long what is out of order waits at the most.
    compression: Option<Span>,
    /// How long after a segment others count as having come with it.
    merges: Option<Span>,
    /// What was in order when something was last missing, and how many have been acknowledged at once since
    /// (`compressed_ack_rcv_nxt`, `dup_ack_counter`).
    missing: (u64, u32),
    /// Since the latest acknowledgement (`compressed_ack`).
    compressed: u32,
}

impl Default for Linux {
    fn default() -> Self {
        Self {
            limit: QUICK,
            quick: 0,
            wait: LEAST,
            last: None,
            compression: Some(COMPRESSION),
            merges: None,
            missing: (0, 0),
            compressed: 0,
        }
    }
}

impl AckPolicy for Linux {
    fn on_segment(&mut self, arrived: &Arrived) {
        let Arrived { now, order, timeout, .. } = *arrived;
        match order {
            Order::Old => {
                // The sender lacks an acknowledgement.
                (self.quick, self.wait) = (self.quick.max(self.limit), LEAST);
                return;
            }
            Order::Early { .. } => return,
            Order::Next | Order::Fills => {}
        }
        let Some(last) = self.last.replace(now) else {
            self.quick = self.quick.max(self.limit); // the connection's first
            return;
        };
        let gap = now.saturating_since(last);
        if gap <= LEAST / 2 {
            self.wait = self.wait / 2 + LEAST / 2;
        } else if gap < self.wait {
            self.wait = self.wait / 2 + gap;
        } else if gap > timeout {
            self.quick = self.quick.max(self.limit); // the sender has begun anew
        }
    }

    /// The sender hears of the room at once: `quick |= 1`, so that an even number of them stays what it is (tcp_grow_window).
    fn on_wider_offer(&mut self) {
        self.quick |= u32::from(self.limit > 0);
    }

    fn on_in_order(&mut self, arrived: &InOrder) -> When {
        if self.quick > 0 || arrived.waiting >= 2 {
            self.merges.map_or(When::Now, When::Within)
        } else {
            When::AfterFirst(self.wait.min(MOST))
        }
    }

    /// `__tcp_ack_snd_check` of Linux 6.18.
    fn on_early(&mut self, early: &Early) -> When {
        let waits = self.compression.filter(|_| self.quick == 0 && self.compressed < COMPRESSED);
        let (Some(most), Some(trip)) = (waits, early.trip) else { return When::Now };
        if self.missing.0 != early.in_order {
            self.missing = (early.in_order, 0);
        }
        if self.missing.1 < DUPLICATES {
            self.missing.1 += 1;
            return When::Now;
        }
        self.compressed += 1;
        When::Within(most.min(trip / PART_OF_TRIP))
    }

    fn on_wait_over(&mut self) {
        self.wait = (self.wait * 2).min(MOST);
    }

    fn on_ack_sent(&mut self) {
        if self.quick == 1 {
            self.wait = LEAST;
        }
        (self.quick, self.compressed) = (self.quick.saturating_sub(1), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshpace_units::Ecn;

    /// One that has used its quick acknowledgements.
    fn settled() -> Linux {
        Linux { last: Some(Instant::ZERO), ..Linux::default() }
    }

    fn came(at_ms: u64, order: Order) -> Arrived {
        let (now, timeout) = (Instant::ZERO + Span::from_millis(at_ms), Span::from_millis(250));
        Arrived {
            now,
            offset: 0,
            length: 1000,
            order,
            pushed: false,
            ecn: Ecn::NotEct,
            transit: None,
            timeout,
        }
    }

    /// Segments at these times, ms: what is answered to each; what is at once is sent.
    fn answers(policy: &mut Linux, at: &[u64]) -> alloc::vec::Vec<Option<u64>> {
        let mut waiting = 0;
        let answer = |at: &u64| {
            let now = Instant::ZERO + Span::from_millis(*at);
            waiting += 1;
            policy.on_segment(&came(*at, Order::Next));
            match policy.on_in_order(&InOrder { now, number: 1, offset: 0, waiting }) {
                When::Now => {
                    policy.on_ack_sent();
                    waiting = 0;
                    None
                }
                When::AfterFirst(wait) | When::AfterThis(wait) | When::Within(wait) => {
                    Some(wait.as_micros() / 1000)
                }
            }
        };
        at.iter().map(answer).collect()
    }

    #[test]
    fn sixteen_are_quick_then_every_second() {
        let mut policy = Linux::default();
        let at: alloc::vec::Vec<u64> = (0..20).map(|n| 5 * n).collect();
        let quick = answers(&mut policy, &at);
        assert!(quick[..16].iter().all(Option::is_none));
        assert_eq!(quick[16..], [Some(40), None, Some(40), None]);
    }

    #[test]
    fn the_wait_follows_the_gaps() {
        let mut policy = settled();
        assert_eq!(answers(&mut policy, &[0, 30, 60, 90, 100]), [Some(40), None, Some(55), None, Some(48)]);
        // Gaps of 30: half of 40 and 30 are 50, half of that and 30 are 55, then 57.5; 10 ms: half of that and 20.
        policy.on_wait_over();
        assert_eq!(policy.wait, Span::from_micros(97_500));
        (0..3).for_each(|_| policy.on_wait_over());
        assert_eq!(policy.wait, MOST);
    }

    #[test]
    fn a_long_gap_and_what_came_twice_make_it_quick_again() {
        let mut policy = settled();
        assert_eq!(answers(&mut policy, &[0, 300, 305]), [Some(40), None, None]);
        assert_eq!(policy.quick, 14);
        let mut policy = settled();
        policy.on_segment(&came(0, Order::Old));
        assert_eq!(policy.quick, 16);
    }

    #[test]
    fn of_what_is_out_of_order_three_are_quick_and_up_to_44_wait_together() {
        let answers = |policy: &mut Linux, count: usize, in_order: u64, trip: Option<Span>| {
            let at_once = |_: usize| match policy.on_early(&Early { in_order, trip }) {
                When::Now => {
                    policy.on_ack_sent();
                    None
                }
                When::Within(wait) => Some(wait),
                other => panic!("{other:?}"),
            };
            (0..count).map(at_once).collect::<alloc::vec::Vec<_>>()
        };
        let (trip, wait) = (Some(Span::from_millis(10)), Some(Span::from_micros(500)));
        let mut policy = settled();
        assert_eq!(answers(&mut policy, 5, 0, trip), [None, None, None, wait, wait]);
        // Something else is missing; a long round trip.
        assert_eq!(answers(&mut policy, 4, 7, Some(MOST)), [None, None, None, Some(COMPRESSION)]);
        let many = answers(&mut policy, 50, 7, trip);
        assert_eq!(many.iter().position(Option::is_none), Some(43), "44 with the one before");
        assert_eq!(answers(&mut policy, 4, 8, None), [None; 4], "no round trip is known");
        let mut quick = Linux { quick: 9, ..settled() };
        assert_eq!(answers(&mut quick, 8, 0, trip), [None; 8]);
        let mut off = Linux { compression: None, ..settled() };
        assert_eq!(answers(&mut off, 8, 0, trip), [None; 8]);
    }

    #[test]
    fn a_gap_is_between_what_comes_in_order_and_longer_than_the_timeout() {
        let after = |order: Order, last: u64| {
            let mut policy = settled();
            policy.on_segment(&came(0, Order::Next));
            policy.on_segment(&came(200, order));
            policy.on_segment(&came(last, Order::Next));
            policy.quick
        };
        assert_eq!([250, 251].map(|last| after(Order::Early { gap: 9 }, last)), [0, 16]);
        assert_eq!(after(Order::Next, 300), 0);
    }

    #[test]
    fn while_the_offer_grows_every_acknowledgement_is_quick_and_an_even_number_of_them_is_kept() {
        let answers = |quick: u32, limit: u32| {
            let mut policy = Linux { quick, limit, ..settled() };
            let now = |n: u64| {
                policy.on_segment(&came(n, Order::Next));
                if n < 20 {
                    policy.on_wider_offer();
                }
                let answer =
                    policy.on_in_order(&InOrder { now: Instant::ZERO, number: 1, offset: 0, waiting: 1 });
                if answer == When::Now {
                    policy.on_ack_sent();
                }
                answer == When::Now
            };
            (0..60).map(now).filter(|at_once| *at_once).count()
        };
        assert_eq!(answers(16, 16), 20 + 16);
        assert_eq!(answers(0, 16), 20);
        assert_eq!(answers(0, 0), 0, "without quick acknowledgements there are none");
    }
}
