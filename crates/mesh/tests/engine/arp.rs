//! Address resolution on the air (ns2-behaviour 4.2, 4.3).

use super::support::{Record, Seen, cbr, chain, flow, measure, node, record, row};
use meshpace_radio::FrameKind;
use meshpace_relay::packet::{Arp, ArpOperation, Body};
use meshpace_units::{Bytes, NodeId, Rate, Span};

fn newreno(text: &str) -> String {
    format!("[defaults]\nscheme = \"newreno\"\n{text}")
}

fn arp(seen: &Seen) -> Option<Arp> {
    match seen.packet.as_ref()?.body {
        Body::Arp(message) => Some(message),
        _ => None,
    }
}

fn resolutions(record: &Record) -> Vec<(&Seen, Arp)> {
    record.frames.iter().filter_map(|seen| Some((seen, arp(seen)?))).collect()
}

#[test]
fn a_first_packet_is_preceded_by_a_broadcast_request_and_a_unicast_reply() {
    let text = newreno(&format!("{}{}{}", measure(1.0, 0.0), chain(1), cbr("n0", "n1", 8e4, 1000)));
    let (result, seen) = record(&text);
    let [(request, asked), (reply, told)] = resolutions(&seen)[..] else {
        panic!("{:?}", resolutions(&seen))
    };
    let (a, b) = (NodeId(0), NodeId(1));
    assert_eq!(asked, Arp { operation: ArpOperation::Request, sender: a, target: b });
    assert_eq!(told, Arp { operation: ArpOperation::Reply, sender: b, target: a });
    assert_eq!((request.frame.to, reply.frame.to), (None, Some(a)));
    // 28 bytes and 34 around them: 192 us + 62 bytes at 1 Mbit/s, at 11 Mbit/s (ns2-behaviour 2.1, 4.2).
    let mbps = |rate: u64| Rate::bits_per_sec(rate * 1_000_000);
    assert_eq!((request.frame.size, request.frame.mode.rate), (Bytes(62), mbps(1)));
    assert_eq!(request.frame.airtime, Span::from_micros(688));
    assert_eq!((reply.frame.size, reply.frame.mode.rate), (Bytes(62), mbps(11)));
    let kinds: Vec<_> = seen.frames.iter().map(|seen| seen.frame.kind).take(9).collect();
    let exchange = [FrameKind::Rts, FrameKind::Cts, FrameKind::Data, FrameKind::Ack];
    assert_eq!(kinds[0], FrameKind::Data);
    assert_eq!([&kinds[1..5], &kinds[5..]], [exchange, exchange], "the reply, then the packet");
    // The node that was asked has learnt the address of the one that asked: neither asks again, and nothing is lost.
    let f = &result.flows[0];
    assert_eq!(f.delivered_bytes, 1000 * (f.segments_sent - 1), "all but the one that set out at the end");
    assert_eq!(row(&result, "n0", "n1").map(|row| row.arp_drops), Some(0));
}

#[test]
fn of_the_packets_that_come_before_the_answer_the_last_one_is_sent() {
    // Ten datagrams a millisecond: request and reply take more than a millisecond.
    let text = newreno(&format!("{}{}{}", measure(0.2, 0.0), chain(1), cbr("n0", "n1", 8e6, 100)));
    let (result, seen) = record(&text);
    let link = row(&result, "n0", "n1").expect("it carried something");
    let first = seen.data_from(0).next().expect("something was sent");
    let number = match &first.packet.as_ref().expect("data").body {
        Body::Udp(datagram) => datagram.stamp.number,
        other => panic!("{other:?}"),
    };
    // Three requests, each with a packet in the place of the one before; the next two fail.
    assert!(number >= 2, "datagram {number}");
    assert_eq!(link.arp_drops, number, "all before it");
    assert!(resolutions(&seen).iter().filter(|(_, arp)| arp.operation == ArpOperation::Request).count() >= 2);
}

#[test]
fn everybody_who_hears_a_request_knows_who_asked() {
    // n1 asks n2, and n0 hears it: n0 has no need to ask n1.
    let later = flow("n0", "n1", "app = \"cbr\"\nrate = 8e4\npacket = 1000\nstart = 0.5");
    let flows = format!("{}{later}", cbr("n1", "n2", 8e4, 1000));
    let (_, seen) = record(&newreno(&format!("{}{}{flows}", measure(1.0, 0.0), chain(2))));
    let asked: Vec<_> = resolutions(&seen)
        .iter()
        .filter(|(_, arp)| arp.operation == ArpOperation::Request)
        .map(|(_, arp)| (arp.sender.0, arp.target.0))
        .collect();
    assert_eq!(asked, [(1, 2)]);
}

#[test]
fn nobody_asks_where_the_key_says_so_nor_with_summed_interference() {
    for radio in ["arp = false", "reception = \"sinr\""] {
        let flows = cbr("n0", "n1", 8e4, 1000);
        let text = format!("{}[radio]\n{radio}\n{}{flows}", measure(1.0, 0.0), chain(1));
        let (result, seen) = record(&newreno(&text));
        assert!(resolutions(&seen).is_empty() && result.flows[0].delivered_bytes > 0, "{radio}");
    }
}

#[test]
fn packets_for_a_neighbour_that_does_not_answer_fail_by_twos_after_three_requests() {
    // The receiver is gone, although the static route, made at 250 m, had it: it walks at 1000 m/s.
    let nodes = format!("{}{}", node("a", 0.0, 0.0), node("b", 100.0, 0.0));
    let walk = "[mobility]\nmodel = \"random-waypoint\"\nspeed_min = 999\nspeed_max = 1000\narea = [100000, 100000]\nnodes = [\"b\"]\n";
    let keys = "app = \"cbr\"\nrate = 8000\npacket = 100\nstart = 20\nstop = 29.95";
    let routing = "[routing]\nprotocol = \"static\"\n";
    let text = newreno(&format!("{}{routing}{walk}{nodes}{}", measure(31.0, 0.0), flow("a", "b", keys)));
    let (result, seen) = record(&text);
    // A hundred datagrams, four a round: three requests, and the fourth packet fails with the third.
    assert_eq!((resolutions(&seen).len(), seen.frames.len()), (75, 75), "requests and nothing else");
    assert_eq!(row(&result, "a", "b").map(|row| (row.arp_drops, row.retry_drops)), Some((100, 0)));
}
