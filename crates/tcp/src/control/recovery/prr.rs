//! Proportional rate reduction: in recovery the window follows what arrives, down to what congestion control wants it to be
//! (RFC 9937, section 6).

/// One recovery. The names are the RFC's: `target` is ssthresh, `flight` RecoverFS. Bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    target: u64,
    flight: u64,
    delivered: u64,
    out: u64,
}

impl Prr {
    /// Recovery begins with `flight` outstanding that had not been known to have arrived.
    pub(super) fn new(target: u64, flight: u64) -> Self {
        Self { target, flight: flight.max(1), delivered: 0, out: 0 }
    }

    /// What recovery leads to.
    pub(super) const fn target(&self) -> u64 {
        self.target
    }

    /// An acknowledgement, the first one included, delivered so many bytes and leaves `in_flight` on their way; `good`: it
    /// acknowledges something new and shows no further loss. The window.
    pub(super) fn on_ack(&mut self, delivered: u64, in_flight: u64, good: bool, mss: u32) -> u64 {
        let mss = u64::from(mss);
        self.delivered += delivered;
        let credit = self.delivered.saturating_sub(self.out);
        let mut count = if in_flight > self.target {
            let share = u128::from(self.delivered) * u128::from(self.target);
            (share.div_ceil(u128::from(self.flight)) as u64).saturating_sub(self.out)
        } else {
            let conserving = credit.max(delivered);
            // PRR-SSRB beside PRR-CRB.
            let count = conserving + if good { mss } else { 0 };
            count.min(self.target - in_flight)
        };
        if self.out == 0 {
            count = count.max(mss); // the fast retransmission, a whole segment
        }
        in_flight + count
    }

    /// So many bytes leave.
    pub(super) const fn on_departure(&mut self, bytes: u64) {
        self.out += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 6937, section 4, figure 1, without limited transmit: a single loss of 20, Reno's target of 10.
    #[test]
    fn of_a_single_loss_every_second_arrival_lets_a_segment_out_until_the_target_is_reached() {
        let mut prr = Prr::new(10, 20);
        let (mut in_flight, mut left) = (19u64, std::vec::Vec::new());
        for _ in 0..19 {
            // 19 duplicates, each of which delivers a segment; the first one begins recovery.
            in_flight -= 1;
            let window = prr.on_ack(1, in_flight, false, 1);
            let room = window - in_flight;
            prr.on_departure(room);
            in_flight += room;
            left.push(room);
        }
        // Ten are in flight after the 17th; from there one leaves for one.
        assert_eq!(
            (left, in_flight),
            (std::vec![1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1], 10)
        );
    }

    #[test]
    fn after_heavy_losses_it_sends_what_arrives_and_one_more_where_that_goes_well() {
        // Of 20 only four are left: 10 is the target.
        let mut prr = Prr::new(10, 20);
        assert_eq!(prr.on_ack(1, 4, false, 1), 5, "conservation: one for one");
        prr.on_departure(1);
        assert_eq!(prr.on_ack(1, 4, true, 1), 6, "slow start: two for one");
        prr.on_departure(2);
        assert_eq!(prr.on_ack(9, 9, true, 1), 10, "not beyond the target");
    }

    proptest! {
        /// Nothing leaves beyond the target but the fast retransmission, and below it no more than twice what arrives.
        #[test]
        fn it_neither_stalls_nor_bursts(target in 2u64..100, lost in 1u64..60, acks in proptest::collection::vec(1u64..4, 1..100)) {
            let flight = 2 * target;
            let mut in_flight = flight.saturating_sub(lost);
            let mut prr = Prr::new(target, flight);
            let (mut sent, mut arrived) = (0, 0);
            for delivered in acks {
                let delivered = delivered.min(in_flight);
                if delivered == 0 {
                    break;
                }
                in_flight -= delivered;
                arrived += delivered;
                let window = prr.on_ack(delivered, in_flight, true, 1);
                prop_assert!(window >= in_flight && window <= (in_flight + delivered).max(target));
                let room = window - in_flight;
                prr.on_departure(room);
                sent += room;
                in_flight += room;
                prop_assert!(sent <= 2 * arrived + 1);
                prop_assert!(sent >= 1, "the fast retransmission leaves at once");
            }
        }
    }
}
