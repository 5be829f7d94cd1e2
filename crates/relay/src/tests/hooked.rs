//! A hook before drop-tail.

use super::{Bench, at, radio};
use crate::hooked;
use meshpace_hook::{Direction, Orders, PacketHook, Passing, Ticket, Verdict};
use meshpace_units::{Instant, Span};

/// Of two that come within 10 ms, the second takes the first's place; a deadline of its own lets all go.
#[derive(Debug, Default)]
struct Latest {
    held: Option<Ticket>,
}

impl PacketHook for Latest {
    fn on_packet(
        &mut self,
        _: Direction,
        ticket: Ticket,
        _: &Passing<'_>,
        now: Instant,
        orders: &mut Orders,
    ) -> Verdict {
        self.held.replace(ticket).into_iter().for_each(|held| orders.drop(held));
        Verdict::HoldUntil(now + Span::from_millis(10))
    }

    fn on_gone(&mut self, gone: Ticket) {
        self.held = self.held.filter(|&held| held != gone);
    }
}

fn bench() -> Bench {
    let queue = radio(50);
    Bench { relay: hooked(Box::new(Latest::default()), &queue), ..Bench::new("drop-tail", &queue) }
}

#[test]
fn what_it_holds_joins_the_queue_when_it_goes_on_and_what_it_drops_never() {
    let mut bench = bench();
    let (first, second) = (bench.data(), bench.data());
    assert_eq!((bench.get(), bench.relay.len(), &bench.dropped[..]), (None, 1, &[first][..]));
    assert_eq!(bench.relay.poll_timeout(), Some(at(10)));
    bench.now = at(10);
    bench.call(|relay, here| relay.handle_timeout(here));
    assert_eq!((bench.get(), bench.relay.len(), bench.relay.poll_timeout()), (Some(second), 0, None));
}

#[test]
fn routing_passes_it_and_takes_back_what_waits_there() {
    let mut bench = bench();
    let (waits, routing) = (bench.data(), bench.routing());
    assert_eq!((bench.get(), bench.relay.len()), (Some(routing), 1));
    bench.purge(|_| true);
    assert_eq!((&bench.dropped[..], bench.relay.is_empty()), (&[waits][..], true));
}
