//! Profile `robust`: which flows are compared, what resets, how low a cap goes.

use super::super::*;
use alloc::vec;
use core::net::Ipv4Addr;

const SEGMENT: Bytes = Bytes(1460);
const OWN: Span = Span::from_millis(10);
const BUSY: Pending = Pending { demand: true, outstanding: true };
const ON_ITS_WAY: Pending = Pending { demand: false, outstanding: true };

fn host(number: u32) -> IpAddr {
    Ipv4Addr::from(0x0a00_0000 + number).into()
}

/// Flows towards mesh hosts, in profile `robust`.
struct World {
    control: GoodputControl<u32>,
    now: Instant,
}

impl World {
    /// Flow i goes to host `hosts[i]` and always has something waiting; the first run, which notes the starts, is over.
    fn backlogged(config: GoodputControlConfig, hosts: &[u32]) -> Self {
        let mut world = Self { control: GoodputControl::new(config), now: Instant::ZERO };
        for (id, &at) in (0..).zip(hosts) {
            world.start(id, at, BUSY);
        }
        world.interval(&(0..).zip(hosts).map(|(id, _)| (id, 100)).collect::<Vec<_>>());
        assert!(hosts.is_empty() || world.capped().is_empty());
        world
    }

    fn start(&mut self, id: u32, at: u32, pending: Pending) {
        self.control.on_flow_started(self.now, id, host(at));
        self.control.on_pending(self.now, id, Direction::Down, pending);
    }

    /// An interval in which these flows send, and have so many kilobytes acknowledged.
    fn interval(&mut self, kilobytes: &[(u32, u64)]) {
        self.carry(kilobytes);
        self.run();
    }

    /// These flows send, and have so many kilobytes acknowledged.
    fn carry(&mut self, kilobytes: &[(u32, u64)]) {
        for &(id, kb) in kilobytes {
            self.control.on_payload(id, Direction::Down, SEGMENT);
            self.control.on_acked(id, Bytes(kb * 1000));
        }
    }

    /// As [`World::interval`]; then the last of these flows is sent something again, of which nothing is acknowledged.
    fn interval_that_ends_in_loss(&mut self, kilobytes: &[(u32, u64)]) {
        self.carry(kilobytes);
        self.control.on_retransmission(kilobytes.last().expect("flows").0);
        self.run();
    }

    fn run(&mut self) {
        self.now = self.control.poll_timeout().expect("flows are known");
        assert!(self.control.handle_timeout(self.now, |_| Some(OWN)));
    }

    /// The flows under a cap.
    fn capped(&self) -> Vec<u32> {
        let all = self.control.flows.keys().copied();
        all.filter(|&id| self.control.cap(id).is_some()).collect()
    }

    fn mean(&self) -> Option<f64> {
        self.control.mean
    }
}

/// kbit/s of so many kilobytes in an interval.
fn rate(kb: f64) -> Option<f64> {
    Some(kb * 8000.0 / 5.0)
}

#[test]
fn flows_that_get_what_they_want_are_not_compared() {
    let mut world = World::backlogged(GoodputControlConfig::ROBUST, &[1]);
    for id in 1..=100 {
        world.start(id, 2, Pending::default());
    }
    for _ in 0..10 {
        world.interval(&core::iter::once((0, 1000)).chain((1..=100).map(|id| (id, 1))).collect::<Vec<_>>());
        assert_eq!((world.mean(), world.capped()), (rate(1000.0), vec![]), "a hundred that trickle");
    }
    // By the paper's procedure the download would have been throttled at once.
    let mut paper = World::backlogged(GoodputControlConfig::PAPER, &[1, 2]);
    paper.interval(&[(0, 1000), (1, 1)]);
    assert_eq!(paper.capped(), [0]);
}

#[test]
fn only_flows_that_weigh_reset_when_they_start_or_end() {
    let mut world = World::backlogged(GoodputControlConfig::ROBUST, &[1, 2]);
    world.interval(&[(0, 200), (1, 100)]);
    assert_eq!(world.capped(), [0]);
    // Short transfers come and go.
    for id in 10..14 {
        world.start(id, 3, Pending::default());
        world.control.on_acked(id, Bytes(1000));
        world.control.on_flow_ended(id);
        world.interval(&[(0, 150), (1, 150)]);
        assert_eq!(world.capped(), [0], "transfer {id}");
    }
    // One that carries 5 % of all resets when it first does, not before and not again.
    world.start(20, 3, Pending::default());
    world.interval(&[(0, 150), (1, 140), (20, 10)]);
    assert_eq!(world.capped(), [0]);
    world.interval(&[(0, 150), (1, 140), (20, 20)]);
    assert_eq!(world.capped(), []);
    world.interval(&[(0, 200), (1, 100), (20, 20)]);
    assert_eq!(world.capped(), [0]);
    world.interval(&[(0, 150), (1, 140), (20, 20)]);
    assert_eq!(world.capped(), [0], "not again");
    world.control.on_flow_ended(20);
    world.interval(&[(0, 150), (1, 140)]);
    assert_eq!(world.capped(), [], "its end does");
}

#[test]
fn the_rise_that_a_cap_was_for_does_not_reset() {
    let mut world = World::backlogged(GoodputControlConfig::ROBUST, &[1]);
    world.start(1, 2, BUSY);
    world.interval(&[(0, 300), (1, 1)]);
    assert_eq!(world.capped(), [0]);
    world.interval(&[(0, 150), (1, 150)]);
    assert_eq!(world.capped(), [0]);
}

#[test]
fn the_silence_of_a_flow_that_backs_off_counts_and_is_not_held_against_the_cap() {
    let mut world = World::backlogged(GoodputControlConfig::ROBUST, &[1, 2]);
    world.control.on_pending(world.now, 1, Direction::Down, ON_ITS_WAY);
    world.interval_that_ends_in_loss(&[(0, 300), (1, 20)]);
    assert_eq!((world.mean(), world.capped()), (rate(160.0), vec![0]));
    for _ in 0..3 {
        world.interval(&[(0, 160)]);
        assert_eq!(
            (world.mean(), world.capped()),
            (rate(80.0), vec![0]),
            "it has nothing, and waits for its timer"
        );
    }
    world.control.on_retransmission(1);
    world.interval(&[(0, 150), (1, 120)]);
    assert_eq!(world.capped(), [0], "heard again, and better off");
    // One that is never heard again does not hold the others down for long.
    let mut world = World::backlogged(GoodputControlConfig::ROBUST, &[1, 2]);
    world.control.on_pending(world.now, 1, Direction::Down, ON_ITS_WAY);
    world.interval_that_ends_in_loss(&[(0, 300), (1, 20)]);
    for _ in 0..3 {
        world.interval(&[(0, 160)]);
        assert_eq!(world.capped(), [0]);
    }
    world.interval(&[(0, 160)]);
    assert_eq!((world.mean(), world.capped()), (rate(160.0), vec![]), "gc_idle_runs intervals of silence");
    world.interval_that_ends_in_loss(&[(0, 300), (1, 20)]);
    assert_eq!(world.capped(), [], "it was no help, so that the other one is left alone for a while");
}

/// The owner of a host can let its connections be sent something that they never acknowledge: that shows a host which does not
/// answer, not one that starves.
#[test]
fn the_silence_of_flows_that_show_no_loss_is_held_against_the_cap() {
    let waits = |pending, answered| {
        let mut world = World::backlogged(GoodputControlConfig::ROBUST, &[1]);
        world.start(1, 2, pending);
        world.interval(&[(0, 300), (1, answered)]);
        assert_eq!(world.capped(), [0], "it might starve");
        world
    };
    for pending in [BUSY, ON_ITS_WAY] {
        for answered in [0, 1] {
            let mut world = waits(BUSY, answered);
            world.control.on_pending(world.now, 1, Direction::Down, pending);
            for interval in 1..8 {
                world.interval(&[(0, 150)]);
                assert_eq!(world.capped(), [], "{pending:?}, {answered} kB, interval {interval}");
            }
        }
    }
    // One that was sent something again, but never acknowledged anything.
    let mut world = waits(BUSY, 0);
    world.control.on_retransmission(1);
    world.interval(&[(0, 150)]);
    assert_eq!(world.capped(), []);
}

#[test]
fn a_cap_that_helps_nobody_who_is_heard_goes() {
    let mut world = World::backlogged(GoodputControlConfig::ROBUST, &[1, 2, 3]);
    world.control.on_pending(world.now, 2, Direction::Down, ON_ITS_WAY);
    world.control.on_retransmission(2);
    world.interval(&[(0, 300), (1, 100), (2, 10)]);
    assert_eq!(world.capped(), [0]);
    world.interval(&[(0, 160), (1, 100)]);
    assert!(!world.capped().contains(&0), "flow 1 is heard and no better off, whatever flow 2 does");
}

#[test]
fn a_host_with_many_flows_counts_once() {
    let hosts: Vec<u32> = [1].into_iter().chain(core::iter::repeat_n(2, 9)).collect();
    let mut world = World::backlogged(GoodputControlConfig::ROBUST, &hosts);
    let sent: Vec<(u32, u64)> = core::iter::once((0, 300)).chain((1..10).map(|id| (id, 100))).collect();
    world.interval(&sent);
    assert_eq!(world.mean(), rate(200.0), "not 120");
    assert_eq!(world.capped(), [0]);
}

#[test]
fn no_cap_goes_below_a_quarter_of_the_present_mean_or_a_packet_a_second() {
    let mut world = World::backlogged(GoodputControlConfig::ROBUST, &[1, 2]);
    world.interval(&[(0, 11), (1, 9)]);
    world.interval(&[(0, 20), (1, 2)]);
    // 11 kB in 5 s are 1.5 packets a second; the mean of the next interval is a hundred times that.
    assert_eq!(world.capped(), [0]);
    world.interval(&[(0, 1000), (1, 1200)]);
    let cap = world.control.flows[&0].cap.expect("judged as a help").packets_per_sec;
    assert_eq!(cap, 1_760_000.0 / 4.0 / SEGMENT.bits() as f64);
    let mut world = World::backlogged(GoodputControlConfig::ROBUST, &[1, 2]);
    world.interval(&[(0, 3), (1, 1)]);
    assert_eq!(world.control.cap(0), Some(Span::from_secs(1)), "not one in 3.65 s");
}

#[test]
fn a_flow_is_backlogged_by_what_waits_what_is_lost_or_how_it_queues() {
    let second = Span::from_secs(1);
    let found = |about: &dyn Fn(&mut World)| {
        let mut world = World::backlogged(GoodputControlConfig::ROBUST, &[1]);
        world.start(1, 2, Pending::default());
        world.control.on_round_trip(1, Span::from_millis(100));
        world.interval(&[(0, 100), (1, 100)]);
        assert_eq!(world.control.active, 1);
        about(&mut world);
        world.interval(&[(0, 100), (1, 100)]);
        world.control.active == 2
    };
    let waits = |world: &mut World, whole: u64| {
        let from = world.now + second;
        world.control.on_pending(from, 1, Direction::Down, BUSY);
        world.control.on_pending(from + second * whole, 1, Direction::Down, ON_ITS_WAY);
    };
    assert!(!found(&|_| {}));
    assert!(!found(&|world| waits(world, 2)));
    assert!(found(&|world| waits(world, 3)), "3 of 5 s");
    assert!(!found(&|world| world.control.on_limited(1, second * 2)));
    assert!(
        found(&|world| world.control.on_limited(1, second * 3)),
        "its window, not the queue, holds it back"
    );
    assert!(found(&|world| world.control.on_retransmission(1)));
    assert!(!found(&|world| world.control.on_round_trip(1, Span::from_millis(990))));
    assert!(found(&|world| world.control.on_round_trip(1, Span::from_millis(1_000))));
}

#[test]
fn a_cap_goes_with_the_last_flow_that_it_could_help() {
    let mut world = World::backlogged(GoodputControlConfig::ROBUST, &[1, 2]);
    world.interval(&[(0, 200), (1, 100)]);
    assert_eq!(world.capped(), [0]);
    world.control.on_pending(world.now, 1, Direction::Down, Pending::default());
    world.interval(&[(0, 150), (1, 1)]);
    assert_eq!(world.capped(), [], "flow 1 has what it wants");
}
