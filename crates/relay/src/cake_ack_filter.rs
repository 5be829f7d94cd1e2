//! CAKE's ack-filter: an acknowledgement that waits is dropped once newer ones of its connection wait behind it.
//!
//! It never makes one wait, so that it thins where a queue stands, and nowhere else: [`meshpace_hook`]'s `ack-filter` makes them wait.
//! CAKE has a queue a flow and looks through that; here what of the connection waits lies among others, in one drop-tail queue.

use crate::RelayPart;
use crate::drop_tail::DropTail;
use crate::here::Here;
use crate::packet::{Body, Handle, Packet};
use crate::relay::{Relay, waits_in_queue};
use meshpace_keys::Key;
use meshpace_tcp::{Flags, Options, Segment};
use meshpace_units::Seq;

/// What it says of itself.
pub static PART: RelayPart = RelayPart::new(
    "cake-ack-filter",
    "Drop-tail in which a new acknowledgement takes the place of an older one of its connection that waits.",
    "schemes.md 7.5; CAKE's ack-filter (Hoiland-Jorgensen et al. 2018; net/sched/sch_cake.c of Linux 6.12)",
    |values, queue| {
        Box::new(CakeAckFilter {
            queue: DropTail::new(queue),
            aggressive: values.flag("cake_aggressive"),
            dropped: 0,
        })
    },
)
.keys(&[&KEYS]);

static KEYS: [Key; 1] = [Key::flag(
    "cake_aggressive",
    false,
    "An acknowledgement goes where a single newer one waits behind it; else two have to (schemes.md 7.5).",
)];

#[derive(Debug)]
struct CakeAckFilter {
    queue: DropTail,
    aggressive: bool,
    /// Acknowledgements that newer ones took the place of.
    dropped: u64,
}

impl CakeAckFilter {
    /// The place in the queue of what the last packet makes superfluous.
    fn superfluous(&self, here: &Here<'_>) -> Option<usize> {
        let waiting: Vec<Handle> = self.queue.waiting().collect();
        let (&last, before) = waiting.split_last()?;
        let newest = here.packets.get(last);
        let by = tcp(newest).filter(|segment| segment.flags.ack && !segment.flags.syn)?;
        // The first that may go, and whether another packet of the connection is between it and the newest.
        let mut first: Option<(usize, &Segment)> = None;
        let mut another = false;
        for (place, handle) in before.iter().enumerate() {
            let packet = here.packets.get(*handle);
            let Some(segment) = tcp(packet).filter(|segment| same_way(packet, segment, newest, by)) else {
                continue;
            };
            // Where the echo of marks changes, what was before it has to arrive.
            first = first.filter(|(_, found)| echo(found) == echo(segment));
            match first {
                Some((place, _)) if is_older(segment, by) => return Some(place),
                Some(_) => another = true,
                None if is_older(segment, by) => (first, another) = (Some((place, segment)), false),
                None => {}
            }
        }
        let (place, found) = first?;
        (self.aggressive && !another && echo(found) == echo(by)).then_some(place)
    }
}

fn tcp(packet: &Packet) -> Option<&Segment> {
    match &packet.body {
        Body::Tcp(segment) => Some(segment),
        _ => None,
    }
}

/// True if both go one way of one connection.
fn same_way(packet: &Packet, segment: &Segment, other: &Packet, its: &Segment) -> bool {
    (packet.source, packet.destination) == (other.source, other.destination)
        && (segment.source_port, segment.destination_port) == (its.source_port, its.destination_port)
}

/// What tells of marks.
const fn echo(segment: &Segment) -> (bool, bool) {
    (segment.flags.ece, segment.flags.cwr)
}

/// True if nothing is lost with this one where `by` arrives.
fn is_older(segment: &Segment, by: &Segment) -> bool {
    let Flags { psh, .. } = segment.flags;
    if !segment.is_pure_ack()
        || psh
        || !options_may_go(&segment.options, &by.options)
        || segment.ack.after(by.ack)
    {
        return false;
    }
    match blocks_beside(segment, by) {
        Blocks::Others => false,
        Blocks::Same => segment.ack != by.ack,
        Blocks::More => true,
    }
}

/// True if there are none but time stamps, no newer ones, and blocks of what arrived.
fn options_may_go(options: &Options, newest: &Options) -> bool {
    let Options { mss, window_scale, sack_permitted, timestamps, rtt_wired, sack: _ } = options;
    let newer = |stamp: u32, than: u32| Seq(stamp).after(Seq(than));
    let (value, echo) = newest.timestamps.map_or((0, 0), |stamps| (stamps.value, stamps.echo));
    let in_order = timestamps.is_none_or(|stamps| !newer(stamps.value, value) && !newer(stamps.echo, echo));
    mss.is_none() && window_scale.is_none() && !sack_permitted && rtt_wired.is_none() && in_order
}

/// What an acknowledgement's blocks are beside another one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocks {
    /// The other one lacks something.
    Others,
    Same,
    /// The other one has all of them, and more.
    More,
}

fn blocks_beside(segment: &Segment, other: &Segment) -> Blocks {
    let blocks = |segment: &Segment| segment.options.sack.into_iter().flatten();
    let bytes =
        |segment: &Segment| blocks(segment).map(|(left, right)| u64::from(right.since(left))).sum::<u64>();
    let covered = |(left, right): (Seq, Seq)| {
        // No other acknowledgement tells what came twice (RFC 2883).
        let again = left.before(segment.ack);
        !again && blocks(other).any(|(l, r)| l.at_or_before(left) && r.at_or_after(right))
    };
    match blocks(segment).all(covered) {
        false => Blocks::Others,
        true if bytes(other) > bytes(segment) => Blocks::More,
        true => Blocks::Same,
    }
}

impl Relay for CakeAckFilter {
    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        self.queue.enqueue(here, packet);
        if self.queue.waiting().last() != Some(packet) {
            return;
        }
        if let Some(dropped) = self.superfluous(here).and_then(|place| self.queue.remove(place)) {
            self.dropped += 1;
            here.drop(dropped);
        }
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        self.queue.dequeue(here)
    }

    waits_in_queue!();

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("acks_filtered", self.dropped)]
    }
}
