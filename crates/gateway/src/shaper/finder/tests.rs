use super::*;
use crate::{Endpoint, FlowKey};
use core::net::Ipv4Addr;
use meshpace_units::Seq;

const FIND: Find = Find {
    least: Rate::bits_per_sec(200_000),
    most: Rate::bits_per_sec(100_000_000),
    stands: Span::ZERO,
    probes: 0,
};
const SEGMENT: u32 = 1_500;

fn ms(n: u64) -> Instant {
    Instant::ZERO + Span::from_millis(n)
}

fn host(last: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, last).into()
}

/// A finder that gets reports of segments: number `n` of a port's segments.
struct Script {
    finder: Finder,
    hops: Option<u32>,
}

impl Script {
    fn new() -> Self {
        Self { finder: Finder::new(FIND, Rate::bits_per_sec(1_200_000), 16), hops: None }
    }

    fn key(to: u8, port: u16) -> FlowKey {
        let end = |address, port| Endpoint { address, port };
        FlowKey { wireless: end(host(to), port), wired: end(host(250), 443) }
    }

    fn leaves(&mut self, at: u64, to: u8, port: u16, n: u32, price: u64) {
        let size = Bytes(SEGMENT.into());
        self.finder.carries(ms(at), size, size.0 * price);
        self.finder.goes(ms(at), host(to), size, self.hops);
        let sign = Sign::Segment(Self::key(to, port), Seq(SEGMENT * n), Seq(SEGMENT * (n + 1)));
        self.finder.begins(ms(at), host(to), price as f64, sign);
    }

    fn answers(&mut self, at: u64, to: u8, port: u16, n: u32, price: u64) {
        let echo = Echo::Ack(Self::key(to, port), Seq(SEGMENT * (n + 1)));
        self.finder.comes(ms(at), echo, |_| Some(price as f64));
    }

    /// A segment every 10 ms, answered after 20, of so many connections in turn.
    fn runs(&mut self, to: u8, ports: u16, from: u64, count: u32) {
        for n in 0..count {
            let (at, port) = (from + 10 * u64::from(n), 1 + (n % u32::from(ports)) as u16);
            self.leaves(at, to, port, n / u32::from(ports), 1);
            self.answers(
                at + 5,
                to,
                1 + (n.saturating_sub(1) % u32::from(ports)) as u16,
                n.saturating_sub(1) / u32::from(ports),
                1,
            );
        }
    }
}

/// A packet that left for a host is sent again. It counts as waiting if the host answers nothing else either, and as
/// lost if the host answers other packets.
#[test]
fn what_is_lost_while_others_are_answered_waits_nowhere() {
    for answers in [true, false] {
        let mut told = Script::new();
        told.runs(1, 1, 0, 20);
        told.leaves(300, 1, 2, 0, 1);
        if answers {
            told.leaves(310, 1, 3, 0, 1);
            told.answers(330, 1, 3, 0, 1);
        }
        (1..=3).for_each(|n| told.leaves(300 + 200 * n, 1, 2, 0, 1));
        let queue = told.finder.queue(ms(900), host(1)).expect("it is heard");
        assert_eq!(queue >= Span::from_millis(150), !answers, "{queue:?}");
    }
}

/// One connection, over one channel and over more; then two.
#[test]
fn as_many_packets_wait_as_suit_a_connection_that_is_alone() {
    for (hops, ports, waiting) in
        [(Some(3), 1, 14.0), (Some(4), 1, 2.0), (Some(3), 2, WAITING), (None, 1, WAITING)]
    {
        let mut told = Script::new();
        told.finder.usual = 200.0;
        told.runs(1, ports, 0, 20);
        told.hops = hops;
        told.runs(1, ports, 200, 400);
        assert_eq!(told.finder.waits(ms(4_200)), waiting, "{hops:?} {ports}");
        // Datagrams that wait for nothing, a call's: then acknowledgements.
        (0..100).for_each(|n| told.finder.goes_untold(ms(4_200 + 20 * n), Bytes(52), false));
        assert_eq!(told.finder.waits(ms(6_200)), waiting);
        (0..100).for_each(|n| told.finder.goes_untold(ms(6_200 + 20 * n), Bytes(200), false));
        // What comes in eight milliseconds.
        assert_eq!(told.finder.waits(ms(8_200)), 0.008 * told.finder.law.rate());
    }
}

/// Where what comes in `stands` is more than four packets: all of it where a connection is alone, and over one hop; three twentieths on each
/// hop beside others, three fifths at least. And beside others unused rate goes as soon as packets wait half as long as they may.
#[test]
fn less_waits_in_the_mesh_beside_others() {
    for (hops, ports, part) in [(1, 1, 1.0), (4, 1, 1.0), (1, 2, 1.0), (2, 2, 0.6), (4, 2, 0.6), (8, 2, 1.2)]
    {
        let mut told = Script::new();
        told.hops = Some(hops);
        told.runs(1, ports, 0, 400);
        told.finder.set_find(Find { stands: Span::from_secs(1), ..FIND });
        told.finder.usual = 200.0;
        assert_eq!(told.finder.waits(ms(4_000)), 200.0 * part, "{hops} {ports}");
        let above = [0.4, 0.6, 1.6].map(|times| told.finder.above(ms(4_000), times));
        let (beside, always) = ([None, Some(1.05), Some(1.05)], [None, None, Some(1.1)]);
        assert_eq!(above, if ports > 1 { beside } else { always });
        // Four packets are more.
        told.finder.set_find(Find { stands: Span::from_millis(10), ..FIND });
        assert_eq!([0.4, 0.6, 1.6].map(|times| told.finder.above(ms(4_000), times)), always);
    }
}

/// Acknowledgements of single segments that a receiver's timer sends count as no wait beside a call, where hardly any other come.
#[test]
fn beside_a_call_a_receivers_timer_is_no_wait() {
    for talks in [true, false] {
        let mut told = Script::new();
        told.runs(1, 1, 0, 20);
        if talks {
            (0..20).for_each(|_| told.finder.goes_untold(ms(210), Bytes(200), false));
        }
        for n in 20..25 {
            told.leaves(20 * u64::from(n), 1, 1, n, 1);
            told.answers(20 * u64::from(n) + 60, 1, 1, n, 1);
        }
        let queue = told.finder.queue(ms(600), host(1)).expect("it is heard");
        assert_eq!(queue < Span::from_millis(40), talks, "{queue:?}");
    }
}

/// The rate gives way to a call, and is what it was when nobody has talked for two seconds.
#[test]
fn after_a_call_the_rate_is_what_it_was() {
    let mut told = Script::new();
    told.runs(1, 2, 0, 400);
    let before = told.finder.law.rate();
    (0..20).for_each(|_| told.finder.goes_untold(ms(4_000), Bytes(200), false));
    told.runs(2, 2, 4_010, 10);
    told.finder.law.bound(before / 4.0);
    told.runs(3, 2, 4_110, 10);
    assert!(told.finder.law.rate() < before / 2.0, "it gives way");
    told.runs(4, 2, 6_200, 10);
    assert!(told.finder.law.rate() >= before, "{} of {before}", told.finder.law.rate());
}

/// Beside a call a host has no more in the mesh than an empty way and one packet more; without one its rate alone holds it.
#[test]
fn beside_a_call_a_host_is_held_until_it_is_answered() {
    let mut told = Script::new();
    told.runs(1, 2, 0, 100);
    (10..20).for_each(|n| told.leaves(990 + n, 1, 1, 40 + n as u32, 1));
    assert_eq!(told.finder.holds(ms(1_010), host(1), 1.0), None, "nobody talks");
    (0..20).for_each(|_| told.finder.goes_untold(ms(1_010), Bytes(200), false));
    let held = told.finder.holds(ms(1_010), host(1), 1.0).expect("it is held");
    assert!(held > ms(1_010) && held < ms(2_100), "{held:?}");
    assert_eq!(told.finder.holds(ms(1_010), host(2), 1.0), None, "nothing is known of it");
    told.answers(1_015, 1, 1, 59, 1);
    assert_eq!(told.finder.holds(ms(1_015), host(1), 1.0), None);
}

/// A near host and one three hops away, whose packets are lost in the air of the near one: it has a claim until it has its part.
#[test]
fn a_far_host_that_loses_packets_has_a_claim_on_its_part_of_the_air() {
    for (price, lost, claimed) in [(3, true, 0.04), (3, false, 0.0), (1, true, 0.0)] {
        let mut told = Script::new();
        for n in 0..100u32 {
            let at = 10 * u64::from(n);
            told.leaves(at, 1, 1, n, 1);
            told.answers(at + 5, 1, 1, n, 1);
            if n % 20 == 0 {
                told.leaves(at, 2, 1, n / 20, price);
                told.answers(at + 9, 2, 1, n / 20, price);
            }
        }
        if lost {
            told.leaves(1_000, 2, 1, 5, price);
            told.leaves(1_001, 2, 1, 5, price);
        }
        assert_eq!(told.finder.claimed(ms(1_002), 0.02), claimed, "{price} {lost}");
    }
}

/// One packet in thirty to each host leaves again, while others are answered.
#[test]
fn many_hosts_that_lose_packets_count_as_waiting() {
    for hosts in [8, 9] {
        let mut told = Script::new();
        for to in 1..=hosts {
            told.runs(to, 1, 0, 30);
            assert_eq!(told.finder.claimed(ms(300), 1.0), 0.0, "nothing is lost");
        }
        for to in 1..=hosts {
            told.leaves(300, to, 2, 0, 1);
            told.leaves(500, to, 2, 0, 1);
        }
        assert_eq!(told.finder.claimed(ms(500), 1.0) > 1.0, hosts == 9, "{hosts}");
    }
}
