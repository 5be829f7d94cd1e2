//! Key numbers of a few runs, so that no change of behaviour passes unseen.
//!
//! A difference means that the engine behaves differently from before. If that was meant: run
//! `MESHPACE_ACCEPT=1 cargo test -p meshpace-mesh golden`, look at the difference of `golden.txt`, commit it with the
//! change, and run the validation against the reference again.

use super::support::{chain, flow, json, run_seed};
use meshpace_mesh::RunResult;
use std::fmt::Write;
use std::path::Path;

const MEASURE: &str = "[measure]\nduration = 12\nwarmup = 2\nwindows = [1]\n";

fn runs() -> Vec<(&'static str, String)> {
    let ftp = |hops: u32, routing: &str| {
        let topology = format!("[topology]\nkind = \"chain\"\nhops = {hops}\n[routing]\n{routing}\n");
        format!("{topology}{}", flow("n0", &format!("n{hops}"), "scheme = \"newreno\""))
    };
    let gap = flow("B", "n0", "scheme = \"tcp-gap\"");
    let ofdm = "[radio]\nstandard = \"802.11a\"\nrate = \"24Mbps\"\nreception = \"sinr\"\nrts = \"never\"\n";
    let web = flow("n0", "n3", "app = \"http\"\nscheme = \"newreno-delack\"\npause_mean = 0.2\ncount = 3");
    let parallel = "[topology]\nkind = \"parallel-chains\"\nhops = 3\n";
    let mix =
        format!("{}{}", flow("A1", "B", "scheme = \"tcp-gap\""), flow("B", "A2", "scheme = \"tcp-gap\""));
    let cbr = "app = \"cbr\"\nrate = \"1Mbps\"\npacket = 1000\nscheme = \"newreno\"";
    vec![
        ("newreno, static, 6 hops", ftp(6, "protocol = \"static\"")),
        ("newreno, aodv of ns-2, 6 hops", ftp(6, "protocol = \"aodv\"")),
        ("newreno, aodv of the RFC, 4 hops", ftp(4, "protocol = \"aodv\"\nprofile = \"rfc3561\"")),
        ("newreno, dsdv, 6 hops", ftp(6, "protocol = \"dsdv\"")),
        ("tcp-gap from the wired part, 4 hops", format!("{}{gap}", chain(4))),
        ("tcp-gap on parallel chains, one flow each way", format!("{parallel}{mix}")),
        ("tcp-ap, 8 hops", format!("{}{}", chain(8), flow("n0", "n8", "scheme = \"tcp-ap\""))),
        ("datagrams, 6 hops", format!("{}{}", chain(6), flow("n0", "n6", cbr))),
        ("web traffic on 802.11a with sinr, 3 hops", format!("{ofdm}{}{web}", chain(3))),
    ]
}

fn summary(name: &str, result: RunResult) -> String {
    let mut text = format!("{name}\n  events {} frames {}\n", result.events, result.frames);
    let number = |value: Option<f64>| value.map_or("null".to_owned(), |value| format!("{value:.6}"));
    for f in &result.flows {
        let (delay, rtt, interval) = (number(f.delay_mean_s), number(f.srtt_s), number(f.pacing_interval_s));
        writeln!(
            text,
            "  {} goodput {:.0} sent {} retransmits {:?} timeouts {:?} delay {delay} rtt {rtt} interval {interval}",
            f.id, f.goodput_bps, f.segments_sent, f.retransmits, f.timeouts
        )
        .expect("a string takes all");
    }
    let sum = |of: fn(&meshpace_mesh::result::LinkResult) -> u64| result.links.iter().map(of).sum::<u64>();
    writeln!(
        text,
        "  drops {} + {} of {}, queues {}, collisions {}, route failures {}, control packets {}",
        sum(|l| l.data_drops),
        sum(|l| l.ack_drops),
        sum(|l| l.retry_drops),
        sum(|l| l.queue_drops),
        sum(|l| l.collisions),
        result.routing.route_failures,
        result.routing.control_packets
    )
    .expect("a string takes all");
    // Not of the version: a release is no change of behaviour.
    let hash = json(RunResult { engine: String::new(), ..result })
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    writeln!(text, "  FNV-1a of the JSON {hash:016x}").expect("a string takes all");
    text
}

#[test]
fn key_numbers_are_those_of_the_golden_file() {
    let got: String = runs()
        .into_iter()
        .map(|(name, text)| summary(name, run_seed(&format!("{MEASURE}{text}"), 1)))
        .collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/golden.txt");
    if std::env::var_os("MESHPACE_ACCEPT").is_some() {
        std::fs::write(&path, &got).expect("the golden file is written");
    }
    let golden = std::fs::read_to_string(&path).expect("a golden file");
    for (got, golden) in got.lines().zip(golden.lines()) {
        assert_eq!(got, golden, "see the head of golden.rs for what this means");
    }
    assert_eq!(got.len(), golden.len());
}
