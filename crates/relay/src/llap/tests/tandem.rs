//! Nodes in a row without radio: the vectors of schemes.md 21, number 8.

use super::{Node, packet, us};
use crate::packet::PacketId;
use crate::relay::Relay;
use crate::report::Report;
use meshpace_keys::RawValue;
use meshpace_units::{Instant, NodeId, Span};
use std::collections::BTreeMap;

/// n0 -> n1 -> n2 -> n3 -> n4: each serves a packet in a fixed time; the node before overhears the one that sends it on.
struct Row {
    nodes: Vec<Node>,
    service: [Span; 4],
    /// What happens, by time and order: a packet's service is over at a node, or (`None`) a packet is made at n0.
    events: BTreeMap<(Instant, u64), Option<usize>>,
    scheduled: u64,
    made: u64,
    interval: Span,
}

impl Row {
    fn new(interval: Span, said: &[(&'static str, RawValue)]) -> Self {
        let node = |index: u32| {
            let mut node = Node::new(4 - index, said);
            node.told.next_hop = Some(NodeId(index + 1));
            node
        };
        let nodes = (0..4).map(node).collect();
        let (events, service) = (BTreeMap::new(), [us(1500); 4]);
        let mut row = Self { nodes, service, events, scheduled: 0, made: 0, interval };
        row.schedule(Instant::ZERO, None);
        row
    }

    fn schedule(&mut self, at: Instant, event: Option<usize>) {
        self.scheduled += 1;
        self.events.insert((at, self.scheduled), event);
    }

    fn run_until(&mut self, end: Instant) {
        loop {
            let event = self.events.first_key_value().map(|(key, _)| *key);
            let deadlines = self.nodes.iter().enumerate();
            let timer = deadlines.filter_map(|(index, node)| Some((node.relay.poll_timeout()?, index))).min();
            let next = event.map_or(end, |(at, _)| at).min(timer.map_or(end, |(at, _)| at));
            if next >= end {
                return;
            }
            match (timer, event) {
                (Some((at, index)), _) if at == next => {
                    self.nodes[index].call(at, |relay, here| relay.handle_timeout(here));
                    self.start(index, at);
                }
                (_, Some(key)) => match self.events.remove(&key) {
                    Some(Some(node)) => self.served(node, key.0),
                    _ => self.make(key.0),
                },
                _ => return,
            }
        }
    }

    fn make(&mut self, now: Instant) {
        self.made += 1;
        self.nodes[0].put(now, packet(self.made, NodeId(1), None));
        self.start(0, now);
        self.schedule(now + self.interval, None);
    }

    /// Serves the next packet, if the node is free.
    fn start(&mut self, index: usize, now: Instant) {
        if self.nodes[index].free && self.nodes[index].call(now, |relay, here| relay.dequeue(here)).is_some()
        {
            self.nodes[index].free = false;
            self.schedule(now + self.service[index], Some(index));
        }
    }

    fn served(&mut self, index: usize, now: Instant) {
        let node = &mut self.nodes[index];
        let mut exchange = node.exchange(0);
        exchange.data_ended = Some(now);
        node.call(now, |relay, here| relay.reported(here, &Report::Sent(exchange)));
        let PacketId(id) = node.packets.take(exchange.packet).id;
        node.free = true;
        if index > 0 {
            self.nodes[index - 1].overhear_at(now, index as u32, id);
        }
        if index + 1 < self.nodes.len() {
            let received = packet(id, NodeId(index as u32 + 2), Some(now));
            self.nodes[index + 1].put(now, received);
            self.start(index + 1, now);
        }
        self.start(index, now);
    }

    /// HT, NHT and PD of a node in ms.
    fn ms(&self, index: usize) -> [f64; 3] {
        self.nodes[index].estimates().map(|us| us as f64 / 1000.0)
    }

    /// The time between two packets at the ingress, in ms.
    fn spacing(&self) -> f64 {
        4.0 * self.ms(0)[1]
    }

    /// True if n1 takes as long as n2, and n0 knows it.
    fn has_learnt(&self, bottleneck: f64) -> bool {
        let [here, next, _] = self.ms(1);
        near(here, next) && near(next, bottleneck) && near(self.spacing(), 4.0 * bottleneck)
    }

    fn drops(&self) -> [usize; 4] {
        [0, 1, 2, 3].map(|index| self.nodes[index].dropped.len())
    }
}

/// Within 5 %.
fn near(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 0.05
}

fn seconds(s: u64) -> Instant {
    Instant::ZERO + Span::from_secs(s)
}

#[test]
fn what_a_node_overhears_is_what_the_next_one_takes() {
    let mut row = Row::new(us(60_000), &[]);
    for number in 1..=50 {
        row.run_until(Instant::ZERO + us(60_000) * number);
        for index in 0..3 {
            let next = row.nodes[index].relay.egresses[0].estimates.next;
            assert_eq!(next, row.nodes[index + 1].relay.egresses[0].estimates.here, "packet {number}");
        }
    }
    assert_eq!((row.ms(1), row.ms(2), row.spacing()), ([1.5, 1.5, 0.0], [1.5, 1.5, 0.0], 6.0));
}

#[test]
fn the_ingress_learns_the_bottlenecks_time_through_the_core_and_forgets_it() {
    // 29 and 44, as schemes.md has it, and one more: the first two samples are the overhear timer's, 6 and 7.8 ms.
    for (core, packets) in [("integrator", Some(30)), ("hold", Some(45)), ("spacing-clamped", None)] {
        let mut row = Row::new(us(60_000), &[("llap_core", RawValue::from(core))]);
        row.run_until(seconds(3));
        assert!(row.has_learnt(1.5), "{core}");
        row.service[2] = us(10_000);
        let after = |row: &mut Row, packets: u64| row.run_until(seconds(3) + us(60_000) * packets);
        let mut learnt = None;
        for number in 1..=50 {
            after(&mut row, number);
            learnt = if row.has_learnt(10.0) { learnt.or(Some(number)) } else { None };
        }
        assert_eq!(learnt, packets, "{core}: packets until it has learnt for good");
        if packets.is_none() {
            assert!((row.spacing() - 6.0).abs() < 0.3, "{core}: {}", row.spacing());
            continue;
        }
        after(&mut row, 150);
        assert!(near(row.ms(1)[2], 8.5), "{core}: PD {}", row.ms(1)[2]);
        assert_eq!((row.ms(2)[2], row.drops()), (0.0, [0; 4]), "{core}");
        row.service[2] = us(1500);
        after(&mut row, 400);
        assert!(row.has_learnt(1.5) && row.ms(1)[2] < 0.1, "{core}: back");
    }
}

/// A packet every 8 ms through a node that takes 10: what does not fit is dropped at the ingress, nowhere else.
#[test]
fn nothing_is_dropped_inside() {
    for core in ["integrator", "hold"] {
        let mut row = Row::new(us(8000), &[("llap_core", RawValue::from(core))]);
        row.run_until(seconds(3));
        row.service[2] = us(10_000);
        row.run_until(seconds(33));
        let [n0, n1, n2, n3] = row.drops();
        assert_eq!((row.has_learnt(10.0), n0 > 0, n1 + n2 + n3), (true, true, 0), "{core}");
    }
}
