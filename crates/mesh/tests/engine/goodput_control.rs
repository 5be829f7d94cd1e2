//! Goodput control beside traffic that comes and goes, trickles or backs off: profile `robust` against the paper's
//! procedure (schemes.md 3.5; docs/robustness.md).

use super::support::{chain, flow, measure, record, run};
use meshpace_mesh::{FlowSample, RunResult};
use meshpace_units::Instant;
use std::fmt::Write;

const PARALLEL: &str = "[topology]\nkind = \"parallel-chains\"\n[routing]\nprotocol = \"static\"\n";

/// A scenario with tcp-gap in this profile, or without goodput control (`none`).
fn scenario(profile: &str, seconds: f64, network: &str) -> String {
    let scheme = match profile {
        "none" => "[defaults]\nscheme = \"tcp-gap-nogc\"\n".to_owned(),
        profile => {
            format!("[scheme.tcp-gap]\ngc_profile = \"{profile}\"\n[defaults]\nscheme = \"tcp-gap\"\n")
        }
    };
    format!("{scheme}{}{network}", measure(seconds, 20.0))
}

fn at(profile: &str, seconds: f64, network: &str) -> RunResult {
    run(&scenario(profile, seconds, network))
}

fn goodput(result: &RunResult, flows: usize) -> f64 {
    result.flows[..flows].iter().map(|f| f.goodput_bps).sum()
}

/// Jain's index of the first two flows.
fn jain(result: &RunResult) -> f64 {
    let [a, b] = [0, 1].map(|flow| result.flows[flow].goodput_bps);
    (a + b).powi(2) / (2.0 * (a * a + b * b))
}

#[test]
fn short_transfers_do_not_switch_it_off() {
    let mut network = format!("{PARALLEL}{}{}", flow("A1", "B", ""), flow("B", "A2", ""));
    for start in (0..150).step_by(4) {
        network += &flow("B", "A1", &format!("app = \"transfer\"\nbytes = 1000\nstart = {start}"));
    }
    let [none, paper, robust] =
        ["none", "paper", "robust"].map(|profile| jain(&at(profile, 150.0, &network)));
    println!(
        "Jain's index beside a 1 kB transfer every 4 s: {none:.4}, paper {paper:.4}, robust {robust:.4}"
    );
    assert!(none < 0.95, "{none}");
    assert!(paper < 0.98, "{paper}");
    assert!(robust >= 0.98, "{robust}");
}

#[test]
fn flows_that_trickle_are_no_weapon() {
    let alone = format!("{}{}", chain(4), flow("B", "n0", ""));
    let trickle = "app = \"http\"\nfile_mean = 100\nfile_shape = 100\npause_mean = 20\ncount = 100";
    let beside = format!("{alone}{}", flow("B", "n1", trickle));
    let kept = |profile: &str| {
        let [alone, beside] = [&alone, &beside].map(|network| goodput(&at(profile, 100.0, network), 1));
        beside / alone
    };
    let (paper, robust) = (kept("paper"), kept("robust"));
    println!("a download beside 100 flows that trickle keeps: paper {paper:.3}, robust {robust:.3}");
    assert!(paper < 0.8, "{paper}");
    assert!(robust >= 0.8, "{robust}");
}

#[test]
fn a_web_flow_costs_downloads_what_it_takes() {
    let mut shares = String::new();
    for downloads in [1, 2] {
        let alone: String = (0..downloads).map(|host| flow("B", &format!("n{host}"), "")).collect();
        let alone = format!("{}{alone}", chain(4));
        let web = flow("B", "n2", "app = \"http\"\nfile_mean = 1460\nfile_shape = 100\npause_mean = 1");
        let beside = format!("{alone}{web}");
        let kept = |profile: &str| {
            let [alone, beside] =
                [&alone, &beside].map(|network| goodput(&at(profile, 150.0, network), downloads));
            beside / alone
        };
        let (paper, robust) = (kept("paper"), kept("robust"));
        let _ = write!(
            shares,
            "{downloads} downloads beside a web flow keep: paper {paper:.3}, robust {robust:.3}; "
        );
        assert!(paper < 0.9, "{shares}");
        assert!(robust >= 0.97, "{shares}");
    }
    println!("{shares}");
}

#[test]
fn a_flow_that_another_starves_recovers() {
    // Neither of the TCPs paces: the download has the air to itself when the other one comes.
    let unaware =
        |from: &str, to: &str, start: u32| flow(from, to, &format!("scheme = \"newreno\"\nstart = {start}"));
    let flows = format!("{}{}", unaware("B", "A2", 0), unaware("A1", "B", 30));
    let network = format!("[mesh]\nscheme = \"tcp-gap\"\n{PARALLEL}{flows}");
    let (_, seen) = record(&scenario("robust", 60.0, &network));
    let delivered = |flow: usize, second: f64| {
        let at =
            |(when, sample): &&(Instant, FlowSample)| sample.flow == flow && when.as_secs_f64() <= second;
        seen.samples.iter().rfind(at).expect("samples").1.delivered.bits() as f64
    };
    let rate = |flow, from, to| (delivered(flow, to) - delivered(flow, from)) / (to - from);
    let (starved, helped) = (rate(1, 30.0, 40.0), [0, 1].map(|flow| rate(flow, 45.0, 60.0)));
    println!(
        "10 s after its start {starved:.0} bit/s, from 15 s on {:.0} beside {:.0}",
        helped[1], helped[0]
    );
    assert!(starved < 20_000.0, "{starved}");
    assert!(helped[1] > 0.5 * helped[0], "{helped:?}");
}
