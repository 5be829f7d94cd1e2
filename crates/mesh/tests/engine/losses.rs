//! Radio links that lose frames.

use super::support::{
    Record, cbr, close, json, link, measure, node, record, row, run, run_seed, scenario, wired,
};
use meshpace_radio::FrameKind;

/// Two nodes 200 m apart whose link loses frames in both directions, or as `keys` say.
fn lossy(keys: &str, rest: &str) -> String {
    let nodes = format!("{}{}", node("a", 0.0, 0.0), node("b", 200.0, 0.0));
    let link = format!("[[radio_link]]\nfrom = \"a\"\nto = \"b\"\n{keys}\n");
    format!("[defaults]\nscheme = \"newreno\"\n[routing]\nprotocol = \"static\"\n{rest}{nodes}{link}")
}

fn datagrams(keys: &str, seconds: f64) -> String {
    let head = format!("{}[radio]\nrts = \"never\"\n", measure(seconds, 0.0));
    format!("{}{}", lossy(keys, &head), cbr("a", "b", 1e6, 1000))
}

/// Attempts of the packets, in the order of time: true for a repetition.
fn repetitions(record: &Record) -> Vec<bool> {
    record
        .frames
        .iter()
        .filter(|seen| seen.frame.kind == FrameKind::Data)
        .map(|seen| seen.frame.retry)
        .collect()
}

#[test]
fn every_frame_of_a_lossy_link_is_lost_with_its_probability() {
    // One way: only the data frames are lost; both ways: an exchange works if the data and the ACK do.
    for (keys, success) in [("loss = 0.3\nsymmetric = false", 0.7), ("loss = 0.3", 0.49), ("loss = 0", 1.0)] {
        let result = run(&datagrams(keys, 100.0));
        let link = row(&result, "a", "b").expect("a row");
        let delivered = result.flows[0].delivered_bytes as f64 / 1000.0;
        let attempts = link.attempts.expect("a radio link") as f64;
        // A datagram is an exchange that worked, unless its seventh attempt lost only the ACK (0.51^6 * 0.21, 0.4 %).
        close(keys, delivered / attempts, success, 0.025);
        assert_eq!(link.collisions, 0, "{keys}: a loss is no collision");
    }
}

/// Data frames of 1,028 bytes of payload and UDP and IP, 1,062 as an MPDU, and MAC ACKs of 14.
#[test]
fn a_loss_with_a_length_spares_the_short_frames() {
    let result = run(&datagrams("loss = 0.3\nloss_length = 1062", 100.0));
    let link = row(&result, "a", "b").expect("a row");
    let delivered = result.flows[0].delivered_bytes as f64 / 1000.0;
    // The ACK is lost with 1 - 0.7^(14 / 1062) = 0.5 %.
    close("exchanges", delivered / link.attempts.expect("a radio link") as f64, 0.7 * 0.995, 0.02);
}

#[test]
fn losses_in_bursts_come_together() {
    let follows = |keys: &str| {
        let (_, record) = record(&datagrams(keys, 200.0));
        let repeated = repetitions(&record);
        let again = repeated.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64;
        let share = repeated.iter().filter(|repeated| **repeated).count() as f64;
        // Shares of repetitions: of all data frames, and of those that follow a repetition.
        (share / repeated.len() as f64, again / share)
    };
    let (single, single_again) = follows("loss = 0.2\nsymmetric = false");
    let (_, burst_again) = follows("loss = 0.2\nburst = 20\nsymmetric = false");
    assert!((single - single_again).abs() < 0.02, "independent: {single} {single_again}");
    assert!(burst_again > 0.7, "{burst_again}");
}

/// Runs are paired: bad periods come at the same times whatever is sent.
#[test]
fn other_traffic_meets_the_same_bad_periods() {
    let text = |rate: f64, packet: u32| {
        let head = format!("{}[radio]\nrts = \"never\"\n", measure(60.0, 0.0));
        format!(
            "{}{}",
            lossy("loss = 0.3\nburst = 400\nsymmetric = false", &head),
            cbr("a", "b", rate, packet)
        )
    };
    // Quarters of a second in which something was repeated.
    let bad = |text: &str| {
        let (_, record) = record(text);
        let mut quarters = [false; 240];
        for seen in record.frames.iter().filter(|seen| seen.frame.retry) {
            quarters[((seen.us() / 0.25e6) as usize).min(239)] = true;
        }
        quarters
    };
    let (busy, other) = (bad(&text(1e6, 1000)), bad(&text(4e5, 500)));
    let agree = busy.iter().zip(&other).filter(|(a, b)| a == b).count();
    let share = busy.iter().filter(|bad| **bad).count();
    assert!((30..200).contains(&share), "{share}");
    assert!(agree > 225, "{agree} of 240");
    // Another seed, other periods.
    assert_ne!(json(run_seed(&text(1e6, 1000), 1)), json(run_seed(&text(1e6, 1000), 2)));
}

/// Two wired hosts beside a mesh of one gateway, 20 datagrams of 1,000 bytes a second for 200 s, over a link with `keys`.
fn over_the_wire(keys: &str) -> String {
    let nodes =
        format!("{}{}{}{}", node("g", 0.0, 0.0), wired("A"), wired("B"), link("g", "A", "10Mbps", "1ms"));
    let lossy = format!("{}{keys}\n", link("A", "B", "10Mbps", "5ms"));
    let head = "[defaults]\nscheme = \"newreno\"\n[routing]\nprotocol = \"static\"\n";
    format!(
        "{}{head}{nodes}{lossy}{}{}",
        measure(200.0, 0.0),
        cbr("A", "B", 160e3, 1000),
        cbr("B", "A", 160e3, 1000)
    )
}

#[test]
fn a_wired_link_loses_packets_with_its_probability_each_way_by_itself() {
    let scenario = scenario(&over_the_wire("loss = 0.1"), 1);
    let (result, losses) = meshpace_mesh::run_why(&scenario, &[]).expect("it runs");
    for flow in &result.flows {
        // 4,000 packets: the standard deviation is 0.5 %.
        close(&flow.from, flow.loss_ratio.expect("sent"), 0.1, 0.2);
    }
    let lost: Vec<_> = result.flows.iter().map(|flow| flow.loss_ratio).collect();
    assert_ne!(lost[0], lost[1], "a stream a direction");
    let causes: Vec<_> = losses.iter().map(|loss| loss.cause).collect();
    assert_eq!(causes, ["wire", "wire"]);
    let row = row(&result, "A", "B").expect("a row");
    assert_eq!((row.data_drops, row.queue_drops), (0, 0), "no queue was full");
    // Without loss, or none at all, it is as ever.
    let flows = |keys| format!("{:?}", run(&over_the_wire(keys)).flows);
    assert_eq!(flows("loss = 0"), flows(""));
    assert!(
        run(&over_the_wire("")).flows.iter().all(|flow| flow.loss_ratio.is_some_and(|ratio| ratio < 1e-3))
    );
}
