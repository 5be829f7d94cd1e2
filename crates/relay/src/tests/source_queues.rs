//! The queues of a source: whose turn it is, what fits.

use super::{Bench, TestNode, entering, packet, radio, wired};
use crate::packet::{Class, Handle, Packet};
use meshpace_keys::Setting;
use meshpace_units::{NodeId, Span};
use proptest::collection::vec;
use proptest::prelude::*;

/// The node of [`radio`].
const HERE: u32 = 3;

fn local(flow: u16, class: Class) -> Packet {
    entering(HERE, class, packet(flow, 1, 1000))
}

impl Bench {
    fn begins(&mut self, flow: u16) -> Handle {
        self.put(local(flow, Class::Data))
    }

    fn passes(&mut self) -> Handle {
        self.put(packet(9, 1, 1000))
    }
}

/// ```text
/// flow 1     a a a
/// flow 2     b
/// forwarded  f f
/// out        f a b f a a       a turn each, what is forwarded first
/// ```
#[test]
fn split_serves_flows_and_what_is_forwarded_in_turn() {
    let mut bench = Bench::new("split", &radio(50));
    let a: Vec<_> = (0..3).map(|_| bench.begins(1)).collect();
    let b = bench.begins(2);
    let f: Vec<_> = (0..2).map(|_| bench.passes()).collect();
    assert_eq!(bench.relay.len(), 6);
    assert_eq!(bench.drain(), [f[0], a[0], b, f[1], a[1], a[2]]);
}

#[test]
fn throttle_without_anything_known_serves_local_data_before_what_is_forwarded() {
    let mut bench = Bench::new("throttle", &radio(50));
    let f = bench.passes();
    let a = bench.begins(1);
    let ack = bench.put(local(7, Class::Ack));
    let r = bench.routing();
    assert_eq!(bench.drain(), [r, a, ack, f]);
}

#[test]
fn every_flow_has_the_places_of_a_queue() {
    let mut bench = Bench::new("split", &radio(10));
    let first: Vec<_> = (0..20).map(|_| bench.begins(1)).collect();
    assert_eq!((bench.relay.len(), &bench.dropped[..]), (9, &first[9..]));
    for _ in 0..20 {
        bench.begins(2);
        bench.passes();
    }
    assert_eq!(bench.relay.len(), 27);
}

/// Relays, destinations and wires keep their plain queue: an acknowledgement that begins there waits for what it finds.
#[test]
fn where_no_data_begin_there_is_one_queue() {
    for queue in [radio(50), wired(50)] {
        let mut bench = Bench::new("throttle", &queue);
        let f = bench.passes();
        let ack = bench.put(local(7, Class::Ack));
        assert_eq!(bench.drain(), [f, ack]);
    }
    let everywhere = [("ot_where", Setting::Text("everywhere".to_owned()))];
    let mut bench = Bench::with("throttle", &radio(50), &everywhere);
    let f = bench.passes();
    let ack = bench.put(local(7, Class::Ack));
    assert_eq!(bench.drain(), [ack, f]);
}

#[derive(Clone, Debug)]
enum Step {
    /// Milliseconds later a packet comes: of a flow, that begins here or not, of a class.
    Put(u64, u16, bool, u8),
    /// The transmitter asks.
    Get,
    Purge(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (0..40u64, 0..4u16, any::<bool>(), 0..4u8).prop_map(|(ms, flow, local, class)| Step::Put(ms, flow, local, class)),
        4 => Just(Step::Get),
        1 => (0..2u32).prop_map(Step::Purge),
    ]
}

proptest! {
    /// Held back or not, every packet comes out once or is dropped once, and a sender that waits is woken.
    #[test]
    fn packets_that_begin_here_go_out_once(limit in 1..8usize, shared in any::<bool>(), spacing in any::<bool>(), steps in vec(step(), 1..200)) {
        let gate = if spacing { "spacing" } else { "serial" };
        let said = [
            ("ot_shared", Setting::Flag(shared)),
            ("ot_gate", Setting::Text(gate.to_owned())),
            ("ot_N", Setting::Whole(3)),
        ];
        for word in ["split", "throttle"] {
            let mut bench = Bench::with(word, &radio(limit), if word == "split" { &[] } else { &said });
            bench.node = TestNode { hops: Some(3), ..TestNode::default() };
            let (mut came, mut out) = (0, 0);
            for step in &steps {
                match *step {
                    Step::Put(ms, flow, begins, class) => {
                        bench.now += Span::from_millis(ms);
                        let class = [Class::Data, Class::Ack, Class::Control, Class::Arp][usize::from(class)];
                        let entry = if begins { HERE } else { 0 };
                        bench.put(entering(entry, class, packet(flow, u32::from(flow) % 2, 1000)));
                        came += 1;
                    }
                    Step::Get => {
                        if let Some(packet) = bench.get() {
                            out += 1;
                            bench.through(packet);
                        }
                    }
                    Step::Purge(hop) => bench.purge(|packet| packet.next_hop == Some(NodeId(hop))),
                }
                prop_assert_eq!(came, out + bench.dropped.len() + bench.relay.len());
            }
            while !bench.relay.is_empty() {
                match bench.get() {
                    Some(packet) => {
                        out += 1;
                        bench.through(packet);
                    }
                    None => {
                        let wake = bench.relay.poll_timeout().expect("something waits, and nobody will ask for it");
                        prop_assert!(wake > bench.now);
                        bench.now = wake;
                    }
                }
            }
            prop_assert_eq!(came, out + bench.dropped.len());
        }
    }
}
