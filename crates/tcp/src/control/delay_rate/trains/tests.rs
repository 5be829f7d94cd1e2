use super::super::super::law_pacer::take_token;
use super::*;
use meshpace_pacing::DelayRateConfig;

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

/// Trains of four, known to be carried at once.
struct Four {
    trains: Trains,
    pacer: Pacer,
}

impl Four {
    fn new() -> Self {
        let mut trains = Trains::new(Unit::new(4), NonZeroU32::MIN);
        for at in [0, 0, 20] {
            trains.unit.on_ack(ms(at), 2.0, 0.02);
        }
        assert_eq!(trains.unit.size(), 4);
        let mut pacer = Pacer::new(Some(Span::from_millis(1)));
        pacer.set_burst(trains.together(4));
        Self { trains, pacer }
    }

    /// Segments of 1,000 bytes leave: the number of each, and when.
    fn leave(&mut self, segments: impl IntoIterator<Item = (u64, u64)>) {
        for (number, at) in segments {
            let start = 1_000 * number;
            let first = start >= self.trains.sent;
            let sent = Sent::Data { start, length: 1_000, first };
            let departure = Departure { now: ms(at), token: ms(at), sent };
            let left = self.pacer.left();
            take_token(&mut self.pacer, &departure);
            self.trains.on_departure(&departure, left, &mut self.pacer);
        }
    }
}

#[test]
fn a_round_trip_is_that_of_a_whole_train_from_when_it_began_to_leave() {
    let mut four = Four::new();
    four.leave((0..4).map(|number| (number, 100)));
    four.leave([(4, 110), (5, 110), (6, 110), (7, 112)]);
    assert_eq!(four.trains.ends(2_000), None, "within a train");
    assert_eq!(four.trains.ends(4_000), Some(Span::ZERO));
    assert_eq!(four.trains.ends(6_000), None);
    assert_eq!(four.trains.ends(8_000), Some(Span::from_millis(2)));
}

#[test]
fn what_is_cut_by_what_is_sent_again_is_no_train() {
    let mut four = Four::new();
    four.leave([(0, 100), (1, 100), (0, 100), (2, 100)]);
    four.leave((3..7).map(|number| (number, 120)));
    assert_eq!(four.trains.ends(3_000), None);
    assert_eq!(four.trains.ends(7_000), Some(Span::ZERO));
}

#[test]
fn one_train_alone_leaves_as_soon_as_the_one_before_is_acknowledged() {
    let mut four = Four::new();
    let mut law = DelayRate::new(DelayRateConfig::CALM);
    law.on_round_trip(ms(40), Span::from_millis(40));
    law.bound(50.0);
    assert_eq!(four.trains.spacing(&law), Span::from_millis(10), "four in an empty round trip");
    four.trains.allowed.follow(ms(80), 1.5, 0.04);
    assert_eq!(four.trains.spacing(&law), Span::from_millis(20), "two are as far apart as the rate says");
    assert_eq!(four.trains.buffer(), 4);
    assert_eq!(Trains::new(Unit::new(4), NonZeroU32::MIN).buffer(), 0, "packets one by one");
}
