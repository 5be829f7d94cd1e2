//! Packets that leave together where one access to the medium carries many (`gap_trains`): how many is asked for, learned and unlearned.

use crate::common::*;
use core::num::NonZeroU32;
use meshpace_gateway::{Config, Side};
use meshpace_pacing::{FlowLaw, FlowPace, LawMaker, RoundTrip};
use meshpace_units::{Instant, Span};
use std::sync::{Arc, Mutex};

/// A packet each 10 ms, as trains of what one access carries. Keeps the round trips that are reported to it.
#[derive(Clone, Debug)]
struct Even {
    unit: NonZeroU32,
    told: Arc<Mutex<Vec<Span>>>,
}

const SPACING: Span = Span::from_millis(10);

impl FlowLaw for Even {
    fn on_round_trip(&mut self, trip: &RoundTrip<'_>) -> Option<FlowPace> {
        self.told.lock().unwrap().push(trip.rtt);
        Some(FlowPace::trains(SPACING, self.unit))
    }

    fn on_unit(&mut self, _: Instant, packets: NonZeroU32) -> Option<FlowPace> {
        self.unit = packets;
        Some(FlowPace::trains(SPACING, packets))
    }

    fn take_parameters(&mut self, _: &dyn FlowLaw) -> bool {
        false
    }

    fn boxed(&self) -> Box<dyn FlowLaw> {
        Box::new(self.clone())
    }
}

/// A round trip over the mesh.
const TRIP: Span = Span::from_millis(30);

/// What leaves a gateway whose sender always has ten segments more waiting, and whose receiver acknowledges every second segment that
/// leaves, `TRIP` later. Acknowledgements of what left together come `apart` from each other. The number of packets that left at each
/// time, and the round trips that were reported to the law.
fn run(most: u32, apart: Span, until: Instant) -> (Vec<(Instant, u32)>, Vec<Span>) {
    let told = Arc::default();
    let law = LawMaker::own(Even { unit: NonZeroU32::MIN, told: Arc::clone(&told) });
    let mut s = Script::established_by(law, Config { trains: most, ..config() });
    let (mut sent, mut left, mut acked) = (s.sample(0, 30), MSS, MSS);
    let mut departures: Vec<(Instant, u32)> = Vec::new();
    // When the acknowledgement comes, and what it acknowledges.
    let mut coming: Vec<(Instant, u32)> = Vec::new();
    loop {
        while sent < left + 10 * MSS {
            let data = s.down(sent, MSS, 0);
            sent += MSS;
            if let (_, meshpace_gateway::Verdict::Forward(..)) = s.hand_in(Side::Wired, &data) {
                departed(&mut departures, &mut coming, s.now, &mut left, apart);
            }
        }
        let timer = s.gateway.poll_timeout();
        let answer = coming.first().map(|&(at, _)| at);
        let Some(next) = timer.into_iter().chain(answer).min().filter(|&at| at <= until) else { break };
        s.now = s.now.max(next);
        if answer == Some(next) {
            acked = acked.max(coming.remove(0).1);
            let ack = s.ack(acked);
            s.hand_in(Side::Wireless, &ack);
        }
        s.gateway.handle_timeout(s.now);
        for _ in s.departures() {
            departed(&mut departures, &mut coming, s.now, &mut left, apart);
        }
    }
    let told = told.lock().unwrap().clone();
    (departures, told)
}

/// A segment left: every second one is answered.
fn departed(
    departures: &mut Vec<(Instant, u32)>,
    coming: &mut Vec<(Instant, u32)>,
    now: Instant,
    left: &mut u32,
    apart: Span,
) {
    *left += MSS;
    match departures.last_mut() {
        Some((at, packets)) if *at == now => *packets += 1,
        _ => departures.push((now, 1)),
    }
    if (*left / MSS).is_multiple_of(2) {
        let behind = u64::from(departures.last().map_or(0, |&(_, packets)| packets.div_ceil(2) - 1));
        coming.push((now + TRIP + apart * behind, *left));
    }
}

fn sizes(departures: &[(Instant, u32)]) -> Vec<u32> {
    departures.iter().map(|&(_, packets)| packets).collect()
}

#[test]
fn what_comes_back_at_once_leaves_together() {
    let (departures, told) = run(16, Span::from_micros(2), ms(3_000));
    let sizes = sizes(&departures);
    assert_eq!(sizes[..4], [1, 1, 1, 4], "the fifth packet begins a train that asks: {sizes:?}");
    assert_eq!(sizes.iter().max(), Some(&16), "no more than it may be: {sizes:?}");
    let begins = sizes.iter().position(|&packets| packets == 16).unwrap();
    assert!(sizes[begins..].iter().all(|&packets| packets == 16), "{sizes:?}");
    for pair in departures[begins..].windows(2) {
        assert_eq!(pair[1].0 - pair[0].0, SPACING * 16, "evenly");
    }
    assert!(told.len() > 10, "{told:?}");
}

#[test]
fn where_an_exchange_lies_between_packets_go_one_by_one() {
    let (departures, told) = run(16, Span::from_millis(1), ms(3_000));
    let sizes = sizes(&departures);
    let asked: Vec<usize> = (0..sizes.len()).filter(|&n| sizes[n] > 1).collect();
    assert!(sizes.iter().all(|&packets| packets == 1 || packets == 4), "{sizes:?}");
    assert_eq!(asked.len(), 6, "ever more seldom: {asked:?}");
    assert!(
        told.iter().all(|&rtt| rtt <= TRIP),
        "what waits for others of its train tells no round trip: {told:?}"
    );
}

#[test]
fn the_papers_gateway_asks_for_nothing() {
    let (departures, _) = run(1, Span::ZERO, ms(3_000));
    assert!(departures.iter().all(|&(_, packets)| packets == 1), "{departures:?}");
}
