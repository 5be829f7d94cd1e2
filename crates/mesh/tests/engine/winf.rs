//! rt-Winf's estimates (schemes.md 9.2) against what the engine knows: the capacity by the frame times, the idle share by the
//! station's own account of when the medium was not free.
//!
//! The table of docs/winf.md: `cargo test -p meshpace-mesh --test engine winf::the -- --nocapture`.

use super::support::{cbr, close, flow, json, measure, record, run_seed, scenario};
use meshpace_explicit::winf::{Header, Pair};
use meshpace_keys::{Setting, Values};
use meshpace_mesh::run_with_relays;
use meshpace_network::NoWatch;
use meshpace_radio::FrameKind;
use meshpace_relay::packet::{Handle, Packet, Request};
use meshpace_relay::{Asks, Here, Listener, QueueConfig, QueueSite, RELAYS, Relay};
use meshpace_units::{Instant, NodeId, Span};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// rt-Winf's pair of a flow's first link, and the share of the last second in which the medium was not free there.
type Notes = Arc<Mutex<Vec<(Pair, f64)>>>;

/// The relay `winf`, and an observer of what it tells.
#[derive(Debug)]
struct Spy(Box<dyn Relay>, Notes, VecDeque<(Instant, Span)>);

impl Relay for Spy {
    fn asks(&self) -> Asks {
        Asks { busy_time: true, ..self.0.asks() }
    }

    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        self.0.enqueue(here, packet);
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        let packet = self.0.dequeue(here)?;
        let now = here.now;
        let busy = here.node().expect("a radio").busy_time();
        self.2.push_back((now, busy));
        while self.2.front().is_some_and(|(at, _)| now.saturating_since(*at) > Span::from_secs(1)) {
            self.2.pop_front();
        }
        let request: Option<Request> = here.packets.get(packet).shim();
        let header = request.and_then(|request| Header::from_bytes(request.said.bytes()));
        let (since, before) = *self.2.front()?;
        let over = now.saturating_since(since);
        if let (Some(Header { hops: 1, first: Some(pair), .. }), true) =
            (header, over > Span::from_millis(500))
        {
            let share = (busy - before).as_secs_f64() / over.as_secs_f64();
            self.1.lock().expect("one thread").push((pair, share));
        }
        Some(packet)
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.0.purge(here, wanted);
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn listener(&mut self) -> Option<&mut dyn Listener> {
        self.0.listener()
    }
}

struct Row {
    capacity: f64,
    available: f64,
    /// The true idle share of the true capacity.
    truth: f64,
}

/// Means over a run of a chain: a flow with a window of 2 segments from end to end, and datagrams beside it.
fn estimate(hops: u32, mbps: f64, load_bps: f64, loss: f64) -> Row {
    let link = if loss > 0.0 {
        format!("[[radio_link]]\nfrom = \"n0\"\nto = \"n1\"\nloss = {loss}\n")
    } else {
        String::new()
    };
    let load = if load_bps > 0.0 { cbr("n0", &format!("n{hops}"), load_bps, 1000) } else { String::new() };
    let text = format!(
        "[defaults]\nscheme = \"tcp-ap-winf\"\n{}[radio]\nrate = \"{mbps}Mbps\"\nrts = \"always\"\n[topology]\nkind = \"chain\"\nhops = {hops}\n[routing]\nprotocol = \"static\"\n{link}{}{load}",
        measure(20.0, 0.0),
        flow("n0", &format!("n{hops}"), "window = 2"),
    );
    estimate_on(&text, mbps, &[])
}

/// The same of a text whose node 0 is a flow's source, with other values of some keys.
fn estimate_on(text: &str, mbps: f64, keys: &[(&str, &str)]) -> Row {
    let notes = Notes::default();
    let relays = |queue: &QueueConfig| -> Box<dyn Relay> {
        let part = RELAYS.iter().find(|part| part.about.word == "winf").expect("rt-Winf's relay");
        let values = Values::new(Values::defaults(part.about.keys()).iter().map(|(key, default)| {
            // The comparison is of AB itself, before the node's own backoff is taken from it.
            let said = [("we_collision", "off")].iter().chain(keys).find(|(said, _)| *said == key);
            (key, said.map_or_else(|| default.clone(), |(_, value)| Setting::Text((*value).into())))
        }));
        let relay = (part.build)(&values, queue);
        match queue.place {
            QueueSite::Radio { node: NodeId(0), .. } => {
                Box::new(Spy(relay, Arc::clone(&notes), VecDeque::new()))
            }
            _ => relay,
        }
    };
    run_with_relays(&scenario(text, 1), &relays, &mut NoWatch)
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let notes = notes.lock().expect("one thread");
    assert!(notes.len() > 20, "{} notes", notes.len());
    let mean = |of: &dyn Fn(&(Pair, f64)) -> f64| notes.iter().map(of).sum::<f64>() / notes.len() as f64;
    Row {
        capacity: mean(&|(pair, _)| pair.capacity),
        available: mean(&|(pair, _)| pair.available),
        truth: exact(mbps) * (1.0 - mean(&|(_, busy)| *busy)),
    }
}

/// Bits of a data frame over its time on the air and an acknowledgement's (schemes.md 17.2: long preambles, 34 bytes).
fn exact(mbps: f64) -> f64 {
    let bits = 1534.0 * 8.0;
    bits / (192e-6 + bits / (mbps * 1e6) + 304e-6)
}

#[test]
fn the_estimates_by_hops_load_loss_and_rate() {
    let cases = [
        (1, 11.0, 0.0, 0.0),
        (1, 5.5, 0.0, 0.0),
        (1, 2.0, 0.0, 0.0),
        (1, 1.0, 0.0, 0.0),
        (1, 11.0, 200e3, 0.0),
        (1, 11.0, 500e3, 0.0),
        (1, 11.0, 1e6, 0.0),
        (1, 2.0, 200e3, 0.0),
        (1, 11.0, 0.0, 0.1),
        (1, 11.0, 0.0, 0.2),
        (1, 11.0, 500e3, 0.2),
        (2, 11.0, 0.0, 0.0),
        (2, 11.0, 200e3, 0.0),
        (2, 11.0, 0.0, 0.2),
        (4, 11.0, 0.0, 0.0),
        (4, 11.0, 200e3, 0.0),
        (4, 2.0, 0.0, 0.0),
        (8, 11.0, 0.0, 0.0),
        (8, 11.0, 200e3, 0.0),
    ];
    println!("| hops | rate, Mbit/s | load, kbit/s | loss | C, Mbit/s | error | AB, Mbit/s | true | error |");
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let rows = cases.map(|(hops, mbps, load, loss)| {
        let row = estimate(hops, mbps, load, loss);
        println!(
            "| {hops} | {mbps} | {:.0} | {loss} | {:.3} | {:+.1} % | {:.3} | {:.3} | {:+.1} % |",
            load / 1e3,
            row.capacity / 1e6,
            100.0 * (row.capacity / exact(mbps) - 1.0),
            row.available / 1e6,
            row.truth / 1e6,
            100.0 * (row.available / row.truth - 1.0),
        );
        row
    });
    for ((_, mbps, load, _), row) in cases.into_iter().zip(rows) {
        // Datagrams are shorter than segments: their capacity is lower.
        close("capacity", row.capacity, exact(mbps), if load > 0.0 { 0.15 } else { 0.01 });
        close("available bandwidth", row.available, row.truth, 0.1);
    }
}

/// By role, as printed, a sender does not see what its neighbours use; all that is reserved, it does (schemes.md 9.2).
#[test]
fn by_role_a_sender_is_blind_to_its_neighbours() {
    let chain = "[topology]\nkind = \"chain\"\nhops = 2\n[routing]\nprotocol = \"static\"\n";
    let text = format!(
        "[defaults]\nscheme = \"tcp-ap-winf\"\n{}[radio]\nrate = \"11Mbps\"\nrts = \"always\"\n{chain}{}{}",
        measure(10.0, 0.0),
        flow("n0", "n1", "window = 1"),
        cbr("n1", "n2", 1.5e6, 1000),
    );
    let union = estimate_on(&text, 11.0, &[]);
    let role = estimate_on(&text, 11.0, &[("rtwinf_busy", "role")]);
    close("what is told where all counts", union.available, union.truth, 0.4);
    assert!(role.available > 2.0 * union.available, "{} {}", role.available, union.available);
}

/// experiments/we-tcp-ap.md, F1.1: packets of 100 to 1,500 bytes. A data frame's duration is that of its acknowledgement,
/// 314 us at the basic rate of 1 Mbit/s, whatever its size; those of RTS and CTS are what is left of the exchange.
#[test]
fn the_durations_of_rts_and_cts_are_the_rest_of_the_exchange() {
    for size in (100..=1500).step_by(100) {
        let chain = "[topology]\nkind = \"chain\"\nhops = 1\n[routing]\nprotocol = \"static\"\n";
        let text = format!(
            "{}[radio]\nrate = \"11Mbps\"\nrts = \"always\"\n{chain}{}",
            measure(1.0, 0.0),
            cbr("n0", "n1", 100e3, size - 28),
        );
        let (_, record) = record(&text);
        let mut exchanges = 0;
        for at in 0..record.frames.len() {
            let Some([rts, cts, data, ack]) = record.frames.get(at..at + 4) else { break };
            let kinds = [rts, cts, data, ack].map(|seen| seen.frame.kind);
            if kinds != [FrameKind::Rts, FrameKind::Cts, FrameKind::Data, FrameKind::Ack] {
                continue;
            }
            exchanges += 1;
            let ends = |seen: &super::support::Seen| seen.at + seen.frame.airtime;
            let whole = ends(ack);
            for (what, seen) in [("RTS", rts), ("CTS", cts), ("DATA", data)] {
                let left = (whole - ends(seen)).as_secs_f64();
                let said = seen.frame.duration.as_secs_f64();
                // The light takes 0.67 us each way.
                assert!((left - said).abs() < 3e-6, "{what} of {size} bytes: {said}, not {left}");
            }
            assert!((data.frame.duration.as_secs_f64() - 314e-6).abs() < 1e-9, "{:?}", data.frame);
        }
        assert!(exchanges > 5, "{exchanges} exchanges of {size} bytes");
    }
}

#[test]
fn the_schemes_that_go_by_rt_winf_deliver_and_are_the_same_every_time() {
    for scheme in ["tcp-ap-winf", "we-tcp-ap", "xcp-winf", "rcp-winf", "xcp-b"] {
        let chain = "[topology]\nkind = \"chain\"\nhops = 5\n[routing]\nprotocol = \"static\"\n";
        let text =
            format!("{}{chain}{}", measure(15.0, 3.0), flow("n0", "n5", &format!("scheme = \"{scheme}\"")));
        let result = run_seed(&text, 2);
        let goodput = result.flows[0].goodput_bps;
        println!("{scheme} {:.1} kbit/s", goodput / 1e3);
        assert!(goodput > 50e3, "{scheme}: {goodput}");
        assert_eq!(json(result), json(run_seed(&text, 2)), "{scheme}");
    }
}

/// schemes.md 14: inside a straight chain of 200 m with a range of 500 m five nodes contend; over three hops all four do not, as the ends
/// are 600 m apart: an inner one senses all. Asked by `we_np = "contention"` alone.
#[test]
fn packets_collect_the_contention_count_of_their_way() {
    for (hops, expected) in [(2, 3), (3, 4), (8, 5)] {
        let told = |keys: &str| {
            let text = format!(
                "[defaults]\nscheme = \"we-tcp-ap\"\n[scheme.we-tcp-ap]\n{keys}\n{}[radio]\nrate = \"11Mbps\"\ncs_range = \"500m\"\n\
                 [topology]\nkind = \"chain\"\nhops = {hops}\n[routing]\nprotocol = \"static\"\n{}",
                measure(3.0, 0.0),
                flow("n0", &format!("n{hops}"), ""),
            );
            let (_, record) = record(&text);
            let last = record.data_from(hops - 1).next().expect("data over the last hop");
            let request: Request = last.packet.as_ref().and_then(Packet::shim).expect("it asks");
            Header::from_bytes(request.said.bytes()).expect("rt-Winf's").contention
        };
        assert_eq!(told("we_np = \"contention\""), Some(expected), "{hops} hops");
        assert_eq!(told(""), None);
    }
}
