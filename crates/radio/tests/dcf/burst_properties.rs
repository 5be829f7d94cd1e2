//! Frames of several packets over random small topologies: what holds whatever is lost.

use super::bursts::only;
use super::properties::{Scenario, assert_delivered_before_sent, assert_same, scenario};
use crate::air::{Action, Air};
use meshpace_radio::phy::mpdus;
use meshpace_radio::standard::Aggregation;
use meshpace_radio::{Bitmap, Peer, Priority, Reorder};
use meshpace_units::{Bytes, Dscp, Instant, NodeId, Span};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What goes up behind reorder buffers.
#[derive(Default)]
pub(super) struct Up {
    /// Number and handle of the packets in the order in which they go up, by receiver and neighbour.
    pub(super) packets: BTreeMap<(u32, Peer), Vec<(u16, u32)>>,
    /// MPDUs that came too late.
    pub(super) late: usize,
    /// Packets that wait still.
    pub(super) held: usize,
    /// All that were delivered.
    pub(super) delivered: usize,
}

/// What goes up behind a reorder buffer at each receiver. The buffers are as wide as the sender takes them to be; no clock runs.
pub(super) fn in_order(air: &Air) -> Up {
    let window = air.config.phy.standard.most_packets();
    let mut buffers: BTreeMap<(u32, Peer), Reorder<(u16, u32)>> = BTreeMap::new();
    let mut all = Up::default();
    // Of the MPDU whose packets are delivered one after another.
    let mut together = Vec::new();
    for entry in &air.log {
        let from = match entry.action {
            Action::Deliver { from, seq: Some(_), packet, .. } => {
                Peer { node: from, priority: packet.priority }
            }
            Action::Release { from, .. } => from,
            _ => continue,
        };
        let buffer = buffers.entry((entry.node, from)).or_insert_with(|| Reorder::new(window));
        let up = all.packets.entry((entry.node, from)).or_default();
        match entry.action {
            Action::Deliver { seq: Some(seq), packet, more, .. } => {
                together.push((seq, packet.handle));
                if !more {
                    all.delivered += together.len();
                    let late = buffer.arrived_together(Instant::ZERO, seq, together.drain(..), up);
                    all.late += usize::from(late);
                }
            }
            Action::Release { start, .. } => buffer.starts_at(start, up),
            _ => {}
        }
    }
    assert_eq!(together, [], "the rest of an MPDU was not delivered");
    all.held = buffers.values().map(Reorder::held).sum();
    all
}

/// Every packet lies within a window from the first that its receiver has not acknowledged, as long as it has not been given up.
fn within_windows(air: &Air) -> Result<(), TestCaseError> {
    let window = air.config.phy.standard.most_packets();
    // By handle: of whom, for whom, which number.
    let mut unacknowledged: BTreeMap<u32, (u32, Peer, u16)> = BTreeMap::new();
    for entry in &air.log {
        match &entry.action {
            Action::Transmit(frame) => {
                let Some(to) = frame.packets().first().and_then(|mpdu| mpdu.packet.peer()) else { continue };
                for mpdu in frame.packets() {
                    unacknowledged.insert(mpdu.packet.handle, (entry.node, to, mpdu.seq));
                }
                let for_it = unacknowledged.values().filter(|sent| (sent.0, sent.1) == (entry.node, to));
                let oldest = for_it.map(|sent| sent.2).min();
                for mpdu in frame.packets() {
                    let ahead = mpdu.seq - oldest.unwrap_or(mpdu.seq);
                    prop_assert!(usize::from(ahead) < window, "{} from {:?}: {:?}", mpdu.seq, oldest, frame);
                }
            }
            Action::Sent(packet) | Action::GaveUp(packet) => {
                unacknowledged.remove(&packet.handle);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Bytes of an A-MSDU by hand: 14 of header and 8 of LLC/SNAP each, each but the last padded to 4.
fn amsdu(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, |end, size| end.div_ceil(4) * 4 + 14 + 8 + size)
}

fn dscp(number: u8) -> Dscp {
    Dscp::new(number).expect("six bits")
}

/// The random scenarios of one packet a frame, with more, of which the links lose some.
fn bursts(on_grid: bool) -> impl Strategy<Value = (Scenario, Vec<Bitmap>)> {
    let lost = vec(any::<[bool; 4]>(), 0..40).prop_map(|frames| {
        let places = |frame: [bool; 4]| (0..4).filter(|at| frame[*at]).collect::<Vec<_>>();
        frames.into_iter().map(|frame| only(&places(frame))).collect::<Vec<_>>()
    });
    let limits = (2..9usize, 1_000..8_000u64, 0..4usize, prop_oneof![Just(0u64), 100..4_000u64]);
    // Of best effort alone, or of codepoints of all categories.
    let classes = prop_oneof![Just(vec![Dscp::DEFAULT]), vec((0..64u8).prop_map(dscp), 1..60)];
    (scenario(on_grid), limits, lost, classes).prop_map(|(mut scenario, limits, lost, classes)| {
        let (packets, bytes, ahead, amsdu) = limits;
        let (bytes, amsdu) = (Bytes(bytes), Bytes(amsdu));
        let (delimiter, airtime) = (Bytes(4), Span::from_millis(8));
        let aggregation = Aggregation { packets, bytes, airtime, delimiter, alignment: 4, ahead, amsdu };
        scenario.setup.phy.standard.aggregation = Some(aggregation);
        // Packets that come close together, for the same neighbours.
        for (at, (when, node, packet)) in scenario.packets.iter_mut().enumerate() {
            *when = *when - Span::from_nanos(when.as_nanos() / 20 * 19);
            (*node, packet.to) = if at % 3 == 0 { (*node, packet.to) } else { (0, Some(NodeId(1))) };
            packet.priority = Priority::of(classes[at % classes.len()]);
        }
        (scenario, lost)
    })
}

fn run(scenario: &Scenario, lost: &[Bitmap], eager: bool) -> Air {
    let mut air = scenario.air();
    air.erased.extend(lost);
    (air.eager, air.postponing) = (eager, !eager);
    scenario.run(air)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Every packet is sent or given up, once; one is delivered to its receiver at most once, and goes up in order. No frame is
    /// beyond its limits, no number outside its window.
    #[test]
    fn every_packet_of_a_burst_has_one_fate((scenario, lost) in prop_oneof![bursts(true), bursts(false)]) {
        let air = run(&scenario, &lost, false);
        let (mut fates, mut arrived) = (vec![0; scenario.packets.len()], vec![0; scenario.packets.len()]);
        let limits = scenario.setup.phy.standard.aggregation.expect("set above");
        for entry in &air.log {
            match &entry.action {
                Action::Sent(packet) | Action::GaveUp(packet) => fates[packet.handle as usize] += 1,
                Action::Deliver { packet, .. } => {
                    prop_assert!(packet.to.is_none_or(|to| to.0 == entry.node));
                    arrived[packet.handle as usize] += u32::from(packet.to.is_some());
                }
                Action::Transmit(frame) if frame.is_several() => {
                    prop_assert!(frame.to.is_some() && mpdus(frame.packets()).count() <= limits.packets, "{:?}", frame);
                    for mpdu in mpdus(frame.packets()).filter(|mpdu| mpdu.len() > 1) {
                        prop_assert!(amsdu(mpdu.iter().map(|mpdu| mpdu.packet.size.0)) <= limits.amsdu.0, "{:?}", mpdu);
                    }
                    prop_assert!(frame.size <= limits.bytes && frame.airtime <= limits.airtime, "{:?}", frame);
                    prop_assert!(frame.packets().iter().all(|mpdu| mpdu.packet.to == frame.to), "{:?}", frame);
                    let priority = frame.packets()[0].packet.priority;
                    prop_assert!(frame.packets().iter().all(|mpdu| mpdu.packet.priority == priority), "{:?}", frame);
                }
                Action::Transmit(_) | Action::Release { .. } | Action::Exchanged(_) => {}
            }
        }
        prop_assert!(fates.iter().all(|n| *n == 1), "{:?}", fates);
        let up = in_order(&air);
        prop_assert_eq!(up.late, 0, "a window moved past a packet that was not given up");
        for (pair, packets) in &up.packets {
            prop_assert!(packets.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{:?}: {:?}", pair, packets);
        }
        let went_up: usize = up.packets.values().map(Vec::len).sum();
        prop_assert_eq!(went_up + up.held, up.delivered);
        within_windows(&air)?;
        prop_assert!(arrived.iter().all(|n| *n <= 1), "{:?}", arrived);
    }

    /// Whatever is lost, an MPDU of several packets is the same whenever it is sent, has one fate, and goes up once, whole, its packets
    /// in their order, or not at all.
    #[test]
    fn an_mpdu_of_several_packets_is_never_parted((scenario, lost) in bursts(false)) {
        let air = run(&scenario, &lost, false);
        // Handles by receiver, sender and number.
        let mut sent: BTreeMap<(u32, Peer, u16), Vec<u32>> = BTreeMap::new();
        let mut fates: BTreeMap<u32, bool> = BTreeMap::new();
        for entry in &air.log {
            match &entry.action {
                Action::Transmit(frame) if frame.is_several() => {
                    let to = frame.to.expect("for a neighbour").0;
                    for mpdu in mpdus(frame.packets()) {
                        let handles: Vec<_> = mpdu.iter().map(|mpdu| mpdu.packet.handle).collect();
                        let from = Peer { node: frame.from, priority: mpdu[0].packet.priority };
                        let before = sent.entry((to, from, mpdu[0].seq)).or_insert_with(|| handles.clone());
                        prop_assert_eq!(&*before, &handles);
                    }
                }
                Action::Sent(packet) => drop(fates.insert(packet.handle, true)),
                Action::GaveUp(packet) => drop(fates.insert(packet.handle, false)),
                _ => {}
            }
        }
        for handles in sent.values() {
            prop_assert!(handles.iter().all(|handle| fates[handle] == fates[&handles[0]]), "{:?}", handles);
        }
        for ((to, from), packets) in in_order(&air).packets {
            // A number that came twice would be longer than what was sent.
            for mpdu in packets.chunk_by(|one, next| one.0 == next.0) {
                let handles: Vec<_> = mpdu.iter().map(|(_, handle)| *handle).collect();
                // Of a frame of one packet there is nothing to part.
                let whole = sent.get(&(to, from, mpdu[0].0)).map_or(handles.len() == 1, |sent| *sent == handles);
                prop_assert!(whole, "{:?} of {:?}", handles, sent);
            }
        }
    }

    /// With RTS/CTS for everything, an acknowledged packet has arrived.
    #[test]
    fn what_a_block_acknowledgement_names_was_delivered((mut scenario, lost) in bursts(false)) {
        scenario.setup.phy.rts_threshold = Some(Bytes(0));
        assert_delivered_before_sent(&run(&scenario, &lost, false), scenario.packets.len())?;
    }

    /// Laziness is exact with bursts, too.
    #[test]
    fn looking_at_bursts_at_once_changes_nothing((scenario, lost) in bursts(false)) {
        let (lazy, eager) = (run(&scenario, &lost, false), run(&scenario, &lost, true));
        assert_same(&lazy, &eager, scenario.positions.len())?;
    }
}
