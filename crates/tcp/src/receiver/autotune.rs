//! A receive window that grows with what is taken in a round trip, as Linux's does (net/ipv4/tcp_input.c of Linux 6.18:
//! tcp_rcv_space_adjust, tcp_rcvbuf_grow, tcp_rcv_rtt_measure, tcp_rcv_rtt_measure_ts), and is offered step by step
//! (tcp_grow_window).

use crate::ack_policy::Order;
use meshpace_units::{Instant, Span};

/// The buffer at first (`tcp_rmem[1]`). Half of it is the window, until a full segment shows how much of it a packet
/// takes (TCP_DEFAULT_SCALING_RATIO).
const FIRST_BUFFER: u64 = 131_072;
/// What a packet of a frame's size takes of a buffer: 2 kB, and a quarter of one for what describes it (`skb->truesize`).
const PACKET: u64 = 2_304;
/// Parts of a buffer by which Linux counts what of it is payload (TCP_RMEM_TO_WIN_SCALE).
const PARTS: u64 = 256;
/// Segments that are expected in the first round trip (TCP_INIT_CWND).
const FIRST_SEGMENTS: u64 = 10;
/// What is less is no full segment (TCP_MSS_DEFAULT).
const LEAST_FULL: u64 = 536;
/// Less payload does not widen the offer where it comes in order (tcp_event_data_recv).
const TELLING: u64 = 128;

/// A segment with payload, and what has come with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
    pub(super) now: Instant,
    pub(super) length: u64,
    pub(super) order: Order,
    /// Bytes that have been taken in order so far.
    pub(super) taken: u64,
    /// How far what is out of order reaches beyond them.
    pub(super) beyond: u64,
    /// Bytes in the buffer: out of order, or not read.
    pub(super) held: u64,
    /// The time stamp that it echoes and the time since.
    pub(super) echo: Option<(u32, Span)>,
}

/// The window, and what it goes by.
#[derive(Clone, Debug)]
pub(super) struct Autotune {
    /// How far the offer may grow (`window_clamp`).
    window: u64,
    /// What is offered while the buffer is empty (`rcv_ssthresh`).
    offer: u64,
    most: u64,
    mss: u64,
    /// The payload of a full segment, as far as it is known: the largest so far, without the options that all
    /// segments have (`rcv_mss`, by tcp_initialize_rcv_mss and tcp_measure_rcv_mss).
    full: u64,
    /// The most that was taken in a round trip.
    space: u64,
    /// What had been taken when the round trip began that is measured, and when that was.
    round: (u64, Option<Instant>),
    /// The round trip: the latest shorter one, and smoothed from there.
    trip: Option<Span>,
    /// Round trips by windows: once so much has been taken one has passed, from then on.
    by_window: Option<(u64, Instant)>,
    /// The time stamp whose echo was measured last.
    echoed: Option<u32>,
}

impl Autotune {
    /// Up to `most` bytes, in whole units of the window field.
    pub(super) fn new(most: u64, unit: u64, mss: u64) -> Self {
        // A segment's worth is kept back (tcp_init_buffer_space).
        let window = most.min((FIRST_BUFFER / 2).saturating_sub(mss).max(mss).next_multiple_of(unit));
        let space = window.min(FIRST_SEGMENTS * mss).max(1);
        let (round, trip, by_window, echoed) = ((0, None), None, None, None);
        let full = mss.min(LEAST_FULL);
        Self { window, offer: window, most, mss, full, space, round, trip, by_window, echoed }
    }

    /// The window to offer beyond the data that the application has taken, while `held` bytes are not yet
    /// taken.
    pub(super) fn offer(&self, held: u64) -> u64 {
        self.offer.min(self.window.saturating_sub(held))
    }

    /// The round trip, as far as it is known.
    pub(super) const fn trip(&self) -> Option<Span> {
        self.trip
    }

    /// A segment has come. True if the offer grows by it.
    pub(super) fn on_segment(&mut self, came: &Came) -> bool {
        let Came { now, taken, echo, .. } = *came;
        self.measure_by_window(now, taken);
        let fresh = echo.filter(|(echo, _)| self.echoed != Some(*echo));
        self.echoed = echo.map(|(echo, _)| echo).or(self.echoed);
        if let Some((_, trip)) = fresh.filter(|_| came.length >= self.full) {
            // A shorter one counts at once: what is smoothed from above would take in the queue that the window makes
            // (tcp_rcv_rtt_update of Linux 6.16 and later).
            let smoothed = |old: Span| if trip < old { trip } else { (old * 7 + trip) / 8 };
            self.trip = Some(self.trip.map_or(trip, smoothed));
        }
        let wider = self.widen(came);
        self.follow(came);
        wider
    }

    /// The offer grows by two segments with each that comes, as far as there is room (tcp_grow_window).
    fn widen(&mut self, came: &Came) -> bool {
        let in_order = came.order.continues();
        if in_order && came.length >= self.full {
            self.full = came.length;
            // What packets take of the buffer is known (tcp_measure_rcv_mss).
            let payload = (PARTS * self.full / PACKET).min(PARTS);
            self.window = self.window.max((FIRST_BUFFER * payload / PARTS).min(self.most));
        }
        let tells = if in_order { came.length >= TELLING } else { came.order != Order::Old };
        let room = self.window.saturating_sub(came.held).saturating_sub(self.offer);
        if !tells || room == 0 {
            return false;
        }
        self.offer += room.min(2 * self.mss.max(came.length));
        true
    }

    /// The window follows what a round trip brings. The application's reads begin and end rounds. While a hole is open no round
    /// begins (tcp_rcv_space_adjust, called by tcp_recvmsg), and there is room for the segments behind the hole
    /// (tcp_data_queue_ofo).
    fn follow(&mut self, came: &Came) {
        let Came { now, taken, beyond, .. } = *came;
        if beyond > 0 {
            self.grow(self.space, beyond);
        }
        if !came.order.continues() {
            return;
        }
        let since = *self.round.1.get_or_insert(now);
        if self.trip.is_none_or(|trip| now.saturating_since(since) < trip) {
            return;
        }
        let copied = taken - self.round.0;
        if copied > self.space {
            self.grow(copied, beyond);
        }
        self.round = (taken, Some(now));
    }

    /// A window's worth takes a round trip or longer.
    fn measure_by_window(&mut self, now: Instant, taken: u64) {
        match self.by_window {
            Some((until, _)) if taken < until => return,
            Some((_, since)) => {
                let trip = now.saturating_since(since);
                self.trip = Some(self.trip.map_or(trip, |old| old.min(trip)));
            }
            None => {}
        }
        self.by_window = Some((taken + self.offer, now));
    }

    /// Twice what is taken in a round trip, since it is measured a round trip late, and twice again as much as that grew by; besides
    /// what is out of order.
    fn grow(&mut self, copied: u64, beyond: u64) {
        let twice = 2 * copied;
        let more = u128::from(twice) * u128::from(copied - self.space) / u128::from(self.space);
        let wanted = u128::from(twice + beyond) + 2 * more;
        self.space = copied;
        self.window = self.window.max(u64::try_from(wanted).unwrap_or(u64::MAX).min(self.most));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    const TRIP: Span = Span::from_millis(100);

    fn tuned() -> Autotune {
        Autotune::new(10_000_000, 8, 1000)
    }

    /// A segment after which so many bytes have been taken, that echoes so.
    fn came(at: u64, taken: u64, echo: Option<(u32, Span)>) -> Came {
        Came { now: ms(at), length: 1000, order: Order::Next, taken, beyond: 0, held: 0, echo }
    }

    fn take(tune: &mut Autotune, at: u64, taken: u64, echo: u32) -> bool {
        tune.on_segment(&came(at, taken, Some((echo, TRIP))))
    }

    #[test]
    fn twice_what_a_round_trip_brought_and_more_while_that_grows() {
        let mut tune = tuned();
        assert_eq!(tune.window, 64_536, "half of the buffer without a segment");
        take(&mut tune, 0, 1_000, 1);
        take(&mut tune, 50, 30_000, 2);
        assert_eq!(tune.window, 64_536, "half a round trip; 111 of 256 parts of the buffer would be less");
        // 40,000 where 10,000 had been expected: 80,000, and twice 80,000 * 3.
        take(&mut tune, 100, 40_000, 3);
        assert_eq!(tune.window, 80_000 + 480_000);
        // As much in the next: nothing more, nor with less.
        take(&mut tune, 200, 80_000, 4);
        take(&mut tune, 300, 90_000, 5);
        assert_eq!(tune.window, 560_000);
        // A quarter more than the most so far: 100,000 and twice 25,000, which is less than there is.
        take(&mut tune, 400, 140_000, 6);
        assert_eq!(tune.window, 560_000);
        take(&mut tune, 500, 6_000_000, 7);
        assert_eq!(tune.window, 10_000_000, "no more than there is room");
    }

    #[test]
    fn a_full_segment_shows_how_much_of_a_buffer_is_payload() {
        // 1,460 were agreed on; time stamps take 12 of each.
        let mut tune = Autotune::new(10_000_000, 8, 1_460);
        assert_eq!(tune.offer(0), 64_080);
        let one = |length, order| Came { length, order, ..came(0, 1_448, Some((7, TRIP))) };
        assert!(!tune.on_segment(&one(535, Order::Next)), "too little to be full");
        assert_eq!(tune.trip, None);
        assert!(!tune.on_segment(&one(1_448, Order::Early { gap: 1 })), "nor what is out of order");
        // 1,448 of 2,304 bytes: 160 of 256 parts.
        assert!(tune.on_segment(&Came { echo: Some((8, TRIP)), ..one(1_448, Order::Next) }));
        assert_eq!((tune.window, tune.offer(0)), (131_072 * 160 / 256, 64_080 + 2 * 1_460));
        assert_eq!(tune.trip, Some(TRIP));
        tune.on_segment(&Came { echo: Some((9, TRIP / 2)), ..one(1_447, Order::Next) });
        assert_eq!(tune.trip, Some(TRIP), "no full one any more");
    }

    #[test]
    fn the_offer_grows_by_two_segments_with_each_that_comes_as_far_as_there_is_room() {
        let mut tune = tuned();
        (tune.window, tune.space) = (70_000, 1_000_000);
        let mut offered = |one: &Came| (tune.on_segment(one), tune.offer(one.held));
        assert_eq!(offered(&came(0, 1_000, None)), (true, 66_536));
        assert_eq!(offered(&Came { length: 127, ..came(0, 1_127, None) }), (false, 66_536), "too short");
        assert_eq!(offered(&Came { length: 128, ..came(0, 1_255, None) }), (true, 68_536));
        assert_eq!(offered(&Came { order: Order::Old, ..came(0, 1_255, None) }), (false, 68_536));
        let early = Came { order: Order::Early { gap: 1_000 }, ..came(0, 1_255, None) };
        assert_eq!(offered(&Came { held: 1_000, ..early }), (true, 69_000), "with what is held");
        assert_eq!(offered(&Came { held: 2_000, ..early }), (false, 68_000), "that is less");
        assert_eq!(offered(&came(0, 2_255, None)), (true, 70_000));
        assert_eq!(offered(&came(0, 3_255, None)), (false, 70_000));
    }

    #[test]
    fn what_is_out_of_order_has_room_besides() {
        let mut tune = tuned();
        for n in 0..100 {
            let early = Order::Early { gap: 1 };
            tune.on_segment(&Came { order: early, beyond: n * 1_000, ..came(n, 0, None) });
        }
        assert_eq!(tune.window, 20_000 + 99_000);
    }

    #[test]
    fn no_round_begins_while_a_hole_is_open() {
        let mut tune = tuned();
        take(&mut tune, 0, 1_000, 1);
        for n in 1..=20 {
            let early = Order::Early { gap: 1 };
            tune.on_segment(&Came { order: early, beyond: 1_000 * n, ..came(10 * n, 1_000, None) });
        }
        // 40,000 bytes since 0 ms: all of them are of one round, which is over.
        let fills = Came { order: Order::Fills, ..came(210, 41_000, None) };
        tune.on_segment(&fills);
        assert_eq!((tune.window, tune.space), (82_000 + 2 * 82_000 * 31 / 10, 41_000));
    }

    #[test]
    fn without_time_stamps_a_window_s_worth_is_a_round_trip() {
        let mut tune = tuned();
        for n in 0..=64 {
            tune.on_segment(&came(10 * n, 1_000 * n, None));
        }
        assert_eq!((tune.window, tune.trip), (64_536, None));
        tune.on_segment(&came(650, 65_000, None));
        assert_eq!(tune.trip, Some(Span::from_millis(650)));
        assert_eq!(tune.window, 130_000 + 2 * 130_000 * 55 / 10);
        // The shortest counts.
        tune.on_segment(&came(5_000, 2_000_000, None));
        assert_eq!(tune.trip, Some(Span::from_millis(650)));
    }

    #[test]
    fn a_time_stamp_is_measured_once() {
        let mut tune = tuned();
        take(&mut tune, 0, 1_000, 1);
        tune.on_segment(&came(1, 2_000, Some((1, TRIP * 9))));
        assert_eq!(tune.trip, Some(TRIP));
        tune.on_segment(&came(2, 3_000, Some((2, TRIP * 9))));
        assert_eq!(tune.trip, Some(TRIP * 2), "an eighth of what is longer");
        tune.on_segment(&came(3, 4_000, Some((3, TRIP))));
        assert_eq!(tune.trip, Some(TRIP), "all of what is shorter");
    }
}
