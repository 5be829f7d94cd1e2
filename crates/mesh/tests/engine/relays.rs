//! Relays that listen, hold packets back, split queues and write into packets.

use super::support::{Record, cbr, chain, close, flow, json, measure, node, row, run, scenario};
use meshpace_mesh::{RunResult, run_with_relays};
use meshpace_network::NoWatch;
use meshpace_radio::FrameKind;
use meshpace_relay::packet::{Handle, Packet, Shim, ShimBytes, ShimKind};
use meshpace_relay::{Asks, DropTail, Heard, Here, QueueConfig, QueueSite, Relay, Report};
use meshpace_units::{Bytes, Instant, NodeId, Span};
use std::sync::{Arc, Mutex};

/// Drop-tail that asks for everything and does nothing with it.
#[derive(Debug)]
struct Listener(DropTail);

impl Relay for Listener {
    fn asks(&self) -> Asks {
        Asks { frames: true, reports: true, busy_time: true, ..Asks::default() }
    }

    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        self.0.enqueue(here, packet);
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        self.0.dequeue(here)
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.0.purge(here, wanted);
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn heard(&mut self, here: &mut Here<'_>, heard: &Heard<'_>) {
        assert_eq!(here.carried(heard).next().is_some(), heard.frame.kind == FrameKind::Data);
    }
}

fn with_relays(text: &str, relays: &dyn Fn(&QueueConfig) -> Box<dyn Relay>) -> RunResult {
    run_with_relays(&scenario(text, 1), relays, &mut NoWatch)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Two runs without what listening itself adds.
fn assert_same(mut a: RunResult, mut b: RunResult, what: &str) {
    (a.events, b.events) = (0, 0);
    assert_eq!(json(a), json(b), "{what}");
}

#[test]
fn a_listener_on_every_node_changes_nothing_but_the_number_of_events() {
    let listeners = |queue: &QueueConfig| -> Box<dyn Relay> { Box::new(Listener(DropTail::new(queue))) };
    let some = |queue: &QueueConfig| -> Box<dyn Relay> {
        match queue.place {
            QueueSite::Radio { node, .. } if node.0 % 2 == 1 => Box::new(Listener(DropTail::new(queue))),
            _ => Box::new(DropTail::new(queue)),
        }
    };
    let far = "[radio]
rts = \"never\"
tx_range = 7500
cs_range = 16000
ack_timeout = \"100us\"
[topology]
kind = \"chain\"
hops = 3
spacing = 7000
";
    let walk = "[mobility]\nmodel = \"random-waypoint\"\nspeed_min = 10\nspeed_max = 40\narea = [700, 700]\n";
    let random = "[topology]\nkind = \"random\"\nnodes = 14\nwidth = 700\nheight = 700\n";
    let both = format!("{}{}", flow("n0", "B", ""), flow("B", "n1", ""));
    let cases = [
        ("chain", format!("{}{}", chain(5), flow("n0", "n5", ""))),
        ("AODV", format!("[topology]\nkind = \"chain\"\nhops = 6\n{}", flow("n0", "n6", ""))),
        ("both ways", format!("{}{both}", chain(4))),
        ("sinr", format!("[radio]\nreception = \"sinr\"\n{}{}", chain(5), flow("n0", "n5", ""))),
        ("6 km and more", format!("{far}{}", flow("n0", "n3", ""))),
        ("moving", format!("{random}{walk}{both}")),
    ];
    for (what, text) in cases {
        let text = format!("[defaults]\nscheme = \"tcp-gap\"\n{}{text}", measure(8.0, 1.0));
        let plain = run(&text);
        assert!(plain.flows.iter().any(|f| f.delivered_bytes > 0), "{what}");
        let all = with_relays(&text, &listeners);
        assert!(all.events > plain.events, "{what}");
        assert_same(all, plain.clone(), what);
        assert_same(with_relays(&text, &some), plain, what);
    }
}

/// The reports that a relay got, in a place where the test can read them.
#[derive(Clone, Debug, Default)]
struct Notes(Arc<Mutex<Vec<Note>>>);

#[derive(Clone, Copy, Debug)]
enum Note {
    /// A frame was read: when, kind, transmitter, mine or not, the packet's number.
    Heard(Instant, FrameKind, u32, bool, Option<u64>),
    /// The MAC said this, when the medium had been busy for so long.
    Told(Instant, Report, Span),
}

/// Takes notes of everything.
#[derive(Debug)]
struct Witness(DropTail, Notes);

impl Relay for Witness {
    fn asks(&self) -> Asks {
        Asks { frames: true, reports: true, busy_time: true, ..Asks::default() }
    }

    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        self.0.enqueue(here, packet);
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        self.0.dequeue(here)
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.0.purge(here, wanted);
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn heard(&mut self, here: &mut Here<'_>, heard: &Heard<'_>) {
        let id = here.carried(heard).next().map(|packet| packet.id.0);
        let note = Note::Heard(here.now, heard.frame.kind, heard.frame.from.0, heard.mine, id);
        self.1.0.lock().expect("one thread").push(note);
    }

    fn reported(&mut self, here: &mut Here<'_>, report: &Report) {
        let busy = here.node().expect("a radio").busy_time();
        self.1.0.lock().expect("one thread").push(Note::Told(here.now, *report, busy));
    }
}

/// ```text
/// n0 -> n1 -> n2     n0 overhears n1 forward every packet that it has sent
/// ```
#[test]
fn a_node_overhears_its_neighbour_forward_its_packets_and_knows_them_again() {
    let text =
        format!("{}[radio]\narp = false\n{}{}", measure(4.0, 0.0), chain(2), cbr("n0", "n2", 2e5, 1000));
    let notes = Notes::default();
    let result =
        with_relays(&format!("[defaults]\nscheme = \"newreno\"\n{text}"), &|queue| match queue.place {
            QueueSite::Radio { node: NodeId(0), .. } => {
                Box::new(Witness(DropTail::new(queue), notes.clone()))
            }
            _ => Box::new(DropTail::new(queue)),
        });
    let notes = notes.0.lock().expect("one thread").clone();
    // Nothing is lost: what n1 forwards is what was delivered, in order, each once, a little after it was sent.
    let forwarded: Vec<_> = notes
        .iter()
        .filter_map(|note| match *note {
            Note::Heard(when, FrameKind::Data, 1, false, Some(id)) => Some((when, id)),
            _ => None,
        })
        .collect();
    assert_eq!(forwarded.len() as u64 * 1000, result.flows[0].delivered_bytes);
    assert!(forwarded.len() > 90 && forwarded.windows(2).all(|pair| pair[0].1 < pair[1].1));
    let mut sent = notes.iter().filter_map(|note| match note {
        Note::Told(when, Report::Sent(exchange), busy) => Some((*when, *exchange, *busy)),
        _ => None,
    });
    let mut before = Span::ZERO;
    for (overheard, _) in &forwarded {
        let (acknowledged, exchange, busy) = sent.next().expect("sent before it was forwarded");
        assert!(acknowledged < *overheard && *overheard - acknowledged < Span::from_millis(10));
        assert_eq!((exchange.next_hop, exchange.attempts, exchange.data_frames), (Some(NodeId(1)), 1, 1));
        // RTS 352, CTS 304, SIFS 10: the data begin 656 us + 2 SIFS after the medium was won, give or take the way.
        let (granted, data_ended) = (exchange.granted.expect("granted"), exchange.data_ended.expect("sent"));
        let cts = exchange.cts_ended.expect("with RTS") - granted;
        assert!((cts.as_secs_f64() * 1e6 - 667.3).abs() < 0.1, "{cts:?}");
        // SIFS + ACK + twice the way of 667 ns.
        let ack = (acknowledged - data_ended).as_secs_f64() * 1e6;
        assert!((ack - 315.3).abs() < 0.1, "{ack}");
        // Two exchanges of some 2.0 ms a packet, every 40 ms.
        let busy_since = (busy - before).as_secs_f64();
        assert!((0.001..0.008).contains(&busy_since), "{busy_since}");
        before = busy;
    }
    // CTS and ACK of its own exchanges are for it.
    let mine = notes.iter().filter(|note| matches!(note, Note::Heard(_, FrameKind::Ack, 1, true, None)));
    assert_eq!(mine.count(), sent.count() + forwarded.len());
}

#[test]
fn reports_tell_of_retries_and_of_packets_given_up() {
    // Nobody is at the other end of the link that is heard one way only.
    let text = "[defaults]\nscheme = \"newreno\"\n[radio]\narp = false\ncs_range = 250\n[routing]\nprotocol = \"static\"\n";
    let nodes = format!("{}{}{}", node("a", 0.0, 0.0), node("m", 200.0, 0.0), node("b", 400.0, 0.0));
    let flows = format!("{}{}", cbr("a", "m", 1.5e6, 1000), cbr("b", "m", 1.5e6, 1000));
    let notes = Notes::default();
    let result =
        with_relays(&format!("{}{text}{nodes}{flows}", measure(3.0, 0.0)), &|queue| match queue.place {
            QueueSite::Radio { node: NodeId(0), .. } => {
                Box::new(Witness(DropTail::new(queue), notes.clone()))
            }
            _ => Box::new(DropTail::new(queue)),
        });
    let link = row(&result, "a", "m").expect("a row");
    let (mut granted, mut retries, mut given_up, mut attempts, mut airtime) = (0, 0, 0, 0, Span::ZERO);
    for note in notes.0.lock().expect("one thread").iter() {
        match note {
            Note::Told(_, Report::Granted(exchange), _) => {
                granted += 1;
                assert_eq!((exchange.attempts, exchange.data_frames), (1, 0));
            }
            Note::Told(_, Report::Retry(exchange), _) => {
                retries += 1;
                assert!(exchange.attempts > 1);
            }
            Note::Told(_, Report::GivenUp(exchange), _) => {
                given_up += 1;
                assert!(exchange.attempts >= 4);
                (attempts, airtime) = (attempts + exchange.attempts, airtime + exchange.airtime);
            }
            Note::Told(_, Report::Sent(exchange), _) => {
                (attempts, airtime) = (attempts + exchange.attempts, airtime + exchange.airtime);
            }
            Note::Heard(..) => {}
        }
    }
    assert_eq!(given_up, link.retry_drops);
    assert!(given_up > 0 && retries > 50, "{given_up} {retries}");
    assert_eq!(Some(granted + retries), link.attempts);
    // The one in hand at the end is in the link's count already.
    assert!(link.attempts.is_some_and(|all| all - u64::from(attempts) <= 7));
    assert!(link.airtime_s.is_some_and(|all| all > airtime.as_secs_f64()), "answers count with the link");
}

/// A frame that a lossy link loses is not overheard; it is lost at the end of that link and nowhere else.
#[test]
fn a_listener_misses_what_its_link_loses() {
    let nodes = format!("{}{}{}", node("a", 0.0, 0.0), node("b", 200.0, 0.0), node("c", 100.0, 100.0));
    let link = "[[radio_link]]\nfrom = \"a\"\nto = \"c\"\nloss = 0.25\nsymmetric = false\n";
    let head =
        "[defaults]\nscheme = \"newreno\"\n[routing]\nprotocol = \"static\"\n[radio]\nrts = \"never\"\n";
    let notes = Notes::default();
    let text = format!("{head}{}{nodes}{link}{}", measure(40.0, 0.0), cbr("a", "b", 1e6, 1000));
    let result = with_relays(&text, &|queue| match queue.place {
        QueueSite::Radio { node: NodeId(2), .. } => Box::new(Witness(DropTail::new(queue), notes.clone())),
        _ => Box::new(DropTail::new(queue)),
    });
    let heard = |kind: FrameKind, by: u32| {
        let notes = notes.0.lock().expect("one thread");
        let those = notes
            .iter()
            .filter(|note| matches!(note, Note::Heard(_, k, from, false, _) if (*k, *from) == (kind, by)));
        those.count() as u64
    };
    let sent = row(&result, "a", "b").and_then(|link| link.attempts).expect("a radio link");
    assert!(sent > 4900);
    assert_eq!(heard(FrameKind::Ack, 1), sent, "b hears all, and c all of b");
    close("what c overhears", heard(FrameKind::Data, 0) as f64 / sent as f64, 0.75, 0.03);
}

/// Hops that a packet has gone, as relays count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hops(u8);

impl Shim for Hops {
    const KIND: ShimKind = ShimKind::ExperimentA;
    const NAME: &'static str = "hops";
    const WIRE_LENGTH: Bytes = Bytes(4);

    fn to_bytes(&self) -> ShimBytes {
        ShimBytes::new(&[self.0])
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.first().map(|hops| Self(*hops))
    }
}

/// Holds every packet until `gap` after the one before, keeps routing and the rest apart, and counts hops in a shim.
#[derive(Debug)]
struct Spacer {
    gap: Span,
    queues: [Vec<Handle>; 2],
    due: Instant,
}

impl Relay for Spacer {
    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        let it = here.packets.get_mut(packet);
        let hops = it.shim::<Hops>().map_or(0, |hops| hops.0);
        it.set_shim(&Hops(hops + 1));
        let rest = usize::from(it.class != meshpace_relay::packet::Class::Control);
        self.queues[rest].push(packet);
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        let queue = self.queues.iter_mut().find(|queue| !queue.is_empty())?;
        if here.now < self.due {
            return None;
        }
        self.due = here.now + self.gap;
        Some(queue.remove(0))
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        for queue in &mut self.queues {
            queue.retain(|packet| {
                let keep = !wanted(here.packets.get(*packet));
                if !keep {
                    here.drop(*packet);
                }
                keep
            });
        }
    }

    fn len(&self) -> usize {
        self.queues.iter().map(Vec::len).sum()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        (self.len() > 0).then_some(self.due)
    }
}

#[test]
fn a_relay_may_hold_packets_back_and_write_into_them() {
    let gap = Span::from_millis(20);
    let text = format!("{}{}{}", measure(10.0, 0.0), chain(3), cbr("n0", "n3", 3e5, 1000));
    let relays = |queue: &QueueConfig| -> Box<dyn Relay> {
        let hold = matches!(queue.place, QueueSite::Radio { node: NodeId(1), .. });
        let gap = if hold { gap } else { Span::ZERO };
        Box::new(Spacer { gap, queues: Default::default(), due: Instant::ZERO })
    };
    let mut record = Record::default();
    let result = run_with_relays(
        &scenario(&format!("[defaults]\nscheme = \"newreno\"\n{text}"), 1),
        &relays,
        &mut record,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    // One packet every 20 ms leaves n1, though one comes every 26.7 ms / 8e6 ... = 26.7 ms at 300 kbit/s; so none is lost.
    let lost = result.flows[0].segments_sent - result.flows[0].delivered_bytes / 1000;
    assert!(lost <= 2, "{lost}");
    for (node, hops) in [(0, 1), (1, 2), (2, 3)] {
        let frames: Vec<_> = record.data_from(node).collect();
        let first = frames.first().and_then(|seen| seen.packet.as_ref()).expect("a packet");
        assert_eq!(first.shim(), Some(Hops(hops)));
        assert_eq!(first.size, Bytes(1032), "1000 + 28, and four for the shim");
    }
    // A burst is spaced: at three times the rate the queue grows, and what leaves is 50 a second.
    let text = text.replace("300000", "1200000");
    let result = with_relays(&format!("[defaults]\nscheme = \"newreno\"\n{text}"), &relays);
    close("what a spacer lets through", result.flows[0].goodput_bps, 50.0 * 8000.0, 0.02);
}

/// The gap holds for wired links as well.
#[test]
fn a_relay_at_a_wire_may_hold_packets_back() {
    let text = format!(
        "[defaults]\nscheme = \"newreno\"\n{}{}{}",
        measure(10.0, 0.0),
        chain(1),
        cbr("B", "n0", 8e5, 1000)
    );
    let result = with_relays(&text, &|queue| {
        let wired = matches!(queue.place, QueueSite::Wired { .. });
        let gap = if wired { Span::from_millis(20) } else { Span::ZERO };
        Box::new(Spacer { gap, queues: Default::default(), due: Instant::ZERO })
    });
    close("what a spacer lets through", result.flows[0].goodput_bps, 50.0 * 8000.0, 0.03);
}

/// A scheme's relay is at every queue: with FQ-CoDel a flow of small packets beside one that fills the queue.
#[test]
fn fq_codel_spares_a_sparse_flow_the_queue() {
    let text = format!(
        "[defaults]\nscheme = \"newreno\"\n{}{}{}{}",
        measure(10.0, 2.0),
        chain(1),
        cbr("n0", "n1", 2e7, 1000),
        cbr("n0", "n1", 1.6e4, 100)
    );
    let delay = |result: &RunResult, flow: usize| result.flows[flow].delay_mean_s.expect("delivered");
    let tail = run(&text);
    let fair = run(&format!("{text}[scheme.newreno]\nrelay = \"fq-codel\"\n"));
    assert!(delay(&tail, 1) > 0.1, "{}", delay(&tail, 1));
    assert!(delay(&fair, 1) < 0.01, "{}", delay(&fair, 1));
    assert!(fair.flows[1].loss_ratio.is_some_and(|loss| loss < 0.02));
    close("the medium is as full", fair.flows[0].goodput_bps, tail.flows[0].goodput_bps, 0.1);
}

/// Drop-tail that lets a packet go only so long after the one before, listening or not.
#[derive(Debug)]
struct Spaced {
    queue: DropTail,
    gap: Span,
    free_at: Instant,
}

impl Relay for Spaced {
    fn asks(&self) -> Asks {
        Asks { frames: true, ..Asks::default() }
    }

    fn enqueue(&mut self, here: &mut Here<'_>, packet: Handle) {
        self.queue.enqueue(here, packet);
    }

    fn dequeue(&mut self, here: &mut Here<'_>) -> Option<Handle> {
        let packet = (here.now >= self.free_at).then(|| self.queue.dequeue(here)).flatten()?;
        self.free_at = here.now + self.gap;
        Some(packet)
    }

    fn purge(&mut self, here: &mut Here<'_>, wanted: &mut dyn FnMut(&Packet) -> bool) {
        self.queue.purge(here, wanted);
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    /// Past while the transmitter is busy: such a deadline is none.
    fn poll_timeout(&self) -> Option<Instant> {
        (!self.queue.is_empty()).then_some(self.free_at)
    }
}

/// A station that its relay leaves without a packet has a backoff going, and frames of others that it has not looked at.
#[test]
fn a_relay_that_holds_back_leaves_the_station_its_deadlines() {
    let text = format!("{}{}{}", chain(4), flow("n0", "n4", ""), flow("n4", "n0", ""));
    let rate = |micros: u64| {
        let spaced = move |queue: &QueueConfig| -> Box<dyn Relay> {
            let (queue, gap) = (DropTail::new(queue), Span::from_micros(micros));
            Box::new(Spaced { queue, gap, free_at: Instant::ZERO })
        };
        with_relays(&text, &spaced).aggregate_goodput_bps
    };
    let (free, little, much) = (rate(0), rate(400), rate(20_000));
    assert!(free > 1e5 && little > 0.5 * free && much < 0.7 * free && much > 0.0, "{free} {little} {much}");
}

/// RFC 3168 from end to end: a relay marks, the receiver echoes, the sender slows down, and nothing is lost or resent.
#[test]
fn fq_codel_marks_what_it_would_drop_if_the_ends_agreed() {
    let text = |ecn: bool| {
        let scheme = format!("[scheme.newreno-rfc]\nrelay = \"fq-codel\"\necn = {ecn}\n");
        let flow = flow("B", "n0", "scheme = \"newreno-rfc\"");
        format!("{}{}{flow}{scheme}", measure(60.0, 5.0), chain(2))
    };
    let drops = |result: &RunResult| -> u64 { result.links.iter().map(|link| link.queue_drops).sum() };
    let (dropped, marked) = (run(&text(false)), run(&text(true)));
    assert!(drops(&dropped) > 0 && dropped.flows[0].retransmits > Some(0), "{:?}", dropped.flows[0]);
    assert_eq!((drops(&marked), marked.flows[0].retransmits), (0, Some(0)), "{:?}", marked.flows[0]);
    close("goodput", marked.flows[0].goodput_bps, dropped.flows[0].goodput_bps, 0.1);
}
