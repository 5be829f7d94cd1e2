//! The hook that thins acknowledgements, and what waits at it: segments of some connections in both directions, times as they like.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use meshpace_fuzz::fields::Fields;
use meshpace_hook::{Direction, HOOKS, HookMaker, Hooked, Leaving, Met, Passing};
use meshpace_keys::{Setting, Values};
use meshpace_units::{Bytes, Instant, Seq, Span};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// Packets that may wait.
const MOST: usize = 8;

#[derive(Arbitrary, Debug)]
struct Input {
    /// Segments that an acknowledgement has to bring, its share of what came, milliseconds of wait and tail.
    terms: (u8, u8, u16, u16),
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// A segment of one of four connections, relative to what was acknowledged last.
    Segment {
        connection: u8,
        direction: u8,
        fields: Fields,
        says_more: bool,
    },
    /// No TCP.
    Other {
        direction: u8,
    },
    /// Milliseconds.
    Wait(u16),
    /// What waits of one kind is dropped.
    Purge(u8),
    LetGo,
}

struct World {
    hooked: Hooked<u64>,
    now: Instant,
    next: u64,
    inside: BTreeSet<u64>,
    acked: [Seq; 4],
}

impl World {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Segment { connection, direction, fields, says_more } => {
                let which = usize::from(connection % 4);
                let segment = fields.segment(Seq(7), self.acked[which], (5_000, 80));
                self.acked[which] = self.acked[which].later(segment.ack);
                self.pass(which as u8, *direction, Some(&segment), *says_more);
            }
            Step::Other { direction } => self.pass(9, *direction, None, false),
            Step::Wait(ms) => {
                let end = self.now + Span::from_millis(u64::from(*ms));
                let mut woken = 0;
                while let Some(due) = self.hooked.poll_timeout().filter(|due| *due <= end) {
                    self.now = self.now.max(due);
                    self.hooked.handle_timeout(self.now);
                    self.leave();
                    assert!(
                        self.hooked.poll_timeout().is_none_or(|next| next > due || woken < 1_000),
                        "stuck at {due:?}"
                    );
                    woken += 1;
                }
                self.now = end;
            }
            Step::Purge(part) => {
                self.hooked.purge(|packet| packet % 4 == u64::from(part % 4));
                self.leave();
                assert!(self.inside.iter().all(|packet| packet % 4 != u64::from(part % 4)));
            }
            Step::LetGo => {
                self.hooked.let_go();
                self.leave();
                assert!(self.inside.is_empty(), "{:?} stayed", self.inside);
            }
        }
        assert!(self.hooked.len() <= MOST, "{} wait", self.hooked.len());
        assert_eq!(self.hooked.len(), self.inside.len());
    }

    fn pass(
        &mut self,
        connection: u8,
        direction: u8,
        segment: Option<&meshpace_tcp::Segment>,
        says_more: bool,
    ) {
        let direction = [Direction::Up, Direction::Down, Direction::Along][usize::from(direction % 3)];
        let ends = [[10, 77, 0, connection], [192, 0, 2, 1]].map(IpAddr::from);
        let [source, destination] = if direction == Direction::Down { [ends[1], ends[0]] } else { ends };
        let length = Bytes(40 + segment.map_or(0, |segment| u64::from(segment.payload)));
        let passing = Passing { source, destination, segment, says_more, length };
        let packet = self.next;
        self.next += 1;
        self.inside.insert(packet);
        match self.hooked.handle(self.now, direction, &passing, packet) {
            Met::Held => {}
            Met::Passes(now, _) | Met::Dropped(now) => {
                assert_eq!(now, packet);
                assert!(self.inside.remove(&packet));
            }
        }
        if segment.is_none_or(|segment| segment.payload > 0 || segment.flags.syn || segment.flags.rst) {
            // What waits may go before it, and then it comes out behind that; but it is never dropped.
            while let Some(leaving) = self.hooked.poll() {
                let (Leaving::Passes(left, _) | Leaving::Dropped(left)) = leaving;
                assert!(
                    left != packet || matches!(leaving, Leaving::Passes(..)),
                    "only acknowledgements are dropped"
                );
                assert!(self.inside.remove(&left), "{left} comes out once");
            }
            assert!(!self.inside.contains(&packet), "only acknowledgements wait");
        }
        self.leave();
    }

    fn leave(&mut self) {
        while let Some(leaving) = self.hooked.poll() {
            let (Leaving::Passes(packet, _) | Leaving::Dropped(packet)) = leaving;
            assert!(self.inside.remove(&packet), "{packet} comes out once");
        }
    }
}

fuzz_target!(|input: Input| {
    let part = HOOKS.iter().find(|part| part.about.word == "ack-filter").expect("a hook");
    let (segments, share, wait, tail) = input.terms;
    let values = [
        ("filter_bytes", Setting::Whole(u64::from(segments.max(1)) * 1_460)),
        ("filter_share", Setting::Whole(u64::from(share.max(1)))),
        ("filter_wait", Setting::Real(f64::from(wait.max(1)) / 1e3)),
        ("filter_tail", Setting::Real(f64::from(tail.max(1)) / 1e3)),
    ];
    let Some(hook) = HookMaker::new(part, Values::new(values)).hook() else { return };
    let mut world = World {
        hooked: Hooked::new(hook, MOST),
        now: Instant::ZERO,
        next: 0,
        inside: BTreeSet::new(),
        acked: [Seq(u32::MAX - 9_000); 4],
    };
    input.steps.iter().for_each(|step| world.step(step));
    world.step(&Step::Wait(u16::MAX));
    world.step(&Step::Wait(u16::MAX));
    assert!(world.inside.is_empty(), "{:?} waits for ever", world.inside);
});
