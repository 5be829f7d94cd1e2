//! Categories of access: each with its own AIFS, windows and backoff, all in one station (IEEE 802.11-2020, 10.23.2).

use super::bursts::{ACK, ALONE, BLOCK_ACK, PAIR, SIFS, numbers};
use crate::air::{Action, Air, Draws, Entry, Setup, What::*, at, line};
use meshpace_radio::{Bitmap, FrameKind, MacPacket, Peer, Priority};
use meshpace_units::{Dscp, NodeId};

/// Of 802.11g, with the AIFSN of best effort that 802.11n has.
fn categories(packets: usize) -> Setup {
    let mut setup = Setup::bursts(packets);
    (setup.phy.standard.aifsn, setup.phy.standard.qos) = (3, true);
    setup
}

fn priority(name: &str) -> Priority {
    Priority::of(Dscp::named(name).expect("a name"))
}

/// A packet for station 1.
fn packet(setup: &Setup, name: &str, size: u64) -> MacPacket {
    MacPacket { priority: priority(name), ..setup.packet(Some(1), size) }
}

/// SIFS and so many slots.
fn aifs(aifsn: u32) -> f64 {
    SIFS + 9.0 * f64::from(aifsn)
}

/// By name of a codepoint: AIFSN, smallest and largest window (table 9-155).
const TABLE: [(&str, u32, u32, u32); 4] =
    [("cs1", 7, 15, 1023), ("df", 3, 15, 1023), ("af41", 2, 7, 15), ("cs6", 2, 3, 7)];

/// Nobody answers: each attempt waits for the category's AIFS and a backoff from its window, which doubles up to its largest.
#[test]
fn each_category_has_its_own_aifs_and_windows() {
    for (name, aifsn, least, most) in TABLE {
        let setup = categories(1);
        let mut air = Air::new(&setup, &line(&[0.0, 200.0])).puppets(&[1]);
        let mut draws = Draws::of(&setup, 0);
        air.offer(at(0.0), 0, packet(&setup, name, 1500));
        let (mut cw, mut idle) = (least, 0.0);
        for attempt in 0..setup.phy.retry_short {
            let data = idle + aifs(aifsn) + draws.backoff(cw);
            let over = data + ALONE + SIFS + ACK + 4.0;
            let last = attempt + 1 == setup.phy.retry_short;
            let script: &[_] = if last { &[(data, 0, Data), (over, 0, GaveUp)] } else { &[(data, 0, Data)] };
            air.expect(over, script);
            (cw, idle) = ((2 * cw + 1).min(most), over);
        }
    }
}

/// Draws of both categories for packets that come at the same time: best effort first.
fn draws_with(wanted: impl Fn(u32, u32) -> bool) -> (Setup, Draws) {
    let found = (1..).map(|seed| categories(1).seed(seed)).find(|setup| {
        let mut draws = Draws::of(setup, 0);
        wanted(draws.slots(15), draws.slots(3))
    });
    let setup = found.expect("some seed will do");
    let mut draws = Draws::of(&setup, 0);
    [15, 3].into_iter().for_each(|cw| _ = draws.slots(cw));
    (setup, draws)
}

/// Both backoffs are over at once: the higher category sends; the lower one behaves as after a collision, and its frame does not know.
///
/// ```text
/// best effort  |AIFS 3|bo|            |AIFS 3|bo from 31          |DATA
/// voice        |AIFS 2| bo|DATA SIFS ACK
/// ```
#[test]
fn of_two_whose_backoff_is_over_the_higher_sends() {
    let (setup, mut draws) = draws_with(|best_effort, voice| voice == best_effort + 1);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    air.offer(at(0.0), 0, packet(&setup, "df", 1500));
    air.offer(at(0.0), 0, packet(&setup, "cs6", 1400));
    let voice = aifs(2) + 9.0 * f64::from(foretold(&setup).1);
    let airtime = setup.data_airtime(1400).as_nanos() as f64 / 1e3;
    let sent = voice + airtime + SIFS + ACK;
    let (lost, _post) = (draws.backoff(31), draws.slots(3));
    let other = sent + aifs(3) + lost;
    let script = [
        (voice, 0, Data),
        (voice + airtime, 1, Deliver),
        (voice + airtime + SIFS, 1, Ack),
        (sent, 0, Sent),
        (other, 0, Data),
        (other + ALONE, 1, Deliver),
        (other + ALONE + SIFS, 1, Ack),
        (other + ALONE + SIFS + ACK, 0, Sent),
    ];
    air.expect(other + 10_000.0, &script);
    let frames: Vec<_> = air.frames_of(0).into_iter().map(|(_, frame)| frame).collect();
    assert!(frames.iter().all(|frame| !frame.retry && frame.packets().iter().all(|mpdu| !mpdu.retry)));
    // The window is the smallest again.
    air.offer(at(20_000.0), 0, packet(&setup, "df", 1500));
    let post = draws.slots(15);
    air.run_until(at(40_000.0));
    let last = air.times(0, FrameKind::Data)[2];
    let drawn = draws.backoff(15);
    assert!(post < 15 && last == at(20_000.0 + aifs(3) + drawn), "{last:?} {drawn}");
}

/// The first draws of station 0: best effort's, voice's.
fn foretold(setup: &Setup) -> (u32, u32) {
    let mut draws = Draws::of(setup, 0);
    (draws.slots(15), draws.slots(3))
}

/// A packet of voice that comes behind five of best effort is the next to go; those beside it in the queue of the other category wait.
#[test]
fn voice_overtakes_best_effort() {
    let setup = (1..).map(|seed| categories(1).seed(seed)).find(|setup| {
        let mut draws = Draws::of(setup, 0);
        // Voice's backoff, drawn during the exchange, is over before that of best effort, drawn after it.
        let (_, voice, next) = (draws.slots(15), draws.slots(3), draws.slots(15));
        aifs(2) + 9.0 * f64::from(voice) < aifs(3) + 9.0 * f64::from(next)
    });
    let setup = setup.expect("some seed will do");
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    for size in 1_000..1_005 {
        air.offer(at(0.0), 0, packet(&setup, "df", size));
    }
    let first = aifs(3) + 9.0 * f64::from(Draws::of(&setup, 0).slots(15));
    air.offer(at(first + 50.0), 0, packet(&setup, "cs6", 200));
    air.run_until(at(50_000.0));
    let sizes = |entry: &Entry| match entry.action {
        Action::Sent(packet) => Some(packet.size.0),
        _ => None,
    };
    let sent: Vec<_> = air.log.iter().filter_map(sizes).collect();
    assert_eq!(sent, [1_000, 200, 1_001, 1_002, 1_003, 1_004]);
}

/// What runs down while another category sends goes on afterwards: only whole slots before the medium turned busy have passed.
#[test]
fn the_other_backoff_is_interrupted_by_the_stations_own_frame() {
    let (setup, _) = draws_with(|best_effort, voice| voice >= 2 && best_effort >= voice + 3);
    let (best_effort, voice) = foretold(&setup);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    air.offer(at(0.0), 0, packet(&setup, "df", 1500));
    air.offer(at(0.0), 0, packet(&setup, "cs6", 1500));
    let first = aifs(2) + 9.0 * f64::from(voice);
    let sent = first + ALONE + SIFS + ACK;
    // Voice's slots but the one by which it began to count sooner.
    let passed = voice.saturating_sub(1);
    let second = sent + aifs(3) + 9.0 * f64::from(best_effort - passed);
    air.run_until(at(second + 1.0));
    assert_eq!(air.times(0, FrameKind::Data), [at(first), at(second)]);
}

/// Numbers are counted for each neighbour and priority, a frame has one priority, and so has what acknowledges it, whatever categories
/// have to do with each other: `df` and `cs3` contend as one.
#[test]
fn priorities_have_numbers_and_frames_of_their_own() {
    let setup = categories(4);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0]));
    for (name, size) in
        [("df", 1500), ("cs3", 1400), ("df", 1300), ("cs6", 1200), ("cs3", 1100), ("cs6", 1000)]
    {
        air.offer(at(0.0), 0, packet(&setup, name, size));
    }
    air.run_until(at(50_000.0));
    let data: Vec<_> = air.frames_of(0).into_iter().map(|(_, frame)| frame).collect();
    let of = |name: &str| {
        let of_it = data.iter().filter(|frame| frame.packets()[0].packet.priority == priority(name));
        of_it.map(|frame| numbers(frame).iter().map(|(seq, _)| *seq).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    assert_eq!([of("df"), of("cs3"), of("cs6")], [vec![vec![1, 2]], vec![vec![1, 2]], vec![vec![1, 2]]]);
    let one_priority = |frame: &meshpace_radio::Frame| {
        frame.packets().iter().all(|mpdu| mpdu.packet.priority == frame.packets()[0].packet.priority)
    };
    assert!(data.iter().all(one_priority), "{data:?}");
    let told: Vec<_> = air.frames_of(1).iter().filter_map(|(_, frame)| frame.block_ack().copied()).collect();
    let mut priorities: Vec<_> = told.iter().map(|told| told.priority.tid()).collect();
    priorities.sort_unstable();
    assert_eq!(priorities, [0, 3, 6]);
    assert!(told.iter().all(|told| told.start == 1));
}

/// A request for what best effort's frame came to is answered from best effort's scoreboard, and does not let go of voice's numbers.
#[test]
fn requests_are_of_one_priority() {
    let setup = categories(2);
    let mut air = Air::new(&setup, &line(&[0.0, 200.0])).puppets(&[1]);
    air.offer(at(0.0), 0, packet(&setup, "cs6", 1500));
    air.offer(at(0.0), 0, packet(&setup, "cs6", 1500));
    let mut draws = Draws::of(&setup, 0);
    let data = aifs(2) + draws.backoff(3);
    let over = data + PAIR + SIFS + BLOCK_ACK + 4.0;
    let request = over + aifs(2) + draws.backoff(7);
    air.run_until(at(request + 1.0));
    let asked: Vec<_> = air.frames_of(0).iter().filter_map(|(_, frame)| frame.block_ack().copied()).collect();
    assert_eq!((asked.len(), asked[0].priority, asked[0].start), (1, priority("cs6"), 1));
    // An answer about another priority is none.
    let answer = request + 26.0 + 12.0 + SIFS;
    air.say(at(answer), setup.block_ack(1, 0, 1, Bitmap::first(2)));
    air.run_until(at(answer + 500.0));
    assert_eq!(air.sent[0], 0);
}

/// The receiver tells a neighbour's packets of one priority from those of another.
#[test]
fn a_repetition_is_known_by_its_priority() {
    let mut setup = categories(1);
    setup.phy.standard.aggregation = None;
    let mut air = Air::new(&setup, &line(&[0.0, 200.0])).puppets(&[1]);
    for (when, name) in [(0.0, "df"), (1_000.0, "cs6"), (2_000.0, "df"), (3_000.0, "cs6")] {
        let mut frame = setup.data(1, 0, 1500, 7);
        frame.packet.as_mut().expect("one").packet.priority = priority(name);
        air.say(at(when), frame);
    }
    air.run_until(at(5_000.0));
    let delivered = air.log.iter().filter_map(|entry| match entry.action {
        Action::Deliver { packet, from, .. } => Some(Peer { node: from, priority: packet.priority }),
        _ => None,
    });
    let from = |name| Peer { node: NodeId(1), priority: priority(name) };
    assert_eq!(delivered.collect::<Vec<_>>(), [from("df"), from("cs6")]);
    assert_eq!(air.times(0, FrameKind::Ack).len(), 4);
}
