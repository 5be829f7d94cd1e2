//! Every scheme of the table on every kind of path.

use super::support::{chain, flow, measure, run, scenario};
use meshpace_mesh::RunResult;

const UP: &str = "[topology]\nkind = \"chain\"\nhops = 4\n";
const PARALLEL: &str = "[topology]\nkind = \"parallel-chains\"\nhops = 3\n";

fn networks() -> [(&'static str, String); 4] {
    [
        ("up", format!("{UP}{}", flow("n0", "B", ""))),
        ("down", format!("{UP}{}", flow("B", "n0", ""))),
        ("mix", format!("{PARALLEL}{}{}", flow("A1", "B", ""), flow("B", "A2", ""))),
        ("ad hoc", format!("{UP}{}", flow("n0", "n4", ""))),
    ]
}

/// Whether a scheme paces a flow by its direction: by the definition of each scheme.
fn paces(scheme: &str, network: &str, from: &str) -> bool {
    match scheme {
        "fixed-rate" | "oid" | "dynack-ap" | "we-tcp-ap" | "rcp" | "rcp-winf" | "wcp" | "wcpcap" | "calm"
        | "copa" => true,
        adaptive if adaptive.starts_with("tcp-ap") || adaptive.contains("bbr") => true,
        // Between two mesh nodes there is no gateway that tells the wired part of the round trip.
        "tcp-gap" | "tcp-gap-nogc" => network != "ad hoc" || from == "B",
        "calm-gateway" | "calm-edge" => from == "B",
        _ => false,
    }
}

fn delivers(scheme: &str, network: &str, result: &RunResult) {
    for f in &result.flows {
        let what = format!("{scheme}, {network}: {f:?}");
        assert!(f.delivered_bytes > 0, "{what}");
        assert!(f.hops.is_some_and(|hops| (2..=4).contains(&hops)), "{what}");
        assert!(f.delay_mean_s.is_some() && f.srtt_s.is_some(), "{what}");
        // RCP and WCP have a pace instead of a window.
        let windowed = !["rcp", "wcp"].iter().any(|rated| scheme.starts_with(rated));
        assert_eq!(f.cwnd_mean.is_some(), windowed, "{what}");
        let paced = paces(scheme, network, &f.from);
        assert_eq!((f.pacing_rate_bps.is_some(), f.pacing_interval_s.is_some()), (paced, paced), "{what}");
        if let (Some(rate), Some(interval)) = (f.pacing_rate_bps, f.pacing_interval_s) {
            // The mean of a reciprocal is at least the reciprocal of the mean.
            assert!(rate * interval >= 1500.0 * 8.0 * 0.999, "{what}");
            // A paced flow does not deliver more than it sends, nor hold back for ever.
            assert!(f.goodput_bps <= 1.05 * rate, "{what}");
        }
    }
    // Least by eight hops of four between packets where the round trip crosses the wires: one each 0.27 s, 45 kbit/s.
    assert!(result.aggregate_goodput_bps > 4e4, "{scheme}, {network}: {result:?}");
    let gateway =
        ["tcp-gap", "calm-"].iter().any(|gateway| scheme.starts_with(gateway)) && network != "ad hoc";
    assert_eq!(result.gateways.len(), usize::from(gateway), "{scheme}, {network}");
    assert_eq!(result.scheme, scheme);
}

#[test]
fn every_scheme_delivers_and_says_how_it_paces() {
    let mut names = 0;
    for scheme in meshpace_schemes::names() {
        names += 1;
        for (network, text) in networks() {
            for routing in ["static", "aodv"] {
                let head = format!(
                    "[defaults]\nscheme = \"{scheme}\"\n[scheme.throttle]\not_crit = \"6Mbps\"\not_alpha = 1\n{}",
                    measure(25.0, 3.0)
                );
                let result = run(&format!("{head}[routing]\nprotocol = \"{routing}\"\n{text}"));
                // Without a window RCP sends more than the air carries, and of two flows one may get nothing.
                // So may one of two whose routes AODV gives up: it waits for timeouts that double, while the other, BBR or one that
                // keeps its own queue short, never lets go of the air.
                let starves = (scheme.contains("bbr")
                    || ["linux-", "calm", "cubic-thin", "cubic-cake", "copa"]
                        .iter()
                        .any(|own| scheme.starts_with(own)))
                    && network == "mix"
                    && routing == "aodv";
                if scheme.starts_with("rcp") || starves {
                    assert!(result.aggregate_goodput_bps > 0.0, "{scheme}, {network}: {result:?}");
                    continue;
                }
                delivers(scheme, network, &result);
            }
        }
    }
    assert!(names >= 11);
}

#[test]
fn acknowledgement_policies_save_frames() {
    let frames = |scheme: &str| {
        let text = format!(
            "[defaults]\nscheme = \"{scheme}\"\n{}{}{}",
            measure(20.0, 5.0),
            chain(1),
            flow("n0", "n1", "")
        );
        let result = run(&text);
        result.frames as f64 / (result.flows[0].delivered_bytes as f64 / 1460.0)
    };
    let (every, delayed, dynamic) = (frames("newreno"), frames("newreno-delack"), frames("newreno-dynack"));
    assert!(delayed < 0.8 * every && dynamic < 0.9 * delayed, "{every} {delayed} {dynamic} frames a segment");
}

#[test]
fn a_fixed_rate_is_the_rate() {
    let scheme = "[scheme.fixed-rate]\nfixed_rate = 300000\n";
    let head = format!("{scheme}[defaults]\nscheme = \"fixed-rate\"\n{}", measure(20.0, 2.0));
    let f = run(&format!("{head}{}{}", chain(3), flow("n0", "n3", ""))).flows[0].clone();
    // 300 kbit/s of packets that count as 1500 bytes: one every 40 ms.
    super::support::close("interval", f.pacing_interval_s.expect("paced"), 0.04, 1e-6);
    super::support::close("goodput", f.goodput_bps, 1460.0 * 8.0 / 0.04, 0.01);
}

#[test]
fn a_new_composition_and_its_parameters_are_used() {
    let table = "[scheme.mine]\nbase = \"tcp-ap\"\nn = 9\n";
    let at = |scheme: &str| {
        let head = format!("{table}[defaults]\nscheme = \"{scheme}\"\n{}", measure(15.0, 5.0));
        run(&format!("{head}{}{}", chain(9), flow("n0", "n9", ""))).flows[0].pacing_interval_s.expect("paced")
    };
    let ratio = at("mine") / at("tcp-ap");
    assert!(ratio > 1.25, "nine hops apart instead of four: {ratio}");
}

#[test]
fn flows_agree_on_what_the_mesh_does_or_the_file_says_it() {
    let text = |mesh: &str, schemes: [&str; 2]| {
        let flows = schemes.map(|scheme| flow("n0", "B", &format!("scheme = \"{scheme}\"")));
        format!("[measure]\nduration = 3\nwarmup = 1\n{}{mesh}{}", chain(2), flows.concat())
    };
    let says = |mesh: &str, schemes| match meshpace_mesh::run(&scenario(&text(mesh, schemes), 1)) {
        Ok(result) => result.scheme,
        Err(error) => error.to_string(),
    };
    // These differ at sender and receiver only.
    assert_eq!(says("", ["newreno", "tcp-ap"]), "newreno");
    assert_eq!(says("", ["tcp-gap", "tcp-gap"]), "tcp-gap");
    let refused = says("", ["newreno", "tcp-gap"]);
    assert_eq!(
        refused,
        "test.toml:1: mesh.scheme: found nothing, though flow \"1\" runs newreno and flow \"2\" tcp-gap, whose gateway \
         parts differ; allowed: the scheme whose relay and gateway parts the mesh has"
    );
    assert!(
        says("", ["tcp-gap", "tcp-gap-nogc"]).contains("gateway parts differ"),
        "a parameter is a difference too"
    );
    assert!(says("[defaults]\nscheme = \"tcp-gap\"\n", ["newreno", "tcp-gap"]).contains("mesh.scheme"));
    assert_eq!(says("[mesh]\nscheme = \"tcp-gap\"\n", ["newreno", "tcp-gap"]), "tcp-gap");
    assert!(
        says("[mesh]\nscheme = \"tcp-gaap\"\n", ["newreno", "newreno"])
            .contains("mesh.scheme: found \"tcp-gaap\"")
    );
    // Changed in one of its gateway parameters, a scheme is another for the mesh.
    let mine = "[scheme.mine]\nbase = \"tcp-gap\"\ngc_interval = \"7s\"\n";
    assert!(says(mine, ["mine", "tcp-gap"]).contains("gateway parts differ"));
}

#[test]
fn a_control_that_a_files_profile_cannot_drive_is_refused_with_file_line_and_key() {
    let says = |congestion: &str| {
        let head = "[measure]\nduration = 3\nwarmup = 1\n[scheme.mine]\nbase = \"newreno\"\n";
        let table = format!("tcp_profile = \"linux\"\nrecovery = \"rack\"\ncongestion = \"{congestion}\"\n");
        let text = format!("{head}{table}{}{}", chain(2), flow("n0", "B", "scheme = \"mine\""));
        match meshpace_mesh::run(&scenario(&text, 1)) {
            Ok(result) => result.scheme,
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(says("cubic"), "mine");
    assert_eq!(
        says("tahoe"),
        "test.toml:6: scheme.mine.tcp_profile: found tcp_profile = \"linux\" beside congestion = \"tahoe\"; allowed: congestion = \
         \"newreno\" or \"cubic\" or \"vegas\" or \"westwood\" or \"copa\" or \"ledbat\" or \"bbr\" or \"bbr3\" or \"daa\" or \"xcp\" or \"delay-rate\" beside it"
    );
}
